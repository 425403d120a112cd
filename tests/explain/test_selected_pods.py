"""Whose pods a rule selects: those of an affinity that are on no node, and those that a topology spread counts."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import explain
from tests.build import HOST, ZONE, Object, deployment, node, owned_by, pod, running, workload

TERM = {"labelSelector": {"matchLabels": {"app": "w"}}, "topologyKey": HOST}
NEAR = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [TERM]}}
SHAPE = pod(cpu="100", labels={"app": "w"})


def waiting(name: str, **options: Any) -> Object:
    return pod(name, cpu="100", labels={"app": "w"}, **options)


CRON = {**workload("CronJob", "w", SHAPE)}
CRON["spec"]["suspend"] = True

CASES: dict[str, tuple[list[Object], list[str]]] = {
    "no replicas": (
        [deployment("w", SHAPE, 0)],
        ["Deployment default/w creates pods with app=w, but it has 0 replicas."],
    ),
    "a former ReplicaSet": (
        [deployment("v", pod(labels={"app": "v"})), owned_by(workload("ReplicaSet", "r", SHAPE), "Deployment", "v")],
        [],
    ),
    "suspended": (
        [workload("Job", "w", SHAPE, suspend=True), CRON],
        [
            "CronJob default/w creates pods with app=w, but it is suspended.",
            "Job default/w creates pods with app=w, but it is suspended.",
        ],
    ),
    "pending": (
        [
            deployment("w", SHAPE, 2),
            *(owned_by(waiting(name), "Deployment", "w") for name in ("w-1", "w-2")),
            waiting("bare"),
        ],
        [
            "Deployment default/w creates pods with app=w, but its 2 pods, such as default/w-1, are Pending too.",
            "Pod default/bare has app=w, but it is Pending too.",
        ],
    ),
    "not created": (
        [workload("CronJob", "w", SHAPE)],
        ["CronJob default/w creates pods with app=w, but it has none now."],
    ),
    "of another namespace": ([{**deployment("w", SHAPE, 0), "metadata": {"name": "w", "namespace": "other"}}], []),
}


@pytest.mark.parametrize("name", CASES)
def test_who_has_or_would_create_the_pods_is_said_once(name: str) -> None:
    objects, expected = CASES[name]
    every = [node("a"), node("b", spec={"unschedulable": True}), *objects, pod("p", affinity=NEAR)]
    for given in (every, every[::-1]):
        said = str(explain(given, "pod/p"))
        assert "no pod with app=w on any node" in said
        for line in expected:
            assert said.count(f"  {line}\n") == 1
        assert said.count("creates pods with") + said.count(", but it is Pending too") == len(expected)
    told = explain(every, "pod/p").to_dict()["verdicts"][0]["suggestions"]
    assert [change["code"] for change in told[-1]["changes"]] == ["relax-affinity"]


def test_a_controller_decides_on_the_replicas_of_what_it_controls() -> None:
    controlled = owned_by(deployment("w", SHAPE, 0), "Cache", "c")
    queued = workload("Job", "w", SHAPE, suspend=True)
    queued["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "q"}
    found = explain([node("a"), controlled, queued, pod("p", affinity=NEAR)], "pod/p").to_dict()["verdicts"][0]
    assert [[one["code"] for one in each["changes"]] for each in found["suggestions"]] == [["relax-affinity"]]


def test_the_same_value_under_another_key_is_meant() -> None:
    """A chart that renames its label leaves affinity terms behind. A value that says nothing is no such sign."""
    new = running("cache", "a", labels={"tier": "w", "app.kubernetes.io/instance": "w"})
    answer = explain([node("a"), new, pod("p", affinity=NEAR)], "pod/p")
    assert "(did you mean app.kubernetes.io/instance=w?)" in str(answer)
    [first, *_] = answer.to_dict()["verdicts"][0]["suggestions"]
    assert [one["code"] for one in first["changes"]] == ["correct-pod-selector"]
    other = running("cache", "a", labels={"app": "x", "tier": "y"})
    assert "did you mean" not in str(explain([node("a"), other, pod("p", affinity=NEAR)], "pod/p"))


def test_a_label_is_near_only_if_no_workload_has_the_wanted_one() -> None:
    near = running("ww", "a", labels={"app": "ww"})
    said = str(explain([node("a"), near, pod("p", affinity=NEAR)], "pod/p"))
    assert "no pod with app=w on any node (did you mean app=ww?)" in said
    assert "select app=ww instead of app=w in the pod affinity in kubernetes.io/hostname" in said
    assert "did you mean" not in str(
        explain([node("a"), near, deployment("w", SHAPE, 0), pod("p", affinity=NEAR)], "pod/p")
    )


SPREAD = {**TERM, "topologyKey": ZONE, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}


def of_deployment(name: str, deployed: str, **options: Any) -> Object:
    labels = {"app": "w", "pod-template-hash": "h"}
    return owned_by(running(name, "a", cpu="100m", labels=labels, **options), "ReplicaSet", f"{deployed}-h")


def test_a_spread_says_whose_pods_it_counts() -> None:
    other = [of_deployment(f"x-{at}", "x") for at in range(2)]
    few = [running("v", "a", cpu="100m", labels={"app": "w"}), *(of_deployment(f"{name}-1", name) for name in "yz")]
    own = [of_deployment("p-1", "p"), of_deployment("p-2", "p")]
    nodes = [node("a", labels={ZONE: "a"}), node("b", labels={ZONE: "b"}, cpu="0", memory="16Gi")]
    pending = owned_by(
        pod("p", labels=own[0]["metadata"]["labels"], topologySpreadConstraints=[SPREAD]), "ReplicaSet", "p-h"
    )
    for pods, expected in (
        (other, "a has 2 pods with app=w (2 of x and none of p), b has only 0"),
        ([*other, *few, *own], "a has 7 pods with app=w (2 of x, 1 of y, 1 of z, 1 of others and 2 of p), b has"),
        ([*few[:2], *own], "a has 4 pods with app=w (1 of y, pod v and 2 of p), b has"),
        (own, "a has 2 pods with app=w, b has only 0"),
    ):
        said = str(explain([*nodes, *pods, pending], "pod/p"))
        assert f"topology spread: {ZONE}={expected}" in said
        assert "the pod itself does not count" not in said
        assert "(no node in it has the cpu that the pod needs)" in said
    unlike = {**pending, "metadata": {**pending["metadata"], "labels": {"app": "other"}}}
    assert "maxSkew is 1; the pod itself does not count" in str(explain([*nodes, *other, unlike], "pod/p"))
