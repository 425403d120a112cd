"""The gate rules for an Impact, which fails for a running pod that loses its node, and for any other loss."""

from __future__ import annotations

from dra_plan.questions.impact.document import ImpactDocument
from dra_plan.text.gate import Gate, Judge, Verdict

LOSSES = ("Gone", "WithoutPlace", "EvictedAgain", "NoLongerStarts", "Refused", "Waits")
"""The effects that fail the gate."""


def _verdicts(gate: Gate, document: ImpactDocument) -> list[Verdict]:
    found = [Verdict.FAILED for pod in document.pods if pod.effect in LOSSES]
    found += [gate.undecided for pod in document.pods if pod.effect == "Undecided"]
    found += [Verdict.FAILED for one in document.claim_sets if one.change == "Lost"]
    found += [Verdict.FAILED for held in document.held_devices if held.change == "Lost"]
    found += [gate.undecided for one in document.claim_sets if one.change == "Undecided"]
    found += [Verdict.FAILED for one in document.selectors if one.lost or one.stops]
    found += [Verdict.FAILED for _ in document.broken_pools]
    return (
        found
        + [Verdict.FAILED for one in document.quotas if one.refuses]
        + ([Verdict.FAILED] if document.unsettled else [])
    )


JUDGE = Judge(_verdicts)
