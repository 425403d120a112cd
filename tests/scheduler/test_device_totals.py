"""Scores of extended resources that devices serve: how much a node has, and how much of it is in use."""

from __future__ import annotations

import pytest

from dra_plan.scheduler.dra.extended import DeviceTotals
from tests.build import claim, device, device_class, node, pod, slice_
from tests.scheduler.reading import plan, simulation, where

from .test_config import arguments

GPU = "example.com/gpu"


def strategy(kind: str) -> dict:
    chosen = {"type": kind, "resources": [{"name": GPU, "weight": 1}]}
    return arguments("NodeResourcesFit", scoringStrategy=chosen)


def cluster() -> list[dict]:
    """Four devices on node a, two on node b, three more whose class is another one."""
    return [
        device_class(extendedResourceName=GPU),
        device_class("nic.example.com"),
        node("a"),
        node("b"),
        slice_("a", "g0", "g1", "g2", "g3"),
        slice_("b", "g0", "g1"),
        slice_("b", "n0", "n1", "n2", driver="nic.example.com"),
    ]


WANTS = {"requests": {GPU: "1"}}


@pytest.mark.parametrize(("kind", "chosen"), [("LeastAllocated", "a"), ("MostAllocated", "b")])
def test_devices_count_as_capacity(kind, chosen):
    assert where(plan([*cluster(), pod("p", **WANTS)], config=strategy(kind)))["p"] == chosen


def test_devices_in_use_count_as_used():
    """Two of four in use on a, none of two on b: (4-3)/4 against (2-1)/2."""
    used = [{"request": "r", "driver": "gpu.example.com", "pool": "a", "device": f"g{index}"} for index in (0, 1)]
    taken = claim("taken", status={"allocation": {"devices": {"results": used}}})
    assert where(plan([*cluster(), taken, pod("p", **WANTS)], config=strategy("LeastAllocated")))["p"] == "b"


def test_not_counted_before_1_35():
    document = plan([*cluster(), pod("p", **WANTS)], config=strategy("MostAllocated"), kubernetes_version="1.34",
                    feature_gates={"DRAExtendedResource": True})  # fmt: skip
    assert where(document)["p"] == "a", "both score 0, the first wins"


def test_a_selector_that_fails_leaves_the_resource_out_on_its_node():
    """Only node a has a device that lacks the attribute which the class looks at."""
    wanted = {"cel": {"expression": 'device.attributes["gpu.example.com"].model == "A"'}}
    objects = [
        device_class(extendedResourceName=GPU, selectors=[wanted]),
        node("a"),
        node("b"),
        slice_("a", "g0"),
        slice_(
            "b",
            device("g0", attributes={"model": {"string": "A"}}),
            device("g1", attributes={"model": {"string": "A"}}),
        ),
    ]
    simulated = simulation(objects)
    totals = DeviceTotals(simulated.cluster)
    found = {name: totals.of(GPU, info) for name, info in simulated.cluster.nodes.items()}
    assert found == {"a": (0, 0), "b": (2, 0)}
    assert totals.of("example.com/other", simulated.cluster.nodes["b"]) == (0, 0)


def test_node_fields_decide_where_devices_are():
    everywhere = slice_("a", "g0", "g1")
    everywhere["spec"] = {**everywhere["spec"], "allNodes": True}
    del everywhere["spec"]["nodeName"]
    chosen = slice_("b", "s0")
    chosen["spec"]["perDeviceNodeSelection"] = True
    del chosen["spec"]["nodeName"]
    picked = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["b"]}]}]}
    chosen["spec"]["devices"] = [{"name": "s0", "nodeSelector": picked}, {"name": "s1", "nodeName": "c"}]
    objects = [device_class(extendedResourceName=GPU), node("a"), node("b"), everywhere, chosen, pod("p", **WANTS)]
    document = plan(objects, config=strategy("LeastAllocated"), trace=True)
    fit = document["trace"]["attempts"][0]["score"]["NodeResourcesFit"]
    assert fit == {"a": 50, "b": 66}, "one of two on a, one of three on b"
