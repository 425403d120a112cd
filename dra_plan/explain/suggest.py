"""Suggestions: changes that were tried, and with which the claims fit; the least change first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .changes import Change
from .scene import Budget, Scene

MOST = 8
"""Suggestions for one claim set."""

TOTAL_STEPS = 60_000
"""Search steps for all suggestions of one claim set."""

STEPS_EACH = 5_000
"""Search steps for one try."""

MOST_TRIES = 60
"""Tries for one node."""

_TOGETHER = (
    ("tolerate-taint",),
    ("wait-for-slice",),
    ("release-claim",),
    ("tolerate-taint", "release-claim"),
    ("loosen-selector", "tolerate-taint", "release-claim"),
    ("drop-selector", "tolerate-taint", "release-claim"),
    ("drop-constraint", "release-claim", "tolerate-taint"),
    ("drop-request",),
)
"""Codes of changes that may be made together where none is enough alone."""


@dataclass(slots=True, frozen=True)
class Suggestion:
    """Changes with which the claims fit on `node`: tried, all together, in the release that was asked about."""

    changes: tuple[Change, ...]
    node: str


class Suggester:
    """Tries changes on one node after another and collects those that help."""

    def __init__(self) -> None:
        self._budget = Budget(TOTAL_STEPS, STEPS_EACH)
        self.tried = 0
        self._found: dict[tuple[object, ...], Suggestion] = {}

    def found(self) -> list[Suggestion]:
        """What helped, single changes first, by how little they change; a selector is not dropped if less is enough."""
        loosened = {_place(s.changes) for s in self._found.values() if s.changes[0].code in _LESS_THAN_DROPPING}
        helped = [
            s for s in self._found.values() if s.changes[0].code != "drop-selector" or _place(s.changes) not in loosened
        ]
        ordered = sorted(helped, key=lambda s: (len(s.changes), max(c.rank for c in s.changes)))
        return ordered[:MOST]

    def try_on(self, scene: Scene, candidates: Sequence[Change]) -> None:
        """Tries each change alone; then some together, if none was enough."""
        tries = 0
        helped = False
        for change in candidates:
            key = _key([change])
            if key in self._found or tries >= MOST_TRIES or self._budget.spent:
                continue
            tries += 1
            if self._fits(scene, [change]):
                self._found[key] = Suggestion((change,), scene.node.metadata.name)
                helped = True
        if not helped and not self._found:
            self._try_together(scene, candidates)

    def _try_together(self, scene: Scene, candidates: Sequence[Change]) -> None:
        for codes in _TOGETHER:
            chosen = _compatible(change for code in codes for change in candidates if change.code == code)
            if len(chosen) > 1 and self._fits(scene, chosen):
                needed = self._least(scene, chosen)
                self._found.setdefault(_key(needed), Suggestion(tuple(needed), scene.node.metadata.name))
                return

    def _least(self, scene: Scene, changes: Sequence[Change]) -> list[Change]:
        """The changes without those that are not needed; the last ones are given up first."""
        needed = list(changes)
        for change in reversed(changes):
            rest = [other for other in needed if other is not change]
            if rest and self._fits(scene, rest):
                needed = rest
        return needed

    def _fits(self, scene: Scene, changes: Iterable[Change]) -> bool:
        self.tried += 1
        changed = scene
        for change in changes:
            changed = change.apply(changed)
        return changed.fits(self._budget) is True


_LESS_THAN_DROPPING = ("guard-selector", "fix-spelling", "loosen-selector")


def _place(changes: Sequence[Change]) -> str:
    """The selector that a change is about."""
    data = changes[0].data
    return f"{data.get('claim')} {data.get('request')} {data.get('selector')}"


def _key(changes: Iterable[Change]) -> tuple[object, ...]:
    """What suggestions must agree on to be one: of several counts, or amounts, only the first that helps is told."""
    return tuple(
        (change.code, *(f"{name}={value}" for name, value in change.data.items() if name not in ("to", "replacement")))
        for change in changes
    )


def _compatible(changes: Iterable[Change]) -> list[Change]:
    """Changes that can be made together: one for each selector, and no second constraint, whose index would shift."""
    chosen: list[Change] = []
    edited: set[tuple[object, ...]] = set()
    for change in changes:
        data = change.data
        place: tuple[object, ...] = (change.code, str(data))
        if "selector" in data:
            place = ("selector", str(data.get("claim")), data.get("request"), data.get("class"))
        elif change.code == "drop-constraint":
            place = ("constraint", str(data["claim"]))
        if place not in edited:
            edited.add(place)
            chosen.append(change)
    return chosen
