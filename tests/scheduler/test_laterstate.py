"""Later states of the cluster: events, hints, and who is tried again."""

from __future__ import annotations

import pytest

from dra_plan.scheduler.events import Action, Event, Resource
from tests import build
from tests.build import claim, gpus, node, placed, pod, template
from tests.scheduler.reading import devices, message, outcome, plan, users, where


def wakes(document: dict) -> list[tuple[str, str, str]]:
    return [(w["pod"].split("/")[1], w["event"], w["plugin"]) for w in document["trace"]["wakes"]]


def after(before: list[dict], *states: list[dict]) -> dict:
    return plan(before, then=states, trace=True)


def test_a_new_node_wakes_pods_it_can_take():
    before = [node("a", cpu="1"), pod("small", cpu="2"), pod("large", cpu="20")]
    document = after(before, [*before, node("b", cpu="4")])
    assert where(document) == {"large": None, "small": "b"}
    assert wakes(document) == [("small", "NodeAdd", "NodeResourcesFit")]


@pytest.mark.parametrize(
    ("old", "new", "rules", "plugin"),
    [
        ({"cpu": "1"}, {"cpu": "4"}, {"cpu": "2"}, "NodeResourcesFit"),
        ({}, {"labels": {"gen": "2"}}, {"nodeSelector": {"gen": "2"}}, "NodeAffinity"),
        ({"spec": {"unschedulable": True}}, {}, {}, "NodeUnschedulable"),
        ({"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}}, {}, {}, "TaintToleration"),
    ],
)
def test_a_node_that_changes_wakes_the_pods_it_refused(old, new, rules, plugin):
    waiting = pod("p", **rules)
    document = after([node("a", **old), waiting], [node("a", **new), waiting])
    assert where(document) == {"p": "a"}
    assert wakes(document) == [("p", "NodeUpdate", plugin)]


def test_a_change_that_does_not_help_wakes_nobody():
    before = [node("a", cpu="1"), pod("p", cpu="2")]
    document = after(before, [node("a", cpu="1", labels={"new": "1"}), before[1]])
    assert wakes(document) == []
    assert outcome(document, "p")["attempts"] == 1


def test_a_pod_that_leaves_frees_room_ports_and_its_repulsion():
    rule = {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "kubernetes.io/hostname"}
            ]
        }
    }
    base = [node("a"), pod("p", labels={"app": "x"})]
    document = after([*base, placed("old", "a", affinity=rule)], base)
    assert wakes(document) == [("p", "AssignedPodDelete", "InterPodAffinity")]
    assert where(document) == {"p": "a"}


def test_a_friend_that_arrives_wakes_a_pod_with_affinity():
    rule = {
        "podAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "kubernetes.io/hostname"}
            ]
        }
    }
    base = [node("a"), pod("p", affinity=rule)]
    document = after(base, [*base, placed("friend", "a", labels={"app": "x"})])
    assert wakes(document) == [("p", "AssignedPodAdd", "InterPodAffinity")]
    assert where(document)["p"] == "a"


def test_devices_that_are_published_wake_pods():
    base = [build.device_class(), node("a"), template("t"), pod("p", templates={"x": "t"})]
    document = after(base, [*base, build.slice_("a", "gpu-0")])
    assert wakes(document) == [("p", "ResourceSliceAdd", "DynamicResources")]
    assert devices(document, "p-x") == ["a/gpu-0"]


def test_devices_that_are_withdrawn_wake_nobody():
    base = [*gpus("a", each=1), claim("c", build.request(count=2)), pod("p", claims={"x": "c"})]
    document = after(base, [o for o in base if o["kind"] != "ResourceSlice"])
    assert wakes(document) == []


def test_a_class_that_appears_wakes_pods():
    base = [node("a"), build.slice_("a", "gpu-0"), claim("c"), pod("p", claims={"x": "c"})]
    document = after(base, [*base, build.device_class()])
    assert wakes(document) == [("p", "DeviceClassAdd", "DynamicResources")]
    assert where(document)["p"] == "a"


def test_a_claim_or_template_that_appears_opens_the_gate():
    base = [*gpus("a"), pod("p", claims={"x": "c"})]
    document = after(base, [*base, claim("c")])
    assert wakes(document) == [("p", "ResourceClaimAdd", "DynamicResources")]
    assert users(document, "c") == ["p"]
    base = [*gpus("a"), pod("p", templates={"x": "t"})]
    document = after(base, [*base, template("t")])
    assert where(document)["p"] == "a"
    assert ("p", "UnscheduledPodUpdate", "DynamicResources") in wakes(document)


def test_a_pod_that_goes_frees_the_claims_made_for_it_and_wakes_others():
    base = [*gpus("a", each=1), template("t"), pod("q", templates={"x": "t"})]
    first = pod("p", templates={"x": "t"})
    document = after([*base, first], base)
    assert devices(document, "q-x") == ["a/gpu-0"]
    assert [c["name"] for c in document["claims"]] == ["q-x"]


def test_a_shared_claim_is_freed_with_its_last_user():
    base = [*gpus("a", each=1), claim("c"), claim("d"), pod("q", claims={"x": "d"})]
    document = after([pod("p", claims={"x": "c"}), *base], base)
    assert devices(document, "c") == []
    assert devices(document, "d") == ["a/gpu-0"]
    assert ("q", "ResourceClaimUpdate", "DynamicResources") in wakes(document)


def test_new_pods_compete_with_those_that_are_placed():
    base = [node("a", cpu="2"), pod("p1")]
    document = after(base, [*base, pod("p2"), pod("p3")])
    assert where(document) == {"p1": "a", "p2": "a", "p3": None}


def test_a_pod_somebody_else_bound_is_left_where_it_is():
    base = [node("a", cpu="1"), node("b", cpu="1", spec={"unschedulable": True})]
    document = after([*base, pod("p", cpu="2")], [*base, placed("p", "b")])
    assert where(document) == {"p": "b"}
    assert outcome(document, "p")["message"] is None


def test_a_pod_that_changes_its_tolerations_is_tried_again():
    base = [node("a", spec={"taints": [{"key": "k", "effect": "NoSchedule"}]})]
    document = after([*base, pod("p")], [*base, pod("p", tolerations=[{"operator": "Exists"}])])
    assert where(document) == {"p": "a"}
    assert wakes(document) == [("p", "UnscheduledPodUpdate", "TaintToleration")]


@pytest.mark.parametrize(("api_server", "node_name"), [("recorded", None), ("real", "a")])
def test_a_pod_that_finishes_leaves_only_in_a_real_cluster(api_server, node_name):
    base = [node("a", cpu="1"), pod("p")]
    states = [[*base, placed("old", "a", phase="Succeeded")]]
    document = plan([*base, placed("old", "a")], then=states, api_server=api_server)
    assert where(document)["p"] == node_name


def test_several_states_follow_each_other():
    base = [pod("p", cpu="2"), pod("q", cpu="4")]
    document = after([node("a", cpu="1"), *base], [node("a", cpu="2"), *base], [node("a", cpu="6"), *base])
    assert where(document) == {"p": "a", "q": "a"}
    assert [name for name, _, _ in wakes(document)] == ["p", "q"]


def test_nodes_that_go_take_their_pods_out_of_the_counts():
    base = [node("a", cpu="2"), pod("p")]
    document = after(base, [node("b", cpu="2"), base[1], pod("q", cpu="2")])
    assert where(document) == {"p": "a", "q": "b"}


def test_an_unchanged_state_changes_nothing():
    base = [*gpus("a", each=1), template("t"), pod("p", templates={"x": "t"}), pod("q", templates={"x": "t"})]
    once, twice = plan(base), plan(base, then=[base])
    assert once == twice
    assert "cannot allocate" in message(once, "q")


def test_event_labels():
    assert Event(Resource.NODE, Action.ADD).label == "NodeAdd"
    assert Event(Resource.CLAIM, Action.UPDATE_OTHER).label == "ResourceClaimUpdate"
    assert Event(Resource.ASSIGNED_POD, Action.DELETE).label == "AssignedPodDelete"
