"""Which change comes first: the one that its doer, and everybody else, will hardly notice."""

from __future__ import annotations

import pytest

from dra_plan import Cluster
from tests.build import (
    Object,
    allocated,
    claim,
    device,
    device_class,
    gpus,
    node,
    pod,
    request,
    running,
    slice_,
    taint,
    taint_rule,
    template,
)

from .apply import applied
from .json_patch import patched
from .test_remedies import changes, told

MEMORY = 'device.capacity["gpu.example.com"].memory.compareTo(quantity("{}")) >= 0'


def held(name: str, *devices: str) -> list[Object]:
    return [allocated(name, *devices, pod=f"of-{name}"), running(f"of-{name}", "a", claims={"g": name})]


def text(objects: list[Object]) -> str:
    return " ".join(str(Cluster.of(objects).explain("pod/p")).split())


@pytest.mark.parametrize(("has", "at"), [("81559Mi", 0), ("60Gi", 0), ("30Gi", 2)])
def test_devices_with_half_of_the_amount_come_before_those_that_others_have(has: str, at: int) -> None:
    devices = [device("gpu-0", capacity={"memory": "80Gi"}), device("gpu-1", capacity={"memory": has})]
    objects = [node("a"), device_class(), slice_("a", *devices), *held("x", "a/gpu-0")]
    asking = [template("t", request("g", MEMORY.format("80Gi"))), pod("p", templates={"g": "t"})]
    assert [one for [one] in changes(told([*objects, *asking], "pod/p"))].index("change-value") == at


def test_claims_that_no_pod_uses_come_first_and_then_those_that_hold_least() -> None:
    """Of two with as many devices the one with less memory; those like the pod's own claim come last."""
    devices = [device(f"gpu-{at}", capacity={"memory": size}) for at, size in enumerate(("8Gi", "2Gi", "4Gi", "4Gi"))]
    wanted = request("g", 'device.capacity["gpu.example.com"].memory.isGreaterThan(quantity("1Gi"))')
    alike = allocated("alike", "a/gpu-1", pod="of-alike")
    alike["spec"] = template("t", wanted)["spec"]["spec"]
    objects = [node("a"), device_class(), slice_("a", *devices), allocated("unused", "a/gpu-3")]
    objects += [
        *held("large", "a/gpu-0"),
        *held("small", "a/gpu-2"),
        alike,
        running("of-alike", "a", claims={"g": "alike"}),
    ]
    verdict = told([*objects, template("t", wanted), pod("p", templates={"g": "t"})], "pod/p")
    every = [one["changes"][0] for one in verdict["suggestions"]]
    released = [one["release"]["name"] for one in every if one["code"] == "release-claim"]
    assert released == ["unused", "small", "large", "alike"]
    said = text([*objects, template("t", wanted), pod("p", templates={"g": "t"})])
    assert "1. release claim default/unused, which no pod uses (the pod then fits on a)" in said
    assert "release any one of these 3 claims: default/small" in said


def test_all_means_all() -> None:
    all_of_them = request("g", allocationMode="All")
    objects = [*gpus("a", each=4), *held("x", "a/gpu-0"), template("t", all_of_them), pod("p", templates={"g": "t"})]
    assert changes(told(objects, "pod/p")) == [["count-instead-of-all"], ["add-node"], ["release-claim"]]
    assert "1. ask for 3 devices instead of all 4 in request g of template t" in text(objects)
    few = [*held("y", "a/gpu-1"), *held("z", "a/gpu-2")]
    assert changes(told([*objects, *few], "pod/p"))[-1] == ["count-instead-of-all"]  # hardly anything is left of all


def test_a_node_is_not_declared_to_be_elsewhere() -> None:
    rack = {"matchExpressions": [{"key": "rack", "operator": "In", "values": ["east-1"]}]}
    shared = slice_("pool", "gpu-0", nodeSelector={"nodeSelectorTerms": [rack]})
    for labels, found in (({}, [["label-node"]]), ({"rack": "west-7"}, []), ({"rack": "East-1"}, [["label-node"]])):
        objects = [node("b", labels=labels), device_class(), shared, template("t", request("g"))]
        assert changes(told([*objects, pod("p", templates={"g": "t"})], "pod/p")) == found


def test_all_devices_with_a_taint_are_named_and_how_many_of_them_are_needed() -> None:
    broken = [device(f"gpu-{at}", taints=[taint("xid", "79")]) for at in range(2, 7)]
    objects = [node("a"), device_class(), slice_("a", "gpu-0", "gpu-1", *broken), pod("p", templates={"g": "t"})]
    for count, said in ((3, "; it needs one of them"), (5, "; it needs at least 3 of them"), (7, "")):
        shown = text([*objects, template("t", request("g", count=count))])
        assert "find out why gpu.example.com/a: gpu-2..gpu-6 (5) have the taint xid=79:NoSchedule: when" in shown
        assert f"when the taint is gone, the pod fits on a{said} " in shown


@pytest.mark.parametrize("named", [True, False], ids=["the device", "another device"])
def test_a_rule_that_taints_devices_is_deleted_before_its_taint_is_tolerated(named: bool) -> None:
    rule = taint_rule(
        "recall", taint("fw", "old"), driver="gpu.example.com", pool="a", device="gpu-0" if named else "x"
    )
    objects = [
        node("a"),
        device_class(),
        slice_("a", "gpu-0"),
        rule,
        claim("c", request("g")),
        pod("p", claims={"g": "c"}),
    ]
    cluster = Cluster.of(objects, feature_gates={"DRADeviceTaintRules": True})
    [verdict] = cluster.explain("pod/p").to_dict()["verdicts"]
    assert changes(verdict) == ([["delete-taint-rule"], ["add-node"], ["tolerate-taint"]] if named else [])
    if not named:
        return
    first = verdict["suggestions"][0]
    for after in (applied(objects, first["changes"]), patched(objects, first["patches"])):
        [then] = Cluster.of(after, feature_gates={"DRADeviceTaintRules": True}).explain("pod/p").to_dict()["verdicts"]
        assert (then["verdict"], then["nodeName"]) == ("WouldBind", first["node"])
    assert "delete devicetaintrule/recall, which sets the taint fw=old:NoSchedule" in str(cluster.explain("pod/p"))
    assert "find out why" not in str(cluster.explain("pod/p"))
