"""The gate rules for a DrainList, which fails if pods are left without a node, or are never recreated."""

from __future__ import annotations

from dra_plan.questions.drain_each.document import DrainsDocument
from dra_plan.text.gate import Gate, Judge, Verdict


def _verdicts(gate: Gate, document: DrainsDocument) -> list[Verdict]:
    lost = [pod for node in document.nodes for pod in node.lost]
    found = [gate.undecided if pod.undecided else Verdict.FAILED for pod in lost]
    found += [Verdict.FAILED for node in document.nodes for _ in node.gone]
    return found + [gate.undecided for node in document.nodes for _ in node.undecided]


JUDGE = Judge(_verdicts)
