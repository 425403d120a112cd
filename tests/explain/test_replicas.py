"""Workloads of which not all pods fit: how many fit now, how many without other pending pods, and how many never do."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import Cluster
from tests.build import (
    Object,
    allocated,
    bare_pod,
    claim,
    deployment,
    device,
    device_class,
    generated,
    gpus,
    node,
    owned,
    owned_by,
    pod,
    priority_class,
    request,
    running,
    slice_,
    template,
    used,
    workload,
)

from .apply import applied
from .json_patch import patched

EACH, NODES = 2, 2
"""The devices of each node, and the number of nodes."""


def cluster(replicas: int, rivals: int, needs: int) -> list[Object]:
    """Return a Deployment, and pods with a higher priority that each take one device."""
    shape = pod("x", templates={"gpu": "several"})
    first = [pod(f"first-{n}", templates={"gpu": "one"}, priorityClassName="high") for n in range(rivals)]
    names = [f"node-{n}" for n in range(NODES)]
    return [
        *gpus(*names, each=EACH),
        priority_class("high", 1000),
        template("one", request("gpu")),
        template("several", request("gpu", count=needs)),
        deployment("rank", {"metadata": shape["metadata"], "spec": shape["spec"]}, replicas),
        *first,
    ]


def told(objects: list[Object], name: str = "deploy/rank") -> tuple[dict[str, Any], str]:
    answer = Cluster.of(objects).explain(name)
    [verdict] = answer.to_dict()["verdicts"]
    return verdict, str(answer)


def bound(objects: list[Object]) -> int:
    pods = Cluster.of(objects).schedule().to_dict()["pods"]
    return sum(each["outcome"] == "Bound" and each["name"].startswith("rank") for each in pods)


@pytest.mark.parametrize("replicas", [1, 2, 3])
@pytest.mark.parametrize("rivals", [0, 1, 4])
@pytest.mark.parametrize("needs", [1, 2, 3])
def test_the_numbers_are_those_of_schedule_with_and_without_the_other_pods(
    replicas: int, rivals: int, needs: int
) -> None:
    objects = cluster(replicas, rivals, needs)
    now, alone = bound(objects), bound(cluster(replicas, 0, needs))
    verdict, text = told(objects)
    assert verdict.get("wouldBind", 0) == now
    gained = alone > now
    assert verdict.get("alone", {}).get("wouldBind", 0) == (alone if gained else 0)
    assert ("the room." in text) == gained
    only = f"Even if no other pods were pending, only {alone} of the {replicas} pods would fit."
    assert (only in text) == (gained and alone < replicas)
    scheduled = Cluster.of(objects).schedule(explain=True).to_dict().get("contested", [])
    assert [(one["wouldBind"], one["wouldBindAlone"], one["first"]) for one in scheduled] == (
        [(now, alone, verdict["first"])] if gained else []
    )


def test_the_headline_counts_the_pods_that_would_fit() -> None:
    for (replicas, rivals, needs), said in {
        (3, 1, 2): "1 of 3 pods would be bound now (to node-1), the others are Pending: 1 more would fit on node-",
        (3, 4, 2): "its 3 pods are Pending: 2 of them would fit on node-",
        (2, 4, 2): "its 2 pods are Pending: they would fit on node-",
        (1, 4, 2): "its pod is Pending: it would fit on node-",
    }.items():
        assert told(cluster(replicas, rivals, needs))[1].startswith(f"deployment/default/rank: {said}")


@pytest.mark.parametrize("replicas", [4, 8])
def test_the_headline_says_which_pods_would_be_bound_and_where(replicas: int) -> None:
    """As `schedule` says, with the names of those that exist already; a few, and the number of the others."""
    objects = [node("a", cpu="2"), node("b", cpu="5"), node("c", cpu="0"), *gpus()]
    objects += [workload("Job", "w", pod(cpu="2"), parallelism=replicas, completions=replicas)]
    unmade = [each for each in Cluster.of(objects).schedule().to_dict()["pods"] if each["outcome"] == "Bound"]
    there = ", ".join(dict.fromkeys(f"{[one['nodeName'] for one in unmade].count(n)} to {n}" for n in "ba"))
    [verdict] = (answer := Cluster.of(objects).explain("job/w")).to_dict()["verdicts"]
    assert [one["name"] for one in verdict["binding"]] == ["", "", ""]
    assert f"job/default/w: 3 of {replicas} pods would be bound now ({there}), the others are Pending" in str(answer)
    objects += [owned_by(pod(f"w-{at}", cpu="2"), "Job", "w") for at in range(replicas)]
    made = [each for each in Cluster.of(objects).schedule().to_dict()["pods"] if each["outcome"] == "Bound"]
    [verdict] = (answer := Cluster.of(objects).explain("job/w")).to_dict()["verdicts"]
    told = [(one["name"], one["nodeName"]) for one in verdict["binding"]]
    assert told == [(one["name"], one["nodeName"]) for one in made]
    assert " to b, " in str(answer)


# -- what makes all of them fit ----------------------------------------------------------------------------------------


def crowded(*, are_made: bool) -> list[Object]:
    """Return a Deployment of 2 pods with 4 devices each; of node b, a claim has one. Its pods may exist already."""
    shape = pod("x", templates={"gpu": "four"})
    held = [allocated("held", "b/gpu-0", pod="w"), running("w", "b", claims={"g": "held"})]
    made = [deployment("rank", shape, 2, uid="d"), template("four", request("gpu", count=4)), *held]
    for name in ("rank-1-a", "rank-1-b") if are_made else ():
        claims = [{"name": "gpu", "resourceClaimName": f"{name}-gpu-x7k2p"}]
        one = pod(name, templates={"gpu": "four"}, status={"phase": "Pending", "resourceClaimStatuses": claims})
        one["metadata"] |= owned("ReplicaSet", "rank-1", uid="s")
        of_pod = generated(name, "gpu", "b", "gpu-0")
        del of_pod["status"]
        of_pod["spec"] = claim("x", request("gpu", count=4))["spec"]
        made += [one, of_pod]
    if are_made:
        made.append(owned_by(workload("ReplicaSet", "rank-1", shape, uid="s", replicas=2), "Deployment", "rank"))
        made[-1]["metadata"]["ownerReferences"][0]["uid"] = "d"
    return [*gpus("a", "b", each=4), *made]


def with_changes(objects: list[Object], suggestion: dict[str, Any]) -> list[Object]:
    new_nodes = [change for change in suggestion["changes"] if change["code"] == "add-node"]
    return patched(applied(objects, new_nodes), suggestion["patches"])


@pytest.mark.parametrize("are_made", [False, True], ids=["new", "existing"])
def test_changes_are_tried_for_all_pods_of_a_workload_of_which_some_fit(are_made: bool) -> None:
    objects = crowded(are_made=are_made)
    verdict, text = told(objects)
    suggestions, codes = verdict["suggestions"], ["lower-count", "add-node", "release-claim", "lower-replicas"]
    assert [each["changes"][0]["code"] for each in suggestions] == codes
    for each in suggestions:
        after = with_changes(objects, each)
        assert bound(after) == (1 if each is suggestions[-1] else 2)
        assert told(after)[0].get("wouldBind") == bound(after)
    released = "release claim default/held, held by pod w (both of its pods can then be scheduled; nothing recreates"
    assert f"{released} pod default/w)" in text
    assert "run 1 instead of 2 pods (none of them is then Pending)" in text


def test_a_pod_that_only_another_one_keeps_out_gets_suggestions_as_well() -> None:
    objects = crowded(are_made=True)
    [verdict] = Cluster.of(objects).explain("pod/rank-1-b").to_dict()["verdicts"]
    assert verdict["alone"]["verdict"] == "WouldBind"
    assert [each["changes"][0]["code"] for each in verdict["suggestions"]] == [
        "lower-count",
        "add-node",
        "release-claim",
    ]
    for each in verdict["suggestions"]:
        [after] = Cluster.of(with_changes(objects, each)).explain("pod/rank-1-b").to_dict()["verdicts"]
        assert (after["verdict"], after["nodeName"]) == ("WouldBind", each["node"])


def test_that_nothing_helps_pods_that_compete_is_said() -> None:
    shared = [node("a"), device_class(), slice_("pool", "gpu-0", allNodes=True), template("one")]
    objects = [*shared, *(pod(f"p-{n}", templates={"gpu": "one"}) for n in range(2))]
    answer = Cluster.of(objects).explain("pod/p-1")
    [verdict] = answer.to_dict()["verdicts"]
    assert "suggestions" not in verdict
    assert "No change that dra-plan knows makes room for it as well as for the pods that come first." in str(answer)


@pytest.mark.parametrize(("there", "waiting"), [(256, 2), (255, 3)], ids=["full", "one place left"])
def test_a_claim_that_can_be_reserved_for_no_further_pod_is_named_with_the_limit(there: int, waiting: int) -> None:
    shape = bare_pod("x", claims={"gpu": "shared"}, labels={"app": "x"})
    running_ones = [f"x-{number:03}" for number in range(there)]
    waiting_ones = [f"x-new-{number}" for number in range(waiting)]
    pods = [
        bare_pod(name, claims={"gpu": "shared"}, nodeName="a", status={"phase": "Running"}) for name in running_ones
    ]
    pods += [bare_pod(name, claims={"gpu": "shared"}) for name in waiting_ones]
    objects = [
        device_class(),
        node("a", pods="500"),
        slice_("a", device("gpu-0")),
        claim("shared", request("r"), status=used("a", "gpu-0", *running_ones)),
        deployment("x", shape, there + waiting, selector={"matchLabels": {"app": "x"}}),
        *(owned_by(each, "Deployment", "x") for each in pods),
    ]
    verdict, lines = told(objects, "deploy/x")
    assert verdict["fullClaims"] == [{"claim": "shared", "pods": there, "most": 256}]
    [one] = verdict["suggestions"]
    assert [(each["from"], each["to"]) for each in one["changes"]] == [(there + waiting, 256)]
    assert f"run 256 instead of {there + waiting} pods (none of them is then Pending)" in lines
    assert ("is already reserved for 256 pods" in lines, "(255 now)" in lines) == (there == 256, there == 255)
    surplus = waiting_ones[256 - there :]  # which the controller deletes
    left = [each for each in patched(objects, one["patches"]) if each["metadata"]["name"] not in surplus]
    after, _ = told(left, "deploy/x")
    assert (after["wanted"], after["verdict"]) == (256, "Bound" if there == 256 else "WouldBind")
    last, text = told(objects, f"pod/{waiting_ones[-1]}")
    assert last["verdict"] == "Error"
    assert text.splitlines()[0].startswith(f"pod/default/{waiting_ones[-1]} is Pending: claim shared ")
