"""The gate rules for an Explanation, which check the verdicts of the whole scheduler if it was run."""

from __future__ import annotations

from msgspec import UNSET

from dra_plan.documents.verdicts import OwnerVerdict
from dra_plan.questions.explain.document import ExplanationDocument
from dra_plan.text.gate import Gate, Judge, Verdict


def of_owner(gate: Gate, of: OwnerVerdict) -> Verdict:
    """Return whether the owner passes the gate, because all of its pods have nodes or would be bound."""
    if of.depends_on_gates or of.doubted:
        return gate.undecided  # on gates that are off by default, and on by what the input shows; or on what it lacks
    if of.verdict in ("WouldBind", "WouldPreempt", "Bound", "Finished"):
        return Verdict.PASSED
    return gate.undecided if of.verdict in ("Undecided", "Unknown") else Verdict.FAILED


def _verdicts(gate: Gate, document: ExplanationDocument) -> list[Verdict]:
    """Return the verdicts; a workload that wants no pods now passes if the request of one pod would fit."""
    if document.verdicts is UNSET:
        return [gate.claim_set(claim_set) for claim_set in document.claim_sets]
    suspended = {one.object for one in document.verdicts if one.verdict == "Suspended"}
    found = [of_owner(gate, one) for one in document.verdicts if one.object not in suspended]
    return found + [gate.claim_set(one) for one in document.claim_sets if one.owner in suspended]


def _causes(gate: Gate, document: ExplanationDocument) -> list[str]:
    from dra_plan.text.gate_words import cause, of_claim_sets, undecided_cause
    from dra_plan.text.naming import named

    if document.verdicts is UNSET:
        return of_claim_sets(gate, document.claim_sets)
    failed = [one for one in document.verdicts if one.verdict != "Suspended" and of_owner(gate, one) is Verdict.FAILED]
    undecided = [named(one.object) for one in failed if of_owner(Gate(), one) is Verdict.UNDECIDED]
    refused = [named(one.object) for one in failed if of_owner(Gate(), one) is not Verdict.UNDECIDED]
    return [
        *cause(refused, "workload", "cannot be scheduled", "cannot be scheduled"),
        *undecided_cause(undecided, "workload"),
    ]


JUDGE = Judge(_verdicts, _causes)
