"""Situations in which a reader missed the cause or the next step, although no statement was false."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import Cluster
from tests.build import (
    Object,
    claim,
    device,
    device_class,
    generated,
    mounts,
    node,
    owned_by,
    pod,
    request,
    running,
    slice_,
    storage_class,
    taint,
    template,
    volume_claim,
    workload,
)

RESERVED = {"taints": [taint("nvidia.com/gpu", "present")]}


def text(objects: list[Object], owner: str = "pod/p", **options: Any) -> str:
    return str(Cluster.of(objects).explain(owner, **options))


def verdict(objects: list[Object], owner: str = "pod/p") -> Object:
    [found] = Cluster.of(objects).explain(owner).to_dict()["verdicts"]
    return found


def suggested(objects: list[Object]) -> list[list[str]]:
    found = Cluster.of(objects).explain("pod/p").to_dict()
    sets = [each["suggestions"] for each in (*found["verdicts"], *found["claimSets"]) if each.get("suggestions")]
    return [[change["code"] for change in each["changes"]] for each in (sets[0] if sets else [])]


@pytest.mark.parametrize("spec", [{}, RESERVED])
def test_a_driver_that_publishes_nothing_is_named(spec: Object) -> None:
    """Whether another reason keeps the pod off these nodes or not; and a driver that starts would help."""
    nics = [slice_(name, "eth-0", driver="dra.net") for name in "ab"]
    objects = [node(name, spec=spec) for name in "ab"]
    objects += [*nics, device_class(), template("one", request()), pod("p", templates={"gpu": "one"})]
    said = text(objects)
    assert said.count('No device on any node has driver "gpu.example.com"') == 1
    assert (
        'found: "dra.net" on 2 devices. Check that this driver runs on the nodes, and whether it was renamed.' in said
    )
    assert "Waiting will not help" not in said
    told = Cluster.of(objects).explain("pod/p").to_dict()
    absent = [*told["verdicts"][0].get("absent", []), *told["claimSets"][0]["absent"]]
    assert [each["wanted"] for each in absent] == ["gpu.example.com"]


def test_a_storage_class_that_does_not_exist_comes_with_those_that_do() -> None:
    classes = [storage_class(name, mode="Immediate") for name in ("gp2", "gp3")]
    objects = [node("a"), *classes, volume_claim("data", of="encrypted-fast"), pod("p", volumes=mounts("data"))]
    said = text(objects)
    assert (
        "StorageClass encrypted-fast does not exist. The input has gp2 and gp3. The class of a claim cannot be" in said
    )
    assert "warning" not in said
    assert Cluster.of(objects).explain("pod/p").document.warnings == []
    near = [*objects[:3], volume_claim("data", of="gp33"), objects[-1]]
    assert "Did you mean gp3?" in text(near)
    either = [node("a"), *(storage_class(name) for name in ("hdd", "ssd")), volume_claim("data", of="sdd"), objects[-1]]
    assert "The input has hdd and ssd." in text(either)  # as near as the other


def test_a_claim_that_only_a_volume_can_serve_still_warns() -> None:
    for made, of in ((storage_class("local", "kubernetes.io/no-provisioner"), "local"), (storage_class("x"), "")):
        objects = [node("a"), made, volume_claim("data", of=of or None), pod("p", volumes=mounts("data"))]
        codes = [each.code for each in Cluster.of(objects).explain("pod/p").document.warnings]
        assert codes == ["volumes-missing"], of


def test_a_tainted_device_is_not_the_first_suggestion() -> None:
    broken = device("gpu-1", taints=[taint("gpu.example.com/xid", "79")])
    objects = [node("a"), device_class(), slice_("a", device("gpu-0"), broken), template("two", request(count=2))]
    assert suggested([*objects, pod("p", templates={"gpu": "two"})]) == [["lower-count"], ["tolerate-taint"]]


def test_of_smaller_profiles_the_largest_is_suggested() -> None:
    profiles = ["1g.10gb", "1g.10gb", "2g.20gb", "7g.80gb"]
    devices = [device(f"mig-{at}", profile=profile) for at, profile in enumerate(profiles)]
    wanted = request("r", 'device.attributes["gpu.example.com"].profile == "3g.40gb"')
    objects = [node("a"), device_class(), slice_("a", *devices), claim("c", wanted), pod("p", claims={"gpu": "c"})]
    found = Cluster.of(objects).explain("pod/p").to_dict()["verdicts"][0]["suggestions"]
    [change] = next(each["changes"] for each in found if each["changes"][0]["code"] == "change-value")
    assert change["replacement"].endswith('== "2g.20gb"')


def test_a_profile_with_as_much_comes_before_smaller_ones() -> None:
    devices = [device(f"mig-{at}", profile=profile) for at, profile in enumerate(["1g.5gb", "2g.10gb", "3g.20gb"])]
    wanted = request("r", 'device.attributes["gpu.example.com"].profile == "2g.20gb"')
    objects = [node("a"), device_class(), slice_("a", *devices), claim("c", wanted), pod("p", claims={"gpu": "c"})]
    found = Cluster.of(objects).explain("pod/p").to_dict()["verdicts"][0]["suggestions"]
    [change] = next(each["changes"] for each in found if each["changes"][0]["code"] == "change-value")
    assert change["replacement"].endswith('== "3g.20gb"')


def test_a_pod_of_a_daemon_set_says_which_node_it_is_for() -> None:
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}
    only = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}
    objects = [node("a", cpu="1"), node("b"), pod("p", cpu="2", affinity=only)]
    assert "b: it may only run on node a" in text(objects)
    objects[-1] = owned_by(objects[-1], "DaemonSet", "agent")
    said = text(objects)
    assert "b: DaemonSet agent wants it on node a" in said
    assert "name=" not in said


def test_a_suspended_job_without_claims_says_what_its_pods_would_get() -> None:
    job = workload("Job", "j", pod("x", cpu="6"), suspend=True)
    assert "If it started now, no node could take one of its pods (0 of 1):" in text([node("a", cpu="4"), job], "job/j")
    assert "If it started now, one of its pods would be bound to a." in text([node("a", cpu="8"), job], "job/j")
    found = verdict([node("a", cpu="4"), job], "job/j")
    assert (found["verdict"], found["freed"]["verdict"]) == ("Suspended", "Unschedulable")


# -- `schedule` and `explain` agree on what is unknown -----------------------------------------------------------------


def outcome(objects: list[Object]) -> str:
    record = next(each for each in Cluster.of(objects).schedule() if each.name == "p")
    verdicts = Cluster.of(objects).explain("pod/p").to_dict()["verdicts"]
    assert verdicts[0]["scheduled"] == record.outcome
    assert (verdicts[0]["verdict"] == "Unknown") is (record.outcome == "Unknown")
    settled = next(each for each in Cluster.of(objects).schedule(settle=True) if each.name == "p")
    assert settled.outcome == record.outcome
    return record.outcome


AWAY = {"taints": [taint("dedicated", "ml")]}
WANTS: Object = {"templates": {"gpu": "one"}}


@pytest.mark.parametrize("lacks", ["classes", "slices"])
def test_what_missing_objects_could_not_change_is_certain_for_both(lacks: str) -> None:
    ground = [template("one", request()), *([slice_("a", "gpu-0")] if lacks == "classes" else [device_class()])]
    assert outcome([*ground, node("a"), pod("p", **WANTS)]) == "Unknown"
    assert outcome([*ground, node("a", spec=AWAY), pod("p", **WANTS)]) == "Unschedulable"
    assert outcome([*ground, node("a", spec=AWAY), node("b"), pod("p", **WANTS)]) == "Unknown"
    assert outcome([*ground, node("a", cpu="1"), pod("p", cpu="2", **WANTS)]) == "Unschedulable"


def test_a_pod_that_could_be_preempted_leaves_it_open() -> None:
    ground = [template("one", request()), device_class(), node("a", cpu="2"), running("old", "a", cpu="2", priority=1)]
    assert outcome([*ground, pod("p", cpu="2", priority=5, **WANTS)]) == "Unknown"
    assert outcome([*ground, pod("p", cpu="2", priority=1, **WANTS)]) == "Unschedulable"
    never = pod("p", cpu="2", priority=5, preemptionPolicy="Never", **WANTS)
    assert outcome([*ground, never]) == "Unschedulable"


def test_a_class_that_does_not_exist_is_certain_without_slices() -> None:
    ground = [node("a"), device_class("other.example.com"), template("one", request())]
    assert outcome([*ground, pod("p", **WANTS)]) == "Unschedulable"


def test_volumes_that_the_input_lacks_leave_it_open() -> None:
    wants = pod("p", cpu="2", volumes=mounts("data"))
    assert outcome([node("a"), wants]) == "Unknown"
    assert outcome([node("a", spec=AWAY), wants]) == "Unschedulable"
    assert outcome([node("a", cpu="1"), wants]) == "Unschedulable"
    assert outcome([node("a"), volume_claim("other"), wants]) == "Unschedulable"


def test_what_is_wrong_comes_before_a_toleration() -> None:
    """Of a device: what to find out, then what others hold, then the toleration. Of a node: to get it ready again."""
    broken = device("gpu-0", taints=[{**taint("gpu.example.com/xid", "79"), "timeAdded": "2026-11-26T20:00:00Z"}])
    held = generated("w", "gpu", "b", "gpu-0")
    objects = [node("a"), node("b"), device_class(), slice_("b", "gpu-0"), slice_("a", broken), template("one")]
    objects += [running("w", "b", "w-gpu-x7k2p", templates={"gpu": "one"}), held, pod("p", templates={"gpu": "one"})]
    assert suggested(objects) == [["add-node"], ["release-claim"], ["tolerate-taint"]]
    said = text(objects)
    assert "1. find out why gpu.example.com/a/gpu-0 has the taint gpu.example.com/xid=79:NoSchedule (since 2026" in said
    assert "20:00:00Z): when the taint is gone, the pod fits on a" in said
    key = "node.kubernetes.io/unreachable"
    nodes = [node("a", spec={"taints": [taint(key, ""), taint(key, "", effect="NoExecute")]}), node("b", cpu="1")]
    said = text([*nodes, pod("p", cpu="2")])
    assert f"1. find out why a has taint {key}, and get the node ready again (the pod then fits on a)" in said
    full = [taint(f"node.kubernetes.io/{name}-pressure") for name in ("disk", "pid")]
    said = text([node("a", spec={"taints": full}), pod("p")])
    assert "node.kubernetes.io/pid-pressure, and free space on its disk and end some of its processes (the" in said
    assert "It requests" not in said  # nothing is short


def test_the_agent_that_would_remove_a_taint_is_named() -> None:
    pulling = {"name": "agent", "state": {"waiting": {"reason": "ImagePullBackOff", "message": "429"}}}
    pods = [owned_by(running(f"{name}-x", "a"), "DaemonSet", name) for name in ("cilium", "logs")]
    for one in pods:
        one["status"] |= {"conditions": [{"type": "Ready", "status": "False"}], "containerStatuses": [pulling]}
        one["spec"]["containers"][0]["name"] = "agent"
    tainted = node("a", spec={"taints": [taint("node.cilium.io/agent-not-ready")]})
    said = text([tainted, *pods, pod("p")])
    assert "On a, container agent of pod default/cilium-x does not start (ImagePullBackOff: 429)." in said
    assert "logs-x" not in said
    pods[0]["status"] = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    assert "On a, " not in text([tainted, *pods, pod("p")])


def test_the_pod_of_a_driver_comes_before_waiting_for_its_slices() -> None:
    """Named with its state if it is in the input; otherwise with the command that shows it."""
    made = slice_("a", "gpu-0")
    made["spec"]["pool"]["resourceSliceCount"] = 2
    objects = [node("a"), device_class(), made, template("one"), pod("p", templates={"gpu": "one"})]
    assert "look at the driver's pod on a (kubectl get pods -A --field-selector spec.nodeName=a), and wait" in text(
        objects
    )
    plugin = owned_by(running("plugin-x", "a"), "DaemonSet", "plugin")
    plugin["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    assert "look at pod default/plugin-x of the driver on a (not ready), and wait" in text([*objects, plugin])


def test_a_missing_claim_is_told_once_with_the_name_that_was_meant() -> None:
    objects = [node("a"), storage_class("fast"), volume_claim("data-grafana", of="fast")]
    said = text([*objects, pod("p", volumes=mounts("grafana-data"))])
    assert said.count("grafana-data") == 1
    assert "PersistentVolumeClaim grafana-data does not exist. Did you mean data-grafana?" in said
