"""The gate rules for an AllocationPlan."""

from __future__ import annotations

from dra_plan.documents.claim_sets import PodWithoutNode
from dra_plan.questions.allocate.document import AllocationDocument
from dra_plan.text.gate import Gate, Judge, Verdict


def left_over(gate: Gate, document: AllocationDocument) -> list[PodWithoutNode]:
    """Return the pods that have no node when all pods compete, if the gate requires that all pods fit."""
    return list(document.competition.without_node) if document.competition and gate.require_fit else []


def _verdicts(gate: Gate, document: AllocationDocument) -> list[Verdict]:
    found = [gate.claim_set(claim_set) for claim_set in document.claim_sets]
    return found + [Verdict.FAILED for _ in left_over(gate, document)]


def _causes(gate: Gate, document: AllocationDocument) -> list[str]:
    from dra_plan.text.gate_words import cause, of_claim_sets

    names = [f"{pod.namespace}/{pod.name}" for pod in left_over(gate, document)]
    verbs = [f"{verb} no node when all pods compete (--require-fit)" for verb in ("gets", "get")]
    return [*of_claim_sets(gate, document.claim_sets), *cause(names, "pod", *verbs)]


JUDGE = Judge(_verdicts, _causes)
