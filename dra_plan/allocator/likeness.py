"""Answers that serve several nodes: one search for all nodes of one appearance.

The search on the first of them tells which of the devices in its appearance are taken. On the others the devices in
the same places are taken, and their results are written anew. Answers that name a node or its devices in words are not
shared.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from dra_plan.releases import Quirk, Target

from .appearance import Appearance, Observer
from .counters import Counters
from .pools import Pool
from .requests import ClaimRequests
from .results import Take
from .search import Search
from .state import AllocatedState

PLAIN_NODES = 3
"""Nodes that are searched before appearances are looked at: a small cluster has little to share."""


class Answer(NamedTuple):
    """How a search ended: `takes` of each claim by place in the appearance, None if nothing was found.

    `gave_up` says why it is undecided, if it is.
    """

    takes: list[list[tuple[Take, int]]] | None
    chosen: list[dict[int, int]]
    steps: int
    sighted: frozenset[Quirk]
    gave_up: str = ""

    def takes_at(self, appearance: Appearance) -> list[list[Take]]:
        """The same takes on a node of an equal appearance."""
        at = appearance.places
        return [
            [take._replace(device=at[place][0].devices[at[place][1]]) for take, place in claim]
            for claim in self.takes or ()
        ]


class Likeness:
    """The answers to one set of claims by appearance: those of one allocator, or of one after the other."""

    def __init__(
        self, claims: Sequence[ClaimRequests], state: AllocatedState, counters: Counters, target: Target
    ) -> None:
        self._made_of = (claims, state, counters, target)
        self._observer: Observer | None = None
        self._answers: dict[Hashable, Answer] = {}
        self._asked = 0

    def go_on(self, state: AllocatedState, counters: Counters) -> None:
        """The same is asked by another allocator, of the same slices with other devices in use.

        An appearance tells all that a search can see of these, so the answers that are known hold as well.
        """
        claims, _, _, target = self._made_of
        self._made_of = (claims, state, counters, target)
        if self._observer is not None:
            self._observer.go_on(state, counters)

    @property
    def claims(self) -> Sequence[ClaimRequests]:
        """The claims of the first allocator: what later ones ask for differs in nothing but names."""
        return self._made_of[0]

    def appearance(self, pools: Sequence[Pool]) -> Appearance | None:
        """The appearance of the next node to be asked; None while, or where, each is to be searched on its own."""
        self._asked += 1
        if self._asked <= PLAIN_NODES:
            return None
        observer = self._observer
        if observer is None:
            observer = self._observer = Observer(*self._made_of)
        return observer.appearance(pools) if observer.is_able else None

    def recall(self, appearance: Appearance) -> Answer | None:
        """The answer for nodes of that appearance, if one has been searched."""
        return self._answers.get(appearance.key)

    def remember(self, appearance: Appearance, search: Search, *, found: bool, gave_up: str = "") -> None:
        """Keeps how the search on a node of that appearance ended."""
        takes = None
        if found:
            positions = {slice_.devices[index]: place for place, (slice_, index) in enumerate(appearance.places)}
            takes = [[(take, positions[take.device]) for take in claim] for claim in search.ledger.results]
        answer = Answer(takes, search.chosen, search.steps, frozenset(search.sighted), gave_up)
        self._answers.setdefault(appearance.key, answer)
