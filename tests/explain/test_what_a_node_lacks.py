"""What a node lacks for the claims: the driver of other nodes, numbers of its own, pools by name; and choices by -l."""

from __future__ import annotations

from dra_plan import Cluster
from tests.build import (
    Object,
    allocated,
    bare_pod,
    claim,
    device_class,
    node,
    owned_by,
    pod,
    request,
    running,
    slice_,
    taint,
    workload,
)


def text(objects: list[Object], owner: str = "pod/p") -> str:
    return " ".join(str(Cluster.of(objects).explain(owner)).split())


# -- drivers -----------------------------------------------------------------------------------------------------------


def two_nodes(**options: Object) -> list[Object]:
    """Node a has the wanted driver, whose device is in use; node b only has another one."""
    held = [allocated("old", "a/gpu-0", pod="w"), running("w", "a", claims={"g": "old"})]
    slices = [slice_("a", "gpu-0"), slice_("b-nic", "nic-0", driver="nic.example.com", nodeName="b")]
    nodes = [node("a"), node("b", **options)]
    return [*nodes, device_class(), *slices, *held, claim("c", request()), pod("p", claims={"g": "c"})]


def test_a_driver_that_publishes_for_other_nodes_only() -> None:
    said = text(two_nodes())
    assert "Driver gpu.example.com publishes no devices for this node, but it does for 1 other node." in said
    assert said.count("publishes no devices") == 1
    tainted = text(two_nodes(spec={"taints": [taint("x")]}))
    assert "publishes none here, but for 1 other node" in tainted


def test_a_driver_that_publishes_nowhere_or_here() -> None:
    nowhere = [each for each in two_nodes() if each.get("spec", {}).get("nodeName") != "a"]
    assert "publishes no devices for this node" not in text(nowhere)
    everywhere = [*two_nodes(), slice_("b", "gpu-0"), allocated("more", "b/gpu-0", pod="x")]
    assert "publishes no devices for this node" not in text(everywhere)


# -- numbers -----------------------------------------------------------------------------------------------------------


def test_the_number_of_free_devices_is_that_of_the_nodes_of_the_line() -> None:
    """With cpu short on b, its line is its own."""
    devices = [f"gpu-{at}" for at in range(4)]
    used = [("a", 1), ("b", 3), ("c", 2)]
    objects = [node("a"), node("b", cpu="1"), node("c"), device_class()]
    for name, count in used:
        held = [f"{name}/{device}" for device in devices[:count]]
        objects += [slice_(name, *devices), allocated(f"old-{name}", *held, pod=f"w-{name}")]
    said = text([*objects, claim("c", request(count=4)), pod("p", cpu="2", claims={"g": "c"})])
    assert "2 nodes: devices: r needs 4, 2 to 3 available a: 3 available" in said
    assert "b: cpu: needs 2, 1 of 1 free; devices: r needs 4, 1 available" in said


# -- choices -----------------------------------------------------------------------------------------------------------


def labelled(name: str, where: str = "") -> Object:
    made = running(name, where, labels={"app": "w"}) if where else pod(name, labels={"app": "w"}, cpu="9")
    return owned_by(made, "ReplicaSet", "w")


def chosen(objects: list[Object], **options: str) -> str:
    return str(Cluster.of(objects).explain(**options))


def test_pods_that_match_and_are_not_pending_are_counted() -> None:
    objects = [node("a"), labelled("w-1", "a"), labelled("w-2", "a")]
    assert "Nothing to explain: 2 pods match, and none is pending." in chosen(objects, selector="app=w")
    assert "Nothing to explain: the input has no pending claims" in chosen(objects, selector="app=x")


def test_a_pending_pod_counts_whatever_the_labels_of_its_workload() -> None:
    owner = workload("ReplicaSet", "w", pod(cpu="9"), replicas=2)
    objects = [node("a", cpu="4"), owner, labelled("w-1", "a"), labelled("w-2")]
    said = chosen(objects, selector="app=w")
    assert "replicaset/default/w: " in said
    assert "cpu: needs 9" in said
    assert "Nothing to explain" in chosen(objects, selector="app=x")


def test_devices_that_their_plugin_reports_as_unhealthy_are_not_left_out() -> None:
    sick = node("a", **{"nvidia.com/gpu": "7"})
    sick["status"]["capacity"] = {"nvidia.com/gpu": "8"}
    asks = bare_pod("p", containers=[{"name": "c", "resources": {"limits": {"nvidia.com/gpu": "8"}}}])
    said = " ".join(str(Cluster.of([sick, asks]).explain("pod/p")).split())
    assert "needs 8, 7 of 7 free (the node has 8; its device plugin reports 1 as unhealthy)" in said
    sick["status"]["capacity"] = {"nvidia.com/gpu": "7"}
    assert "unhealthy" not in str(Cluster.of([sick, asks]).explain("pod/p"))
