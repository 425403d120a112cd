"""What would help beside changes of claims: what is told is really missing, and doing it makes the pod fit."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from dra_plan import Cluster, explain
from tests.build import Object, deployment, node, pod
from tests.conformance import recorded

from .apply import applied
from .json_patch import patched

TAINT = {"key": "dedicated", "value": "ml", "effect": "NoSchedule"}


def told(objects: list[Object], owner: str, **options: Any) -> dict[str, Any]:
    [found] = explain(objects, owner, **options).to_dict()["verdicts"]
    return dict(found)


def helps(objects: list[Object], owner: str, suggestion: dict[str, Any], **options: Any) -> None:
    """By its patches and by its words it makes the owner's pods fit, and on the node that is told."""
    by_words = applied(objects, suggestion["changes"])
    for changed in (patched(copy.deepcopy(objects), suggestion["patches"]), by_words):
        assert objects != changed
        verdict = told(changed, owner, **options)
        assert verdict["verdict"] in ("WouldBind", "WouldPreempt"), suggestion
        assert verdict["nodeName"] == suggestion["node"] or verdict.get("pods", 1) > 1


def changes(verdict: dict[str, Any]) -> list[list[str]]:
    return [[change["code"] for change in each["changes"]] for each in verdict.get("suggestions", [])]


WORLDS: dict[str, tuple[list[Object], list[list[str]]]] = {
    "taint": ([node("a", spec={"taints": [TAINT]}), pod("p")], [["tolerate-node-taint"], ["remove-node-taint"]]),
    "cordon": ([node("a", spec={"unschedulable": True}), pod("p")], [["uncordon-node"]]),
    "label": ([node("a"), pod("p", nodeSelector={"pool": "x"})], [["label-node"]]),
    "near value": (
        [node("a", labels={"pool": "h100"}), pod("p", nodeSelector={"pool": "H100"})],
        [["change-node-selector"]],
    ),
    "cpu": ([node("a", cpu="4"), pod("p", cpu="6")], [["lower-request"]]),
    "two": (
        [node("a", cpu="4", spec={"taints": [TAINT]}), pod("p", cpu="6")],
        [["tolerate-node-taint", "lower-request"], ["remove-node-taint", "lower-request"]],
    ),
    "a fifth of the size": ([node("a", cpu="1"), pod("p", cpu="5")], []),
    "a place": ([node("a"), pod("p", nodeSelector={"topology.kubernetes.io/zone": "x"})], []),
    "not ready": (
        [node("a", spec={"taints": [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]}), pod("p")],
        [],
    ),
}


@pytest.mark.parametrize("name", WORLDS)
def test_what_helps_is_told_and_helps(name: str) -> None:
    objects, expected = WORLDS[name]
    verdict = told(objects, "pod/p")
    assert changes(verdict) == expected
    for suggestion in verdict.get("suggestions", []):
        helps(objects, "pod/p", suggestion)


def test_fewer_pods() -> None:
    objects = [node("a", cpu="4"), deployment("d", pod("x", cpu="2"), 3)]
    verdict = told(objects, "deploy/d")
    assert (verdict["pods"], verdict["wouldBind"]) == (3, 2)
    assert ["lower-replicas"] in changes(verdict)
    for suggestion in verdict["suggestions"]:
        helps(objects, "deploy/d", suggestion)


def check(case: dict[str, Any]) -> int:
    """How many suggestions for pods of a recorded case were tried again."""
    asked: dict[str, Any] = {"kubernetes_version": "1.36.2", "feature_gates": case.get("featureGates")}
    cluster = Cluster.of(case["objects"], **asked)
    if not cluster.inventory.nodes:
        return 0
    tried = 0
    for verdict in cluster.explain().to_dict()["verdicts"]:
        owner = f"{verdict['kind'].lower()}/{verdict['namespace']}/{verdict['name']}"
        for suggestion in verdict.get("suggestions", []):
            changed = patched(copy.deepcopy(case["objects"]), suggestion["patches"])
            [after] = Cluster.of(changed, **asked).explain(owner).to_dict()["verdicts"]
            assert after["verdict"] in ("WouldBind", "WouldPreempt"), (case["id"], suggestion)
            tried += 1
    return tried


@pytest.mark.parametrize("corpus", ["schedule", "volume", "gang", "nodealloc"])
def test_suggestions_hold_in_recorded_cases(corpus: str) -> None:
    assert sum(map(check, recorded.cases(corpus, 12))) >= 0


@pytest.mark.long
@pytest.mark.parametrize("corpus", ["schedule", "volume", "gang", "nodealloc"])
def test_suggestions_hold_in_whole_corpora(corpus: str) -> None:
    assert sum(map(check, recorded.cases(corpus))) > (0 if corpus == "nodealloc" else 3)
