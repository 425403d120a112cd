"""`explain`: replacements for topology keys that no node has, because the labels have been renamed.

Kubernetes renamed the labels for zones, regions, instance types, operating systems and architectures. A pod rule with
the old name rejects every node.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import structs

from dra_plan.api.core import PodSpec
from dra_plan.documents.cluster_changes import PodRuleRelaxed
from dra_plan.documents.node_obstacles import NodeObstacle
from dra_plan.questions.explain.editing import OwnedPods, Remedy


def replaced_key(pods: OwnedPods, one: NodeObstacle) -> Iterator[Remedy]:
    """Yield the pod with a label that nodes have, in place of a topology key that no node has."""
    if pods.spec is None or not (one.topology_key and one.nowhere and one.near):
        return
    told = PodRuleRelaxed(code="change-topology-key", topology_key=one.topology_key, to_key=one.near)
    yield Remedy((told,), pods.editing(lambda spec: _with_key(spec, one.topology_key, one.near)), fixed=True)


def _with_key(spec: PodSpec, key: str, to: str) -> PodSpec:
    """Return the spec in which spread constraints and required terms about pods have the key `to` instead of `key`."""

    def renamed(of: list[Any]) -> list[Any]:
        return [structs.replace(one, topology_key=to) if one.topology_key == key else one for one in of]

    def required(of: Any) -> Any:
        field = "required_during_scheduling_ignored_during_execution"
        return structs.replace(of, **{field: renamed(getattr(of, field))}) if of is not None else None

    affinity = spec.affinity
    if affinity is not None:
        affinity = structs.replace(
            affinity,
            pod_affinity=required(affinity.pod_affinity),
            pod_anti_affinity=required(affinity.pod_anti_affinity),
        )
    return structs.replace(
        spec, affinity=affinity, topology_spread_constraints=renamed(spec.topology_spread_constraints)
    )
