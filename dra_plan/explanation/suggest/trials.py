"""Suggestions: changes that were tried, and with which the claims fit; the least change first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from msgspec import structs

from dra_plan.allocator import AllocationError, Outcome
from dra_plan.documents.suggestions import ConstraintDropped, SelectorChanged
from dra_plan.explanation import funnel
from dra_plan.explanation.node_selectors import decisive_parts_of
from dra_plan.explanation.placement import Budget, Placement

from . import candidates
from .change import Change

MOST = 8
"""Suggestions for one claim set."""

TOTAL_STEPS = 30_000
"""Search steps for all suggestions of one claim set."""

STEPS_EACH = 3_000
"""Search steps for one try."""

MOST_TRIES = 60
"""Tries for one node."""

MOST_REPAIRS = 8
"""Changes that are made one after the other before a repair is given up."""

_REPAIRS = (
    "fix-spelling",
    "tolerate-taint",
    "wait-for-slice",
    "lower-capacity",
    "rename-capacity",
    "drop-capacity",
    "change-value",
    "loosen-selector",
    "drop-selector",
    "loosen-class",
    "release-claim",
    "drop-constraint",
    "drop-request",
)
"""Codes of changes that may be made together where none is enough alone."""

_LESS_THAN_DROPPING = ("guard-selector", "fix-spelling", "change-value", "loosen-selector")


@dataclass(slots=True, frozen=True)
class Suggestion:
    """Changes with which the claims fit on `node`: tried, all together, in the release that was asked about."""

    changes: tuple[Change, ...]
    node: str


class Trials:
    """Tries changes on one node after another and collects those that help.

    `confirmed` says whether changes that help on one node do no harm on others. If the claims fit `elsewhere` already,
    and only an error on this node is in the way, it is enough that there is no error.
    """

    def __init__(self, confirmed: Callable[[Sequence[Change]], bool], elsewhere: str | None) -> None:
        self._confirmed, self._elsewhere = confirmed, elsewhere
        self._budget = Budget(TOTAL_STEPS, STEPS_EACH)
        self.tried = 0
        self._found: dict[tuple[tuple[str, ...], ...], Suggestion] = {}

    def found(self) -> list[Suggestion]:
        """What helped, single changes first, by how little they change; a selector is not dropped if less is enough."""
        loosened = {_selector(s.changes[0]) for s in self._found.values() if s.changes[0].code in _LESS_THAN_DROPPING}
        helped = [
            s
            for s in self._found.values()
            if s.changes[0].code != "drop-selector" or _selector(s.changes[0]) not in loosened
        ]
        ordered = sorted(helped, key=lambda s: (len(s.changes), max(c.rank for c in s.changes)))
        return ordered[:MOST]

    def try_each(self, placement: Placement, changes: Sequence[Change]) -> None:
        """Tries each change alone."""
        tries = 0
        for change in changes:
            known = self._found.get((change.key,))
            if known is not None and not _is_less(change, known.changes[0]):
                continue
            if tries >= MOST_TRIES or self._budget.spent:
                return
            tries += 1
            self._try(placement, [change])

    def try_together(self, placement: Placement, changes: Sequence[Change]) -> None:
        """Tries changes of one kind together; then one change after the other until the claims fit."""
        for code in _REPAIRS:
            chosen = _compatible(placement, (change for change in changes if change.code == code))
            if (
                len(chosen) > 1
                and self._helps(placement, chosen)
                and self._try(placement, self._least(placement, chosen))
            ):
                return
        repaired = self._repaired(placement)
        if repaired:
            self._try(placement, self._least(placement, repaired))

    def _try(self, placement: Placement, made: Sequence[Change]) -> bool:
        node = self._node(placement, made)
        if node is None or not self._confirmed(made):
            return False
        self._found[tuple(change.key for change in made)] = Suggestion(tuple(made), node)
        return True

    def _repaired(self, placement: Placement) -> list[Change]:
        """Changes, each the first that is still to be had once those before are made, until the claims fit."""
        made: list[Change] = []
        for _ in range(MOST_REPAIRS):
            more = None if self._budget.spent else _one_more(placement, made)
            if more is None:
                return []
            made = more
            if self._helps(placement, made):
                return made
        return []

    def _least(self, placement: Placement, made: Sequence[Change]) -> list[Change]:
        """The changes without those that are not needed; the last ones are given up first."""
        needed = list(made)
        for change in reversed(made):
            rest = [other for other in needed if other is not change]
            if rest and self._helps(placement, rest):
                needed = rest
        return needed

    def _helps(self, placement: Placement, made: Iterable[Change]) -> bool:
        return self._node(placement, made) is not None

    def _node(self, placement: Placement, made: Iterable[Change]) -> str | None:
        """The node on which the claims then fit."""
        self.tried += 1
        changed = placement
        for change in made:
            changed = change.apply(changed)
        if self._budget.spent:
            return None
        outcome = changed.ask(self._budget).outcome
        if outcome is Outcome.FITS:
            return placement.node.metadata.name
        return self._elsewhere if outcome in (Outcome.DOES_NOT_FIT, Outcome.NODE_ERROR) else None


def _is_less(change: Change, known: Change) -> bool:
    """Whether a change of the same kind as a known one leaves more of what was asked."""
    return change.size is not None and known.size is not None and change.size > known.size


def _one_more(first: Placement, made: Sequence[Change]) -> list[Change] | None:
    """The changes with the one to make next; None if there is none.

    Where part of a selector has been changed and the rest of it still refuses, the whole of it is dropped instead.
    """
    placement = first
    for change in made:
        placement = change.apply(placement)
    try:
        offer = funnel.offer(placement)
    except AllocationError:
        return None
    chosen = [
        change for change in candidates.candidates(offer, None, decisive_parts_of([offer])) if change.code in _REPAIRS
    ]
    chosen += candidates.of_claims(placement)
    for change in sorted(chosen, key=lambda change: _REPAIRS.index(change.code)):
        if not _clashes(change, made, first):
            return [*made, change]
        at = next((at for at, other in enumerate(made) if _selector(other) == _selector(change)), None)
        if change.code == "drop-selector" and at is not None and made[at].code != "drop-selector":
            return [*made[:at], _of_the_same(change, made[at]), *made[at + 1 :]]
    return None


def _of_the_same(change: Change, before: Change) -> Change:
    """The change, told of the selector as it was before the other one."""
    was = before.told.expression if isinstance(before.told, SelectorChanged) else ""
    return replace(change, told=structs.replace(change.told, expression=was))


def _compatible(placement: Placement, chosen: Iterable[Change]) -> list[Change]:
    """Those that can be made together."""
    made: list[Change] = []
    for change in chosen:
        if not _clashes(change, made, placement):
            made.append(change)
    return made


def _clashes(change: Change, made: Sequence[Change], placement: Placement) -> bool:
    """Whether a change can't be made besides those: it is about the same thing, or would leave no request at all."""
    place = _place(change)
    if change.code == "drop-request":
        requests = sum(len(claim.spec.devices.requests) for claim in placement.claims)
        if 1 + sum(other.code == "drop-request" for other in made) >= requests:
            return True
    return any(_place(other) == place for other in made)


def _selector(change: Change) -> tuple[object, ...]:
    """The selector that a change is about; nothing for other changes."""
    told = change.told
    return (told.claim, told.request, told.selector) if isinstance(told, SelectorChanged) else ()


def _place(change: Change) -> object:
    """What a change is about; one of the selectors of a request stands for all, as dropping one shifts the others."""
    told = change.told
    if isinstance(told, SelectorChanged):
        return "selector", told.claim, told.request, told.class_
    if isinstance(told, ConstraintDropped):
        return "constraint", told.claim
    return change.key
