"""Trying changes on a node, alone and in pairs: those with which the claims fit become suggestions.

First the trials on one node after another, then the search: which groups of nodes are tried, on which of their nodes,
and against which other nodes a suggestion must hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from msgspec import structs

from dra_plan.allocator import AllocationError, Outcome
from dra_plan.api.core import Node
from dra_plan.api.inventory import Inventory, ObjectKey
from dra_plan.documents.base import ClaimName
from dra_plan.documents.suggestions import (
    CapacityChanged,
    ConstraintDropped,
    CountLowered,
    ObjectPatch,
    SelectorChanged,
)
from dra_plan.explanation import funnel
from dra_plan.explanation.absent import decisive_parts_of
from dra_plan.explanation.funnel import NodeOffer
from dra_plan.explanation.groups import NodeGroup
from dra_plan.explanation.names import TEMPLATE, claim_name, made_from, source
from dra_plan.explanation.placement import Budget, Placement, Placements

from . import candidates, patches
from .patches import Change, of_class

MOST_SUGGESTIONS = 8
"""Suggestions for one claim set."""

TOTAL_STEPS = 30_000
"""Search steps for all suggestions of one claim set."""

STEPS_EACH = 3_000
"""Search steps for one try."""

MOST_TRIES = 60
"""Tries for one node."""

MOST_FIRSTS, MOST_SECONDS = 8, 16
"""Changes that are tried together with a second one, and second ones for each."""

_REPAIRS = frozenset(
    {
        "fix-spelling",
        "tolerate-taint",
        "release-claim",
        "lower-count",
        "count-instead-of-all",
        "lower-capacity",
        "rename-capacity",
        "drop-capacity",
        "change-value",
        "loosen-selector",
        "drop-selector",
        "drop-constraint",
        "loosen-class",
        "drop-request",
    }
)
"""Codes of changes that may be made together where none is enough alone."""

_LESS_THAN_DROPPING = ("guard-selector", "fix-spelling", "change-value", "loosen-selector")


@dataclass(slots=True, frozen=True)
class Suggestion:
    """Changes with which the claims fit on `node`: tried, all together, in the release that was asked about.

    `patches` and `gates` are the same changes, as they are made in objects and in the release.
    """

    changes: tuple[Change, ...]
    node: str
    patches: tuple[ObjectPatch, ...] = ()
    gates: dict[str, bool] | None = None


class Asker(NamedTuple):
    """What trials ask about the other nodes of the cluster.

    `confirmed` says whether changes lead to an error on none of them; `fits_elsewhere`, for a set that fits on nodes
    without an error already, where it does so with the changes, None for nowhere. `suggestion` makes the result of
    changes that help.
    """

    confirmed: Callable[[Sequence[Change]], bool]
    fits_elsewhere: Callable[[Sequence[Change]], str | None]
    suggestion: Callable[[Placement, Placement, Sequence[Change], str], Suggestion]


class Trials:
    """Tries changes on one node after another and collects those that help.

    If the claims fit elsewhere already, and only an error on this node is in the way, it is enough that there is none
    with the changes, and that they fit there still.
    """

    def __init__(self, asker: Asker, nowhere: frozenset[str] = frozenset()) -> None:
        self._asker, self._nowhere = asker, nowhere
        self._budget = Budget(TOTAL_STEPS, STEPS_EACH)
        self.tried = 0
        self._found: dict[frozenset[tuple[str, ...]], Suggestion] = {}

    def found(self) -> list[Suggestion]:
        """What helped, single changes first, by how plausible they are; a selector is not dropped if less is enough."""
        every = [change for found in self._found.values() for change in found.changes]
        less = {_selector(change) for change in every if change.code in _LESS_THAN_DROPPING}
        helped = [
            found
            for found in self._found.values()
            if not any(change.code == "drop-selector" and _selector(change) in less for change in found.changes)
        ]
        ordered = sorted(helped, key=lambda s: (len(s.changes), sorted((c.rank for c in s.changes), reverse=True)))
        return ordered[:MOST_SUGGESTIONS]

    def try_each(self, placement: Placement, changes: Sequence[Change]) -> None:
        """Tries each change alone."""
        tries = 0
        for change in changes:
            known = self._found.get(frozenset({change.key}))
            if known is not None and not _is_less(change, known.changes[0]):
                continue
            if tries >= MOST_TRIES or self._budget.spent:
                return
            tries += 1
            self._try(placement, [change])

    def try_two(self, placement: Placement, changes: Sequence[Change]) -> None:
        """Tries changes with a second one each, which is drawn from what is in the way once the first is made."""
        last = self.tried + MOST_TRIES
        for first in _distinct([change for change in changes if change.code in _REPAIRS])[:MOST_FIRSTS]:
            for second in _seconds(placement, first, self._nowhere):
                if self.tried >= last or self._budget.spent:
                    return
                if not self._is_known(first, second) and self._try(placement, [first, second]):
                    break

    def _is_known(self, first: Change, second: Change) -> bool:
        """Whether two changes of the same kinds are found already: which requests they are about matters less."""
        kinds = sorted((first.code, second.code))
        return any(sorted(change.code for change in found.changes) == kinds for found in self._found.values())

    def _try(self, placement: Placement, made: Sequence[Change]) -> bool:
        """Whether the changes help; if one of two is enough alone, only that one is suggested."""
        tried = self._node(placement, made)
        if tried is None or not self._asker.confirmed(made):
            return False
        if len(made) > 1:
            for change in made:
                if self._node(placement, [change]) is not None and self._asker.confirmed([change]):
                    return self._try(placement, [change])
        changed, node = tried
        key = frozenset(change.key for change in made)
        self._found.setdefault(key, self._asker.suggestion(placement, changed, made, node))
        if len(made) == 1 and _is_less(made[0], self._found[key].changes[0]):
            self._found[key] = self._asker.suggestion(placement, changed, made, node)
        return True

    def _node(self, placement: Placement, made: Sequence[Change]) -> tuple[Placement, str] | None:
        """The placement with the changes, and the node on which the claims then fit."""
        self.tried += 1
        changed = applied(placement, made)
        if self._budget.spent:
            return None
        outcome = changed.ask(self._budget).outcome
        if outcome is Outcome.FITS:
            return changed, placement.node.metadata.name
        if outcome not in (Outcome.DOES_NOT_FIT, Outcome.NODE_ERROR):
            return None
        elsewhere = self._asker.fits_elsewhere(made)
        return None if elsewhere is None else (changed, elsewhere)


def applied(placement: Placement, made: Sequence[Change]) -> Placement:
    """The placement with all changes made, in order."""
    for change in made:
        placement = change.apply(placement)
    return placement


def _seconds(placement: Placement, first: Change, nowhere: frozenset[str]) -> Iterator[Change]:
    """What to try with the first change: about something else, drawn from what is in the way then, by plausibility."""
    after = first.apply(placement)
    try:
        offer = funnel.offer(after)
    except AllocationError:
        return
    made = candidates.candidates(offer, None, decisive_parts_of([offer]), nowhere=nowhere) + candidates.of_claims(after)
    chosen = [change for change in made if change.code in _REPAIRS and not _clashes(change, first, placement)]
    yield from sorted(chosen, key=lambda change: change.rank)[:MOST_SECONDS]


def _distinct(changes: Sequence[Change]) -> list[Change]:
    """Of those that ask for fewer devices, by one less each, only the first."""
    found: dict[object, Change] = {}
    for change in changes:
        found.setdefault(change.key if isinstance(change.told, CountLowered) else id(change), change)
    return list(found.values())


def _is_less(change: Change, known: Change) -> bool:
    """Whether a change of the same kind as a known one leaves more of what was asked."""
    return change.size is not None and known.size is not None and change.size > known.size


def _clashes(change: Change, other: Change, placement: Placement) -> bool:
    """Whether a change can't be made besides the other: it is about the same thing, or would leave no request."""
    requests = sum(len(claim.spec.devices.requests) for claim in placement.claims)
    leaves_none = change.code == other.code == "drop-request" and requests <= len((change, other))
    return leaves_none or _place(other) == _place(change)


def _selector(change: Change) -> tuple[object, ...]:
    """The selector that a change is about; nothing for other changes."""
    told = change.told
    return (told.claim, told.request, told.selector) if isinstance(told, SelectorChanged) else ()


def _place(change: Change) -> object:
    """What a change is about; one of the selectors of a request stands for all, as dropping one shifts the others.

    Documents describe a second change in terms of the objects before the first, so it has to be true of them.
    """
    told = change.told
    if isinstance(told, SelectorChanged):
        return "selector", told.claim, told.request, told.class_
    if isinstance(told, ConstraintDropped):
        return "constraint", told.claim
    if isinstance(told, CapacityChanged):
        return "capacity", told.claim, told.request
    if isinstance(told, CountLowered):
        return "count", told.claim, told.request
    return change.key


# -- the search over groups of nodes -----------------------------------------------------------------------------------

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
        self._templates: list[ObjectKey | None] = []
        asker = Asker(self._confirmed, self._fits_elsewhere, self._suggestion)
        self._trials = Trials(asker, nowhere)

    @property
    def tried(self) -> int:
        """How many changes and pairs of changes were tried."""
        return self._trials.tried

    def found(self) -> list[Suggestion]:
        """The suggestions found so far."""
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
            budget = Budget(STEPS_EACH, STEPS_EACH)
            if applied(self._placements.on(node), made).fits(budget):
                return node.metadata.name
        return None

    # -- suggestions -----------------------------------------------------------------------------------------------

    def _suggestion(self, first: Placement, changed: Placement, made: Sequence[Change], node: str) -> Suggestion:
        if self._sources is None:
            self._sources = [source(claim, self._inventory) for claim in first.claims]
            self._templates = [made_from(claim, self._inventory) for claim in first.claims]
        return Suggestion(
            changes=tuple(
                self._with_template(first, self._with_users(change))
                for change in sorted(made, key=lambda change: change.rank)
            ),
            node=node,
            patches=tuple(patches.patches(first, changed, made, self._sources, self._templates)),
            gates=patches.gates(made),
        )

    def _with_template(self, first: Placement, change: Change) -> Change:
        """The change with the template that has to be edited, where the claim is still to be made from one."""
        claim: ClaimName | None = getattr(change.told, "claim", None)
        names = list(map(claim_name, first.claims))
        if claim is None or claim not in names or self._sources is None:
            return change
        at = names.index(claim)
        kind, _, template = self._templates[at] or self._sources[at]
        if kind != TEMPLATE:
            return change
        return replace(change, told=structs.replace(change.told, claim=structs.replace(claim, template=template)))

    def _with_users(self, change: Change) -> Change:
        """The change to a class, with those who use the class besides."""
        told = change.told
        if not isinstance(told, SelectorChanged) or not told.class_ or self._sources is None:
            return change
        others = of_class(self._inventory, told.class_, except_=self._sources)
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
