"""Making room: whose pods go, from which node, and what becomes of the pods that wait meanwhile."""

from __future__ import annotations

import copy

from tests.build import (
    allocation,
    claim,
    device_class,
    disruption_budget,
    node,
    placed,
    pod,
    priority_class,
    request,
    slice_,
)
from tests.scheduler.reading import codes, message, outcome, plan, where


def evicted(document: dict) -> list[tuple[str, str]]:
    return [(e["pod"].split("/")[1], e["node"]) for e in document["evictions"]]


def test_the_fewest_and_least_important_pods_go():
    objects = [
        node("a", cpu="4"),
        placed("low", "a", cpu="2", priority=1),
        placed("mid", "a", cpu="2", priority=5),
        pod("p", cpu="2", priority=10),
    ]
    document = plan(objects)
    assert evicted(document) == [("low", "a")]
    assert where(document) == {"mid": "a", "p": "a"}


def test_equal_or_higher_priority_is_safe():
    objects = [node("a", cpu="1"), placed("old", "a", priority=10), pod("p", priority=10)]
    assert message(plan(objects), "p").endswith("1 No preemption victims found for incoming pod.")


def test_policy_never():
    objects = [node("a", cpu="1"), placed("old", "a"), pod("p", priority=10, preemptionPolicy="Never")]
    text = "no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never."
    assert message(plan(objects), "p") == f"0/1 nodes are available: 1 Insufficient cpu. {text}"


def test_a_terminating_victim_on_the_nominated_node_is_awaited():
    condition = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
    going = placed("old", "a", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    going["status"]["conditions"] = [condition]
    objects = [node("a", cpu="1"), going, pod("p", priority=10, status={"nominatedNodeName": "a"})]
    document = plan(objects)
    assert "not eligible due to a terminating pod on the nominated node." in message(document, "p")
    assert evicted(document) == []


def test_budgets_decide_between_nodes_and_between_pods():
    labels = {"app": "x"}
    guarded = [node("a", cpu="1"), placed("safe", "a", labels=labels), node("b", cpu="1"), placed("free", "b")]
    document = plan([*guarded, disruption_budget("pdb", 0, **labels), pod("p", priority=10)])
    assert evicted(document) == [("free", "b")]
    both = [node("a", cpu="2"), placed("safe", "a", labels=labels), placed("free", "a"), pod("p", priority=10)]
    assert evicted(plan([*both, disruption_budget("pdb", 0, **labels)])) == [("free", "a")]
    last = [node("a", cpu="1"), placed("safe", "a", labels=labels), pod("p", priority=10)]
    assert evicted(plan([*last, disruption_budget("pdb", 0, **labels)])) == [("safe", "a")], (
        "a budget does not forbid it"
    )


def test_nodes_are_compared_step_by_step():
    def choose(*pods: dict) -> list[tuple[str, str]]:
        return evicted(plan([node("a", cpu="2"), node("b", cpu="2"), *pods, pod("p", cpu="2", priority=10)]))

    top = [placed("x", "a", cpu="2", priority=5), placed("y", "b", cpu="2", priority=4)]
    assert choose(*top) == [("y", "b")]
    total = [placed("x1", "a", priority=5), placed("x2", "a", priority=5), placed("y", "b", cpu="2", priority=5)]
    assert choose(*total) == [("y", "b")]
    older, younger = placed("x", "a", cpu="2"), placed("y", "b", cpu="2")
    younger["status"]["startTime"] = "2026-06-01T00:00:00Z"
    assert choose(older, younger) == [("y", "b")]


def test_removing_pods_may_not_be_enough():
    taints = {"taints": [{"key": "k", "effect": "NoSchedule"}]}
    objects = [node("a", cpu="1"), placed("old", "a"), node("b", spec=taints), pod("p", priority=10, cpu="1")]
    objects[0] = node("a", cpu="1", pods="1")
    anti = {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "kubernetes.io/hostname"}
    guard = placed("guard", "a", priority=20, labels={"app": "x"}, cpu="0")
    rule = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [anti]}}
    objects = [
        node("a", cpu="1"),
        placed("old", "a"),
        guard,
        node("b", spec=taints),
        pod("p", priority=10, affinity=rule),
    ]
    text = message(plan(objects), "p")
    assert text.endswith(
        "preemption: 0/2 nodes are available: 1 Preemption is not helpful for scheduling, "
        "1 node(s) didn't match pod anti-affinity rules."
    )


def test_victims_that_repel_the_pod_go():
    """Filters are asked with the victims taken out of the counts."""
    anti = {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "kubernetes.io/hostname"}
    rule = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [anti]}}
    objects = [node("a"), placed("old", "a", labels={"app": "x"}), pod("p", priority=10, affinity=rule)]
    document = plan(objects)
    assert evicted(document) == [("old", "a")]
    assert where(document) == {"p": "a"}


def test_spread_counts_follow_the_victims():
    constraint = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "x"}},
    }
    labels = {"app": "x"}
    full = node("b", spec={"unschedulable": True})
    old = placed("old", "a", labels=labels)
    wanted = pod("p", priority=10, labels=labels, topologySpreadConstraints=[constraint])
    assert evicted(plan([node("a"), full, old, wanted])) == [("old", "a")]


def test_the_nominated_node_is_kept_free_from_less_important_pods():
    """p evicts old and waits; q comes next and finds the room taken by the nomination."""
    objects = [
        node("a", cpu="2"),
        placed("old", "a", cpu="2"),
        pod("p", cpu="2", priority=10),
        pod("q", cpu="1", priority=5),
    ]
    document = plan(objects, trace=True)
    assert where(document)["p"] == "a"
    assert where(document)["q"] is None
    assert message(document, "q").startswith("0/1 nodes are available: 1 Insufficient cpu.")


def test_a_nominated_pod_goes_to_its_node_unscored():
    objects = [node("a", cpu="99"), node("b"), pod("p", status={"nominatedNodeName": "b"})]
    document = plan(objects, trace=True)
    assert where(document)["p"] == "b"
    assert "score" not in document["trace"]["attempts"][0]
    objects[1] = node("b", cpu="0")
    assert where(plan(objects))["p"] == "a"


def test_the_preemptor_waits_until_its_victims_are_gone():
    document = plan([node("a", cpu="1"), placed("old", "a"), pod("p", priority=10)], trace=True)
    first, second = document["trace"]["attempts"]
    assert first["message"] == "0/1 nodes are available: 1 Insufficient cpu."
    assert first["postFilter"][-1] == {"plugin": "DefaultPreemption", "status": "Success", "nominatedNode": "a"}
    assert second["node"] == "a"
    assert outcome(document, "p")["attempts"] == 2


def test_priorities_come_from_classes():
    classes = [priority_class("high", 100), priority_class("polite", 100, preemptionPolicy="Never")]
    base = [node("a", cpu="1"), placed("old", "a"), *classes]
    assert evicted(plan([*base, pod("p", priorityClassName="high")])) == [("old", "a")]
    assert evicted(plan([*base, pod("p", priorityClassName="system-node-critical")])) == [("old", "a")]
    assert "preemptionPolicy=Never" in message(plan([*base, pod("p", priorityClassName="polite")]), "p")
    general = priority_class("usual", 50, globalDefault=True)
    old = placed("old", "a", priority=0)
    assert evicted(plan([node("a", cpu="1"), old, general, pod("p")])) == [("old", "a")]


def test_of_pods_that_have_not_started_the_last_one_is_spared():
    """Neither has a start time, so upstream takes the moment of comparing, and its sort turns them round."""
    before = [node("a", cpu="2"), pod("x1"), pod("x2")]
    document = plan(before, then=[[*before, pod("late", priority=5)]])
    assert evicted(document) == [("x1", "a")]


def test_of_pods_that_started_together_the_first_one_is_spared():
    objects = [node("a", cpu="2"), placed("x1", "a"), placed("x2", "a"), pod("late", priority=5)]
    assert evicted(plan(objects)) == [("x2", "a")]


def test_room_is_made_by_the_filters_of_the_pods_own_profile():
    lenient = {"schedulerName": "lenient", "plugins": {"multiPoint": {"disabled": [{"name": "NodeResourcesFit"}]}}}
    profiles = [{"schedulerName": "default-scheduler"}, lenient]
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": profiles,
    }
    document = plan([node("a", cpu="1"), placed("old", "a", priority=1), pod("p", priority=10)], config=config)
    assert evicted(document) == [("old", "a")]


def _one_holds_devices() -> list[dict]:
    """A node of 4 cpu and two devices, one of which a pod of low priority has."""
    held = claim("held", request())
    reserved = [{"resource": "pods", "name": "v", "uid": "v"}]
    held["status"] = {"allocation": allocation("a", "gpu-0"), "reservedFor": reserved}
    return [
        node("a", cpu="4"),
        device_class(),
        slice_("a", "gpu-0", "gpu-1"),
        held,
        placed("v", "a", cpu="3", claims={"r": "held"}),
    ]


def test_a_pod_whose_victim_went_for_another_waits_on_and_that_is_said():
    """Both decide on the same victim before it is gone; nobody is told of its end twice (recorded: preempt-0003)."""
    objects = [*_one_holds_devices(), pod("hi", cpu="3", priority=100), pod("hi2", cpu="1", priority=100)]
    document = plan(objects)
    assert where(document) == {"hi": "a", "hi2": None}
    [said] = [each for each in document["warnings"] if each["code"] == "evicted-for-another"]
    assert said["object"] == "Pod default/hi2"
    assert "it is waiting for the end of default/v" in said["message"]
    assert document["evictions"] == [{"pod": "default/v", "node": "a", "preemptor": "default/hi"}]


def test_claims_of_evicted_pods_keep_their_devices_and_that_is_said():
    objects = [*_one_holds_devices(), pod("hi", cpu="3", priority=100)]
    [said] = [each for each in plan(objects)["warnings"] if each["code"] == "evicted-claims-kept"]
    assert "(default/held)" in said["message"]
    assert "--without pod/default/v)" in said["message"]
    shared = copy.deepcopy(objects)
    [held] = [each for each in shared if each["metadata"]["name"] == "held"]
    held["status"]["reservedFor"].append({"resource": "pods", "name": "stays", "uid": "stays"})
    stays = placed("stays", "a", cpu="1", priority=100, claims={"r": "held"})
    document = plan([*shared, stays])
    assert evicted(document) == [("v", "a")]
    assert "evicted-claims-kept" not in codes(document), "somebody else has them"
