"""The cycle of a group: who is tried, in which order, and what each is told."""

from __future__ import annotations

from typing import Any

from tests.build import allocation, claim, device_class, member, node, placed, pod, pod_group, slice_
from tests.scheduler.groups.planning import CLAIMS, GANGS, PREEMPTION, TOPOLOGY, conditions, messages, plan, where

HELD = (
    "pod group is unschedulable, waiting for minCount pods from a gang to be scheduled, "
    "one or more plugins asked to wait and no plugin rejected pod"
)


def attempted(document: dict[str, Any]) -> list[str]:
    return [each["pod"].partition("/")[2] for each in document["trace"]["attempts"]]


def test_priority_then_the_completing_pod_then_arrival() -> None:
    objects = [node("n"), pod_group(least=3), *(member(name) for name in "abcd"), member("e", priority=7)]
    assert attempted(plan(objects, trace=True)) == ["e", "c", "a", "b", "d"]


def test_times_that_no_server_wrote_are_no_order() -> None:
    """A server writes a creationTimestamp into every object, the group too; then times are the order."""
    timed = [member(name) for name in "abc"]
    for second, each in zip((3, 1, 2), timed, strict=True):
        each["metadata"]["creationTimestamp"] = f"2026-01-01T00:00:0{second}Z"
    its = pod_group(least=1)
    assert attempted(plan([node("n"), its, *timed], trace=True)) == ["a", "b", "c"]
    its["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z"
    assert attempted(plan([node("n"), its, *timed], trace=True)) == ["b", "c", "a"]


def test_a_group_runs_at_the_place_of_its_best_pod() -> None:
    objects = [
        node("n", cpu="3"),
        pod_group(least=2),
        member("low", priority=1),
        pod("lone", cpu="2", priority=5, preemptionPolicy="Never"),
    ]
    document = plan([*objects, member("high", priority=9)])
    assert where(document) == {"low": "n", "lone": None, "high": "n"}


def test_what_pods_and_group_are_told() -> None:
    document = plan([node("n", cpu="3"), pod_group(), member("a", cpu="2"), member("b", cpu="2")])
    assert messages(document)["b"] == HELD
    assert (messages(document)["a"] or "").startswith("0/1 nodes are available: 1 Insufficient cpu.")
    assert conditions(document) == {"g": ("False", "Unschedulable", "pod group is unschedulable")}


def test_pods_of_several_schedulers_are_an_error() -> None:
    profiles = [{"schedulerName": "default-scheduler"}, {"schedulerName": "other"}]
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": profiles,
    }
    objects = [node("n"), pod_group(), member("a"), member("b", schedulerName="other")]
    text = (
        "all pods in a single pod group should have the same .spec.schedulerName set, "
        'got: "other" and "default-scheduler"'
    )
    document = plan(objects, config=config)
    assert messages(document) == {"a": text, "b": text}
    assert conditions(document) == {"g": ("False", "SchedulerError", text)}


def test_a_shared_claim_is_not_for_pods_outside_the_cycle() -> None:
    objects = [node("n"), slice_("n", "gpu-0"), device_class(), claim("s"), pod_group(), pod("lone", claims={"x": "s"})]
    document = plan([*objects, *(member(name, claims={"x": "s"}) for name in "ab")])
    assert where(document) == {"lone": "n", "a": "n", "b": "n"}


def test_members_bind_a_shared_claim_one_after_the_other() -> None:
    objects = [node("n"), slice_("n", "gpu-0"), device_class(), claim("s"), pod_group()]
    document = plan([*objects, *(member(name, claims={"x": "s"}) for name in "ab")])
    assert sorted(entry["attempts"] for entry in document["pods"]) == [1, 2]


def test_a_claim_of_the_group_is_reserved_for_the_group() -> None:
    own = {"resourceClaims": [{"name": "x", "resourceClaimName": "s"}]}
    objects = [node("n"), slice_("n", "gpu-0"), device_class(), claim("s"), pod_group(**own)]
    document = plan([*objects, *(member(name, claims={"x": "s"}) for name in "ab")], CLAIMS)
    [shared] = document["claims"]
    assert [(user["resource"], user["name"]) for user in shared["reservedFor"]] == [("podgroups", "g")]
    lone = plan([*objects, *(member(name, claims={"y": "s"}) for name in "ab")], CLAIMS)
    assert sorted(user["resource"] for user in lone["claims"][0]["reservedFor"]) == ["pods", "pods"]


def test_claims_of_a_group_whose_gate_is_off_are_the_pods_own() -> None:
    own = {"resourceClaims": [{"name": "x", "resourceClaimName": "s"}]}
    objects = [node("n"), slice_("n", "gpu-0"), device_class(), claim("s"), pod_group(**own)]
    document = plan([*objects, *(member(name, claims={"x": "s"}) for name in "ab")], GANGS)
    assert {user["resource"] for user in document["claims"][0]["reservedFor"]} == {"pods"}


def test_a_group_gives_a_claim_up_that_is_in_its_way() -> None:
    status = {
        "allocation": allocation("n", "gpu-0"),
        "reservedFor": [{"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "g", "uid": "u-g"}],
    }
    own = {"resourceClaims": [{"name": "x", "resourceClaimName": "s"}]}
    gone = [node("n", spec={"unschedulable": True}), slice_("n", "gpu-0"), node("m"), slice_("m", "gpu-0")]
    objects = [
        *gone,
        device_class(),
        claim("s", status=status),
        pod_group(least=1, **own),
        member("a", claims={"x": "s"}),
    ]
    document = plan(objects, CLAIMS)
    assert where(document) == {"a": "m"}
    assert [result["pool"] for result in document["claims"][0]["allocation"]["devices"]["results"]] == ["m"]


def test_topology_takes_the_domain_with_most_pods_and_names_what_is_missing() -> None:
    zones = {"schedulingConstraints": {"topology": [{"key": "zone"}]}}
    nodes = [node("n", cpu="2", labels={"zone": "a"}), node("m", cpu="3", labels={"zone": "b"}), node("x", cpu="9")]
    members = [member(name) for name in "abc"]
    assert set(where(plan([*nodes, pod_group(least=2, **zones), *members], TOPOLOGY)).values()) == {"m"}
    none = plan([node("n"), pod_group(**zones), *members], TOPOLOGY)
    assert set(messages(none).values()) == {"no feasible placements found"}
    few = plan([*nodes[:1], pod_group(least=3, **zones), *members], TOPOLOGY)
    assert conditions(few)["g"][2] == "0/1 placements are available, first placement status: pod group is unschedulable"


def test_pods_outside_every_domain_are_an_error() -> None:
    zones = {"schedulingConstraints": {"topology": [{"key": "zone"}]}}
    bound = placed("z", "n", schedulingGroup={"podGroupName": "g"})
    document = plan([node("n"), node("m", labels={"zone": "a"}), pod_group(**zones), bound, member("a")], TOPOLOGY)
    text = "cannot determine domain for already scheduled pods: no topology domain found for pod default/z"
    assert messages(document)["a"] == text


def test_a_group_preempts_once_and_spares_whom_it_can() -> None:
    bound = [placed(name, "n", cpu="2", priority=value) for name, value in (("x", 1), ("y", 5), ("z", 200))]
    objects = [node("n", cpu="6"), pod_group(least=1, priority=100), member("a", cpu="2", priority=100), *bound]
    document = plan(objects, PREEMPTION)
    assert [(each["pod"], each["preemptor"]) for each in document["evictions"]] == [("default/x", "podgroup/default/g")]
    assert where(document)["a"] == "n"


def test_pods_that_only_go_together_do() -> None:
    unit = {"disruptionMode": "PodGroup", "priority": 1}
    bound = [placed(name, on, cpu="2", schedulingGroup={"podGroupName": "v"}) for name, on in (("x", "n"), ("y", "m"))]
    objects = [node("n", cpu="2"), node("m", cpu="2"), pod_group("v", **unit), *bound, pod_group(least=1, priority=9)]
    document = plan([*objects, member("a", cpu="2")], PREEMPTION)
    assert sorted(each["pod"] for each in document["evictions"]) == ["default/x", "default/y"]


def test_disruption_budgets_are_broken_last() -> None:
    labelled = [placed(name, "n", cpu="2", labels={"app": name}) for name in "xy"]
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "b", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "y"}}},
        "status": {"disruptionsAllowed": 0},
    }
    objects = [node("n", cpu="4"), *labelled, budget, pod_group(least=1, priority=9), member("a", cpu="2")]
    assert [each["pod"] for each in plan(objects, PREEMPTION)["evictions"]] == ["default/x"]


def test_why_a_group_may_not_preempt() -> None:
    objects = [node("n", cpu="2"), placed("x", "n", cpu="2"), member("a", cpu="2", preemptionPolicy="Never")]
    told = conditions(plan([*objects, pod_group(least=1, priority=9)], PREEMPTION))["g"][2]
    assert told == "pod group is unschedulable, not eligible due to preemptionPolicy=Never."
    objects[-1]["spec"].pop("preemptionPolicy")
    told = conditions(plan([*objects, pod_group(least=1)], PREEMPTION))["g"][2]
    assert told == "pod group is unschedulable, No preemption victims found for incoming preemptor"


def test_the_priority_of_a_group_is_that_of_its_class() -> None:
    classes = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 9}
    objects = [node("n", cpu="2"), placed("x", "n", cpu="2", priority=5), classes, member("a", cpu="2")]
    named = plan([*objects, pod_group(least=1, priorityClassName="high")], PREEMPTION)
    assert [each["pod"] for each in named["evictions"]] == ["default/x"]
    unnamed = plan([*objects, pod_group(least=1)], PREEMPTION)
    assert unnamed["evictions"] == []
