"""`explain` of pods that a quota or limit keeps from being made: no yes, and the API server's words."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from dra_plan import Cluster, explain
from dra_plan.questions.explain.gate import of_owner
from dra_plan.text.gate import Gate, Verdict
from tests.build import deployment, gpus, manifest, node, placed, pod, request, template

from .apply import applied
from .json_patch import patched

Plain = dict[str, Any]
SAID = "exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1"


def quota(**hard: str) -> Plain:
    return manifest("ResourceQuota", "q", namespace="default", spec={"hard": hard})


def world(pods: str, *objects: Plain) -> list[Plain]:
    return [node("a"), quota(pods=pods), placed("old", "a"), *objects]


def verdict(objects: list[Plain], owner: str) -> Plain:
    [found] = explain(objects, owner).to_dict()["verdicts"]
    return dict(found)


def test_a_workload_whose_pods_a_quota_refuses() -> None:
    objects = world("1", deployment("w", pod(), 2))
    told = verdict(objects, "deploy/w")
    assert (told["verdict"], told["forbidden"], told["message"]) == ("Refused", 2, SAID)
    answer = explain(objects, "deploy/w")
    assert str(answer).splitlines()[:3] == [
        "deployment/default/w: the API server rejects its pods.",
        "  Quota default/q allows 1 pod: 1 is used and 1 more is requested.",
        f"  {SAID}",
    ]
    assert of_owner(Gate(), answer.verdicts[0]) is Verdict.FAILED


def test_a_workload_of_which_some_pods_are_refused() -> None:
    objects = world("3", deployment("w", pod(), 3))
    told = verdict(objects, "deploy/w")
    assert (told["verdict"], told["forbidden"], told["wouldBind"]) == ("Refused", 1, 2)
    assert str(explain(objects, "deploy/w")).startswith("deployment/default/w: the API server rejects 1 of its 3 pods.")


@pytest.mark.parametrize("pods", ["3", "10"])
def test_a_quota_with_room_changes_nothing(pods: str) -> None:
    objects = world(pods, deployment("w", pod(), 2))
    assert verdict(objects, "deploy/w") == verdict(
        [each for each in objects if each["kind"] != "ResourceQuota"], "deploy/w"
    )


def test_quotas_of_other_namespaces_are_nobodys_matter() -> None:
    objects = [each for each in world("1", deployment("w", pod(), 2)) if each["kind"] != "ResourceQuota"]
    other = manifest("ResourceQuota", "q", namespace="other", spec={"hard": {"pods": "0"}})
    assert verdict([*objects, other], "deploy/w")["verdict"] == "WouldBind"


def test_the_verdict_is_that_of_settling() -> None:
    for pods in range(1, 6):
        objects = world(str(pods), deployment("w", pod(), 4))
        settled = Cluster.of(objects).schedule(settle=True).to_dict()
        refused = sum(each["outcome"] == "Refused" for each in settled["pods"])
        assert verdict(objects, "deploy/w").get("forbidden", 0) == refused


def test_a_pod_that_is_refused_takes_no_room() -> None:
    """The pod that waits comes after the workload's, which is never made."""
    first = deployment("w", pod(cpu="8", priority=10), 1)
    objects = [node("a", cpu="8"), quota(pods="1"), placed("old", "a", cpu="0"), first]
    other = pod("p", cpu="8", namespace="elsewhere")
    assert verdict([*objects, other], "pod/p")["verdict"] == "WouldBind"
    assert verdict([*objects, other], "deploy/w")["verdict"] == "Refused"


def test_a_pod_that_is_there_is_never_refused() -> None:
    objects = world("1", pod("p", uid="u-p"))
    assert verdict(objects, "pod/p")["verdict"] == "WouldBind"
    assert verdict(world("1", pod("p", uid=None)), "pod/p")["verdict"] == "Refused"


def test_a_pod_that_is_refused_takes_no_room_where_a_change_is_tried() -> None:
    """The workload's pod, of higher priority, would take the node that a change opens, were it ever made."""
    taint = {"key": "dedicated", "value": "ml", "effect": "NoSchedule"}
    tolerating = pod(cpu="8", priority=10, tolerations=[{"key": "dedicated", "operator": "Exists"}])
    objects = [node("a", cpu="8"), node("b", cpu="8", spec={"taints": [taint]}), quota(pods="1")]
    objects += [placed("old", "a", cpu="8", priority=100), deployment("w", tolerating, 1)]
    told = verdict([*objects, pod("p", cpu="8", namespace="elsewhere")], "pod/p")
    assert told["verdict"] == "Unschedulable"
    codes = [[change["code"] for change in one["changes"]] for one in told["suggestions"]]
    assert codes == [["add-node"], ["tolerate-node-taint"], ["remove-node-taint"]]


def enough(objects: list[Plain], suggestion: Plain, owner: str) -> bool:
    after = verdict(patched(copy.deepcopy(objects), suggestion["patches"]), owner)
    assert after == verdict(applied(objects, suggestion["changes"]), owner)
    return bool(after["verdict"] == "WouldBind")


@pytest.mark.parametrize("rivals", [0, 2])
def test_the_smallest_raise_is_tried(rivals: int) -> None:
    """Of pods, cpu and claims; pods of others that are created first take their part. One less would not do."""
    claim = "count/resourceclaims.resource.k8s.io"
    own = pod(cpu="1500m", priority=1, templates={"gpu": "t"})
    objects = [
        *gpus("a", each=4),
        template("t", request("gpu")),
        quota(**{"pods": "2", "requests.cpu": "2", claim: "0"}),
        placed("old", "a", cpu="1"),
        *([deployment("b", pod(cpu="100m"), rivals)] if rivals else []),
        deployment("w", own, 2),
    ]
    told = verdict(objects, "deploy/w")
    assert told["verdict"] == "Refused"
    [found] = told["suggestions"]
    raises = {change["resource"]: change["to"] for change in found["changes"]}
    assert raises == {"pods": str(3 + rivals), "requests.cpu": "4" if not rivals else "4200m", claim: "2"}
    assert enough(objects, found, "deploy/w")
    for change in found["changes"]:
        less = str(int(change["to"]) - 1) if change["resource"] != "requests.cpu" else "3900m"
        patches = copy.deepcopy(found["patches"])
        for one in patches[0]["patch"]:
            if one["value"] == change["to"] and one["path"].endswith(change["resource"].replace("/", "~1")):
                one["value"] = less
        assert verdict(patched(copy.deepcopy(objects), patches), "deploy/w")["verdict"] == "Refused"
    assert "Changes that would make it fit (each was tried):\n  1. raise " in str(explain(objects, "deploy/w"))


def test_a_raise_that_gives_no_node_is_not_suggested() -> None:
    assert verdict(world("1", deployment("w", pod(cpu="9000"), 2)), "deploy/w").get("suggestions", []) == []


def test_what_leaves_a_pod_refused_does_not_help() -> None:
    """With less cpu one of the two pods fits; the other one is still rejected."""
    objects = [node("a", cpu="2"), quota(pods="2"), placed("old", "a", cpu="1"), deployment("w", pod(cpu="2"), 2)]
    told = verdict(objects, "deploy/w")
    assert (told["verdict"], told["forbidden"], told.get("suggestions", [])) == ("Refused", 1, [])
    with_room = [quota(pods="3") if each["kind"] == "ResourceQuota" else each for each in objects]
    found = verdict([*with_room, node("b", cpu="1")], "deploy/w")["suggestions"]
    assert [[change["code"] for change in each["changes"]] for each in found] == [["lower-request"]]
