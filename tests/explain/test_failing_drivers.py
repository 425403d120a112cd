"""Pods of a driver that fail on the node to which a suggestion or a verdict sends the pod, and why it was cordoned."""

from __future__ import annotations

import pytest

from dra_plan import Cluster
from tests.build import Object, allocated, device, device_class, node, owned, placed, pod, request, slice_, template

NVIDIA = "gpu.nvidia.com"
UPGRADE = "nvidia.com/gpu-driver-upgrade-state"


def failing(name: str, where: str, *, reason: str = "CrashLoopBackOff", namespace: str = "gpu-operator") -> Object:
    """A DaemonSet's pod whose container does not start."""
    made = placed(name, where, namespace=namespace, metadata=owned("DaemonSet", name))
    waiting = {"reason": reason, "message": "back-off"}
    died = {"terminated": {"exitCode": 1, "message": "in use"}}
    status = {"name": "c", "ready": False, "state": {"waiting": waiting}, "lastState": died}
    unready = {"conditions": [{"type": "Ready", "status": "False"}], "containerStatuses": [status]}
    return {**made, "status": {**made["status"], **unready}}


def cluster(*more: Object, state: str = "upgrade-failed", cordoned: bool = True) -> list[Object]:
    """Node a, whose GPU fits, node b, whose GPU is in use, and a pod."""
    spec = {"unschedulable": True} if cordoned else {}
    nodes = [node("a", labels={UPGRADE: state}, spec=spec), node("b"), node("c")]
    slices = [slice_(name, device("gpu-0"), driver=NVIDIA, nodeName=name) for name in ("a", "b")]
    of_class = device_class("gpu", f'device.driver == "{NVIDIA}"')
    used = allocated("used", "b/gpu-0", pod="u", driver=NVIDIA)
    asked = template("t", request("gpu", of="gpu"))
    return [*nodes, *slices, of_class, asked, used, pod("p", templates={"gpu": "t"}), *more]


def said(objects: list[Object]) -> str:
    return " ".join(str(Cluster.of(objects).explain("pod/p")).split())


def test_why_a_node_was_cordoned_is_found_out_first() -> None:
    """The node with devices that fit comes before the one whose device is in use, and before one without devices."""
    text = said(cluster(failing("nvidia-driver", "a")))
    order = ["a: devices fit; cordoned", "b: devices:", "c: devices: no devices"]
    assert sorted(order, key=text.index) == order
    why = "pod gpu-operator/nvidia-driver on it does not start: CrashLoopBackOff: its last run ended with exit code 1"
    assert f"1. find out why a was cordoned ({UPGRADE}=upgrade-failed; {why}: in use), and uncordon it (" in text
    assert f"1. find out why a was cordoned ({UPGRADE}=drain-required), and uncordon" in said(
        cluster(state="drain-required")
    )
    assert "1. uncordon a (the pod then fits on a)" in said(cluster(state="upgrade-done"))


@pytest.mark.parametrize(
    ("pods", "is_named"),
    [
        ([failing("nvidia-driver", "a")], True),
        ([failing("x", "a", namespace="nvidia-gpu-operator", reason="ImagePullBackOff")], True),
        ([failing("nvidia-driver", "a", reason="ContainerCreating")], False),
        ([failing("nvidia-driver", "b")], False),
        ([failing("fluent-bit", "a")], False),
    ],
)
def test_a_verdict_names_the_pod_of_the_driver_that_fails(pods: list[Object], *, is_named: bool) -> None:
    """Pods of others, on other nodes, or that may still start say nothing about the devices."""
    text = said(cluster(*pods, cordoned=False))
    assert "pod/default/p would be bound to a now." in text
    assert ("Find out first why pod" in text) == is_named
