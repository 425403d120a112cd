"""Trials of single changes and pairs of changes on nodes. Changes that make the claims fit become suggestions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from heapq import nsmallest
from typing import NamedTuple

from msgspec import Struct, structs
from msgspec.structs import replace

from dra_plan.allocator import AllocationError, Outcome
from dra_plan.allocator.reasons import SelectorRefused
from dra_plan.api.core import Node
from dra_plan.api.inventory import Inventory, ObjectKey
from dra_plan.cel.parts import references
from dra_plan.documents.base import ClaimName
from dra_plan.documents.claim_changes import (
    CapacityChanged,
    ClassChanged,
    ConstraintDropped,
    CountLowered,
    SelectorChanged,
)
from dra_plan.documents.cluster_changes import ClaimReleased
from dra_plan.documents.suggestions import ObjectPatch
from dra_plan.explanation import funnel
from dra_plan.explanation.absent import decisive_parts_of
from dra_plan.explanation.funnel import NodeOffer
from dra_plan.explanation.groups import NodeGroup
from dra_plan.explanation.names import TEMPLATE, absent_template, claim_name, made_from, source
from dra_plan.explanation.placement import Budget, Placement, Placements
from dra_plan.explanation.selectors import look_up

from . import candidates, patches
from .nearness import with_class_amount
from .other_nodes import OtherNodes, applied
from .patches import Change, gives_up_alternative, of_class

MOST_SUGGESTIONS = 8
"""The maximum number of suggestions for a claim set."""

TOTAL_STEPS = 30_000
"""The maximum number of search steps for all suggestions of a claim set."""

STEPS_EACH = 3_000
"""The maximum number of search steps for a trial."""

MOST_TRIES = 60
"""The maximum number of trials on one node."""

MOST_FIRSTS, MOST_SECONDS = 8, 16
"""The maximum number of changes that are combined with a second change, and of second changes for each of them."""

_REPAIRS = frozenset(
    {
        "fix-spelling",
        "delete-taint-rule",
        "tolerate-taint",
        "release-claim",
        "lower-count",
        "count-instead-of-all",
        "lower-capacity",
        "rename-capacity",
        "drop-capacity",
        "change-value",
        "change-class",
        "loosen-selector",
        "drop-selector",
        "drop-constraint",
        "loosen-class",
        "drop-request",
    }
)
"""The codes of changes that may be made together if none is enough alone."""

_LEAVING_SELECTORS = ("lower-count", "count-instead-of-all", "release-claim")
"""Changes after which the search may no longer reach a device on which a selector fails."""

_OTHER_CLASSES = ("change-class", "add-alternative")
"""Changes that request another class."""

_LESS_THAN_DROPPING = ("guard-selector", "fix-spelling", "change-value", "loosen-selector")


class Suggestion(Struct, frozen=True):
    """Changes that together make the claims fit on `node`, in the simulated release.

    `patches` and `gates` contain the changes as edits of objects and of feature gates.
    """

    changes: tuple[Change, ...]
    node: str
    patches: tuple[ObjectPatch, ...] = ()
    gates: dict[str, bool] | None = None


class Asker(NamedTuple):
    """The functions with which trials check other nodes.

    - `confirmed` returns whether changes cause no error on any of the other nodes.
    - `fits_elsewhere` is for a claim set that already fits on some nodes. It returns a node on which the claims still
      fit after the changes, or None.
    - `suggestion` creates the suggestion for changes that help.
    """

    confirmed: Callable[[Sequence[Change]], bool]
    fits_elsewhere: Callable[[Sequence[Change]], str | None]
    suggestion: Callable[[Placement, Placement, Sequence[Change], str], Suggestion]


class Trials:
    """Tries changes on one node after another, and keeps the changes that help.

    If the claims fit on other nodes and only an error on this node stops them, changes help if they remove the error
    and the claims still fit on another node.
    """

    def __init__(self, asker: Asker, nowhere: frozenset[str] = frozenset()) -> None:
        self._asker, self._nowhere = asker, nowhere
        self._budget = Budget(TOTAL_STEPS, STEPS_EACH)
        self.tried = 0
        self._found: dict[frozenset[tuple[str, ...]], Suggestion] = {}

    def found(self) -> list[Suggestion]:
        """Return the changes that help, most plausible first. Single changes come before pairs of changes.

        Dropping a selector is not suggested if a smaller change is enough. Changing the devices of an alternative is
        not suggested if any other change helps. Changing a class, which others use too, is not suggested if another
        class helps.
        """
        every = [change for found in self._found.values() for change in found.changes]
        less = {_selector(change) for change in every if change.code in _LESS_THAN_DROPPING}
        helped = [
            found
            for found in self._found.values()
            if not any(change.code == "drop-selector" and _selector(change) in less for change in found.changes)
        ]
        if any(change.code in _OTHER_CLASSES for found in helped for change in found.changes):
            helped = [found for found in helped if all(change.code != "loosen-class" for change in found.changes)]
        real = [found for found in helped if not any(gives_up_alternative(change.told) for change in found.changes)]
        return sorted(real or helped, key=_order)[:MOST_SUGGESTIONS]

    def try_each(self, placement: Placement, changes: Sequence[Change]) -> None:
        """Try each of the changes alone."""
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
        """Try each change together with a second change, for an obstacle that the first change leaves."""
        last = self.tried + MOST_TRIES
        for first in _distinct([change for change in changes if change.code in _REPAIRS])[:MOST_FIRSTS]:
            for second in _seconds(placement, first, self._nowhere):
                if self.tried >= last or self._budget.spent:
                    return
                if not self._is_known(first, second) and self._try(placement, [first, second]):
                    break

    def guard(self, placement: Placement, guard: Change) -> None:
        """Combine `guard` with each helpful change that keeps the failing selector, if the two also help together.

        `guard` replaces the failing selector with one that does not fail. The result then does not depend on whether
        the search reaches the device on which the selector fails.
        """
        for key, found in list(self._found.items()):
            [change, *more] = found.changes
            if more or change.code not in _LEAVING_SELECTORS or self._budget.spent:
                continue
            made = [guard, change]
            tried = self._node(placement, made)
            if tried is not None and self._asker.confirmed(made):
                del self._found[key]
                self._found[frozenset(one.key for one in made)] = self._asker.suggestion(
                    placement, tried[0], made, tried[1]
                )

    def _is_known(self, first: Change, second: Change) -> bool:
        """Return whether two changes of the same kinds are already found; their requests matter less."""
        kinds = sorted((first.code, second.code))
        return any(sorted(change.code for change in found.changes) == kinds for found in self._found.values())

    def _try(self, placement: Placement, made: Sequence[Change]) -> bool:
        """Return whether the changes help; if one of two is enough alone, only that one is suggested."""
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
        """Return the placement with the changes, and the node on which the claims then fit."""
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


def _order(found: Suggestion) -> tuple[object, ...]:
    """Return a suggestion's position: single changes first, by plausibility, then those that release less."""
    released = sorted((change.holds for change in found.changes), reverse=True)
    return len(found.changes), sorted((change.rank for change in found.changes), reverse=True), released


def _seconds(placement: Placement, first: Change, nowhere: frozenset[str]) -> Iterator[Change]:
    """Yield the changes to try with the first: with another subject, from the remaining obstacles, by plausibility."""
    after = first.apply(placement)
    try:
        offer = funnel.offer(after)
    except AllocationError:
        return
    made = candidates.candidates(offer, None, decisive_parts_of([offer]), nowhere=nowhere) + candidates.of_claims(after)
    chosen = [change for change in made if change.code in _REPAIRS and not _clashes(change, first, placement)]
    yield from sorted(chosen, key=lambda change: change.rank)[:MOST_SECONDS]


def _distinct(changes: Sequence[Change]) -> list[Change]:
    """Return the changes; of those that request fewer devices, by one less each, only the first."""
    found: dict[object, Change] = {}
    for change in changes:
        found.setdefault(change.key if isinstance(change.told, CountLowered) else id(change), change)
    return list(found.values())


def _is_less(change: Change, known: Change) -> bool:
    """Return whether a change of the same kind as a known one leaves more of the request."""
    return change.size is not None and known.size is not None and change.size > known.size


def _clashes(change: Change, other: Change, placement: Placement) -> bool:
    """Return whether a change can't be combined with the other: it has the same subject, or would leave no request."""
    own = {placement.first_alike(at): claim for at, claim in enumerate(placement.claims)}
    requests = sum(len(claim.spec.devices.requests) for claim in own.values())
    if {change.code, other.code} == {"change-class", "loosen-class"}:
        return True  # the other class is used as it is
    leaves_none = change.code == other.code == "drop-request" and requests <= len((change, other))
    return leaves_none or _place(other) == _place(change)


def _selector(change: Change) -> tuple[object, ...]:
    """Return the selector that a change is about; nothing for other changes."""
    told = change.told
    return (told.claim, told.request, told.selector) if isinstance(told, SelectorChanged) else ()


def _place(change: Change) -> object:
    """Return the subject of a change; one selector of a request represents all, because dropping one shifts the others.

    Documents describe a second change in terms of the objects before the first, so it has to be true of them.
    """
    told = change.told
    if isinstance(told, SelectorChanged):
        return "selector", told.claim, told.request, told.class_
    if isinstance(told, ConstraintDropped):
        return "constraint", told.claim
    if isinstance(told, CapacityChanged):
        return "capacity", told.claim, told.request
    if isinstance(told, ClassChanged):
        return "class", told.claim, told.request
    if isinstance(told, CountLowered):
        return "count", told.claim, told.request
    return change.key


# -- the search over groups of nodes -----------------------------------------------------------------------------------

MOST_TRIED = 6
"""The maximum number of groups in which changes are tried."""

MOST_HELD = 8
"""The maximum number of nodes of a group on which releasing claims is tried."""

MOST_KINDS = 4
"""The maximum number of nodes with different devices on which changes are tried, for each group."""

MOST_ERRORS = 300
"""The maximum number of nodes on which a change is checked for removing an error."""

MOST_CONFIRMED = 100
"""The maximum number of other nodes on which a change is checked for causing an error."""

MOST_FITTING = 4
"""The maximum number of nodes that are checked again with a change because the claims already fit on them."""

ENOUGH = 3
"""The number of helpful pairs of changes at which the search ends."""


class SuggestionSearch:
    """A search for changes that make a claim set fit on the nodes of its groups.

    `nowhere` contains clauses of selectors that are true for no device in the cluster. They are not dropped from
    classes.
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
        known = {answer.node: answer for group in groups for answer in group.answers}
        self._others = OtherNodes(map(placements.on, _others(groups, self._errors)), known)
        self._nodes: dict[int, _ChosenNodes] = {}
        self._sources: list[ObjectKey] | None = None
        self._templates: list[ObjectKey | None] = []
        asker = Asker(self._confirmed, self._fits_elsewhere, self._suggestion)
        self._trials = Trials(asker, nowhere)

    @property
    def tried(self) -> int:
        """The number of single changes and pairs of changes that were tried."""
        return self._trials.tried

    def found(self) -> list[Suggestion]:
        """Return the suggestions found so far."""
        return self._trials.found()

    def seek(self) -> None:
        """Try changes on the nodes where they may help.

        If errors on nodes end the scheduling attempt, changes are tried only on these nodes.
        """
        if not self._needed:
            return
        told = (self._errors or [group for group in self._groups if not group.elsewhere])[:MOST_TRIED]
        for group in told:
            for position in self._chosen(group).tried:
                placement, made = self._candidates(group, position)
                self._trials.try_each(placement, made)
                self._guard(group, placement)
        for group in told:
            for position in self._chosen(group).held:
                placement, made = self._releases(group, position)
                self._trials.try_each(placement, made)
                self._guard(group, placement)
        for group in told:
            for position in self._chosen(group).tried:
                if len(self._trials.found()) < (ENOUGH if self._is_in_pairs() else 1):
                    self._trials.try_two(*self._candidates(group, position))

    def _guard(self, group: NodeGroup, placement: Placement) -> None:
        guard = candidates.guarding(group.error) if group.error is not None else None
        if guard is not None:
            self._trials.guard(placement, guard)

    def _chosen(self, group: NodeGroup) -> _ChosenNodes:
        if id(group) not in self._nodes:
            self._nodes[id(group)] = _chosen_nodes(group)
        return self._nodes[id(group)]

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

    def _releases(self, group: NodeGroup, position: int) -> tuple[Placement, list[Change]]:
        placement, offer = self._placements.on(group.nodes[position]), group.offers[position]
        if offer is None:
            return placement, []
        blocking = group.blocking  # its claims are those of the first node; the requests are to be met here as well
        made = candidates.candidates(offer, blocking, {}, nowhere=self._nowhere)
        return placement, [change for change in made if isinstance(change.told, ClaimReleased)]

    # -- checks of other nodes -------------------------------------------------------------------------------------

    def _confirmed(self, made: Sequence[Change]) -> bool:
        """Return whether the changes cause an error on none of the other nodes, where one would end the attempt."""
        return not self._others.have_errors(made)

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
                self._with_template(first, self._with_users(with_class_amount(first, changed, change)))
                for change in sorted(made, key=lambda change: change.rank)
            ),
            node=node,
            patches=tuple(patches.patches(first, changed, made, self._sources, self._templates)),
            gates=patches.gates(made),
        )

    def _with_template(self, first: Placement, change: Change) -> Change:
        """Return the change with the template to edit, if the claim is or was created from one."""
        claim: ClaimName | None = getattr(change.told, "claim", None)
        names = list(map(claim_name, first.claims))
        if claim is None or claim not in names or self._sources is None:
            return change
        at = names.index(claim)
        kind, _, template = self._templates[at] or self._sources[at]
        absent = absent_template(first.claims[at], self._inventory)
        if kind != TEMPLATE and absent is None:
            return change
        named = structs.replace(claim, template=absent or template, is_template_absent=absent is not None)
        told = structs.replace(change.told, claim=named)
        if isinstance(told, CountLowered):
            told = structs.replace(told, claims=first.number_alike(at))
        return replace(change, told=told)

    def _with_users(self, change: Change) -> Change:
        """Return the change to a class, with the other users of the class."""
        told = change.told
        if not isinstance(told, SelectorChanged) or not told.class_ or self._sources is None:
            return change
        others = of_class(self._inventory, told.class_, except_=self._sources)
        return replace(change, told=structs.replace(told, used_by=others))


class _ChosenNodes(NamedTuple):
    """The positions in a group of the nodes on which all changes are tried, and of those for releasing claims."""

    tried: list[int]
    held: list[int]


def _chosen_nodes(group: NodeGroup) -> _ChosenNodes:
    """Return the nodes of a group on which changes are tried.

    They are the one with the fewest lacking or used devices, the first, and the first of each kind by the devices that
    selectors reject, because the values that may be asked for instead differ. The others are each held by other claims;
    those with the fewest lacking come first.
    """
    lacking = [_lack(offer) for offer in group.offers]
    kinds: dict[object, int] = {}
    known: dict[tuple[str, int | None], object] = {}
    for at, offer in enumerate(group.offers):
        for shape in _rejected(offer, known):
            kinds.setdefault(shape, at)
        if len(kinds) >= MOST_KINDS:
            break
    tried = list(dict.fromkeys((lacking.index(min(lacking)), 0, *list(kinds.values())[:MOST_KINDS])))
    others = set(range(len(group.nodes))).difference(tried)
    return _ChosenNodes(tried, nsmallest(MOST_HELD, others, key=lambda at: (lacking[at], at)))


def _rejected(offer: NodeOffer | None, known: dict[tuple[str, int | None], object]) -> Iterator[object]:
    """Yield what each rejecting selector of a failing request reads of the first device that it rejects.

    `known` has what was read of devices, by selector and kind of device.
    """
    if offer is None:
        return
    like = offer.placement.like_devices
    for removal in (each for funnels in offer.failing() for told in funnels for each in told.removals):
        if not isinstance(removal.refusal, SelectorRefused):
            continue
        device, expression = removal.devices[0], removal.refusal.expression
        key = expression, like.number(device)
        shape = known.get(key)
        if shape is None:
            read = references(expression)
            shape = tuple(str(look_up(device, reference)) for reference in read)
            if key[1] is not None and all(reference.kind in _OF_KIND for reference in read):
                known[key] = shape
        yield shape


_OF_KIND = ("attribute", "capacity", "driver")
"""The references that say the same of all devices of one kind."""


def _lack(offer: NodeOffer | None) -> tuple[int, bool, int]:
    """Return the number of devices lacking for requests that can't be met alone, then the number in use.

    Between the two: whether those in use are all in claims that must not be released.
    """
    if offer is None:
        return 0, False, 0
    failing = offer.failing()
    lacking = sum(min(max(0, funnel.need - len(funnel.left)) for funnel in funnels) for funnels in failing)
    used = [d for fs in failing for f in fs for r in f.removals if r.step == "in-use" for d in r.devices]
    holder, own = offer.placement.view.state.dedicated, offer.placement.own
    return lacking, bool(used) and all(holder.get(device.id) in own for device in used), len(used)


def _others(groups: Sequence[NodeGroup], errors: Sequence[NodeGroup]) -> Iterator[Node]:
    """Return the nodes with an error, then one of each group, then more of them all, up to the maximum."""
    chosen: dict[str, Node] = {}
    failing = [node for group in errors for node in group.nodes][:MOST_ERRORS]
    others = [*(s.nodes[0] for s in groups), *(node for s in groups for node in s.nodes)][:MOST_CONFIRMED]
    for node in (*failing, *others):
        chosen.setdefault(node.metadata.name, node)
    yield from chosen.values()
