"""Where suggestions are tried: which groups, on which of their nodes, and against which other nodes they must hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from msgspec import structs

from dra_plan.allocator import Outcome
from dra_plan.api.core import Node
from dra_plan.api.inventory import Inventory, ObjectKey
from dra_plan.documents.suggestions import SelectorChanged
from dra_plan.explanation.funnel import NodeOffer
from dra_plan.explanation.groups import NodeGroup
from dra_plan.explanation.node_selectors import decisive_parts_of
from dra_plan.explanation.placement import Budget, Placement, Placements
from dra_plan.explanation.sources import source

from . import candidates, patches, trials, users
from .change import Change
from .trials import Suggestion, applied

MOST_TRIED = 6
"""Groups on whose nodes changes are tried."""

MOST_ERRORS = 300
"""Nodes with an error that are asked whether a change removes it."""

MOST_CONFIRMED = 100
"""Other nodes that are asked whether a change leads to an error there."""

MOST_FITTING = 4
"""Nodes on which the claims fit already that are asked whether they still do with a change."""

CONFIRM_STEPS = 2_000
"""Search steps for one such question."""

ENOUGH = 3
"""Pairs of changes that help, after which no more are sought."""


class SuggestionSearch:
    """What would make a claim set fit, found on the nodes of its groups.

    Clauses of selectors that are true `nowhere` in the cluster are no rule to be given up in a class.
    """

    def __init__(
        self,
        placements: Placements,
        groups: Sequence[NodeGroup],
        inventory: Inventory,
        nowhere: frozenset[str] = frozenset(),
    ) -> None:
        self._placements, self._groups, self._inventory, self._nowhere = placements, groups, inventory, nowhere
        self._fitting = [node for s in groups if s.answer.outcome is Outcome.FITS for node in s.nodes][:MOST_FITTING]
        self._errors = [group for group in groups if group.answer.outcome is Outcome.ERROR]
        self._needed = bool(self._errors) or not self._fitting
        self._others = list(_others(groups, self._errors))
        self._sources: list[ObjectKey] | None = None
        asker = trials.Asker(self._confirmed, self._fits_elsewhere, self._suggestion)
        self._trials = trials.Trials(asker, nowhere)

    @property
    def tried(self) -> int:
        """How many changes, or combinations of changes, were tried."""
        return self._trials.tried

    def found(self) -> list[Suggestion]:
        """What helped."""
        return self._trials.found()

    def seek(self) -> None:
        """Tries changes where they might help; where some node ends the attempt with an error, only there."""
        if not self._needed:
            return
        told = (self._errors or [group for group in self._groups if not group.elsewhere])[:MOST_TRIED]
        for group in told:
            for position in _places(group):
                placement, made = self._candidates(group, position)
                self._trials.try_each(placement, made)
        for group in told:
            for position in _places(group):
                if len(self._trials.found()) < (ENOUGH if self._is_in_pairs() else 1):
                    self._trials.try_two(*self._candidates(group, position))

    def _is_in_pairs(self) -> bool:
        return all(len(found.changes) > 1 for found in self._trials.found())

    def _candidates(self, group: NodeGroup, position: int) -> tuple[Placement, list[Change]]:
        placement, offer = self._placements.on(group.nodes[position]), group.offers[position]
        made = candidates.of_error(placement, group.error) if group.error is not None else []
        if offer is not None:
            made += candidates.candidates(
                offer,
                group.blocking,
                decisive_parts_of([offer]),
                blames_all=group.defect is not None,
                nowhere=self._nowhere,
            )
        return placement, made

    # -- asked about other nodes -----------------------------------------------------------------------------------

    def _confirmed(self, made: Sequence[Change]) -> bool:
        """Whether the changes lead to an error on none of the other nodes, where one would end the attempt for all."""
        budget = Budget(len(self._others) * CONFIRM_STEPS, CONFIRM_STEPS)
        return not any(_errs(self._placements.on(node), made, budget) for node in self._others)

    def _fits_elsewhere(self, made: Sequence[Change]) -> str | None:
        for node in self._fitting:
            budget = Budget(trials.STEPS_EACH, trials.STEPS_EACH)
            if applied(self._placements.on(node), made).fits(budget):
                return node.metadata.name
        return None

    # -- what is told ------------------------------------------------------------------------------------------------

    def _suggestion(self, first: Placement, changed: Placement, made: Sequence[Change], node: str) -> Suggestion:
        if self._sources is None:
            self._sources = [source(claim, self._inventory) for claim in first.claims]
        return Suggestion(
            changes=tuple(self._with_users(change) for change in sorted(made, key=lambda change: change.rank)),
            node=node,
            patches=tuple(patches.patches(first, changed, made, self._sources)),
            gates=patches.gates(made),
        )

    def _with_users(self, change: Change) -> Change:
        """The change to a class, with those who use the class besides."""
        told = change.told
        if not isinstance(told, SelectorChanged) or not told.class_ or self._sources is None:
            return change
        others = users.of_class(self._inventory, told.class_, except_=self._sources)
        return replace(change, told=structs.replace(told, used_by=others))


def _errs(placement: Placement, made: Sequence[Change], budget: Budget) -> bool:
    return applied(placement, made).ask(budget).outcome is Outcome.ERROR


def _places(group: NodeGroup) -> list[int]:
    """The nodes of a group on which least is lacking or in use, and the first: where changes are tried."""
    lacking = [_lack(offer) for offer in group.offers]
    return list(dict.fromkeys((lacking.index(min(lacking)), 0)))


def _lack(offer: NodeOffer | None) -> tuple[int, bool, int]:
    """How many devices are lacking for requests that can't be met alone; then, how many are in use.

    Between the two: whether those in use are all in claims that are not to be given up.
    """
    if offer is None:
        return 0, False, 0
    failing = offer.failing()
    lacking = sum(min(max(0, funnel.need - len(funnel.left)) for funnel in funnels) for funnels in failing)
    used = [d for fs in failing for f in fs for r in f.removals if r.step == "in-use" for d in r.devices]
    holder, own = offer.placement.view.state.dedicated, offer.placement.own
    return lacking, bool(used) and all(holder.get(device.id) in own for device in used), len(used)


def _others(groups: Sequence[NodeGroup], errors: Sequence[NodeGroup]) -> Iterator[Node]:
    """The nodes with an error, then one of each group, then more of them all; as many as can be asked."""
    chosen: dict[str, Node] = {}
    failing = [node for group in errors for node in group.nodes][:MOST_ERRORS]
    others = [*(s.nodes[0] for s in groups), *(node for s in groups for node in s.nodes)][:MOST_CONFIRMED]
    for node in (*failing, *others):
        chosen.setdefault(node.metadata.name, node)
    yield from chosen.values()
