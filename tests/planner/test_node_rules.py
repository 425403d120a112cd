"""`allocate` and the rules that look at nothing but the node and the pod: such nodes do not count as fitting."""

from __future__ import annotations

import pytest

from dra_plan import Cluster, allocate, explain
from tests.build import Object, claim, device_class, node, pod, slice_, template

CORDONED = ("NodeUnschedulable", "node(s) were unschedulable")
TAINTED = ("TaintToleration", "node(s) had untolerated taint(s)")
ELSEWHERE = ("NodeAffinity", "node(s) didn't match Pod's node affinity/selector")
ALL = {"key": "metadata.name", "operator": "In", "values": ["d"]}


def everywhere() -> Object:
    """Two devices that every node reaches."""
    return slice_("p", "gpu-0", "gpu-1", name="s", allNodes=True)


def cluster() -> list[dict]:
    tainted = node("b", spec={"taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]})
    preferred = node("e", spec={"taints": [{"key": "k", "value": "v", "effect": "PreferNoSchedule"}]})
    nodes = [node("a", spec={"unschedulable": True}), tainted, node("c", labels={"zone": "z"}), node("d"), preferred]
    return [*nodes, device_class(), everywhere(), template("t")]


def excluded(**spec) -> dict[str, list[tuple[str, str]]]:
    [plan] = allocate([*cluster(), pod("p", templates={"x": "t"}, **spec)]).to_dict()["claimSets"]
    found = {each["name"]: each.get("excludedBy", []) for each in plan["nodes"]}
    assert plan["fittingNodes"] == [name for name, by in found.items() if not by]
    assert {each["outcome"] for each in plan["nodes"]} == {"Fits"}, "the allocator's word stays"
    return {name: [(each["plugin"], each["message"]) for each in by] for name, by in found.items() if by}


def required(**term) -> dict:
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ({}, {"a": [CORDONED], "b": [TAINTED]}),
        ({"tolerations": [{"operator": "Exists"}]}, {}),
        ({"tolerations": [{"key": "k", "operator": "Exists"}]}, {"a": [CORDONED]}),
        (
            {"nodeSelector": {"zone": "z"}},
            {"a": [CORDONED, ELSEWHERE], "b": [TAINTED, ELSEWHERE], "d": [ELSEWHERE], "e": [ELSEWHERE]},
        ),
        (
            {"affinity": required(matchFields=[ALL])},
            {"a": [CORDONED, ELSEWHERE], "b": [TAINTED, ELSEWHERE], "c": [ELSEWHERE], "e": [ELSEWHERE]},
        ),
    ],
)
def test_nodes_that_the_scheduler_would_not_take_do_not_fit(spec, wanted):
    assert excluded(**spec) == wanted


def test_terms_that_contradict_each_other_exclude_all():
    other = {**ALL, "values": ["c"]}
    found = excluded(affinity=required(matchFields=[ALL, other]))
    assert {by[-1] for by in found.values()} == {("NodeAffinity", "pod affinity terms conflict")}
    assert len(found) == 5


def test_the_scheduler_agrees():
    """What it says of nodes that are excluded is what is said here."""
    objects = [*cluster(), pod("p", templates={"x": "t"}, nodeSelector={"zone": "nowhere"})]
    [set_plan] = allocate(objects)
    assert set_plan.outcome.value == "DoesNotFit"
    message = Cluster.of(objects).schedule().to_dict()["pods"][0]["message"]
    for exclusions in set_plan.excluded.values():
        assert exclusions[0].message in message


def made_of(one: dict) -> dict:
    """What makes a workload of such pods."""
    labels = {"app": "w"}
    return {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": one["spec"]}}


def test_daemons_tolerate_what_comes_and_goes():
    daemon = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "w", "namespace": "default"},
        "spec": made_of(pod("t", templates={"x": "t"})),
    }
    assert allocate([*cluster(), daemon]).claim_sets[0].fitting_nodes == ["a", "c", "d", "e"]


def test_claims_without_pods_are_not_concerned():
    assert allocate([*cluster(), claim("c")]).claim_sets[0].fitting_nodes == ["a", "b", "c", "d", "e"]


def test_together_nodes_have_to_take_all_pods():
    objects = [*cluster(), pod("p", templates={"x": "t"}), pod("q", templates={"x": "t"}, nodeSelector={"zone": "z"})]
    assert allocate(objects, together=True).claim_sets[0].fitting_nodes == ["c"]


def test_on_request_only_devices_count():
    objects = [*cluster(), pod("p", templates={"x": "t"}, nodeSelector={"zone": "nowhere"})]
    plan = allocate(objects, devices_only=True)
    assert plan.claim_sets[0].fitting_nodes == ["a", "b", "c", "d", "e"]
    assert "EXCLUDED" not in str(plan)
    assert explain(objects, devices_only=True).to_dict()["claimSets"][0]["outcome"] == "Fits"


def test_an_error_on_an_excluded_node_ends_nothing():
    """The scheduler does not ask for devices there."""
    broken = {"cel": {"expression": 'device.attributes["gpu.example.com"].missing == 1'}}
    local = everywhere()
    local["spec"] |= {"nodeName": "b"}
    del local["spec"]["allNodes"]
    objects = [obj for obj in cluster() if obj["kind"] not in ("ResourceSlice", "ResourceClaimTemplate")]
    asks = template("t", {"name": "r", "exactly": {"deviceClassName": "gpu.example.com", "selectors": [broken]}})
    [plan] = allocate([*objects, local, asks, pod("p", templates={"x": "t"})])
    assert {each.node: each.outcome.value for each in plan.nodes}["b"] == "Error"
    assert plan.outcome.value == "DoesNotFit"


def test_they_are_shown_apart():
    objects = [*cluster(), pod("p", templates={"x": "t"})]
    shown = str(allocate(objects))
    assert "pod/default/p   Fits      3/5     c, d, e\n" in shown
    assert "pod/default/p   1/5     NodeUnschedulable   cordoned               a\n" in shown
    told = str(explain(objects))
    assert told.startswith("pod/default/p would be bound to c now.\n")
    assert "a: has room, but rejected: cordoned.\nb: has room, but rejected: taint k=v:NoSchedule.\n" in told
    nowhere = [*cluster(), pod("p", templates={"x": "t"}, nodeSelector={"zone": "nowhere"})]
    headline = str(explain(nowhere)).splitlines()[0]
    assert headline == "pod/default/p is Pending: no node can take it (0 of 5)."


def test_the_footer_says_what_was_judged_alone_and_what_not_at_all():
    asking = pod(
        "q",
        templates={"x": "t"},
        topologySpreadConstraints=[{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}],
    )
    served = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "w", "namespace": "default"},
        "spec": {"replicas": 40, **made_of(pod("t", templates={"x": "t"}))},
    }
    plan = allocate([*cluster(), asking, served])
    assert [each.get("copies", 1) for each in plan.to_dict()["claimSets"]] == [1, 40]
    alone = "Each row is checked alone: deployment/default/w needs 40 pods; "
    rivals = "pod/default/q and deployment/default/w would get the same devices. "
    assert alone + rivals + "To check all pods together, run `dra-plan schedule --settle` with the same paths." in str(
        plan
    )
    left_out = "Not checked: topology spread and resource requests of pod/default/q and deployment/default/w."
    assert left_out in str(plan)
    assert "judged" not in str(allocate([*cluster(), claim("c")]))
