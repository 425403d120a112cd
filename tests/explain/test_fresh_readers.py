"""Situations that readers typed who had not seen the tool: causes, and next steps that nobody should regret."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dra_plan import Cluster
from dra_plan.claims.sets import Owner
from dra_plan.questions.explain.acceptance import is_accepted
from tests.build import (
    GPU,
    Object,
    allocated,
    claim,
    device,
    device_class,
    gpus,
    node,
    owned,
    pod,
    priority_class,
    request,
    running,
    slice_,
    taint,
    template,
)
from tests.cli.running import in_process


def text(objects: list[Object], owner: str = "pod/p", **options: Any) -> str:
    return str(Cluster.of(objects).explain(owner, **options))


def suggested(objects: list[Object]) -> list[list[str]]:
    [found] = Cluster.of(objects).explain("pod/p").to_dict()["verdicts"]
    return [[change["code"] for change in each["changes"]] for each in found.get("suggestions", [])]


LEAVING = {
    "node.cilium.io/agent-not-ready": "an agent on the node is not ready; it removes the taint when it is",
    "ToBeDeletedByClusterAutoscaler": "the Cluster Autoscaler is deleting this node",
    "karpenter.sh/disrupted": "Karpenter is removing this node",
    "node.kubernetes.io/unreachable": "its kubelet no longer reports to the API server",
    "node.kubernetes.io/disk-pressure": "its disk is nearly full",
    "node.cloudprovider.kubernetes.io/shutdown": "the machine is shut down",
}


@pytest.mark.parametrize("key", LEAVING)
def test_nobody_is_told_to_tolerate_a_node_that_leaves(key: str) -> None:
    default = {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    objects = [node("a", spec={"taints": [taint(key, "1795600000")]}), pod("p", tolerations=[default])]
    leaves = key.startswith(("ToBeDeleted", "karpenter"))
    assert suggested(objects) == ([] if leaves else [["await-node"]])
    assert f"a: taint {key}=1795600000:NoSchedule ({LEAVING[key]})\n" in text(objects)


def test_a_priority_below_all_others_is_named() -> None:
    full = [node("a", cpu="4"), running("w", "a", cpu="3"), priority_class("low", -10)]
    assert "Its priority is -10" in text([*full, pod("p", cpu="2", priorityClassName="low")])
    assert "priority" not in text([*full, pod("p", cpu="2")])


@pytest.mark.parametrize(
    ("resource", "left", "helps"),
    [("cpu", "520m", True), ("cpu", "480m", False), ("memory", "720Mi", True), ("memory", "640Mi", False)],
)
def test_cpu_is_lowered_to_a_quarter_at_most_and_memory_to_a_third(resource: str, left: str, helps: bool) -> None:
    asked = {"cpu": "2", "memory": "2Gi"}
    found = suggested([node("a", **{resource: left}), pod("p", cpu=None, requests={resource: asked[resource]})])
    assert found == ([["lower-request"]] if helps else [])


@pytest.mark.parametrize(("to", "is_right"), [("512Mi", True), ("513Mi", False), ("", False)])
def test_a_change_that_the_api_server_refuses_is_not_offered(to: str, is_right: bool) -> None:
    """Huge pages are whole pages, and their limit must be equal to the request; what was wrong before may stay."""
    own = {"requests": {"cpu": "1", "hugepages-2Mi": "1Gi"}, "limits": {"cpu": "500m", "hugepages-2Mi": "1Gi"}}
    asked = {name: amounts | {"hugepages-2Mi": to} if to else amounts for name, amounts in own.items()}
    if not to:
        asked["requests"] = own["requests"] | {"hugepages-2Mi": "512Mi"}
    before, after = (
        Cluster.of([node("a"), of_cluster(pod("p", containers=[{"name": "c", "image": "i", "resources": each}]))])
        for each in (own, asked)
    )
    owner = Owner("Pod", "default", "p")
    assert is_accepted(before.inventory, after.inventory, owner, before.target) == is_right


def test_the_limit_of_huge_pages_follows_the_request() -> None:
    asked = {"cpu": "1", "hugepages-2Mi": "1Gi"}
    container = {"name": "c", "image": "i", "resources": {"requests": asked, "limits": {"hugepages-2Mi": "1Gi"}}}
    objects = [node("a", **{"hugepages-2Mi": "512Mi"}), pod("p", containers=[container])]
    assert suggested(objects) == [["lower-request"]]
    [verdict] = Cluster.of(objects).explain("pod/p").to_dict()["verdicts"]
    [patch] = verdict["suggestions"][0]["patches"]
    assert patch["patch"][-1]["value"] == {"hugepages-2Mi": "512Mi"}


def of_cluster(made: Object, namespace: str = "default") -> Object:
    stored = {"uid": f"u-{made['metadata']['name']}", "creationTimestamp": "2026-11-01T08:00:00Z"}
    made["metadata"] |= stored | {"namespace": namespace}
    return made


@pytest.mark.parametrize("other", ["default", "kube-system"])
def test_what_a_part_of_the_input_shows_is_no_promise(other: str, tmp_path: Path) -> None:
    """A dump without -A: what pods in other namespaces use is not known."""
    objects = [of_cluster(node("n")), of_cluster(running("a", "n"), other), of_cluster(pod("p"))]
    path = tmp_path / "dump.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    whole = other != "default"
    said = text(objects)
    assert ("pod/default/p would be bound to n now.\n" in said) == whole
    shows = "would be bound to n now, as far as the input shows: some pods and resourceclaims seem to be missing.\n"
    assert (shows in said) != whole
    for command in ("explain", "schedule"):
        ran = in_process(command, str(path), "pod/p", "--require-fit")
        assert ran.status == (0 if whole else 1)
        assert ("gate failed: 1 warning (--require-fit): one-namespace" in ran.err) != whole
        assert in_process(command, str(path), "pod/p", "--require-fit", "--ignore-warning", "one-namespace").status == 0
    assert "as far as" not in in_process("explain", str(path), "pod/p", "--ignore-warning", "one-namespace").out


SETS = [{"name": "die", "counters": {"memory": {"value": "96Gi"}}}]


def partitions(*, apart: bool) -> list[Object]:
    """Two halves of a die, with the counter set in a slice of its own or beside them."""
    halves = [device(f"half-{at}", consumes={"die": {"memory": "48Gi"}}) for at in range(2)]
    slices = [slice_("a", *halves, number=0, of=2 if apart else 1)]
    slices += [slice_("a", number=1, of=2)] if apart else []
    slices[-1]["spec"]["sharedCounters"] = SETS
    return [node("a"), device_class(), *slices, template("one", request()), pod("p", templates={"gpu": "one"})]


@pytest.mark.parametrize("minor", ["1.34", "1.36"])
@pytest.mark.parametrize("apart", [True, False])
def test_slices_in_a_form_that_the_release_does_not_accept(minor: str, *, apart: bool) -> None:
    gates = {"DRAPartitionableDevices": True}
    cluster = Cluster.of(partitions(apart=apart), kubernetes_version=minor, feature_gates=gates)
    accepted = apart == (minor == "1.36")
    for answer in (cluster.explain("pod/p"), cluster.schedule(), cluster.pools()):
        codes = [each["code"] for each in answer.to_dict()["warnings"]]
        assert ("slice-not-accepted" in codes) != accepted
    said = str(cluster.explain("pod/p"))
    told = "both devices and sharedCounters, which this release does not accept in one slice: 2 devices not used."
    assert (told in said) == (minor == "1.36" and not apart)
    assert "No resource slice offers a device" not in said


def replacement(devices: dict[str, list[Object]], selector: str) -> str:
    """The expression that is suggested for a claim, with devices by node."""
    objects = [made for name, of in devices.items() for made in (node(name), slice_(name, *of))]
    objects += [device_class(), claim("c", request("gpu", selector))]
    [claim_set] = Cluster.of(objects).explain("resourceclaim/c").to_dict()["claimSets"]
    changes = [change for each in claim_set["suggestions"] for change in each["changes"]]
    return next(each["replacement"] for each in changes if each["code"] == "change-value")


MEMORY = f'device.capacity["{GPU}"].memory.compareTo(quantity("AMOUNT")) >= 0'
PROFILE = f'device.attributes["{GPU}"].profile == "NAME"'


@pytest.mark.parametrize("nodes", [["small", "large"], ["large", "small"]])
def test_the_nearest_amount_that_devices_have_is_suggested(nodes: list[str]) -> None:
    amounts = {"small": "23034Mi", "large": "81559Mi"}
    devices = {name: [device("gpu-0", capacity={"memory": amounts[name]})] for name in nodes}
    assert replacement(devices, MEMORY.replace("AMOUNT", "80Gi")) == MEMORY.replace("AMOUNT", "81559Mi")


@pytest.mark.parametrize(("asked", "nearest"), [("full", "half"), ("quarter", "half")])
def test_the_nearest_profile_that_is_free_is_suggested(asked: str, nearest: str) -> None:
    """Not the most common one: a quarter is further from a whole device than a half."""
    sizes = {"quarter": 20, "half": 40, "full": 80}
    devices = [
        device(f"{name}-{at}", profile=name, capacity={"memory": f"{sizes[name]}Gi"}, taints=tainted)
        for name, number in (("quarter", 4), ("full", 3), ("half", 2))
        for at in range(number)
        for tainted in ([taint("broken")] if name == asked else [],)
    ]
    wanted = PROFILE.replace("NAME", asked)
    assert replacement({"a": devices}, wanted) == PROFILE.replace("NAME", nearest)


@pytest.mark.parametrize("there", [True, False])
def test_a_claim_of_a_pod_that_is_gone_is_told(*, there: bool) -> None:
    holder = allocated("old", "a/gpu-0", pod="w", on="a")
    objects = [*gpus("a", each=1), node("b"), running("x", "b"), template("one"), holder]
    objects += [running("w", "a", claims={"gpu": "old"})] if there else []
    said = text([*objects, pod("p", templates={"gpu": "one"})])
    told = "Claim default/old is reserved for pod w, which is not in the input. If that pod is gone, delete the claim."
    assert (told in said) != there
    whole = [each for each in objects if each["kind"] != "Pod"]
    assert told not in text([*whole, pod("p", templates={"gpu": "one"})])  # no running pods at all: a part of a dump


@pytest.mark.parametrize("value", ["scheduled", "pending"])
def test_a_near_toleration_of_a_device_taint_is_named(value: str) -> None:
    broken = device("gpu-0", taints=[taint("update", "pending")])
    asked = request("gpu", tolerations=[{"key": "update", "value": value, "effect": "NoSchedule"}])
    said = text([node("a"), device_class(), slice_("a", broken), claim("c", asked)], "resourceclaim/c")
    told = "taint update=pending:NoSchedule not tolerated (the request tolerates update=scheduled:NoSchedule)"
    assert (told in said) == (value != "pending")


@pytest.mark.parametrize("ready", ["True", "False"])
def test_a_driver_that_is_not_ready_on_a_node_without_devices_is_named(ready: str) -> None:
    driver = running("driver-x", "b")
    driver["status"] |= {"phase": "Running", "conditions": [{"type": "Ready", "status": ready}]}
    driver["metadata"] |= owned("DaemonSet", "driver", uid="d")
    waiting = {"name": "c", "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
    driver["status"]["containerStatuses"] = [waiting] if ready != "True" else []
    asked = request("gpu", MEMORY.replace("AMOUNT", "80Gi"))
    small = slice_("a", device("gpu-0", capacity={"memory": "40Gi"}))
    objects = [node("a"), node("b"), node("c"), small, device_class(), driver, template("one", asked)]
    said = text([*objects, pod("p", templates={"gpu": "one"}, nodeSelector={"x": "y"})])
    told = "pod default/driver-x (CrashLoopBackOff) of a DaemonSet on it is not ready"
    assert said.count(told) == (ready != "True")
    assert ("Waiting will not help" in said) == (ready == "True")


def test_who_waits_for_a_pod_to_end_learns_for_how_long() -> None:
    leaving = running("low", "a", cpu="3", priority=0)
    leaving["metadata"]["deletionTimestamp"] = "2026-11-25T11:20:00Z"
    waiting = pod("p", cpu="3", priority=9)
    waiting["status"] = {"nominatedNodeName": "a"}
    said = text([node("a", cpu="4"), leaving, waiting])
    assert "It is already being deleted, with a lower priority; its grace period ends at 2026-11-25T11:20:00Z." in said


def test_where_only_the_devices_fit_the_pod_is_not_said_to() -> None:
    """The scheduler binds to a; b has the devices, but not the cpu."""
    objects = [*gpus("a", "b"), template("one", request())]
    objects = [
        node("b", cpu="1") if one["metadata"]["name"] == "b" and one["kind"] == "Node" else one for one in objects
    ]
    told = Cluster.of([*objects, pod("p", cpu="2", templates={"gpu": "one"})]).explain("pod/p")
    assert told.verdict == "WouldBind"
    assert "a and 1 node like it (b): the devices fit." in str(told)
    assert "the pod fits" not in str(told)


def test_a_cordoned_node_that_is_asked_about_is_said_to_be_cordoned() -> None:
    """The claim of the pod is new: no device of it is on another node."""
    objects = [*gpus("a"), node("b", spec={"unschedulable": True}), slice_("b", "gpu-0"), template("one", request())]
    told = Cluster.of([*objects, pod("p", templates={"gpu": "one"})]).explain("pod/p", nodes="b")
    assert told.verdict == "WouldBind"
    assert "b: has room, but rejected: cordoned." in str(told)
    assert "frees them first" not in str(told)


def test_a_verdict_of_several_is_not_one() -> None:
    told = Cluster.of([node("a"), pod("p"), pod("q")]).explain()
    with pytest.raises(ValueError, match="2 verdicts"):
        _ = told.verdict


def kind_of_node(name: str, model: str, **parts: Any) -> list[Object]:
    return [node(name), slice_(name, *(device(f"gpu-{at}", model=model, **parts) for at in range(2)))]


def test_each_kind_of_node_has_its_cause_on_top_where_only_devices_are_in_the_way() -> None:
    wanted = request("gpu", f'device.attributes["{GPU}"].model == "H100"')
    full = [allocated(f"c-{at}", f"full/gpu-{at}", pod=f"r-{at}", on="full") for at in range(2)]
    objects = [
        *(device_class(), pod("p", claims={"gpu": "c"}), claim("c", wanted), node("cpu-1"), node("cpu-2")),
        *kind_of_node("old-1", "A100"),
        *kind_of_node("old-2", "A100"),
        *kind_of_node("full", "H100"),
        *kind_of_node("sick", "H100", taints=[taint("unhealthy", "xid")]),
        *(node("part"), slice_("part", device(model="H100"), number=0, of=2)),
        *(full + [running(f"r-{at}", "full", claims={"gpu": f"c-{at}"}) for at in range(2)]),
    ]
    held = "2 in use, by claims default/c-0 (pod r-0) and default/c-1 (pod r-1)"
    found = 'model is "A100" on 4 devices; the selector wants "H100"'
    told = text(objects)
    assert told.splitlines()[:7] == [
        "pod/default/p is Pending: no node can take it (0 of 7).",
        f"  full: devices: gpu needs 1, none available ({held})",
        "  sick: devices: gpu needs 1, none available (2 devices: taint unhealthy=xid:NoSchedule not tolerated)",
        "  part: devices: pool not complete (0 of 1 for gpu): part",
        f"  2 nodes (old-1, old-2): devices: gpu needs 1, no device matches: {found}",
        "  2 nodes (cpu-1, cpu-2): devices: no devices",
        "",
    ]
    assert "the pod does not fit." not in told, "the lines of the nodes say it"


def test_the_cause_is_told_once_where_all_nodes_are_alike() -> None:
    objects = [*gpus("a", "b"), pod("p", claims={"gpu": "c"}), claim("c", request(count=3))]
    assert "devices: r needs 3" not in text(objects)
