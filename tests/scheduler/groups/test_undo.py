"""A group that does not fit leaves the cluster as it was: all state is compared."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from dra_plan.manifests.decode import from_dicts
from dra_plan.releases import target
from dra_plan.scheduler.simulation import Simulation
from tests.build import allocation, claim, gpus, member, placed, pod_group
from tests.scheduler.groups.planning import CLAIMS, GANGS, PREEMPTION, TOPOLOGY, by_chance, plan, where
from tests.scheduler.reading import users


def hopeless(seed: int, **spec: Any) -> list[dict[str, Any]]:
    """A cluster by chance in which each group has a pod that fits nowhere, and needs it."""
    objects = by_chance(seed)
    names = [each["metadata"]["name"] for each in objects if each["kind"] == "Node"]
    objects += [placed(f"{n}-{i}", n, cpu="100m", priority=i) for n in names for i in range(3)]
    for made in [each for each in objects if each["kind"] == "PodGroup"]:
        name = made["metadata"]["name"]
        pods = [p for p in objects if p["spec"].get("schedulingGroup") == {"podGroupName": name}]
        made["spec"] |= {"schedulingPolicy": {"gang": {"minCount": len(pods) + 1}}, **spec}
        objects.append(member(f"{name}-huge", name, cpu="99", priority=1))
    for each in objects:
        if each["kind"] == "Pod":
            each["spec"]["preemptionPolicy"] = "Never"
        if each["kind"] == "Node":
            each["metadata"]["labels"]["zone"] = each["metadata"]["name"]
    return objects


def state(simulation: Simulation) -> dict[str, Any]:
    """Everything that a cycle could change."""
    cluster, handle = simulation.cluster, simulation.handle
    nodes = {
        name: {
            slot: copy.copy(getattr(info, slot))
            for slot in type(info).__slots__
            if slot not in ("version", "journal", "_is_shared")
        }
        | {"order": list(info.pods), "requested": {k: v for k, v in info.requested.items() if v}}
        for name, info in cluster.nodes.items()
    }
    return {
        "nodes": nodes,
        "positions": dict(cluster.positions),
        "pods": dict(cluster.pods),
        "affinity": cluster.affinity_pods,
        "claims": list(cluster.claims),
        "in flight": [cluster.claims.pending_allocation(claim.metadata.uid) for claim in cluster.claims],
        "devices": repr(cluster.claims.state),
        "volumes": repr(vars(cluster.volumes)) if hasattr(cluster, "volumes") else "",
        "on nodes": {name: [info.uid for info in cluster.groups.on_nodes(name)] for name in _groups(simulation)},
        "seen": {name: list(cluster.groups.seen(name)) for name in _groups(simulation)},
        "nominated": handle.nominator.nodes,
        "waiting": len(handle.waiting),
        "revision": cluster.revision,
    }


def _groups(simulation: Simulation) -> list[tuple[str, str]]:
    return [(pod_group.metadata.namespace, pod_group.metadata.name) for pod_group in simulation.groups]


def begun(objects: list[dict[str, Any]], gates: dict[str, bool], quirks: str) -> Simulation:
    """Everything has arrived, and nothing was tried."""
    simulation = Simulation(from_dicts(objects), target=target("1.36", gates, quirks))
    for each in simulation.groups:
        simulation.cluster.add_group(each)
    for pod in simulation.pods:
        simulation.admit(pod)
    return simulation


CONSTRAINED = {"schedulingConstraints": {"topology": [{"key": "zone"}]}}
OF_GROUP = {"resourceClaims": [{"name": "own", "resourceClaimTemplateName": "t1"}]}


@pytest.mark.parametrize("quirks", ["upstream", "fixed"])
@pytest.mark.parametrize(
    ("gates", "spec"),
    [(GANGS, {}), (PREEMPTION, {}), (TOPOLOGY, CONSTRAINED), (CLAIMS, OF_GROUP)],
    ids=["gangs", "preemption", "topology", "claims"],
)
def test_a_group_that_does_not_fit_leaves_nothing_behind(
    gates: dict[str, bool], spec: dict[str, Any], quirks: str
) -> None:
    tried = 0
    for seed in range(12):
        simulation = begun(hopeless(seed, **spec), gates, quirks)
        before = state(simulation)
        simulation.scheduler.run()
        assert state(simulation) == before, seed
        tried += sum(len(record.conditions) for record in simulation.scheduler.groups.records.by_key.values())
    assert tried > 12


def test_a_dry_run_of_preemption_puts_everybody_back() -> None:
    """Everybody is taken off the nodes and put back, in the same order, though the group fits nowhere."""
    for seed in range(12):
        objects = hopeless(seed)
        for each in objects:
            each["spec"].pop("preemptionPolicy", None)
        simulation = begun(objects, PREEMPTION, "upstream")
        before = state(simulation)
        simulation.scheduler.run()
        assert state(simulation) == before, seed


def test_a_reservation_from_before_stays() -> None:
    status = {
        "allocation": allocation("n", "gpu-0"),
        "reservedFor": [{"resource": "pods", "name": "a", "uid": "u-a"}],
    }
    objects = [
        *gpus("n"),
        claim("c", status=status),
        pod_group(),
        member("a", claims={"x": "c"}),
        member("b", cpu="99"),
    ]
    document = plan(objects)
    assert where(document) == {"a": None, "b": None}
    assert users(document, "c") == ["a"]
