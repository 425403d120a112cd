"""Pods with a place that do not start: conditions of devices, and volumes that a pod on another node uses."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import Cluster
from tests.build import (
    Object,
    allocated,
    device,
    device_class,
    mounts,
    node,
    pod,
    running,
    slice_,
    taint,
    volume_claim,
)

ATTACHED, FAILED = "example.com/attached", "example.com/failed"
CONDITIONS: Any = {"bindingConditions": [ATTACHED], "bindingFailureConditions": [FAILED]}


def text(*objects: Object) -> str:
    return " ".join(str(Cluster.of(list(objects)).explain("pod/p")).split())


def waiting(*conditions: Object) -> list[Object]:
    """A pod whose claim has a device of node a that waits for a condition."""
    held = allocated("c", "a/gpu-0", pod="p", on="a", **CONDITIONS)
    report = {"driver": "gpu.example.com", "pool": "a", "device": "gpu-0", "conditions": list(conditions)}
    held["status"]["devices"] = [report]
    offered = slice_("a", device("gpu-0", bindsToNode=True, **CONDITIONS))
    return [node("a"), node("b"), device_class(), offered, held, pod("p", claims={"gpu": "c"})]


def condition(kind: str, status: str) -> Object:
    time = "2026-11-25T00:00:00Z"
    return {"type": kind, "status": status, "reason": "Port", "message": "did not train", "lastTransitionTime": time}


def test_a_condition_that_is_false_or_not_reported() -> None:
    said = text(*waiting(condition(ATTACHED, "False")))
    assert "Device gpu.example.com/a/gpu-0 (claim c) waits for condition example.com/attached" in said
    assert "which is False now (Port: did not train)." in said
    assert "would fit on" not in said
    assert "which has not been reported." in text(*waiting())


def test_a_failure_that_the_driver_reports() -> None:
    said = text(*waiting(condition(FAILED, "True")))
    assert "its devices have failed" in said
    assert "reports example.com/failed (Port: did not train)." in said
    assert "waits for condition" not in said


def test_a_claim_that_is_pinned_to_another_node_is_not_out_of_reach() -> None:
    assert "a/gpu-0; this node cannot use this device." in text(*waiting())


# -- volumes -----------------------------------------------------------------------------------------------------------


def starting(*others: Object, gone: bool = False, **options: Any) -> str:
    shape = pod("p", volumes=mounts("data"), nodeName="a")
    shape["status"] = {"phase": "Pending"}
    lost = {"taints": [taint("node.kubernetes.io/unreachable", effect="NoExecute")]} if gone else {}
    claim = volume_claim("data", bound="pv", **options)
    return text(node("a"), node("b", spec=lost), claim, shape, *others)


OLD = running("old", "b", volumes=mounts("data"))


def test_a_volume_that_a_pod_on_another_node_uses() -> None:
    said = starting(OLD)
    assert "Its volume claim data is for one node at a time, and pod old on b uses it, too." in said
    assert "does not report" not in said
    assert "Node b does not report, so the pod cannot end by itself." in starting(OLD, gone=True)


@pytest.mark.parametrize("mode", ["ReadWriteMany", "ReadOnlyMany"])
def test_a_volume_for_many_nodes(mode: str) -> None:
    assert "one node at a time" not in starting(OLD, spec={"accessModes": [mode]})


def test_pods_that_do_not_matter() -> None:
    here, ended = running("old", "a", volumes=mounts("data")), running("old", "b", volumes=mounts("data"))
    ended["status"] = {"phase": "Succeeded"}
    for other in (here, ended, running("old", "b", volumes=mounts("other"))):
        assert "one node at a time" not in starting(other)
