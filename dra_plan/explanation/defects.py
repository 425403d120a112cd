"""Known defects of the release to which an answer is owed."""

from __future__ import annotations

from dataclasses import dataclass

from dra_plan.allocator import NodeOutcome
from dra_plan.releases import DEFECTS, Defect

from .placement import Budget, Placement

STEPS = 50_000
"""Search steps for all the questions about one node's defects."""


@dataclass(slots=True, frozen=True)
class DecisiveDefects:
    """Without these defects the node's answer is another one, `promised`."""

    defects: tuple[Defect, ...]
    promised: str


def defects(placement: Placement, answer: NodeOutcome) -> DecisiveDefects | None:
    """The defects without which the outcome changes: one alone if that is enough, else all that were met together."""
    active = placement.view.target.quirks.among(answer.sighted)
    budget = Budget(STEPS, STEPS)
    for names in [(name,) for name in active] + ([active] if len(active) > 1 else []):
        other = placement.repaired(*names).ask(budget)
        if other.outcome is not answer.outcome and other.outcome.value != "Undecided":
            return DecisiveDefects(tuple(d for d in DEFECTS if d.quirk in names), other.outcome.value)
    return None
