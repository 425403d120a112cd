"""What a simulation costs grows with the pods, however many there are already."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from dra_plan.api.inventory import Inventory
from dra_plan.manifests.decode import from_dicts
from dra_plan.releases import target
from dra_plan.scheduler.cluster.claims import ClaimStore
from dra_plan.scheduler.cluster.cluster import SimulatedCluster
from tests.build import (
    CSI,
    Object,
    bare_pod,
    csi_node,
    deployment,
    device_class,
    mounts,
    node,
    on_csi,
    pod,
    slice_,
    storage_class,
    template,
    volume_claim,
)
from tests.limits import at_most
from tests.scheduler.reading import plan
from tests.work import instructions

RESOURCE = "example.com/gpu"
PER_NODE = 8


def with_devices(pods: int, **class_spec: Any) -> list[dict]:
    """A class, and as many nodes with devices as the pods need."""
    made = [device_class(**class_spec)]
    for index in range(pods // PER_NODE):
        made += [node(f"n{index}"), slice_(f"n{index}", *(f"d{number}" for number in range(PER_NODE)))]
    return made


def from_templates(pods: int) -> list[dict]:
    return [*with_devices(pods), template("t"), *(pod(f"p{i}", cpu="1m", templates={"c": "t"}) for i in range(pods))]


def with_extended_resources(pods: int) -> list[dict]:
    asking = (pod(f"p{i}", cpu="1m", requests={RESOURCE: "1"}) for i in range(pods))
    return [*with_devices(pods, extendedResourceName=RESOURCE), *asking]


def of_deployments(pods: int) -> list[dict]:
    """Pods that each Deployment spreads over nodes by the default constraints."""

    def web(name: str) -> Object:
        labels = {"app": name}
        return deployment(name, bare_pod("x", labels=labels), selector={"matchLabels": labels})

    return [node("a"), node("b"), *(web(f"d{index}") for index in range(pods))]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("make", [from_templates, with_extended_resources, of_deployments])
def test_a_pod_costs_the_same_however_many_there_are(make) -> None:
    few, many = (instructions(lambda n=n: plan(make(n))) for n in (64, 128))
    assert many < 2.3 * few


def test_a_pool_of_many_nodes_is_read_once() -> None:
    [one] = from_dicts([slice_("n", "d")]).slices
    spread = [replace(one, spec=replace(one.spec, node_name=f"n{index}")) for index in range(20_000)]
    cluster = SimulatedCluster(Inventory(slices=spread), [], ClaimStore([], consumable_capacity=False), target())
    with at_most(1):
        cluster.touch_pool("n")


@pytest.mark.parametrize(("bound", "most"), [(True, 680), (False, 980)])
def test_a_volume_costs_little_on_each_node(bound: bool, most: int) -> None:
    """What no node changes is found once for a pod; a node's own part is a look-up. `most`: instructions."""
    number, names = 8, [f"n{index}" for index in range(100)]
    objects = [storage_class(), *(node(name, labels={"kubernetes.io/hostname": name}) for name in names)]
    objects += [csi_node(name, {CSI: 9}) for name in names]
    for index, name in enumerate(names):
        taken = {"claimRef": {"namespace": "default", "name": f"c{index}"}} if bound and index < number else {}
        objects.append(on_csi(f"v{index}", on=name, **taken))
    objects += [volume_claim(f"c{index}", bound=f"v{index}" if bound else None) for index in range(number)]
    without = [pod(f"p{index}") for index in range(number)]
    having = [pod(f"p{index}", volumes=mounts(f"c{index}")) for index in range(number)]
    plan([*objects, *having])  # imports, once for all
    more = instructions(lambda: plan([*objects, *having])) - instructions(lambda: plan([*objects, *without]))
    assert more < most * number * len(names)
