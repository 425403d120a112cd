"""What a Job makes of pods that are evicted: failures that count, that do not, and that end the job."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import Cluster
from tests.build import manifest, node, owned_by, placed, pod

Plain = dict[str, Any]


def job(*rules: Plain, **spec: Any) -> Plain:
    template = {"metadata": {"labels": {"app": "j"}}, "spec": pod("x")["spec"]}
    policy = {"podFailurePolicy": {"rules": list(rules)}} if rules else {}
    return manifest(
        "Job", "j", namespace="default", metadata={"uid": "u-j"}, spec={"template": template, **policy, **spec}
    )


def rule(action: str, condition: str = "DisruptionTarget", status: str | None = None) -> Plain:
    pattern = {"type": condition, **({"status": status} if status else {})}
    return {"action": action, "onPodConditions": [pattern]}


def settled(made: Plain, running: int = 2) -> dict[str, Any]:
    """After a taint that evicts what runs on node a; the pods of the job are there, but for the last one."""
    pods = [owned_by(placed(f"j-{n}", "a" if n == 0 else "b"), "Job", "j") for n in range(running)]
    taint = {"patch": ["Node", "a", {"spec": {"taints": [{"key": "x", "effect": "NoExecute"}]}}]}
    cluster = Cluster.of([node("a"), node("b"), made, *pods])
    found: dict[str, Any] = cluster.schedule(settle=True, events=[taint]).to_dict()["settled"]
    return found


def test_a_disruption_that_is_ignored_leaves_the_limit_alone() -> None:
    assert [p["nodeName"] for p in settled(job(rule("Ignore"), parallelism=2, backoffLimit=0))["pods"]] == ["b", "b"]


@pytest.mark.parametrize("rules", [(), (rule("Count"),), (rule("Ignore", "Other"),), (rule("Ignore", status="False"),)])
def test_a_failure_that_counts_is_one_too_many(rules: tuple[Plain, ...]) -> None:
    document = settled(job(*rules, parallelism=2, backoffLimit=0))
    assert document["pods"] == []
    assert [(e["name"], e.get("reason")) for e in document["evicted"]] == [
        ("j-0", "DeletionByTaintManager"),
        ("j-1", "BackoffLimitExceeded"),
    ]


def test_a_rule_may_fail_the_job() -> None:
    document = settled(job(rule("Ignore", "Other"), rule("FailJob"), rule("Ignore"), parallelism=2))
    assert document["pods"] == []
    assert [(e["name"], e.get("reason"), e.get("message")) for e in document["evicted"][1:]] == [
        (
            "j-1",
            "PodFailurePolicy",
            "Pod default/j-0 has condition DisruptionTarget matching FailJob rule at index 1",
        )
    ]


def test_a_pod_that_fails_is_none_of_the_same_name_elsewhere() -> None:
    """Of two Jobs of one name the one in another namespace has a pod that had failed before, which counts no more."""
    objects = [node("a")]
    for namespace in ("one", "two"):
        made = job(parallelism=2, completions=2, backoffLimit=1)
        running = [owned_by(placed(f"j-{n}", "a"), "Job", "j") for n in range(2)]
        for each in (made, *running):
            each["metadata"]["namespace"] = namespace
            objects.append(each)
        for each in running:
            each["metadata"]["ownerReferences"][0]["uid"] = made["metadata"]["uid"] = f"u-{namespace}"
        if namespace == "two":
            running[0]["status"]["phase"] = "Failed"
            made["status"] = {"failed": 1}
    fails = {"status": ["Pod", "one/j-0", {"phase": "Failed"}]}
    document = Cluster.of(objects).schedule(settle=True, events=[fails]).to_dict()["settled"]
    assert [(e["namespace"], e["name"]) for e in document["evicted"] if e["namespace"] == "two"] == []
