"""Checks that changes do not cause an error on other nodes, where it would end the whole scheduling attempt.

Nodes that look the same to the changed claims are searched only once. Nodes that a change does not affect keep their
known result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dra_plan.allocator import Allocator, NodeOutcome, Outcome
from dra_plan.allocator.pools import KnownPools
from dra_plan.explanation.placement import Budget, Placement

from .patches import Change

CONFIRM_STEPS = 2_000
"""The maximum number of search steps for checking a change on one node."""


def applied(placement: Placement, made: Sequence[Change]) -> Placement:
    """Return the placement after all changes, in the given order."""
    for change in made:
        placement = change.apply(placement)
    return placement


class OtherNodes:
    """The placements of the claims on other nodes, on which changes are checked."""

    def __init__(self, placements: Iterable[Placement], known: Mapping[str, NodeOutcome]) -> None:
        self._placements, self._known = list(placements), known
        self._pools: dict[int, KnownPools] = {}

    def have_errors(self, made: Sequence[Change]) -> bool:
        """Return whether these changes lead to an error on any of the nodes."""
        budget = Budget(len(self._placements) * CONFIRM_STEPS, CONFIRM_STEPS)
        alike: list[tuple[Placement, Allocator]] = []
        return any(self._answer(first, made, budget, alike).outcome is Outcome.ERROR for first in self._placements)

    def _answer(
        self, first: Placement, made: Sequence[Change], budget: Budget, alike: list[tuple[Placement, Allocator]]
    ) -> NodeOutcome:
        """Return the result for a node with the changes; `alike` are the allocators for earlier nodes."""
        changed = applied(first, made)
        if changed is first:
            known = self._known[first.node.metadata.name]
            return first.charged(known, budget) if known.steps < first.steps_of(budget) else first.ask(budget)
        found = next((each for each in alike if _are_alike(changed, each[0])), None)
        if found is not None:
            changed.__dict__["requests"] = found[0].requests
        if changed.steps_of(budget) < min(changed.max_steps, budget.each):
            return changed.ask(budget)  # the budget is nearly spent, so fewer steps than for earlier nodes
        if found is None:
            found = changed, self._allocator(changed, budget.each)
            alike.append(found)
        return changed.charged(found[1].allocate(changed.node), budget)

    def _allocator(self, of: Placement, steps: int) -> Allocator:
        gatherer = of.view.gatherer
        pools = self._pools.setdefault(id(gatherer), KnownPools(gatherer))  # which keeps the gatherer
        return Allocator(of.claims, of.view, max_steps=min(of.max_steps, steps), deadline=of.deadline, pools=pools)


def _are_alike(placement: Placement, other: Placement) -> bool:
    """Return whether two placements are of equal claims in the same cluster, with equal classes."""
    if placement.claims != other.claims:
        return False
    view, known = placement.view, other.view
    return view is known or (
        all(getattr(view, part) is getattr(known, part) for part in ("slices", "claims", "given_rules", "device_order"))
        and view.target == known.target
        and view.classes == known.classes
    )
