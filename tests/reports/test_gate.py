"""What a gate makes of claim sets and pods."""

from typing import Any

import msgspec
import pytest

from dra_plan.documents.allocation import PlannedClaimSet
from dra_plan.documents.schedule import ScheduledPod
from dra_plan.output.gate import Gate, Verdict
from tests.output import documents

UNBOUND = {"namespace": "default", "name": "p", "nodeName": None, "message": None}
PASSED, FAILED, UNDECIDED = Verdict.PASSED, Verdict.FAILED, Verdict.UNDECIDED


def claim_set(outcome: str, nodes: str) -> dict[str, Any]:
    """`nodes` is a letter per node: F fits, D does not fit, N node error, U undecided, E error."""
    words = {"F": "Fits", "D": "DoesNotFit", "N": "NodeError", "U": "Undecided", "E": "Error"}
    found = [documents.node(str(number), outcome=words[letter]) for number, letter in enumerate(nodes)]
    return documents.claim_set("Pod/a/b", outcome, *found)


@pytest.mark.parametrize(
    ("outcome", "nodes", "gate", "verdict"),
    [
        ("Fits", "FD", Gate(), PASSED),
        ("Fits", "FU", Gate(require_fit=True), PASSED),
        ("DoesNotFit", "DN", Gate(), FAILED),
        ("DoesNotFit", "", Gate(), FAILED),
        ("Error", "FE", Gate(), FAILED),
        ("Undecided", "DU", Gate(), UNDECIDED),
        ("Undecided", "DU", Gate(require_fit=True), FAILED),
        ("Fits", "FFD", Gate(min_nodes=2), PASSED),
        ("Fits", "FDD", Gate(min_nodes=2), FAILED),
        ("Fits", "FUD", Gate(min_nodes=2), UNDECIDED),
        ("Fits", "FUD", Gate(min_nodes=3), FAILED),
        ("Fits", "FUD", Gate(min_nodes=2, require_fit=True), FAILED),
        ("Fits", "FF", Gate(min_nodes=3), FAILED),
    ],
)
def test_claim_sets(outcome: str, nodes: str, gate: Gate, verdict: Verdict) -> None:
    assert gate.claim_set(msgspec.convert(claim_set(outcome, nodes), PlannedClaimSet)) is verdict


@pytest.mark.parametrize(
    ("pod", "gate", "verdict"),
    [
        ({"outcome": "Bound"}, Gate(require_fit=True), PASSED),
        ({"outcome": "Skipped"}, Gate(require_fit=True), PASSED),
        ({"outcome": "Unschedulable"}, Gate(), FAILED),
        ({"outcome": "Gated"}, Gate(), FAILED),
        ({"outcome": "Unschedulable", "undecidedNodes": ["a"]}, Gate(), UNDECIDED),
        ({"outcome": "Unschedulable", "undecidedNodes": ["a"]}, Gate(require_fit=True), FAILED),
    ],
)
def test_pods(pod: dict[str, Any], gate: Gate, verdict: Verdict) -> None:
    assert gate.pod(msgspec.convert(UNBOUND | pod, ScheduledPod)) is verdict


def test_warnings_count_if_asked() -> None:
    document = documents.plan(claim_set("Fits", "F"), warnings=(documents.warning("x", "m"),))
    assert Gate().verdicts(documents.typed(document)) == [PASSED]
    assert Gate(no_warnings=True).verdicts(documents.typed(document)) == [PASSED, FAILED]
