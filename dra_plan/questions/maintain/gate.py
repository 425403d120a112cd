"""The gate rules for a MaintenancePlan: it fails without an order."""

from __future__ import annotations

from dra_plan.questions.maintain.document import MaintenanceDocument
from dra_plan.text.gate import Gate, Judge, Verdict


def _verdicts(gate: Gate, document: MaintenanceDocument) -> list[Verdict]:
    if document.outcome == "Possible":
        return []
    return [Verdict.FAILED if document.outcome == "Impossible" else gate.undecided]


JUDGE = Judge(_verdicts)
