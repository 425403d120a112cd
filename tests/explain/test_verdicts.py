"""The verdict on each pod is what `schedule` says of it, and the reasons of its nodes add up to the message."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import jsonschema
import pytest

from dra_plan import Cluster
from dra_plan.planner.certainty import OF_VOLUMES
from dra_plan.questions import schema as schemas
from dra_plan.questions.explain.text import parse
from tests.conformance import recorded

CORPORA = ("schedule", "gang", "gang-quirks", "volume", "nodealloc", "settled")
EVERY = 12

LIKE: dict[str, set[str]] = {
    "Bound": {"WouldBind", "WouldPreempt", "Bound", "Stuck"},
    "Waiting": {"Held"},
    "Gated": {"Held"},
    "Unschedulable": {"Unschedulable"},
    "Error": {"Error"},
    "Undecided": {"Undecided"},
    "Skipped": {"Finished", "Held"},
    "Unknown": {"Unknown"},
}
"""What `schedule` calls a pod, and the verdicts that say the same; an object may be rejected before."""


@cache
def validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schemas.load("Explanation"))


def cluster_of(case: dict[str, Any]) -> Cluster:
    asked = {"kubernetes_version": case.get("kubernetesVersion", "1.36.2"), "feature_gates": case.get("featureGates")}
    return Cluster.of(case["objects"] if "objects" in case else case["before"], **asked)


def in_message(verdict: dict[str, Any], total: int) -> str:
    """The part of FailedScheduling's text that counts the reasons of nodes, made of the reasons that are told."""
    if verdict.get("ofAllNodes"):
        return f"0/{total} nodes are available: {verdict['nodes'][0]['reasons'][0]['message']}."
    counts: Counter[str] = Counter()
    for group in verdict["nodes"]:
        for reason in group["reasons"]:
            counts[reason["message"]] += len(group["nodes"]) if reason["counted"] else 0
    reasons = sorted(f"{count} {text}" for text, count in counts.items() if count)
    return f"0/{total} nodes are available: {', '.join(reasons)}."


def is_certain(verdict: dict[str, Any]) -> bool:
    """Whether each node rejects the pod for something that the kinds which the input lacks cannot change."""
    nodes = (verdict.get("freed") or {}).get("nodes") if verdict.get("ofAllNodes") else verdict["nodes"]
    about = [
        fact.get("devices", {})
        for group in verdict["nodes"]
        for each in group["reasons"]
        for fact in each.get("about", ())
    ]
    if "deviceclasses" not in verdict["missing"] and any(one.get("code") == "class-missing" for one in about):
        return True
    of_missing = {"DynamicResources", *OF_VOLUMES}
    plugins = [{each["plugin"] for each in group["reasons"]} for group in nodes or ()]
    return bool(verdict["missing"]) and bool(plugins) and all(found - of_missing for found in plugins)


def check(case: dict[str, Any]) -> tuple[int, int]:
    """How many pods were compared, and of how many the reasons were added up."""
    cluster = cluster_of(case)
    if not cluster.inventory.nodes:
        return 0, 0
    plan = cluster.schedule().to_dict()
    scheduled = {(pod["namespace"], pod["name"]): pod for pod in plan["pods"]}
    evicted = {eviction["pod"] for eviction in plan["evictions"]}
    waiting = [pod for pod in cluster.inventory.pods if not pod.spec.node_name]
    told = (
        cluster.explain(*(f"pod/{pod.metadata.namespace}/{pod.metadata.name}" for pod in waiting)) if waiting else None
    )
    if told is None:
        return 0, 0
    document = told.to_dict()
    validator().validate(document)
    assert parse("text")(told.document, None).endswith("\n")
    assert parse("markdown")(told.document, None).endswith("\n")
    compared = added = 0
    for verdict in document["verdicts"]:
        if verdict["kind"] != "Pod" or verdict["verdict"] == "Finished":
            continue
        if f"{verdict['namespace']}/{verdict['name']}" in evicted:
            assert (verdict["verdict"], bool(verdict["evictedFor"])) == ("Unschedulable", True)
            continue
        pod = scheduled[verdict["namespace"], verdict["name"]]
        name = f"{case['id']} {verdict['name']}"
        assert verdict["scheduled"] == pod["outcome"], name
        assert verdict["verdict"] in LIKE[pod["outcome"]] | {"Refused"}, name
        if verdict["verdict"] == "Unschedulable" and verdict.get("missing"):
            assert is_certain(verdict), name
        assert (pod["outcome"] == "Unknown") is (verdict["verdict"] == "Unknown"), name
        assert verdict.get("message", "") == (pod["message"] or ""), name
        if verdict["verdict"].startswith("Would"):
            assert verdict["nodeName"] == pod["nodeName"], name
        if verdict.get("nodes"):
            gang = verdict.get("gang")  # then the nodes are about its first pod that finds none
            about = scheduled[tuple(gang["pod"].split("/"))] if gang else pod
            assert about["message"].startswith(in_message(verdict, verdict["totalNodes"])), name
            added += 1
        compared += 1
    return compared, added


@pytest.mark.parametrize("corpus", CORPORA)
def test_the_verdict_is_what_schedule_says(corpus: str) -> None:
    found = [check(case) for case in recorded.cases(corpus, EVERY)]
    assert sum(compared for compared, _ in found) > 5


@pytest.mark.long
@pytest.mark.parametrize("corpus", CORPORA)
def test_every_verdict_of_a_corpus_is_what_schedule_says(corpus: str) -> None:
    found = [check(case) for case in recorded.cases(corpus)]
    assert sum(added for _, added in found) > 20
