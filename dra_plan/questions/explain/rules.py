"""`explain`: pod specs with a relaxed rule about other pods, and the patches that say so.

Topology spread and anti-affinity become preferences, or spread leaves out tainted nodes; a host port is given up.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import structs

from dra_plan.api.core import Container, PodSpec, WeightedPodAffinityTerm
from dra_plan.documents.suggestions import PatchOperation
from dra_plan.questions.explain.editing import CONTAINER_LISTS, with_containers

ANYWAY = "ScheduleAnyway"
HONOR = "Honor"
_WEIGHT = 100
"""The weight of a term that was required: no preference counts more."""


def spreading_anyway(spec: PodSpec, key: str) -> PodSpec:
    """Return the spec with the spread constraints of this topology key as preferences."""
    made = [
        structs.replace(one, when_unsatisfiable=ANYWAY) if one.topology_key == key else one
        for one in spec.topology_spread_constraints
    ]
    return structs.replace(spec, topology_spread_constraints=made)


def honoring_taints(spec: PodSpec, key: str) -> PodSpec:
    """Return the spec whose spread over this topology key does not count nodes that the pod does not tolerate."""
    made = [
        structs.replace(one, node_taints_policy=HONOR) if one.topology_key == key else one
        for one in spec.topology_spread_constraints
    ]
    return structs.replace(spec, topology_spread_constraints=made)


def preferring_distance(spec: PodSpec, key: str) -> PodSpec:
    """Return the spec with the required anti-affinity terms of this topology key as preferred ones."""
    away = spec.affinity.pod_anti_affinity if spec.affinity is not None else None
    if spec.affinity is None or away is None:
        return spec
    required = away.required_during_scheduling_ignored_during_execution
    relaxed = [WeightedPodAffinityTerm(_WEIGHT, term) for term in required if term.topology_key == key]
    made = structs.replace(
        away,
        required_during_scheduling_ignored_during_execution=[one for one in required if one.topology_key != key],
        preferred_during_scheduling_ignored_during_execution=[
            *away.preferred_during_scheduling_ignored_during_execution,
            *relaxed,
        ],
    )
    return structs.replace(spec, affinity=structs.replace(spec.affinity, pod_anti_affinity=made))


def without_port(spec: PodSpec, port: int, protocol: str) -> PodSpec:
    """Return the spec without this host port."""

    def closed(of: Container) -> Container:
        ports = [
            structs.replace(one, host_port=0) if (one.host_port, one.protocol or "TCP") == (port, protocol) else one
            for one in of.ports
        ]
        return structs.replace(of, ports=ports)

    return with_containers(spec, closed)


def of_rules(before: PodSpec, after: PodSpec, path: str) -> Iterator[PatchOperation]:
    """Yield the differences of relaxed rules, whose number is unchanged."""
    spreads = zip(before.topology_spread_constraints, after.topology_spread_constraints, strict=True)
    for at, (had, has) in enumerate(spreads):
        if had.when_unsatisfiable != has.when_unsatisfiable:
            place = f"{path}/topologySpreadConstraints/{at}/whenUnsatisfiable"
            yield PatchOperation(op="replace", path=place, value=has.when_unsatisfiable)
        if had.node_taints_policy != has.node_taints_policy:
            place = f"{path}/topologySpreadConstraints/{at}/nodeTaintsPolicy"
            yield PatchOperation(op="add", path=place, value=has.node_taints_policy)
    away = [each.affinity.pod_anti_affinity if each.affinity is not None else None for each in (before, after)]
    if away[0] != away[1]:
        yield PatchOperation(op="replace", path=f"{path}/affinity/podAntiAffinity", value=_plain(away[1]))
    for field, name in CONTAINER_LISTS.items():
        for at, (old, new) in enumerate(zip(getattr(before, name), getattr(after, name), strict=True)):
            for number, (had, has) in enumerate(zip(old.ports, new.ports, strict=True)):
                if had.host_port != has.host_port:
                    yield PatchOperation(op="remove", path=f"{path}/{field}/{at}/ports/{number}/hostPort")


def _plain(of: object) -> Any:
    """Return the value as in a manifest, without empty members."""
    return _filled(msgspec.to_builtins(of))


def _filled(of: Any) -> Any:
    if isinstance(of, dict):
        return {key: _filled(value) for key, value in of.items() if value not in (None, "", [], {})}
    return [_filled(each) for each in of] if isinstance(of, list) else of
