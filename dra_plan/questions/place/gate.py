"""The gate rules for a Placement."""

from __future__ import annotations

from dra_plan.questions.place.document import PlacementDocument
from dra_plan.text.gate import Gate, Judge, Verdict


def _verdicts(gate: Gate, document: PlacementDocument) -> list[Verdict]:
    passed = {"Placed": Verdict.PASSED, "Undecided": gate.undecided}
    return [passed.get(document.outcome, Verdict.FAILED)]


JUDGE = Judge(_verdicts)
