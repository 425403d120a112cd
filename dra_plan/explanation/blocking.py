"""Blocking sets: the fewest elements that together leave no allocation, found by dropping one after the other.

Asked with all known defects repaired, so that a set says something about the objects and not about a release.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dra_plan.allocator import Allocator, Outcome
from dra_plan.api.core import Node

from .elements import ConstraintElement, Element, RequestElement, elements, without
from .placement import Budget, Placement

SAME_EVERYWHERE = (RequestElement, ConstraintElement)
"""Elements that mean the same on every node."""

TOTAL_STEPS = 30_000
"""Search steps for one blocking set."""

ALL_STEPS = 3 * TOTAL_STEPS
"""Search steps for all blocking sets of one claim set."""

STEPS_EACH = 5_000
"""Search steps for one question on the way."""


@dataclass(slots=True, frozen=True)
class BlockingSet:
    """Elements that together can't be met. `proven`: dropping any one of them was tried, and makes the rest fit."""

    elements: tuple[Element, ...]
    proven: bool


def blocking_set(placement: Placement, budget: Budget | None = None) -> BlockingSet | None:
    """A minimal blocking set; None if everything fits once defects are repaired; empty if that stays undecided."""
    fixed = placement.repaired()
    budget = budget or Budget(TOTAL_STEPS, STEPS_EACH)
    fits = fixed.fits(budget)
    if fits is not False:
        return None if fits else BlockingSet((), proven=False)
    candidates = elements(fixed)
    search = _Deletion(fixed, candidates, budget)
    search.drop(candidates)
    search.settle()
    return BlockingSet(tuple(reversed(search.kept())), search.proven)


class KnownBlockingSet:
    """A blocking set found on one node, asked about on others by one allocator, which shares answers between them.

    Only its requests and constraints count there: the claims and counters of each node all hold, as those of a set
    found on another node have other names.
    """

    def __init__(self, found: BlockingSet, placement: Placement) -> None:
        self.found = found
        held = {element for element in found.elements if isinstance(element, SAME_EVERYWHERE)}
        others = [e for e in elements(placement) if isinstance(e, SAME_EVERYWHERE) and e not in held]
        self._allocator = Allocator(
            without(placement, others).claims,
            placement.view.repaired(),
            max_steps=STEPS_EACH,
            deadline=placement.deadline,
        )

    def is_enough(self, node: Node, budget: Budget) -> bool:
        """Whether the requests and constraints leave no allocation on this node either, defects repaired."""
        if budget.spent:
            return False
        answer = self._allocator.allocate(node)
        budget.left -= answer.steps + 1
        return answer.outcome is not Outcome.FITS and answer.outcome is not Outcome.UNDECIDED


class _Deletion:
    """Drops whatever can be dropped while it still does not fit: in runs first, one by one where a run matters."""

    def __init__(self, placement: Placement, candidates: Sequence[Element], budget: Budget) -> None:
        self._placement, self._budget = placement, budget
        self._held: dict[Element, None] = dict.fromkeys(candidates)
        self._gone: list[Element] = []
        self._vital: dict[Element, int] = {}
        self.proven = True

    def kept(self) -> list[Element]:
        """What has not been dropped."""
        return list(self._held)

    def drop(self, run: Sequence[Element]) -> None:
        """Drops of the run all that can be."""
        fits = self._fits_without(run)
        if fits is False:
            self._gone += run
            for element in run:
                del self._held[element]
        elif len(run) == 1:
            self._note(run[0], fits)
        elif fits is not None or not self._budget.spent:
            half = len(run) // 2
            self.drop(run[:half])
            self.drop(run[half:])
        else:
            self.proven = False

    def settle(self) -> None:
        """Tries again what was kept while more held than now, so that each element is tried against the final set."""
        tried: Element | None = next(iter(self._stale()), None)
        while tried is not None and self.proven:
            self.drop([tried])
            tried = next(iter(self._stale()), None)

    def _stale(self) -> Iterable[Element]:
        return (element for element in self._held if self._vital.get(element) != len(self._gone))

    def _note(self, element: Element, fits: bool | None) -> None:
        self._vital[element] = len(self._gone)
        self.proven = self.proven and fits is True

    def _fits_without(self, run: Sequence[Element]) -> bool | None:
        return without(self._placement, {*self._gone, *run}).fits(self._budget)
