"""The gate rules for an AutoscalePlan, which fails if no group helps a pod, or if an error ends the loop."""

from __future__ import annotations

from msgspec import UNSET

from dra_plan.questions.autoscale.document import AutoscaleDocument
from dra_plan.text.gate import Gate, Judge, Verdict


def _verdicts(_gate: Gate, document: AutoscaleDocument) -> list[Verdict]:
    if document.karpenter is not UNSET:
        if document.karpenter.errors:
            return [Verdict.FAILED]
        return [Verdict.UNDECIDED] if document.karpenter.unknown else []
    up = document.scale_up
    failed = bool(up.error or up.not_triggered) or up.result == "ScaleUpLimitedByMaxNodesTotal"
    return [Verdict.FAILED] if failed else []


JUDGE = Judge(_verdicts)
