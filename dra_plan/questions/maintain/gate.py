"""What gates make of a MaintenancePlan: no order fails."""

from __future__ import annotations

from dra_plan.questions.maintain.document import MaintenanceDocument
from dra_plan.text.gate import Gate, Judge, Verdict


def _verdicts(gate: Gate, document: MaintenanceDocument) -> list[Verdict]:
    if document.outcome == "Possible":
        return []
    return [Verdict.FAILED if document.outcome == "Impossible" else gate.undecided]


JUDGE = Judge(_verdicts)
