"""How clusters end where one pass of the scheduler is not the end: what a preempted pod leaves, and sets in order."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import Cluster
from dra_plan.whatif import Evict
from tests.build import claim, generated, gpus, node, owned, pod, priority_class, request, running, template, workload

Plain = dict[str, Any]


def holding(name: str, where: str, device: str, **options: Any) -> list[Plain]:
    """A pod on a node, with a device that was made for it."""
    made = running(name, where, f"{name}-gpu-x7k2p", templates={"gpu": "one"}, **options)
    return [made, generated(name, "gpu", where, device)]


def wants(name: str, **options: Any) -> Plain:
    return pod(name, templates={"gpu": "one"}, **options)


def settled(objects: list[Plain], **options: Any) -> dict[str, tuple[str | None, tuple[str, ...]]]:
    """Node and devices of each pod in the end."""
    found = Cluster.of(objects).schedule(settle=True, order="name", **options).to_dict()["settled"]
    assert found["unsettled"] is None
    return {each["name"]: (each["nodeName"], tuple(each["devices"])) for each in found["pods"]}


def full_node(device_owner: Plain) -> list[Plain]:
    """A node with one device and cpu for two, which its pods have, and nobody else's."""
    return [
        *gpus(each=1),
        node("a", cpu="2"),
        gpus("a", each=1)[2],
        template("one"),
        priority_class("high", 100),
        *holding("low", "a", "gpu-0", cpu="2", metadata=device_owner),
    ]


def test_what_a_preempted_pod_leaves_goes_to_another_one() -> None:
    """The preemptor wants cpu only; the device of its victim is bound to a pod that waited for nothing else."""
    objects = [*full_node({}), pod("urgent", cpu="1", priority=100), wants("waiting", cpu="1")]
    once = {each.name: each.outcome for each in Cluster.of(objects).schedule(order="name")}
    assert once["waiting"] != "Bound"
    assert settled(objects) == {"urgent": ("a", ()), "waiting": ("a", ("r=gpu.example.com/a/gpu-0",))}


def test_the_successor_of_a_preempted_pod_waits() -> None:
    objects = [*full_node(owned("ReplicaSet", "w")), pod("urgent", cpu="1", priority=100)]
    ends = settled(objects)
    assert ends.pop("urgent") == ("a", ())
    [(name, place)] = ends.items()
    assert name != "low"
    assert place == (None, ())


def test_the_device_is_free_before_the_next_one_is_tried() -> None:
    """A preemptor that needs the device of its victim has to wait for the claim controller, not for ever."""
    objects = [*gpus("a", each=2), *holding("low", "a", "gpu-0", cpu="8"), priority_class("high", 100)]
    objects += [template("one"), wants("first", cpu="4", priority=100), wants("second", cpu="4", priority=100)]
    ends = settled(objects)
    assert {place for place, _ in ends.values()} == {"a"}
    assert sorted(devices for _, devices in ends.values()) == [
        ("r=gpu.example.com/a/gpu-0",),
        ("r=gpu.example.com/a/gpu-1",),
    ]


def test_room_counts_what_a_cluster_would_bind_after_evictions() -> None:
    objects = [*gpus("a", each=3), template("one"), priority_class("high", 100)]
    objects += holding("low", "a", "gpu-0", cpu="7")
    [item] = Cluster.of(objects).capacity(wants("copy", cpu="2", priority=100))
    assert (item.scheduled.copies, [one.name for one in item.scheduled.evicted]) == (3, ["low"])


@pytest.mark.parametrize("settle", [False, True])
def test_replicas_that_are_not_made_yet_take_no_devices(settle: bool) -> None:
    """The set's first pod waits for cpu, so that its second one, which would take the device, does not exist."""
    claimer = pod(templates={"gpu": "one"}, cpu="20", priority=50)
    objects = [*gpus("a", each=1), template("one"), workload("StatefulSet", "a-set", claimer, replicas=2), wants("z")]
    plan = Cluster.of(objects).schedule(settle=settle, order="name")
    assert {each.name: each.node_name for each in plan} == {"z": "a", "a-set-0": None}


@pytest.mark.parametrize("settle", [False, True])
def test_a_set_makes_its_pods_one_after_the_other(settle: bool) -> None:
    """Its second pod comes after a pod of the same priority that was there, and stands when no device is left."""
    claimer = pod(templates={"gpu": "one"})
    objects = [*gpus("a", each=2), template("one"), workload("StatefulSet", "a", claimer, replicas=3), wants("z")]
    plan = Cluster.of(objects).schedule(settle=settle, order="name")
    assert {each.name: each.node_name for each in plan} == {"a-0": "a", "z": "a", "a-1": None}


def test_a_daemon_set_whose_template_names_a_node_has_a_pod_there_only() -> None:
    """`nodeShouldRunDaemonPod` of the DaemonSet controller: other nodes are not asked for one, now or again."""
    objects = [node("a"), node("b"), workload("DaemonSet", shape=pod(nodeName="b"))]
    assert list(settled(objects).values()) == [("b", ())]
    assert settled([node("a"), workload("DaemonSet", shape=pod(nodeName="gone"))]) == {}


def test_a_pod_whose_name_is_taken_is_not_made() -> None:
    objects = [node("a"), running("w-0", "a"), workload("StatefulSet", shape=pod(), replicas=0)]
    larger = {"patch": ["StatefulSet", "w", {"spec": {"replicas": 1}}]}
    found = Cluster.of(objects).schedule(settle=True, events=[larger]).to_dict()["settled"]
    assert found["unsettled"] is None
    assert [(each["name"], each["owner"]) for each in found["pods"]] == [("w-0", None)]
    assert [each["message"] for each in found["events"]] == [
        'Create Pod w-0 in StatefulSet w failed error: pods "w-0" already exists'
    ]


@pytest.mark.parametrize(("refused", "evicted"), [(2, ["weak"]), (4, [])])
def test_a_shared_claim_is_allocated_while_others_are_refused(refused: int, evicted: list[str]) -> None:
    """Each rejection is written before the next pod is tried: the last one of a long row sees the claim allocated.

    In a short row it comes too early, and a weaker pod takes the room for which it has to go then.
    """
    objects = [*gpus("a", each=1), node("a", cpu="7"), claim("own", request()), priority_class("low", -10)]
    objects += [pod("s-0", claims={"gpu": "own"}, cpu="1"), pod("s-9", claims={"gpu": "own"}, cpu="5")]
    objects += [pod(f"s-{n + 1}", claims={"gpu": "own"}, nodeSelector={"of": "nobody"}) for n in range(refused)]
    objects += [pod("weak", cpu="2", priority=-10)]
    found = Cluster.of(objects).schedule(settle=True, order="name").to_dict()["settled"]
    assert [each["name"] for each in found["evicted"]] == evicted
    assert {each["name"] for each in found["pods"] if each["nodeName"]} == {"s-0", "s-9"}


# An ordered StatefulSet whose node is drained

BEHIND = "StatefulSet s creates it once the pods before it are ready"


def ordered_on_a(*others: Plain, room: int, listed: bool = True, never_ready: str = "", **owner: Any) -> Cluster:
    """The three pods of a set on node a, each with a device, and node b with devices for some."""
    objects = [*gpus("a", each=3), *gpus("b", each=room)[1:], *others]
    if listed:
        objects.append(template("one"))
    objects.append(workload("StatefulSet", "s", pod(templates={"gpu": "one"}), replicas=3, **owner))
    for ordinal in range(3):
        objects += holding(f"s-{ordinal}", "a", f"gpu-{ordinal}", metadata=owned("StatefulSet", "s"))
        if objects[-2]["metadata"]["name"] == never_ready:
            objects[-2]["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    return Cluster.of(objects)


def ends(cluster: Cluster, **options: Any) -> dict[str, tuple[str, str | None]]:
    return {each.name: (each.outcome, each.node_name) for each in cluster.schedule(order="name", **options)}


@pytest.mark.parametrize("settle", [False, True])
@pytest.mark.parametrize("listed", [False, True])
def test_an_ordered_set_that_is_drained_comes_back_one_after_the_other(settle: bool, listed: bool) -> None:
    """Its first pod takes a device, then one that waited, and the third is not made behind the second, which waits."""
    waiting = pod("z", claims={"gpu": "own"})
    drained = ordered_on_a(waiting, claim("own", request()), room=2, listed=listed).drain("a")
    assert ends(drained, settle=settle) == {
        "s-0": ("Bound", "b"),
        "z": ("Bound", "b"),
        "s-1": ("Unschedulable", None),
        "s-2": ("Gated", None),
    }
    assert {each.name: each.waiting for each in drained.schedule(settle=settle)}["s-2"] == BEHIND


@pytest.mark.parametrize("settle", [False, True])
def test_a_parallel_set_that_is_drained_comes_back_at_once(settle: bool) -> None:
    waiting = pod("z", claims={"gpu": "own"})
    cluster = ordered_on_a(waiting, claim("own", request()), room=2, podManagementPolicy="Parallel")
    outcomes = {name: outcome for name, (outcome, _) in ends(cluster.drain("a"), settle=settle).items()}
    assert outcomes == {"s-0": "Bound", "s-1": "Bound", "s-2": "Unschedulable", "z": "Unschedulable"}


@pytest.mark.parametrize("settle", [False, True])
def test_who_is_drained_behind_a_pod_that_is_not_ready_is_not_made(settle: bool) -> None:
    cluster = ordered_on_a(room=3, never_ready="s-0")
    assert ends(cluster.edited(Evict("default", "s-1")), settle=settle)["s-1"] == ("Gated", None)


def test_what_a_drained_set_does_not_make_is_lost() -> None:
    """`diff`, the drain of each node and `maintain` tell it, with what it waits for."""
    cluster = ordered_on_a(room=1)
    lost = [each for each in cluster.diff(cluster.drain("a")).pods if each.change == "Lost"]
    assert [each.name for each in lost] == ["s-1", "s-2"]
    assert [each.after.message for each in lost if each.after is not None][1] == BEHIND
    [row] = [each for each in cluster.drain_each().nodes if each.name == "a"]
    assert [(each.name, each.message) for each in row.lost][1] == ("s-2", BEHIND)
    assert row.moved == 1
    stop = cluster.maintain(nodes=["a"]).stop
    assert (stop.pod, stop.reason) == ("default/s-1", "NoPlace")


def test_a_pod_behind_others_is_explained() -> None:
    drained = ordered_on_a(room=1).drain("a")
    assert "its StatefulSet creates it once the earlier pods are ready" in str(drained.explain("pod/s-2"))


def test_a_drained_set_with_fewer_replicas_makes_no_more() -> None:
    drained = ordered_on_a(room=3).scale("statefulset/s", 2).drain("a")
    assert ends(drained) == {"s-0": ("Bound", "b"), "s-1": ("Bound", "b")}
