"""Workloads of which not all pods fit: how many fit now, how many without other pending pods, and how many never do."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import Cluster
from tests.build import Object, deployment, gpus, pod, priority_class, request, template

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


def told(objects: list[Object]) -> tuple[dict[str, Any], str]:
    answer = Cluster.of(objects).explain("deploy/rank")
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
        (3, 1, 2): "1 of 3 pods would be bound now, the others are Pending: 1 more would fit on node-",
        (3, 4, 2): "its 3 pods are Pending: 2 of them would fit on node-",
        (2, 4, 2): "its 2 pods are Pending: they would fit on node-",
        (1, 4, 2): "its pod is Pending: it would fit on node-",
    }.items():
        assert told(cluster(replicas, rivals, needs))[1].startswith(f"deployment/default/rank: {said}")
