"""What a gate makes of claim sets and pods."""

from typing import Any

import msgspec
import pytest

from dra_plan.documents.claim_sets import PlannedClaimSet
from dra_plan.documents.scheduling import ScheduledPod
from dra_plan.questions.allocate.gate import JUDGE
from dra_plan.questions.schedule.gate import of_pod
from dra_plan.text.gate import Gate, Verdict
from tests.text import documents

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
    assert of_pod(gate, msgspec.convert(UNBOUND | pod, ScheduledPod)) is verdict


def test_warnings_count_if_asked() -> None:
    document = documents.plan(claim_set("Fits", "F"), warnings=(documents.warning("x", "m"),))
    assert JUDGE.all_verdicts(Gate(), documents.typed(document)) == [PASSED]
    assert JUDGE.all_verdicts(Gate(no_warnings=True), documents.typed(document)) == [PASSED, FAILED]
