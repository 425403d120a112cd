"""The gate rules for a MaintenancePlan: fails if there is no order, or if selectors in use would fail afterwards."""

from __future__ import annotations

from dra_plan.questions.maintain.document import MaintenanceDocument
from dra_plan.text.gate import Gate, Judge, Verdict


def _verdicts(gate: Gate, document: MaintenanceDocument) -> list[Verdict]:
    if document.outcome == "Possible":
        return [Verdict.FAILED] if document.selectors else []
    return [Verdict.FAILED if document.outcome == "Impossible" else gate.undecided]


JUDGE = Judge(_verdicts)
