"""The gate rules for a Replay, which fails if the cluster does not settle."""

from __future__ import annotations

from dra_plan.questions.replay.document import ReplayDocument
from dra_plan.text.gate import Gate, Judge, Verdict


def _verdicts(_gate: Gate, document: ReplayDocument) -> list[Verdict]:
    return [Verdict.FAILED for each in document.runs if each.unsettled]


JUDGE = Judge(_verdicts)
