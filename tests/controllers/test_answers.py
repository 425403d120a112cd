"""What other questions make of controllers: differences, drains, room and growth count what ends and is rejected."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import Cluster
from dra_plan.questions.capacity.gate import of_owner
from dra_plan.questions.diff.gate import JUDGE
from dra_plan.questions.schedule.gate import JUDGE as OF_SCHEDULES
from dra_plan.questions.schedule.gate import of_pod
from dra_plan.questions.schedule.reasons import of_pods
from dra_plan.questions.schedule.report import content
from dra_plan.text.gate import Gate, Verdict
from dra_plan.text.gate_words import failure
from tests.build import (
    generated,
    gpus,
    manifest,
    node,
    owned,
    owned_by,
    placed,
    pod,
    priority_class,
    request,
    running,
    taint,
    taint_rule,
    template,
    workload,
)

Plain = dict[str, Any]
ENDED = "is terminated at once (device taint)"


def serving(name: str, where: str, device: str = "gpu-0", **metadata: Any) -> list[Plain]:
    """A pod on a node with a device that was made for it."""
    pod_ = running(name, where, f"{name}-gpu-x7k2p", templates={"gpu": "one"}, metadata=metadata)
    return [pod_, generated(name, "gpu", where, device)]


def tainted(objects: list[Plain], device: str, *taints: Plain) -> list[Plain]:
    """The objects with the taints on the device of every pool."""

    def changed(one: Plain) -> Plain:
        if one["kind"] != "ResourceSlice":
            return one
        devices = [
            {**each, "taints": list(taints)} if each["name"] == device else each for each in one["spec"]["devices"]
        ]
        return {**one, "spec": {**one["spec"], "devices": devices}}

    return [changed(one) for one in objects]


def quota(**hard: str) -> Plain:
    named = {key.replace("__", "/").replace("_", "."): value for key, value in hard.items()}
    return manifest("ResourceQuota", "q", namespace="default", spec={"hard": named})


GONE = taint("xid", "79", "NoExecute")
DEVICES = "gpu.example.com.deviceclass.resource.k8s.io/devices"


# -- differences -------------------------------------------------------------------------------------------------------


def test_a_pod_whose_device_gets_a_taint_is_lost_at_once() -> None:
    before = [*gpus("a", each=1), template("one"), *serving("p", "a")]
    diff = Cluster.of(before).diff(Cluster.of(tainted(before, "gpu-0", GONE)))
    [one] = diff.pods
    assert (one.change, one.after.outcome, one.after.ended.by, one.after.ended.second) == (
        "Lost",
        "Ended",
        "device taint",
        0.0,
    )
    assert f"{ENDED}; nothing recreates it" in str(diff)
    assert JUDGE.all_verdicts(Gate(), diff.document) == [Verdict.FAILED]


def test_its_controller_makes_it_anew_where_there_is_room() -> None:
    base = [*gpus("a", "b", each=1), template("one")]
    before = [*base, *serving("w-x", "a", **owned("ReplicaSet", "w"))]
    after = [*tainted(before[:3], "gpu-0", GONE), *before[3:]]
    [one] = Cluster.of(before).diff(Cluster.of(after)).pods
    assert (one.change, one.name, one.after.node_name) == ("OtherNode", "w-x", "b")
    assert (one.after.ended.recreated_as, one.after.devices) == ("w-0", ["gpu.example.com/b/gpu-0"])


def test_its_template_is_known_from_its_claim() -> None:
    before = [*gpus("a", "b", each=1), *serving("w-x", "a", **owned("ReplicaSet", "w"))]
    after = [*tainted(before[:3], "gpu-0", GONE), *before[3:]]
    [one] = Cluster.of(before).diff(Cluster.of(after)).pods
    assert one.after.node_name == "b"


def test_tolerated_seconds_are_told() -> None:
    tolerance = {"key": "xid", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 3600}
    made = generated("p", "gpu", "a", "gpu-0")
    made["status"]["allocation"]["devices"]["results"][0]["tolerations"] = [tolerance]
    pod_ = running("p", "a", "p-gpu-x7k2p", templates={"gpu": "one"})
    before = [*gpus("a", each=1), template("one"), pod_, made]
    diff = Cluster.of(before).diff(Cluster.of(tainted(before, "gpu-0", GONE)))
    assert diff.pods[0].after.ended.second == 3600.0
    assert "is terminated after 1 h (device taint)" in str(diff)


def test_a_rule_counts_where_the_gate_is_on() -> None:
    rule = {**taint_rule("r", pool="a"), "kind": "DeviceTaintRule"}
    rule["spec"]["taint"] = {"key": "recall", "effect": "NoExecute"}
    before = Cluster.of([*gpus("a", each=1), template("one"), *serving("p", "a"), rule])
    assert not before.diff(before).pods
    [one] = before.diff(before.at(feature_gates={"DRADeviceTaintRules": True})).pods
    assert (one.change, one.after.ended.by) == ("Lost", "device taint")


def test_the_defect_of_rules_is_named_where_it_decides() -> None:
    """E3 (kubernetes 139651), of 1.36.0 to 1.36.2."""
    rule = taint_rule("r", pool="a")
    rule["spec"]["taint"] = {"key": "recall", "effect": "NoExecute"}
    objects = [*gpus("a", each=1), template("one"), *serving("p", "a")]
    for version, defects in (("1.36.2", [("E3",)]), ("1.36.3", [])):
        gates = {"DRADeviceTaintRules": True}
        before, after = (
            Cluster.of(state, kubernetes_version=version, feature_gates=gates) for state in (objects, [*objects, rule])
        )
        diff = before.diff(after)
        assert [one.change for one in diff.pods] == ["Lost"]
        assert [each.defects for each in diff.document.warnings if each.code == "upstream-defect"] == defects


def test_what_ends_in_both_states_is_no_difference() -> None:
    objects = tainted([*gpus("a", each=1), template("one"), *serving("p", "a")], "gpu-0", GONE)
    diff = Cluster.of(objects).diff(Cluster.of([*objects, node("b")]))
    assert not diff.pods


def test_what_never_settles_is_told() -> None:
    shape = pod(templates={"gpu": "one"})
    toleration = {"key": "xid", "operator": "Exists"}
    base = [*gpus("a", each=1), template("one", request(tolerations=[toleration]))]
    pod_, made = serving("w-0", "a")
    before = [*base, workload("StatefulSet", "w", shape, replicas=1), owned_by(pod_, "StatefulSet", "w"), made]
    diff = Cluster.of(before).diff(Cluster.of(tainted(before, "gpu-0", GONE)))
    assert [one.change for one in diff.pods] == ["Restarted"]
    assert diff.document.after.unsettled == "pods are evicted and recreated endlessly"
    assert "The cluster after never settles" in str(diff)
    assert Verdict.FAILED in JUDGE.all_verdicts(Gate(), diff.document)


def test_a_chosen_pod_is_followed() -> None:
    before = [*gpus("a", "b", each=1), template("one"), *serving("w-x", "a", **owned("ReplicaSet", "w"))]
    after = [*tainted(before[:3], "gpu-0", GONE), *before[3:]]
    [one] = Cluster.of(before).diff(Cluster.of(after), "pod/w-x").pods
    assert one.after.node_name == "b"


def test_preempted_pods_are_followed() -> None:
    objects = [
        node("a", cpu="2"),
        node("b", cpu="1"),
        priority_class("high", 100),
        placed("low", "a", cpu="2", metadata=owned("ReplicaSet", "w")),
    ]
    urgent = pod("urgent", cpu="2", priority=100)
    diff = Cluster.of(objects).diff(Cluster.of([*objects, urgent]))
    states = {one.name: one for one in diff.pods}
    assert states["urgent"].after.node_name == "a"
    low = states["low"]
    assert (low.change, low.after.outcome, low.after.ended.by) == (
        "Lost",
        "Unschedulable",
        "preemption by default/urgent",
    )


def test_schedule_tells_pods_that_are_refused() -> None:
    objects = [node("a"), quota(pods="1"), workload("Deployment", "w", pod(), replicas=2)]
    plan = Cluster.of(objects).schedule(settle=True)
    assert [(one.name, one.outcome, one.node_name) for one in plan] == [("w-0", "Bound", "a"), ("w-1", "Refused", None)]
    assert plan.document.pods[1].message == (
        'pods "w-1" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1'
    )
    assert [of_pod(Gate(), one) for one in plan.document.pods] == [Verdict.PASSED, Verdict.FAILED]
    assert not [one for one in Cluster.of(objects).schedule(namespace="other", settle=True) if one.outcome == "Refused"]


# -- drains ------------------------------------------------------------------------------------------------------------


def preempting() -> list[Plain]:
    return [
        *(node(name, cpu="2") for name in "abc"),
        placed("high", "a", cpu="2", priority=100, metadata=owned("ReplicaSet", "h")),
        placed("low", "b", cpu="2", metadata=owned("ReplicaSet", "l")),
        placed("bare", "c", cpu="2", priority=50),
    ]


def test_a_row_of_drains_says_what_the_drain_alone_says() -> None:
    cluster = Cluster.of(preempting())
    rows = {row.name: row for row in cluster.drain_each()}
    for name, row in rows.items():
        pods = cluster.diff(cluster.drain(name)).pods
        assert {one.name for one in row.lost} == {one.name for one in pods if one.change == "Lost"}
        assert {one.name for one in row.gone} == {one.name for one in pods if one.change == "Gone"}
        assert row.moved == sum(one.change == "OtherNode" for one in pods)
    assert [one.name for one in rows["a"].lost] == ["low"]


def test_a_pod_that_nobody_makes_anew_is_lost_with_the_reason() -> None:
    objects = [*preempting()[:4], placed("low", "b", cpu="2")]
    cluster = Cluster.of([each for each in objects if each["metadata"]["name"] != "c"])
    [row] = [row for row in cluster.drain_each() if row.name == "a"]
    [lost] = row.lost
    assert (lost.name, lost.running, lost.ended_by) == ("low", True, "preemption by default/high")
    assert "is terminated (preemption by default/high); nothing recreates it" in str(cluster.drain_each())


# -- room --------------------------------------------------------------------------------------------------------------


def test_devices_of_pods_that_go_for_copies_count_as_room() -> None:
    """Of three devices one is in use by a pod that has to go for cpu: the third copy gets its device."""
    low = running("low", "a", "low-gpu-x7k2p", templates={"gpu": "one"}, cpu="2")
    objects = [*gpus(), node("a", cpu="3"), gpus("a", each=3)[2], template("one"), low]
    objects.append(generated("low", "gpu", "a", "gpu-0"))
    copied = pod("copy", templates={"gpu": "one"}, cpu="1", priority=100)
    [item] = Cluster.of(objects).capacity(copied)
    assert (item.scheduled.copies, [one.name for one in item.scheduled.evicted]) == (3, ["low"])


@pytest.mark.parametrize("mix", [False, True])
def test_room_ends_at_the_quota_with_its_message(mix: bool) -> None:
    objects = [
        *gpus("a", each=8),
        template("one"),
        quota(gpu_example_com_deviceclass_resource_k8s_io__devices="5"),
    ]
    objects += serving("p", "a")
    shape = pod(templates={"gpu": "one"})
    found = Cluster.of([*objects, workload("Deployment", "w", shape, replicas=2)]).capacity("deploy/w", mix=mix)
    [item] = found
    assert (item.scheduled.copies, item.scheduled.ended, item.possible) == (4, "Refused", None)
    assert item.scheduled.message == (
        'PodResourceClaim gpu: create ResourceClaim : resourceclaims.resource.k8s.io "w-4-gpu" is forbidden: exceeded '
        f"quota: q, requested: {DEVICES}=1, used: {DEVICES}=5, limited: {DEVICES}=5"
    )
    assert "The API server creates no more: PodResourceClaim" in str(found)
    assert of_owner(Gate(min_copies=5), item) is Verdict.FAILED


def test_a_quota_that_leaves_room_changes_nothing() -> None:
    objects = [*gpus("a", "b", each=2), template("one"), *serving("p", "a")]
    shape = pod("copy", templates={"gpu": "one"})
    alone, beside = (Cluster.of([*objects, *more]).capacity(shape) for more in ([], [quota(pods="100")]))
    assert alone.document == beside.document


def test_pods_that_wait_already_are_not_charged_twice() -> None:
    objects = [*gpus("a", each=8), template("one"), quota(pods="3")]
    shape = pod(templates={"gpu": "one"})
    objects += [workload("Deployment", "w", shape, replicas=2)]
    objects += [owned_by(pod(f"w-x{n}", templates={"gpu": "one"}), "Deployment", "w") for n in range(2)]
    [item] = Cluster.of(objects).capacity("deploy/w")
    assert item.scheduled.copies == 3


def test_limits_refuse_copies() -> None:
    limits = manifest(
        "LimitRange", "l", namespace="default", spec={"limits": [{"type": "Container", "max": {"cpu": "500m"}}]}
    )
    [item] = Cluster.of([node("a"), limits]).capacity(pod("copy", cpu="1"))
    assert (item.scheduled.copies, item.scheduled.ended) == (0, "Refused")
    assert "must be less than or equal to cpu limit of 500m" in item.scheduled.message


# -- gates ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hard", "why"),
    [
        ({"gpu_example_com_deviceclass_resource_k8s_io__devices": "2"}, "the API server rejects its claim: quota"),
        ({"pods": "2"}, "rejected by the API server: quota"),
        ({"pods": "3"}, ""),
    ],
)
def test_a_gate_fails_for_a_pod_that_a_quota_stops_and_names_the_quota(hard: dict[str, str], why: str) -> None:
    owner = workload("Deployment", "w", pod(templates={"gpu": "one"}), replicas=3)
    cluster = Cluster.of([*gpus("a", each=8), template("one"), quota(**hard), owner])
    competition = cluster.allocate(competing=True).document.competition
    assert competition
    left = [(one.name, (one.message or "").partition(" default/q allows 2 ")[0]) for one in competition.without_node]
    assert left == ([("w-2", why)] if why else [])
    plan = cluster.schedule(settle=True, explain=True).document
    alone = cluster.schedule(explain=True).document
    assert [(one.name, one.message.partition(" default/q ")[0]) for one in alone.rejected_later or ()] == left
    assert ("quotas and limits reject 1 pod (" in failure(Gate(require_fit=True), OF_SCHEDULES, alone)) is bool(why)
    outcomes = [pod.outcome for pod in plan.pods if pod.name == "w-2"]
    assert outcomes == ["OverQuota" if "claim" in why else "Refused" if why else "Bound"]
    reported = [
        one.entry.message for one in content(plan, Gate(), {}, command="schedule", anchor="").checks if one.entry
    ]
    assert bool(reported) is bool(why)
    if "claim" in why:
        used = "2 will be used by 2 pods of deployment/w"
        said = f"{why} default/q allows 2 gpu.example.com devices: {used} and 1 more is requested"
        assert reported == [said]
        assert of_pods(plan, ["default/w-2"]) == f" ({said})"


# -- growth ------------------------------------------------------------------------------------------------------------


def test_growth_does_not_help_what_a_quota_refuses() -> None:
    objects = [*gpus("a", each=1), template("one"), quota(pods="2")]
    objects.append(workload("Deployment", "w", pod(templates={"gpu": "one"}), replicas=3))
    found = Cluster.of(objects).grow(like="a").document
    [helpless] = found.beyond_help
    assert helpless.message is not None
    assert helpless.message.startswith('pods "w-2" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2')
    assert [kind.count for kind in found.kinds] == [1]


# -- placements --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hard", "message"),
    [
        ({"pods": "2"}, 'pods "w-2" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2'),
        (
            {"gpu_example_com_deviceclass_resource_k8s_io__devices": "2"},
            (
                'PodResourceClaim gpu: create ResourceClaim : resourceclaims.resource.k8s.io "w-2-gpu" is forbidden: '
                f"exceeded quota: q, requested: {DEVICES}=1, used: {DEVICES}=2, limited: {DEVICES}=2"
            ),
        ),
    ],
)
def test_a_placement_is_of_what_the_quota_lets_be(hard: dict[str, str], message: str) -> None:
    owner = workload("Deployment", "w", pod(templates={"gpu": "one"}), replicas=3)
    found = Cluster.of([*gpus("a", each=8), template("one"), quota(**hard), owner]).place().document
    assert (found.outcome, found.pods, [one.name for one in found.placed]) == ("Refused", 2, [])
    assert [(one.object, one.message) for one in found.refusals or ()] == [("Pod default/w-2", message)]


def test_pods_that_the_cluster_has_are_placed_whatever_the_quota_says() -> None:
    pods = [pod(f"p{number}", claims={"gpu": f"c{number}"}, uid=f"u{number}") for number in range(3)]
    objects = [
        node("a"),
        quota(pods="1"),
        *({**one, "spec": {"containers": one["spec"]["containers"]}} for one in pods),
    ]
    assert Cluster.of(objects).place().document.outcome == "Placed"


def test_new_pods_of_the_input_are_created_in_order_until_the_quota_ends() -> None:
    there = placed("old", "a")
    new = [pod(f"p{number}", uid=None) for number in range(3)]
    plan = Cluster.of([node("a"), quota(pods="2"), there, *new]).schedule(settle=True)
    assert [(one.name, one.outcome) for one in plan.document.pods] == [
        ("old", "Bound"),
        ("p0", "Bound"),
        ("p1", "Refused"),
        ("p2", "Refused"),
    ]
    assert Cluster.of([node("a"), quota(pods="2"), there, *new]).place().document.pods == 1


def test_new_pods_get_the_defaults_of_limits() -> None:
    limits = manifest(
        "LimitRange", "l", namespace="default", spec={"limits": [{"type": "Container", "default": {"cpu": "5"}}]}
    )
    new = [pod(name, cpu=None, memory=None, uid=None) for name in ("p", "q")]
    plan = Cluster.of([node("a", cpu="8"), limits, *new]).schedule(settle=True)
    assert sorted(one.outcome for one in plan.document.pods) == ["Bound", "Unschedulable"]
