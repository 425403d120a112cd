"""The gate rules for a GrowthPlan, which fails if new nodes cannot help some pods."""

from __future__ import annotations

from dra_plan.questions.grow.document import GrowthDocument
from dra_plan.text.gate import Gate, Judge, Verdict


def _verdicts(gate: Gate, document: GrowthDocument) -> list[Verdict]:
    found = [Verdict.FAILED for _ in document.beyond_help]
    return found + ([gate.undecided] if document.outcome == "Undecided" else [])


JUDGE = Judge(_verdicts)
