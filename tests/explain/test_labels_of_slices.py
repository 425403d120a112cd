"""Slices that select nodes by a label: near values, labels that must stay, and devices of the same workload."""

from __future__ import annotations

from typing import Any

from dra_plan import Cluster
from tests.build import (
    Object,
    allocated,
    claim,
    device_class,
    node,
    owned_by,
    pod,
    request,
    running,
    slice_,
    workload,
)

from .test_remedies import changes, helps, told

KEY = "example.com/chassis"


def pool(name: str, value: str) -> Object:
    made = slice_(name, "dev-0")
    del made["spec"]["nodeName"]
    term = {"matchExpressions": [{"key": KEY, "operator": "In", "values": [value]}]}
    made["spec"]["nodeSelector"] = {"nodeSelectorTerms": [term]}
    return made


def world(**labels: str) -> list[Object]:
    """Node a with the pool of ch1, in use; node b with another value."""
    nodes = [node(name, labels={KEY: value}) for name, value in labels.items()]
    held = [allocated("old", "ch1/dev-0", pod="w"), running("w", "a", claims={"m": "old"})]
    slices = [pool("ch1", "ch1"), pool("ch2", "CH2")]
    return [*nodes, device_class(), *slices, *held, claim("c", request()), pod("p", claims={"m": "c"})]


def text(objects: list[Object]) -> str:
    return " ".join(str(Cluster.of(objects).explain("pod/p")).split())


def test_a_value_in_another_case_is_named_and_the_right_node_is_labelled() -> None:
    objects = world(a="ch1", b="ch2")
    assert f"(pool ch2) is for nodes with {KEY}=CH2; this node has {KEY}=ch2." in text(objects)
    labelled = [each for each in told(objects, "pod/p")["suggestions"] if each["changes"][0]["code"] == "label-node"]
    assert [each["node"] for each in labelled] == ["b"]
    helps(objects, "pod/p", labelled[0])


def test_a_label_with_which_a_node_reaches_devices_is_never_changed() -> None:
    assert ["label-node"] not in changes(told(world(a="ch1"), "pod/p"))
    assert "this node has" not in text(world(a="ch1", b="ch3"))  # another number is another thing


def test_a_label_that_a_pod_of_the_node_selects_is_never_changed() -> None:
    objects = world(a="ch1", b="ch2")
    chosen: Any = {"nodeSelector": {KEY: "ch2"}}
    assert ["label-node"] not in changes(told([*objects, running("x", "b", **chosen)], "pod/p"))


def test_devices_of_pods_of_the_same_workload_are_not_taken_from_them() -> None:
    """Their controller would make them again."""
    owner = workload("StatefulSet", "neo", pod(), replicas=2)
    objects = world(a="ch1")
    mine = [owned_by(each, "StatefulSet", "neo") if each["kind"] == "Pod" else each for each in objects]
    verdict = told([*mine, owner], "pod/p")
    assert changes(verdict) == []
    assert verdict["heldBySiblings"] == ["default/w"]
    assert "in use by pods of the same workload (default/w), which its controller would recreate." in text(
        [*mine, owner]
    )
    assert changes(told(objects, "pod/p")) == [["release-claim"]]
