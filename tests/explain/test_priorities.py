"""What a pod with a priority may preempt where it has no room, and why it preempts nothing."""

from __future__ import annotations

from typing import Any

from dra_plan import Cluster
from tests.build import (
    Object,
    allocated,
    claim,
    device_class,
    node,
    pod,
    request,
    running,
    slice_,
)

from .test_remedies import changes, helps, told

HIGH: Any = {"cpu": "3", "priority": 1000}
POOLS = [node(name, cpu="4", labels={"pool": name}) for name in ("a", "b")]


def text(*objects: Object) -> str:
    return " ".join(str(Cluster.of(list(objects)).explain("pod/p")).split())


def test_pods_of_the_same_or_a_higher_priority() -> None:
    full = [running("w", "a", **HIGH), running("x", "b", cpu="3", priority=2000)]
    said = text(*POOLS, *full, pod("p", **HIGH))
    assert "Its priority of 1000 preempts nothing on 2 nodes (a, b): the lowest priority there is 1000." in said


def test_pods_of_a_lower_priority_that_are_too_small() -> None:
    there = [running("w", "a", **HIGH), running("x", "a", cpu="500m")]
    said = text(POOLS[0], *there, pod("p", **HIGH))
    assert "even without the pod of lower priority on a, it would not fit." in said


def test_without_a_priority_or_with_a_policy_nothing_is_told() -> None:
    full = running("w", "a", **HIGH)
    assert "priority" not in text(POOLS[0], full, pod("p", cpu="3"))
    assert "preempts nothing" not in text(POOLS[0], full, pod("p", **HIGH, preemptionPolicy="Never"))
    assert "preempts nothing" not in text(node("a", cpu="2"), pod("p", **HIGH))  # no other pod matters


def test_devices_are_never_preempted() -> None:
    held = [allocated("old", "a/gpu-0", pod="w"), running("w", "a", claims={"g": "old"})]
    objects = [node("a"), device_class(), slice_("a", "gpu-0"), *held, claim("c", request())]
    said = text(*objects, pod("p", claims={"g": "c"}, priority=1000))
    assert "Its priority of 1000 does not help: kube-scheduler preempts no pod for its devices." in said


def test_one_change_and_the_eviction_that_follows() -> None:
    there = [running("w", "a", cpu="3500m", priority=1000), running("x", "b", cpu="3500m")]
    objects = [*POOLS, *there, pod("p", **HIGH, nodeSelector={"pool": "a"})]
    verdict = told(objects, "pod/p")
    assert changes(verdict) == [["use-other-nodes"], ["add-node"], ["remove-pods"]]
    assert verdict["suggestions"][0]["evicts"] == ["default/x"]
    for suggestion in verdict["suggestions"]:
        helps(objects, "pod/p", suggestion)
    assert "pool=b instead of a (the pod then fits on b after evicting default/x)" in text(*objects)


def test_nodes_of_another_pool_are_only_offered_if_the_wanted_one_exists() -> None:
    objects = [*POOLS, running("w", "a", cpu="4"), pod("p", cpu="4", nodeSelector={"pool": "a"})]
    assert changes(told(objects, "pod/p")) == [["use-other-nodes"], ["add-node"], ["remove-pods"]]
    assert changes(told(objects[1:], "pod/p")) == [["drop-node-requirement"]]
    hardware = [node(name, labels={"kubernetes.io/arch": name}, cpu="4") for name in ("amd64", "arm64")]
    full = running("w", "amd64", cpu="4")
    wants = pod("p", cpu="4", nodeSelector={"kubernetes.io/arch": "amd64"})
    assert changes(told([*hardware, full, wants], "pod/p")) == [["add-node"], ["remove-pods"]]
