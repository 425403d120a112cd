"""A node without devices, and the pod of the driver that should publish them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

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
    taint,
    workload,
)

from .test_remedies import terms

PRESENT = {"gpu.present": "true"}
INSTANCE = "node.kubernetes.io/instance-type"
RUNS_THERE = "Driver gpu.example.com publishes devices for a, where DaemonSet default/driver runs."


def plugin(name: str, where: str, daemon_set: str = "driver", **status: Any) -> Object:
    made = owned_by(running(name, where), "DaemonSet", daemon_set)
    return {**made, "status": {**made["status"], **status}}


def cluster(*more: Object, b: Object | None = None, spec: Object | None = None) -> list[Object]:
    """The device of node a is in use; node b has none. The driver's DaemonSet runs on node a."""
    held = [allocated("old", "a/gpu-0", pod="w"), running("w", "a", claims={"g": "old"})]
    daemon_set = workload("DaemonSet", "driver", pod("x", **(spec or {})))
    own = [daemon_set, plugin("driver-a", "a"), claim("c", request()), pod("p", claims={"g": "c"})]
    return [node("a", labels=PRESENT), b or node("b"), device_class(), slice_("a", "gpu-0"), *held, *own, *more]


def text(objects: list[Object], owner: str = "pod/p") -> str:
    return " ".join(str(Cluster.of(objects).explain(owner)).split())


def crashing(reason: str, message: str, **more: Any) -> Object:
    conditions = [{"type": "Ready", "status": "False"}]
    container = {"name": "c", "state": {"waiting": {"reason": reason, "message": message}}, **more}
    return plugin("driver-b", "b", conditions=conditions, containerStatuses=[container])


def test_a_daemon_set_that_is_not_for_the_node() -> None:
    said = text(cluster(spec={"nodeSelector": PRESENT}))
    instead = "it is for nodes with gpu.present=true; the node has {} gpu.present"
    assert f"{RUNS_THERE} It does not run on b: {instead.format('no label')}. " in said
    other = text(cluster(b=node("b", labels={"gpu.present": "false"}), spec={"nodeSelector": PRESENT}))
    assert f"It does not run on b: {instead.format('')}=false. ".replace("  ", " ") in other


@pytest.mark.parametrize(
    ("kind", "wants", "is_told"),
    [
        ("large", {"nodeSelector": PRESENT}, True),
        ("small", {"nodeSelector": PRESENT}, False),
        ("", {"nodeSelector": PRESENT}, False),
        ("large", {"affinity": terms([["gpu.present", "Exists"]])}, False),
    ],
)
def test_a_node_that_should_have_devices_is_to_get_the_label(kind: str, wants: Object, is_told: bool) -> None:
    """It should if it is of the same instance type as one that has some, and the label has only one right value."""
    types = [{INSTANCE: each} if each else {} for each in ("large" if kind else "", kind)]
    [first, *others] = cluster(b=node("b", labels=types[1]), spec=wants)
    first["metadata"]["labels"] |= types[0]
    said = text([first, *others])
    assert ("It does not run on b: it is for nodes with gpu.present" in said) == (kind != "small")
    line = (
        "1. label node b gpu.present=true, as DaemonSet default/driver of the driver requires: what it then publishes"
    )
    assert (line in said) == is_told
    assert ("Changes that would make it fit (each but the first was tried):" in said) == is_told


def test_a_node_that_seems_to_have_no_such_devices_is_told_only_in_full() -> None:
    """It is of another instance type than a node with devices; a PCI label in common says that it has some."""
    pci = {"feature.node.kubernetes.io/pci-10de.present": "true"}
    for labels, is_told in (({}, False), (pci, True)):
        [first, *others] = cluster(b=node("b", labels={INSTANCE: "small"} | labels), spec={"nodeSelector": PRESENT})
        first["metadata"]["labels"] |= {INSTANCE: "large"} | pci
        found = Cluster.of([first, *others]).explain("pod/p")
        assert ("It does not run on b" in str(found)) == is_told
        [pods] = [one for each in found.to_dict()["claimSets"] for one in each["stories"] if one["nodes"] == ["b"]]
        assert [one.get("unlikely", False) for one in pods["driverPods"]] == [not is_told]


def test_a_daemon_set_with_terms_that_the_node_does_not_match() -> None:
    terms = [{"matchExpressions": [{"key": key, "operator": "Exists"}]} for key in ("pci.one", "pci.two")]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    said = text(cluster(spec={"affinity": {"nodeAffinity": required}}))
    assert "It does not run on b: it is for nodes with pci.one or pci.two; " in said
    assert "; the node has no label pci.one and no label pci.two. " in said


def test_a_daemon_set_that_does_not_tolerate_a_taint() -> None:
    tainted = node("b", spec={"taints": [taint("new", "yes")]})
    objects = [one for one in cluster(b=tainted) if one["metadata"]["name"] != "p"]
    tolerating = pod("p", claims={"g": "c"}, tolerations=[{"operator": "Exists"}])
    said = text([*objects, tolerating])
    assert "It does not run on b: it does not tolerate taint new=yes:NoSchedule." in said


def test_a_pod_that_crashes() -> None:
    last = {"terminated": {"exitCode": 1, "reason": "Error", "message": "NVML: driver not loaded\n"}}
    said = text(cluster(crashing("CrashLoopBackOff", "back-off 5m0s restarting failed container", lastState=last)))
    assert (
        "Its pod default/driver-b on b is not ready: CrashLoopBackOff (its last run ended with exit code 1: NVML: "
        "driver not loaded)."
    ) in said
    assert "back-off" not in said


def test_a_pod_whose_image_cannot_be_pulled() -> None:
    said = text(cluster(crashing("ImagePullBackOff", "Back-off pulling image x: not found")))
    assert "Its pod default/driver-b on b is not ready: ImagePullBackOff (Back-off pulling image x: not found)." in said


def test_a_pod_without_a_node() -> None:
    pinned = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["b"]}]}]
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": pinned}}}
    waiting = owned_by(pod("driver-b", cpu="99", affinity=affinity), "DaemonSet", "driver")
    conditions = [
        {"type": "PodScheduled", "status": "False", "message": "0/2 nodes are available: 1 Insufficient cpu."}
    ]
    waiting["status"] = {"phase": "Pending", "conditions": conditions}
    said = text(cluster(waiting))
    assert "Its pod default/driver-b for b is Pending (0/2 nodes are available: 1 Insufficient cpu)." in said


def test_no_pod_for_no_known_reason() -> None:
    assert f"{RUNS_THERE} It has no pod on b." in text(cluster())


def test_daemon_sets_that_run_on_the_node_are_not_named() -> None:
    assert "DaemonSet" not in text(cluster(plugin("driver-b", "b")))
    logs = [plugin("logs-a", "a", "logs"), plugin("logs-b", "b", "logs")]
    assert "logs" not in text(cluster(*logs))


def test_daemon_sets_that_do_not_run_wherever_devices_are() -> None:
    busy = [slice_("d", "gpu-0"), allocated("more", "d/gpu-0", pod="x"), node("d", labels=PRESENT)]
    assert "DaemonSet" not in text(cluster(*busy))
    assert "publishes devices for a and 1 more node, where" in text(cluster(*busy, plugin("driver-d", "d")))


def test_plugins_of_the_kubelet_come_before_other_daemon_sets() -> None:
    mounted = plugin("plugin-a", "a", "plugin")
    mounted["spec"]["volumes"] = [{"name": "p", "hostPath": {"path": "/var/lib/kubelet/plugins_registry"}}]
    said = text(cluster(mounted))
    assert "default/plugin runs" in said
    assert "default/driver" not in said


def named(driver: str, *daemon_sets: str, image: str = "i", more: Sequence[Object] = ()) -> str:
    """The text for a request for this driver, whose device is in use; each DaemonSet has a pod on node a only."""
    wanted = device_class("c", f'device.driver == "{driver}"')
    held = [allocated("old", "a/x-0", pod="w", driver=driver), running("w", "a", claims={"g": "old"})]
    made = [plugin(f"{name}-a", "a", name) for name in daemon_sets]
    for each in made:
        each["spec"]["containers"] = [{"name": "c", "image": image}]
    objects = [node("a"), node("b"), wanted, slice_("a", "x-0", driver=driver), *held, *made]
    return text([*objects, *more, claim("new", request(of="c")), pod("p", claims={"g": "new"})])


@pytest.mark.parametrize(
    ("driver", "own", "other"),
    [
        ("dra.net", "dranet", "nvidia-dra-driver-gpu"),
        ("gpu.nvidia.com", "nvidia-dra-driver-gpu", "dranet"),
        ("gpu.intel.com", "intel-gpu-resource-driver", "amd-gpu-driver"),
    ],
)
def test_of_several_daemon_sets_the_one_that_is_named_like_the_driver(driver: str, own: str, other: str) -> None:
    """An image of another vendor's registry says less than a name."""
    for order in ((own, other), (other, own)):
        said = named(driver, *order, image="registry/nvidia/x")
        assert f"where DaemonSet default/{own} runs. It has no pod on b." in said
        assert f"DaemonSet default/{other}" not in said


def test_a_daemon_set_of_another_driver_is_not_named() -> None:
    """NVIDIA's DaemonSet runs wherever the network driver has devices, but only a nameless one could be its own."""
    both = [plugin("nvidia-a", "a", "nvidia-dra-driver-gpu"), slice_("a", "gpu-0", driver="gpu.nvidia.com")]
    assert "DaemonSet" not in named("dra.net", more=both)
    assert "where DaemonSet default/odd runs" in named("dra.net", "odd", more=both)


def test_a_directory_of_plugins_outweighs_a_name() -> None:
    mounted = plugin("odd-a", "a", "odd")
    mounted["spec"]["volumes"] = [{"name": "p", "hostPath": {"path": "/var/lib/kubelet/plugins/gpu.example.com"}}]
    other = plugin("plugin-a", "a", "example")
    other["spec"]["volumes"] = [{"name": "p", "hostPath": {"path": "/var/lib/kubelet/plugins"}}]
    said = text(cluster(mounted, other))
    assert "default/odd runs" in said
    assert "default/example" not in said


def test_the_line_of_a_node_names_the_driver_whose_pod_is_not_ready() -> None:
    said = text(cluster(crashing("CrashLoopBackOff", "back-off")))
    assert "b: devices: no devices; the pod of driver gpu.example.com on it, default/driver-b (CrashLoop" in said


def test_a_driver_that_a_node_lacks_is_not_told_if_something_else_keeps_the_pod_off() -> None:
    small = node("b", cpu="1")
    objects = [one for one in cluster(b=small) if one["metadata"]["name"] != "p"]
    objects += [pod("p", cpu="4", claims={"g": "c"})]
    assert "DaemonSet" not in text(objects)
    fault = crashing("CrashLoopBackOff", "back-off")
    assert "Its pod default/driver-b on b is not ready" in text([*objects, fault])


@pytest.mark.parametrize("driver", ["other.example.com", "gpu.example.com"])
def test_only_drivers_that_the_claim_wants(driver: str) -> None:
    """The DaemonSet on node d publishes devices that the claim does not want, or has nothing to do with them."""
    other = [node("d"), slice_("d", "nic-0", driver=driver), plugin("nics-d", "d", "nics")]
    objects = [one for one in cluster(*other) if one["metadata"]["name"] not in ("driver", "driver-a")]
    said = text([*objects, allocated("more", "d/nic-0", pod="x", driver=driver)])
    assert "DaemonSet" not in said


# -- drivers without any devices ---------------------------------------------------------------------------------------


def test_a_driver_that_publishes_nothing_and_a_pod_that_is_not_ready() -> None:
    crashed = crashing("CrashLoopBackOff", "back-off", lastState={"terminated": {"exitCode": 1}})
    wanted = device_class("gpu.example.com", driver="gpu.example.com")
    objects = [node("b"), wanted, crashed, claim("c", request()), pod("p", claims={"g": "c"})]
    told = (
        "Pods of DaemonSets that are not ready: default/driver-b on b (CrashLoopBackOff: its last run ended with exit "
        "code 1)."
    )
    assert told in text(objects)
    assert told in text([*objects, slice_("b", "nic-0", driver="nic.example.com")])
    assert "DaemonSets" not in text([*objects, slice_("b", "gpu-0")])
    ready = plugin("driver-b", "b")
    assert "DaemonSets" not in text([ready, *[one for one in objects if one is not crashed]])


# -- pods to repair ----------------------------------------------------------------------------------------------------


def repairs(objects: list[Object]) -> list[tuple[str, str]]:
    [verdict] = Cluster.of(objects).explain("pod/p").to_dict()["verdicts"]
    return [(each["pod"], each["state"]) for each in verdict.get("repairs", [])]


def test_a_broken_pod_of_the_driver_is_repaired_before_a_claim_is_released() -> None:
    broken = crashing("CrashLoopBackOff", "back-off", lastState={"terminated": {"exitCode": 1}})
    objects = cluster(broken)
    assert repairs(objects) == [("default/driver-b", "fault")]
    said = text(objects)
    assert (
        "Changes that would make it fit (each but the first was tried): 1. look at pod default/driver-b of the driver "
        "on b (CrashLoopBackOff: its last run ended with exit code 1): what it then publishes there is not known, so "
        "this cannot be tried 2. add a node like a (the pod then fits on a-new-1) 3. release claim default/old"
    ) in said


def test_pods_that_are_not_to_be_repaired() -> None:
    """A ready one; one on a node that could not take the pod with devices either."""
    broken = crashing("CrashLoopBackOff", "back-off")
    assert repairs(cluster(plugin("driver-b", "b"))) == []
    assert repairs(cluster(broken, b=node("b", spec={"taints": [taint("team", "x")]}))) == []


@pytest.mark.parametrize("devices", [1, 2])
def test_a_pool_that_is_not_complete(devices: int) -> None:
    """If its present slices are enough, that is tried; otherwise the pod is to be repaired all the same."""
    part = slice_("b", *(f"gpu-{at}" for at in range(devices)), of=2)
    objects = [one for one in cluster(part, crashing("CrashLoopBackOff", "x")) if one["metadata"]["name"] != "c"]
    objects.append(claim("c", request(count=2)))
    assert repairs(objects) == ([("default/driver-b", "fault")] if devices == 1 else [])
    assert "look at pod default/driver-b of the driver on b (CrashLoopBackOff: x)" in text(objects)
