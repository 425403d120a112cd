"""Known defects of the target: where an answer owes something to one, the user is told, with the upstream issue.

The allocator sights a defect wherever its code path is met. Whether that mattered is found by asking again without it.
"""

from __future__ import annotations

from dra_plan.allocator import Allocator, NodeOutcome, Outcome, View
from dra_plan.api.core import Node
from dra_plan.api.inventory import Notice
from dra_plan.claims.sets import ClaimSet
from dra_plan.releases import DEFECTS, Defect, Quirk

from . import notices

STEPS_EACH, STEPS_IN_ALL = 1_500, 30_000
"""Steps of one search without a defect, and of all for a claim set: a warning must not cost more than the plan."""

_FEW_STEPS = 200
"""Searches up to this length cost nothing, so that defects are looked for on all nodes of a large cluster."""


class Watch:
    """Watches the answers for one claim set."""

    def __init__(self, view: View, claim_set: ClaimSet, max_steps: int | None, deadline: float | None) -> None:
        self._view, self._claim_set, self._max_steps, self._deadline = view, claim_set, max_steps, deadline
        self._allocators: dict[tuple[Quirk, ...], Allocator] = {}
        self._proven: dict[tuple[Quirk, ...], tuple[NodeOutcome, NodeOutcome]] = {}
        self._left = STEPS_IN_ALL

    def saw(self, node: Node, answer: NodeOutcome) -> None:
        """Looks whether the defects sighted in an answer changed it; each defect is proven once for the set.

        An answer that is not found without the defect within a few steps proves nothing.
        """
        active = self._view.target.quirks.among(answer.sighted)
        if not active or all((name,) in self._proven for name in active):
            return
        alone = [(name,) for name in active]
        found = [names for names in alone if names not in self._proven and self._differs(names, node, answer)]
        if not found and len(active) > 1 and not any(names in self._proven for names in alone):
            self._differs(active, node, answer)

    def _differs(self, names: tuple[Quirk, ...], node: Node, answer: NodeOutcome) -> bool:
        if self._left <= 0:
            return False
        if names not in self._allocators:
            steps = STEPS_EACH if self._max_steps is None else min(STEPS_EACH, self._max_steps)
            self._allocators[names] = Allocator(
                self._claim_set.claims,
                self._view.repaired(*names),
                max_steps=steps,
                deadline=self._deadline,
            )
        other = self._allocators[names].allocate(node)
        if other.steps > _FEW_STEPS:
            self._left -= other.steps
        if Outcome.UNDECIDED in (answer.outcome, other.outcome):
            return False
        differs = (other.outcome, other.message, other.allocations) != (
            answer.outcome,
            answer.message,
            answer.allocations,
        )
        if differs:
            self._proven[names] = (answer, other)
        return differs

    def notices(self) -> list[Notice]:
        """One warning for each defect that changed an answer."""
        return [
            Notice(
                "upstream-defect",
                f"{describe(names)}: {_change(*answers)}",
                *notices.about(self._claim_set),
                defects=tuple(defect.id for defect in DEFECTS if defect.quirk in names),
            )
            for names, answers in self._proven.items()
        ]


def describe(names: tuple[Quirk, ...]) -> str:
    """`Q4 (kubernetes#140436), a device ...`, for each named quirk."""
    return "; ".join(_describe(defect) for defect in DEFECTS if defect.quirk in names)


def _describe(defect: Defect) -> str:
    issue = f" (kubernetes#{defect.issue})" if defect.issue else ""
    return f"{defect.id}{issue}, {defect.title}"


def _change(answer: NodeOutcome, other: NodeOutcome) -> str:
    if answer.outcome is other.outcome:
        what = "another error" if answer.message != other.message else "another allocation"
        return f"on {answer.node} the scheduler gives {what} than the API promises"
    return f"on {answer.node} the scheduler says {answer.outcome.value}, the API promises {other.outcome.value}"
