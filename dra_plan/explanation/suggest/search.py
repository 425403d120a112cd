"""Where suggestions are tried: which groups, on which of their nodes, and against which other nodes they must hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dra_plan.allocator import Outcome
from dra_plan.api.core import Node
from dra_plan.explanation.funnel import NodeOffer
from dra_plan.explanation.groups import NodeGroup
from dra_plan.explanation.node_selectors import decisive_parts_of
from dra_plan.explanation.placement import Budget, Placement, Placements

from . import candidates, trials
from .change import Change

MOST_TRIED = 6
"""Groups on whose nodes changes are tried."""

MOST_ERRORS = 300
"""Nodes with an error that are asked whether a change removes it."""

MOST_CONFIRMED = 100
"""Other nodes that are asked whether a change leads to an error there."""

CONFIRM_STEPS = 2_000
"""Search steps for one such question."""


class SuggestionSearch:
    """What would make a claim set fit, found on the nodes of its groups."""

    def __init__(self, placements: Placements, groups: Sequence[NodeGroup]) -> None:
        self._placements, self._groups = placements, groups
        fitting = [s.nodes[0] for s in groups if s.answer.outcome is Outcome.FITS]
        self._errors = [group for group in groups if group.answer.outcome is Outcome.ERROR]
        self._needed = bool(self._errors) or not fitting
        self._others = list(_others(groups, self._errors))
        elsewhere = fitting[0].metadata.name if fitting else None
        self._trials = trials.Trials(self._confirmed, elsewhere)

    @property
    def tried(self) -> int:
        """How many changes, or combinations of changes, were tried."""
        return self._trials.tried

    def found(self) -> list[trials.Suggestion]:
        """What helped."""
        return self._trials.found()

    def seek(self) -> None:
        """Tries changes where they might help; where some node ends the attempt with an error, only there."""
        if not self._needed:
            return
        told = self._errors or [group for group in self._groups if not group.elsewhere]
        for alone in (True, False):
            for group in told[:MOST_TRIED]:
                for position in _places(group):
                    self._try(group, position, alone=alone)
            if self._trials.found():
                return

    def _try(self, group: NodeGroup, position: int, *, alone: bool) -> None:
        placement, offer = self._placements.on(group.nodes[position]), group.offers[position]
        made = candidates.of_error(placement, group.error) if group.error is not None else []
        if offer is not None:
            made += candidates.candidates(
                offer, group.blocking, decisive_parts_of([offer]), blames_all=group.defect is not None
            )
        if alone:
            self._trials.try_each(placement, made)
        else:
            self._trials.try_together(placement, made)

    def _confirmed(self, made: Sequence[Change]) -> bool:
        """Whether the changes lead to an error on none of the other nodes, where one would end the attempt for all."""
        budget = Budget(len(self._others) * CONFIRM_STEPS, CONFIRM_STEPS)
        return not any(_errs(self._placements.on(node), made, budget) for node in self._others)


def _errs(placement: Placement, made: Sequence[Change], budget: Budget) -> bool:
    for change in made:
        placement = change.apply(placement)
    return placement.ask(budget).outcome is Outcome.ERROR


def _places(group: NodeGroup) -> list[int]:
    """The nodes of a group on which least is lacking or in use, and the first: where changes are tried."""
    lacking = [_lack(offer) for offer in group.offers]
    return list(dict.fromkeys((lacking.index(min(lacking)), 0)))


def _lack(offer: NodeOffer | None) -> tuple[int, int]:
    """How many devices are lacking for requests that can't be met alone; then, how many others have in use."""
    if offer is None:
        return 0, 0
    failing = offer.failing()
    lacking = sum(min(max(0, funnel.need - len(funnel.left)) for funnel in funnels) for funnels in failing)
    return lacking, sum(len(r.devices) for fs in failing for f in fs for r in f.removals if r.step == "in-use")


def _others(groups: Sequence[NodeGroup], errors: Sequence[NodeGroup]) -> Iterator[Node]:
    """The nodes with an error, then one of each group, then more of them all; as many as can be asked."""
    chosen: dict[str, Node] = {}
    failing = [node for group in errors for node in group.nodes][:MOST_ERRORS]
    others = [*(s.nodes[0] for s in groups), *(node for s in groups for node in s.nodes)][:MOST_CONFIRMED]
    for node in (*failing, *others):
        chosen.setdefault(node.metadata.name, node)
    yield from chosen.values()
