"""`allocate`: the leading reasons of claim sets that fit nowhere, found on some nodes, with little work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dra_plan.allocator import Outcome, View
from dra_plan.api.core import Node
from dra_plan.claims.sets import asked
from dra_plan.documents.leading import LeadingReason

from .claim_set_plan import ClaimSetPlan

MOST_NODES = 50
"""Nodes that are looked at for one claim set."""

MOST_LOOKS = 1_000
"""Nodes that are looked at for all claim sets."""


class Leading:
    """Looks at claim sets one after the other; those that ask for the same share what is found."""

    def __init__(self, view: View, nodes: Sequence[Node]) -> None:
        self._view, self._nodes = view, nodes
        self._looks = 0
        self._known: dict[Any, tuple[LeadingReason, ...]] = {}

    def of(self, plan: ClaimSetPlan) -> tuple[LeadingReason, ...]:
        """What is in the way of a set that fits on no node; nothing for others, and after too many looks."""
        if plan.outcome is not Outcome.DOES_NOT_FIT:
            return ()
        from dra_plan.explanation.document import of_nodes

        claim_set = plan.claim_set
        chosen = self._chosen(plan)
        key = (asked(claim_set), tuple(chosen))
        if key not in self._known and self._looks >= MOST_LOOKS:
            return ()
        if key not in self._known:
            self._looks += len(chosen)
            nodes, answers = [self._nodes[at] for at in chosen], [plan.nodes[at] for at in chosen]
            self._known[key] = tuple(of_nodes(self._view, claim_set, nodes, answers))
        return self._known[key]

    def _chosen(self, plan: ClaimSetPlan) -> list[int]:
        """Nodes that refuse and are not excluded, spread over all of them; those with devices of their own first."""
        refusing = [
            at
            for at, answer in enumerate(plan.nodes)
            if answer.outcome is not Outcome.FITS and answer.node not in plan.excluded
        ]
        equipped = [at for at in refusing if self._view.gatherer.local_slices(plan.nodes[at].node)]
        chosen = equipped or refusing
        step = -(-len(chosen) // MOST_NODES) or 1
        return chosen[::step]
