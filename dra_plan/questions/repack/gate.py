"""The gate rules for a RepackPlan, which fails unless the wanted pods fit, with or without moves."""

from __future__ import annotations

from dra_plan.questions.repack.document import RepackDocument
from dra_plan.text.gate import Gate, Judge, Verdict


def _verdicts(gate: Gate, document: RepackDocument) -> list[Verdict]:
    if document.outcome in ("Fits", "Moves"):
        return []
    return [Verdict.FAILED if document.outcome == "Impossible" else gate.undecided]


JUDGE = Judge(_verdicts)
