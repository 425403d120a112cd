"""`maintain`: every step replayed on plain objects, and where it finds no order, all of them tried so."""

from __future__ import annotations

import copy
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from dra_plan import Cluster
from dra_plan.errors import UsageError
from dra_plan.questions.maintain import answer
from dra_plan.questions.maintain.gate import JUDGE
from dra_plan.questions.maintain.given_back import GivenBack
from dra_plan.questions.maintain.text import wide
from dra_plan.text.gate import Gate, Verdict
from tests.build import GPU, device, device_class, generated, manifest, node, owned, request, running, slice_, template
from tests.build import pod as plain_pod
from tests.cli.running import in_process

Plain = dict[str, Any]
RACKS = "tests/cli/inputs/racks.yaml"


def budget(name: str, least: int) -> Plain:
    spec = {"minAvailable": least, "selector": {"matchLabels": {"app": name}}}
    return manifest("PodDisruptionBudget", name, namespace="default", spec=spec)


def fleet(seed: int, most_nodes: int) -> list[Plain]:
    """A random cluster: nodes with some devices, pods of two workloads on some of them, perhaps budgets."""
    draw = random.Random(seed)
    names = [f"n{number}" for number in range(draw.randint(2, most_nodes))]
    made = [device_class(), template("one", request())]
    for name in names:
        devices = [f"gpu-{index}" for index in range(draw.randint(1, 2))]
        made += [node(name), slice_(name, *devices)]
        for at in devices:
            if draw.random() < 0.55:
                app = draw.choice(["serve", "train"])
                own = f"{app}-{name}-{at[-1]}"
                metadata = {"uid": f"u-{own}", "labels": {"app": app}, **owned("ReplicaSet", app)}
                made.append(running(own, name, f"{own}-gpu-x7k2p", templates={"gpu": "one"}, metadata=metadata))
                made.append(generated(own, "gpu", name, at))
    for app in ("serve", "train"):
        have = sum(obj["kind"] == "Pod" and obj["metadata"]["name"].startswith(app) for obj in made)
        if have and draw.random() < 0.6:
            made.append(budget(app, max(0, have - draw.randint(0, 2))))
    return made


def pods(objects: Sequence[Plain]) -> list[Plain]:
    return [obj for obj in objects if obj["kind"] == "Pod"]


def free_to_go(objects: Sequence[Plain], app: str) -> int:
    least = [
        obj["spec"]["minAvailable"]
        for obj in objects
        if obj["kind"].endswith("Budget") and obj["metadata"]["name"] == app
    ]
    have = sum(pod["metadata"]["labels"]["app"] == app for pod in pods(objects))
    return have - least[0] if least else have


def drained(objects: list[Plain], name: str) -> list[Plain] | None:
    """The cluster after the node was drained pod by pod and given back; None if that can't be done."""
    now = copy.deepcopy(objects)
    [itself] = [obj for obj in now if obj["kind"] == "Node" and obj["metadata"]["name"] == name]
    was = copy.deepcopy(itself["spec"]) if "spec" in itself else None
    itself["spec"] = {**(was or {}), "unschedulable": True}
    left = [pod["metadata"]["name"] for pod in pods(now) if pod["spec"].get("nodeName") == name]
    while left:
        allowed = {app: free_to_go(now, app) for app in ("serve", "train")}
        going = []
        for pod in left:
            app = pod.partition("-")[0]
            if allowed[app] > 0:
                allowed[app] -= 1
                going.append(pod)
        if not going:
            return None
        left = [pod for pod in left if pod not in going]
        now = evicted(now, going)
        plan = Cluster.of(now).schedule(settle=True)
        assert not plan.document.settled.evicted
        if any(record.node_name is None for record in plan):
            return None
        now = bound(now, plan, going)
    if was is None:
        del next(obj for obj in now if obj["kind"] == "Node" and obj["metadata"]["name"] == name)["spec"]
    else:
        next(obj for obj in now if obj["kind"] == "Node" and obj["metadata"]["name"] == name)["spec"] = was
    return now


def evicted(objects: list[Plain], names: Sequence[str]) -> list[Plain]:
    kept = []
    for obj in objects:
        if obj["kind"] == "ResourceClaim" and obj["metadata"]["ownerReferences"][0]["name"] in names:
            continue
        kept.append(obj)
    waiting = []
    for name in names:
        [pod] = [obj for obj in kept if obj["kind"] == "Pod" and obj["metadata"]["name"] == name]
        kept.remove(pod)
        del pod["spec"]["nodeName"]
        pod["status"] = {"phase": "Pending"}
        waiting.append(pod)
    return kept + waiting


def bound(objects: list[Plain], plan: Any, names: Sequence[str]) -> list[Plain]:
    where = {record.name: record.node_name for record in plan}
    for pod in pods(objects):
        name = pod["metadata"]["name"]
        if name in names:
            pod["spec"]["nodeName"] = where[name]
            pod["status"] = {
                "phase": "Running",
                "resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": f"{name}-gpu-x7k2p"}],
            }
    for one in plan.document.claims:
        for user in one.reserved_for:
            if user.name in names:
                [result] = msgspec.to_builtins(one.allocation)["devices"]["results"]
                objects = [*objects, generated(user.name, "gpu", result["pool"], result["device"])]
    return objects


def check(seed: int, most_nodes: int) -> str:
    objects = fleet(seed, most_nodes)
    found = Cluster.of(objects).maintain()
    if found.outcome == "Possible":
        now: list[Plain] | None = objects
        for wave in found:
            [name] = wave.nodes
            assert now is not None
            now = drained(now, name)
            assert now is not None, (seed, wave)
            at = {pod["metadata"]["name"]: pod["spec"]["nodeName"] for pod in pods(now)}
            assert {pod.name: pod.to_node for pod in wave.moved} == {pod.name: at[pod.name] for pod in wave.moved}, seed
    else:
        assert found.outcome == "Impossible", seed
        assert not orders(objects), seed
    return found.outcome


def orders(objects: list[Plain]) -> bool:
    """Whether any order does, by trying each; what led to the same placement before is not tried again."""
    failed: set[Any] = set()

    def leads_on(now: list[Plain], left: frozenset[str]) -> bool:
        state = left, placement(now)
        if state in failed:
            return False
        for name in sorted(left):
            after = drained(now, name)
            if after is not None and leads_on(after, left - {name}):
                return True
        failed.add(state)
        return not left

    return leads_on(objects, frozenset(obj["metadata"]["name"] for obj in objects if obj["kind"] == "Node"))


def placement(objects: Sequence[Plain]) -> Any:
    """Which pod is where, and which device each claim has."""
    where = {(pod["metadata"]["name"], pod["spec"]["nodeName"]) for pod in pods(objects)}
    claims = [obj for obj in objects if obj["kind"] == "ResourceClaim"]
    results = [(one["metadata"]["name"], one["status"]["allocation"]["devices"]["results"][0]) for one in claims]
    return frozenset(where), frozenset((name, result["pool"], result["device"]) for name, result in results)


def test_what_it_says_is_what_trying_all_orders_says() -> None:
    outcomes = [check(seed, 3) for seed in range(40)]
    assert {*outcomes} == {"Possible", "Impossible"}


@pytest.mark.long
def test_random_clusters() -> None:
    outcomes = [check(seed, 6) for seed in range(1000, 1500)]
    assert min(outcomes.count("Possible"), outcomes.count("Impossible")) > 50


# The command


@pytest.mark.parametrize("form", ["table", "wide", "markdown", "name", "json"])
def test_what_it_prints(form: str, golden: Any) -> None:
    ran = in_process("maintain", RACKS, "--nodes", "-l", "rack=r1", "-o", form)
    assert ran.status == 0
    golden(Path(__file__).parent / "golden" / f"maintain.{form}", ran.out)


def test_nodes_go_together_where_there_is_room() -> None:
    waves = [wave.nodes for wave in Cluster.load(RACKS).maintain(nodes=["b2", "spare", "c1"], at_once=2)]
    assert waves == [["b2", "spare"], ["c1"]]


def test_a_bare_pod_and_a_budget_stop_it() -> None:
    objects = [
        device_class(),
        node("a"),
        node("b"),
        slice_("a", "gpu-0"),
        slice_("b", "gpu-0"),
        template("one", request()),
    ]
    bare = [running("bare", "a", "bare-gpu-x7k2p", templates={"gpu": "one"}, metadata={"uid": "u-bare"})]
    found = Cluster.of([*objects, *bare, generated("bare", "gpu", "a", "gpu-0")]).maintain()
    assert (found.outcome, found.stop.node, found.stop.pod) == ("Impossible", "a", "default/bare")
    assert "no controller recreates it" in str(found)
    metadata = {"uid": "u-serve", "labels": {"app": "serve"}, **owned("ReplicaSet", "serve")}
    serves = running("serve", "a", "serve-gpu-x7k2p", templates={"gpu": "one"}, metadata=metadata)
    found = Cluster.of([*objects, serves, generated("serve", "gpu", "a", "gpu-0"), budget("serve", 1)]).maintain()
    assert (found.outcome, found.stop.budget, found.stop.done) == ("Impossible", "default/serve", ["b"])


def test_the_exit_status_says_whether_there_is_an_order() -> None:
    assert in_process("maintain", RACKS).status == 0
    assert in_process("maintain", RACKS, "--cordon", "b2").status == 1
    assert in_process("maintain", RACKS, "--nodes", "rack=r9").status == 2
    assert in_process("maintain", RACKS, "pod/serve-0").status == 2


def test_a_pod_that_another_scheduler_places_stops_its_own_node_only() -> None:
    nodes = [node("a"), node("b"), slice_("a", "gpu-0"), slice_("b", "gpu-0")]
    metadata = {"uid": "u-other", **owned("ReplicaSet", "other")}
    other = plain_pod("other", nodeName="a", schedulerName="volcano", metadata=metadata, status={"phase": "Running"})
    cluster = Cluster.of([device_class(), *nodes, other])
    assert cluster.maintain(nodes="b").outcome == "Possible"
    found = cluster.maintain()
    assert (found.outcome, found.stop.pod, found.stop.reason) == ("Impossible", "default/other", "NoPlace")


def test_pods_of_the_node_itself_stay() -> None:
    nodes = [node("a"), device_class(), slice_("a", "gpu-0")]
    metadata = {"uid": "u-daemon", **owned("DaemonSet", "daemon")}
    daemon = plain_pod("daemon", nodeName="a", metadata=metadata, status={"phase": "Running"})
    assert Cluster.of([*nodes, daemon]).maintain().outcome == "Possible"


def test_where_larger_waves_lead_nowhere_single_nodes_are_tried() -> None:
    for seed in range(40):
        cluster = Cluster.of(fleet(seed, 3))
        assert cluster.maintain(at_once=3).outcome == cluster.maintain().outcome, seed


def test_so_many_drains_are_tried_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer, "MOST_DRAINS", 1)
    found = Cluster.load(RACKS).maintain()
    assert (found.outcome, found.tried) == ("Undecided", 1)
    assert str(found).startswith("Undecided: no order was found in 1 drain")


# Surge nodes, and nodes that come back changed

DRIVER_2 = "tests/cli/inputs/racks-driver-2.yaml"


def one_full_rack() -> list[Plain]:
    """Two nodes, each with one device and a pod that needs it: without a node more neither can go."""
    objects = [device_class(), template("one", request())]
    for name in ("a", "b"):
        metadata = {"uid": f"u-serve-{name}", "labels": {"app": "serve"}, **owned("ReplicaSet", "serve")}
        objects += [node(name), slice_(name, "gpu-0")]
        objects.append(
            running(f"serve-{name}", name, f"serve-{name}-gpu-x7k2p", templates={"gpu": "one"}, metadata=metadata)
        )
        objects.append(generated(f"serve-{name}", "gpu", name, "gpu-0"))
    return objects


def test_a_surge_node_makes_the_room_and_is_drained_last() -> None:
    cluster = Cluster.of(one_full_rack())
    assert cluster.maintain().outcome == "Impossible"
    found = cluster.maintain(surge="1=a")
    assert (found.outcome, [wave.nodes for wave in found]) == ("Possible", [["a"], ["b"], ["a-new-1"]])
    assert found.document.surge == ["a-new-1"]
    assert [(pod.from_node, pod.to_node) for wave in found for pod in wave.moved] == [
        ("a", "a-new-1"),
        ("b", "a"),
        ("a-new-1", "b"),
    ]
    assert found.document.waves[0].moved[0].name == found.document.waves[2].moved[0].name
    assert any("under the names of the pods that they replace" in str(part) for part in wide(found.document, None))
    assert [wave.nodes for wave in cluster.maintain(surge=["2=a"], at_once=4)] == [["a", "b"], ["a-new-1", "a-new-2"]]


def test_where_pods_can_not_leave_the_surge_node_there_is_no_order() -> None:
    """The pod fits nowhere else: its node is there for the time only, and the drain of it is a part of the proof."""
    objects = one_full_rack()
    waits = plain_pod("waits", templates={"gpu": "one"}, metadata={"uid": "u-waits", **owned("ReplicaSet", "late")})
    found = Cluster.of([*objects, waits]).maintain(nodes="a", surge="2=a")
    assert found.outcome == "Impossible"
    assert found.stop.node.startswith("a-new-")


def test_nodes_come_back_with_the_new_devices() -> None:
    objects = one_full_rack()
    new = Cluster.of([slice_(name, "x-0", "x-1") for name in ("a", "b")])
    found = Cluster.of([*objects, node("c"), slice_("c", "gpu-0")]).maintain(nodes=["a", "b"], to=new)
    assert found.outcome == "Possible"
    [first, second] = found
    assert [pod.devices for pod in first.moved] == [["gpu.example.com/c/gpu-0"]]
    assert second.moved[0].devices == ["gpu.example.com/a/x-0"]
    assert [each.devices for each in first.given_back] == [["gpu.example.com/a/x-0", "gpu.example.com/a/x-1"]]


def test_a_driver_that_publishes_less_stops_it_where_it_does() -> None:
    objects = [*one_full_rack(), node("c"), slice_("c", "gpu-0")]
    assert Cluster.of(objects).maintain(nodes=["a", "b"]).outcome == "Possible"
    none = Cluster.of([slice_("a"), slice_("b")])
    found = Cluster.of(objects).maintain(nodes=["a", "b"], to=none)
    assert (found.outcome, found.stop.reason, len(found.stop.done)) == ("Impossible", "NoPlace", 1)


def with_monitors(*devices: str) -> Cluster:
    """Nodes a and b with one device more, which a DaemonSet's pod has that stays on its node."""
    objects = [device_class(), template("one", request()), node("c"), slice_("c", "gpu-0")]
    for name in ("a", "b"):
        metadata = {"uid": f"u-watch-{name}", **owned("DaemonSet", "watch")}
        there = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}
        only = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [there]}}}
        pod = running(f"watch-{name}", name, f"watch-{name}-gpu-1", templates={"gpu": "one"}, metadata=metadata)
        pod["spec"]["affinity"] = only
        objects += [node(name), slice_(name, *devices), pod, generated(f"watch-{name}", "gpu", name, devices[0])]
    return Cluster.of(objects)


def test_a_pod_that_stays_gets_new_devices_where_its_own_do_not_come_back() -> None:
    cluster = with_monitors("gpu-0")
    renamed = Cluster.of([slice_(name, "x-0") for name in ("a", "b")])
    found = cluster.maintain(nodes=["a", "b"], to=renamed)
    assert [[(pod.name, pod.to_node, pod.devices) for pod in wave.moved] for wave in found] == [
        [("watch-a", "a", ["gpu.example.com/a/x-0"])],
        [("watch-b", "b", ["gpu.example.com/b/x-0"])],
    ]
    kept = cluster.maintain(nodes=["a", "b"], to=Cluster.of([slice_(name, "gpu-0", "gpu-1") for name in ("a", "b")]))
    assert [wave.moved for wave in kept] == [[], []]
    assert [wave.moved for wave in cluster.maintain()] == [[], [], []]


def test_a_pod_that_stays_and_gets_no_new_device_stops_it() -> None:
    """Another node has a free device, which is of no use to it."""
    found = with_monitors("gpu-0").maintain(nodes=["a"], to=Cluster.of([slice_("a")]))
    assert (found.outcome, found.stop.node, found.stop.pod) == ("Impossible", "a", "default/watch-a")
    assert found.stop.reason == "NoNewDevices"
    assert "pod default/watch-a, which is not evicted, gets none of them: 0/3 nodes are available" in str(found)


@pytest.mark.parametrize(
    ("back", "said"),
    [
        ({"kind": "A"}, "the selector of deviceclass/gpu.example.com fails with an error on 1 device of a"),
        ({"model": "B"}, "the selector of deviceclass/gpu.example.com would match no device"),
        ({"model": "A"}, ""),
    ],
)
def test_selectors_that_fail_once_the_nodes_are_back(back: dict[str, str], said: str) -> None:
    """The order itself works: only a pod that comes later would get no device."""
    made = [device_class(GPU, f'device.attributes["{GPU}"].model == "A"'), template("one", request()), node("a")]
    made += [plain_pod("later", templates={"gpu": "one"}, cpu="64"), slice_("a", device("gpu-0", model="A"))]
    found = Cluster.of(made).maintain(nodes="a", to=Cluster.of([slice_("a", device("gpu-0", **back))]))
    assert found.outcome == "Possible"
    assert (Verdict.FAILED in JUDGE.all_verdicts(Gate(), found.document)) == bool(said)
    assert said in str(found)
    assert len(found.document.selectors) == bool(said)


def test_a_surge_node_is_only_suggested_where_a_node_could_help() -> None:
    """After an error of a selector, a further node changes nothing."""
    reads = device_class(GPU, f'device.attributes["{GPU}"].model == "A"')
    objects = [reads, *one_full_rack()[1:]]
    old, new = device("gpu-0", model="A"), device("gpu-0", kind="A")
    objects = [each for each in objects if each["kind"] != "ResourceSlice"]
    objects += [slice_("a", old), slice_("b", old), node("c"), slice_("c", new)]
    found = Cluster.of(objects).maintain(nodes="a")
    assert (found.outcome, found.stop.reason, found.stop.lacks_room) == ("Impossible", "NoPlace", False)
    assert "no such key: model" in str(found)
    assert "--surge" not in str(found)
    assert "--surge 1=a" in str(Cluster.of(one_full_rack()).maintain(nodes="a"))


def test_slices_of_other_drivers_and_nodes_stay() -> None:
    other = slice_("a", "nic-0", name="a-nic", driver="nic.example.com")
    objects = [device_class(), node("a"), node("b"), slice_("a", "gpu-0"), slice_("b", "gpu-0"), other]
    inventory = Cluster.of(objects).inventory
    back = GivenBack.of(Cluster.of([slice_("a", "x-0", name="new")]).inventory, "1.37.0", ())
    after = back.after(inventory, ["a"])
    [of_b] = (each.metadata.name for each in inventory.slices if each.spec.node_name == "b")
    assert {each.metadata.name for each in after.slices} == {"new", "a-nic", of_b}
    assert {each.metadata.name: each.status.node_info.kubelet_version for each in after.nodes} == {
        "a": "v1.37.0",
        "b": "",
    }
    assert back.after(inventory, []).slices is inventory.slices


def test_the_release_is_that_of_the_scheduler_at_once_and_of_each_kubelet() -> None:
    found = Cluster.load(RACKS).maintain(nodes="rack=r1", to_kubernetes_version="1.37")
    assert found.target.release == "1.37.0"
    assert [each.kubelet_version for wave in found for each in wave.given_back] == ["1.37.0", "1.37.0"]
    assert "2 nodes come back with kubelet 1.37.0." in str(found)


def test_what_is_not_of_one_node_is_refused() -> None:
    cluster = Cluster.load(RACKS)
    with pytest.raises(UsageError, match=r"DeviceClass \S+ is not a ResourceSlice or Node"):
        cluster.maintain(to=Cluster.of([device_class()]))
    with pytest.raises(UsageError, match="of a drained node"):
        cluster.maintain(nodes="a1", to=Cluster.of([slice_("b1", "gpu-0")]))
    for text in ("a1", "x=a1", "1=", "0=a1", "1=nowhere"):
        with pytest.raises(UsageError):
            cluster.maintain(surge=text)
    found = cluster.maintain(nodes=["a1", "a2"], to=Cluster.of([slice_("a1", "gpu-0"), slice_("b1", "gpu-0")]))
    assert [(each.code, each.object) for each in found.document.warnings][-2:] == [
        ("given-back-unchanged", "Node a2"),
        ("not-drained", ""),
    ]


@pytest.mark.parametrize("form", ["table", "wide", "json"])
def test_what_it_prints_of_an_upgrade(form: str, golden: Any) -> None:
    options = ("--cordon", "b2", "--surge", "1=a1", "--to", DRIVER_2, "--to-kubernetes-version", "1.36.2")
    ran = in_process("maintain", RACKS, "--nodes", "rack=r1", *options, "-o", form)
    assert ran.status == 0
    golden(Path(__file__).parent / "golden" / f"upgrade.{form}", ran.out)


def test_the_driver_file_may_be_wrong() -> None:
    for options in (["--to", "nowhere.yaml"], ["--to", RACKS], ["--surge", "a1"]):
        ran = in_process("maintain", RACKS, *options)
        assert (ran.status, ran.out) == (2, "")
    assert f"{RACKS}:1: DeviceClass gpu is not" in in_process("maintain", RACKS, "--to", RACKS).err


# What is not known


def test_a_place_that_is_not_known_is_no_proof() -> None:
    """A class or a search that is missing rejects a pod as far as it was looked: that no order exists is not shown."""
    objects = [*one_full_rack(), node("c"), slice_("c", "gpu-0")]
    lacking = Cluster.of([each for each in objects if each["kind"] != "DeviceClass"]).maintain()
    assert (lacking.outcome, lacking.stop.reason) == ("Undecided", "NotKnown")
    assert "no order was found in 5 drains, because the input lacks the objects needed to decide this." in str(lacking)
    assert "classes-missing" in [each.code for each in lacking.document.warnings]
    short = Cluster.of(objects).maintain(max_steps=1)
    assert (short.outcome, short.stop.reason) == ("Undecided", "NotKnown")
    assert "because a search was cut short (--max-steps)." in str(short)


def test_without_budgets_in_the_input_it_says_so() -> None:
    codes = [each.code for each in Cluster.of(one_full_rack()).maintain().document.warnings]
    assert codes == ["disruption-budgets-missing"]
    assert Cluster.load(RACKS).maintain().document.warnings == []


def test_who_took_the_room_and_who_is_in_the_way_is_told() -> None:
    """A pod that waits takes the node that was given back; a bare pod stops every order."""
    waits = plain_pod("waits", templates={"gpu": "one"}, cpu="5", metadata={"uid": "u-waits"})
    objects = [*one_full_rack(), node("c", cpu="4"), slice_("c", "gpu-0"), waits]
    objects += [running("bare", "b", metadata={"uid": "u-bare"})]
    found = Cluster.of(objects).maintain(nodes=["a", "b"])
    assert (found.outcome, found.stop.pod) == ("Impossible", "default/serve-b")
    assert [(each.name, each.node) for each in found.stop.started] == [("waits", "a")]
    assert [(each.name, each.node) for each in found.stop.not_made_anew] == [("bare", "b")]
    assert "pending pods were scheduled: default/waits (on a)" in str(found)
    said = "No order can evict default/bare (on b): no controller recreates it. To leave it out: --without pod/"
    assert 0 < str(found).index(said) < str(found).index("stops at pod default/serve-b")
    assert "--surge" not in str(found)


@pytest.mark.parametrize(
    ("hard", "said"),
    [
        ({"pods": "1"}, "quota default/q allows 1 pod: 1 is used"),
        ({"limits.memory": "1Gi"}, "must specify limits.memory"),
    ],
)
def test_pods_that_are_created_again_are_subject_to_quotas(hard: dict[str, str], said: str) -> None:
    quota = manifest("ResourceQuota", "q", namespace="default", spec={"hard": hard})
    names = ["a", "b", "c"]
    fleet = [
        device_class(),
        template("one", request()),
        *(each for at in names for each in (node(at), slice_(at, "gpu-0"))),
    ]
    for at in ("a", "b"):
        own = f"serve-{at}"
        metadata = {"uid": f"u-{own}", **owned("ReplicaSet", "serve")}
        fleet.append(running(own, at, f"{own}-gpu-x7k2p", templates={"gpu": "one"}, metadata=metadata))
        fleet.append(generated(own, "gpu", at, "gpu-0"))
    assert Cluster.of(fleet).maintain(nodes=["a"]).outcome == "Possible"
    found = Cluster.of([*fleet, quota]).maintain(nodes=["a"])
    assert (found.outcome, found.stop.pod, found.stop.reason) == ("Impossible", "default/serve-a", "NoPlace")
    assert said in found.stop.message
    assert "--surge" not in str(found)
    room = {**quota, "spec": {"hard": {"pods": "2"}}}
    assert Cluster.of([*fleet, room]).maintain(nodes=["a"]).outcome == "Possible"


def test_a_bare_pod_ends_the_search_after_one_attempt() -> None:
    """Six nodes that could be tried in many orders, none of which evicts the bare pod."""
    names = [f"n{number}" for number in range(6)]
    fleet = [
        device_class(),
        template("one", request()),
        *(each for at in names for each in (node(at), slice_(at, "gpu-0"))),
    ]
    fleet += [running("bare", "n5", metadata={"uid": "u-bare"})]
    found = Cluster.of(fleet).maintain()
    assert (found.outcome, found.stop.pod, found.stop.reason) == ("Impossible", "default/bare", "NotMadeAnew")
    assert found.tried == len(names)
    assert str(found).startswith("No order drains these nodes safely.\n")


def test_at_the_time_limit_the_answer_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is reached in the second drain."""
    carried_out, calls = answer.wave, []

    def late(*given: Any) -> Any:
        calls.append(given)
        if len(calls) == 2:
            raise answer.OutOfTimeError("no result within 1 seconds")
        return carried_out(*given)

    monkeypatch.setattr(answer, "wave", late)
    found = Cluster.load(RACKS).maintain(nodes="rack=r1")
    assert (found.outcome, found.tried, len(calls)) == ("Undecided", 2, 2)
    assert "Undecided: no order was found in 2 drains, and not all orders were tried." in str(found)


def test_pods_that_the_drain_moved_before_are_named() -> None:
    """Of two pods on the node one gets the only free device."""
    fleet = [device_class(), template("one", request()), node("a"), node("b")]
    fleet += [slice_("a", "gpu-0", "gpu-1"), slice_("b", "gpu-0")]
    for at in (0, 1):
        metadata = {"uid": f"u-s-{at}", **owned("ReplicaSet", "s")}
        fleet.append(running(f"s-{at}", "a", f"s-{at}-gpu-x7k2p", templates={"gpu": "one"}, metadata=metadata))
        fleet.append(generated(f"s-{at}", "gpu", "a", f"gpu-{at}"))
    found = Cluster.of(fleet).maintain(nodes=["a"])
    assert [(one.to_node, one.from_node) for one in found.stop.moved] == [("b", "a")]
    assert "In this drain, other pods moved first: default/s-0 (to b)." in str(found)
    assert "A temporary node may make enough room: --surge 1=a." in str(found)
