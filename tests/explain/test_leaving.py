"""Pods that are being deleted: without them, the pod fits; those on a node that does not report never end."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import Cluster
from tests.build import Object, allocated, claim, device_class, node, pod, request, running, slice_, taint
from tests.explain.apply import applied

AWAITED = (
    "wait until pod default/w on a, which is being deleted (grace period until 2026-11-26T00:00:00Z), is gone "
    "(the pod then fits on a)"
)
FORCED = "delete pod default/w with --force, if node b is off: the node does not report, so it cannot end by itself"


def leaving(name: str, where: str, **options: Any) -> Object:
    made = running(name, where, **options)
    return {**made, "metadata": {**made["metadata"], "deletionTimestamp": "2026-11-26T00:00:00Z"}}


def silent(name: str) -> Object:
    return node(name, spec={"taints": [taint("node.kubernetes.io/unreachable", effect="NoExecute")]})


def text(objects: list[Object]) -> str:
    return " ".join(str(Cluster.of(objects).explain("pod/p")).split())


def holding(made: Object) -> list[Object]:
    """The only device of node a is held for this pod."""
    held = allocated("old", "a/gpu-0", pod=made["metadata"]["name"])
    wanted = [claim("c", request()), pod("p", claims={"g": "c"})]
    return [node("a"), device_class(), slice_("a", "gpu-0"), held, made, *wanted]


def test_a_device_that_a_leaving_pod_holds() -> None:
    assert AWAITED in text(holding(leaving("w", "a", claims={"g": "old"})))
    assert "wait until" not in text(holding(running("w", "a", claims={"g": "old"})))


def test_room_that_a_leaving_pod_takes() -> None:
    assert AWAITED in text([node("a", cpu="4"), leaving("w", "a", cpu="3"), pod("p", cpu="3")])
    staying = running("x", "a", cpu="3")
    assert "wait until" not in text([node("a", cpu="4"), leaving("w", "a", cpu="1"), staying, pod("p", cpu="3")])


def test_a_shared_claim_on_a_node_that_does_not_report() -> None:
    shared = allocated("c", "b/gpu-0", pod="w", on="b")
    devices = [device_class(), slice_("a", "gpu-0"), slice_("b", "gpu-0")]
    objects = [node("a"), silent("b"), *devices, shared, leaving("w", "b", claims={"g": "c"})]
    said = text([*objects, pod("p", claims={"g": "c"})])
    assert f"{FORCED} (the pod then fits on a)" in said
    assert "wait until" not in said


def test_pods_that_are_in_no_way_are_not_named() -> None:
    """Neither a node that the pod must not use, nor pods without devices where only devices lack."""
    tainted = node("a", spec={"taints": [taint("x")]})
    assert "being deleted" not in text([tainted, leaving("w", "a", cpu="3"), pod("p", cpu="3")])
    other = [running("u", "a", claims={"g": "old"}), leaving("w", "a")]
    assert "being deleted" not in text([*holding(other[0]), other[1]])


@pytest.mark.parametrize("finalizers", [None, ["example.com/log"]])
def test_a_pod_that_should_have_ended_long_ago(finalizers: list[str] | None) -> None:
    """The node has reported since: waiting is no advice, and the release of the pod's claim is no other one."""
    made = leaving("w", "a", claims={"g": "old"})
    made["metadata"]["finalizers"] = finalizers
    objects = holding(made)
    for minute, stuck in ((0, False), (20, True)):
        heartbeat = {"type": "Ready", "status": "True", "lastHeartbeatTime": f"2026-11-26T00:{minute:02}:30Z"}
        objects[0]["status"]["conditions"] = [heartbeat]
        said = text(objects)
        ended = (
            "find out why pod default/w on a, which is being deleted, still exists: its grace period ended at "
            "2026-11-26T00:00:00Z; "
        )
        look = "remove its finalizers (example.com/log)" if finalizers else "look at the kubelet of a"
        assert (f"{ended}{look} (the pod then fits on a)" in said, AWAITED in said) == (stuck, not stuck)
        assert "release claim" not in said


@pytest.mark.parametrize("where", ["device", "room"])
def test_what_is_suggested_is_true(where: str) -> None:
    objects = [node("a", cpu="4"), leaving("w", "a", cpu="3"), pod("p", cpu="3")]
    objects = holding(leaving("w", "a", claims={"g": "old"})) if where == "device" else objects
    [verdict] = Cluster.of(objects).explain("pod/p").to_dict()["verdicts"]
    [tried] = [one for one in verdict["suggestions"] if one["changes"][0]["code"] == "await-pods"]
    assert [one["object"]["name"] for one in tried["patches"]] == ["w"]
    assert Cluster.of(applied(objects, tried["changes"])).explain("pod/p").verdict == "WouldBind"
