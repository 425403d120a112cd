"""The cheapest numbers that are enough, by asking about numbers. Nothing is known here of nodes and pods.

More is not always better for a scheduler that takes the first fit: with one node more, pods may be placed so that
another one finds no room. So a number that was not enough proves nothing about smaller ones. The search goes in two
steps. First it supposes that more is better: each kind is halved down to its least, the dearest first, then each kind
is tried without the others. Then what costs less is gone through, the cheapest first: the first `ALL_ASKED` numbers are
asked in any case, and beyond them those that are not below something that was not enough. At last it is asked about
each answer with one node fewer.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

Counts = tuple[int, ...]
"""A number of nodes of each kind."""

Verdict = bool | None
"""Whether numbers are enough; None if that could not be decided."""

ALL_ASKED = 32
"""So many of the cheapest numbers are asked about, whatever is known of others."""
MOST_ASKED = 400
"""So often it is asked in one search."""
MOST_LOOKED_AT = 200_000
"""So many numbers are gone through, most of them without asking."""


@dataclass(frozen=True)
class Cheapest:
    """What a search found: `counts` are enough, nothing that costs less than `at_least` is."""

    counts: Counts
    at_least: Decimal
    exact: bool
    """Whether everything that costs less was asked about."""


class CheapestSearch:
    """The search among numbers of nodes of kinds, one of each kind costing what `costs` says.

    Of what costs the same fewer nodes are better, then more of the kinds that come first.
    """

    def __init__(self, ask: Callable[[Counts], Verdict], costs: Sequence[Decimal]) -> None:
        self._ask_about = ask
        self._costs = costs
        self._known: dict[Counts, Verdict] = {}
        self._short: list[Counts] = []
        """Numbers that were not enough, none of them below another."""

    def cost(self, counts: Counts) -> Decimal:
        """What so many nodes cost."""
        return sum((cost * count for cost, count in zip(self._costs, counts, strict=True)), Decimal(0))

    def below(self, enough: Counts) -> Cheapest:
        """The cheapest of what is enough, which `enough` is."""
        self._known[enough] = True
        best = min(self._candidates(enough), key=self._rank)
        while True:
            found = self._cheapest(best)
            fewer = next((each for each in one_fewer(found.counts) if self._ask(each)), None)
            if fewer is None:
                return found
            best = fewer

    def _rank(self, counts: Counts) -> tuple[Decimal, int, Counts]:
        return self.cost(counts), sum(counts), tuple(-count for count in counts)

    def _ask(self, counts: Counts) -> Verdict:
        if counts not in self._known:
            self._known[counts] = self._ask_about(counts)
            if self._known[counts] is False and not self._is_below(counts):
                self._short = [each for each in self._short if not _under(each, counts)]
                self._short.append(counts)
        return self._known[counts]

    def _is_below(self, counts: Counts) -> bool:
        return any(_under(counts, short) for short in self._short)

    # Supposing that more is better

    def _candidates(self, enough: Counts) -> Iterator[Counts]:
        kinds = range(len(enough))
        dearest_first = sorted(kinds, key=lambda kind: -self._costs[kind])
        yield enough
        yield self._lowered(enough, dearest_first)
        for kind in kinds if len(enough) > 1 else ():
            alone = tuple(count if each == kind else 0 for each, count in enumerate(enough))
            if self._ask(alone):
                yield self._lowered(alone, [kind])

    def _lowered(self, enough: Counts, kinds: Sequence[int]) -> Counts:
        """Each kind as few as the others allow, in this order."""
        for kind in kinds:
            short, most = -1, enough[kind]
            while most - short > 1:
                middle = (short + most) // 2
                tried = (*enough[:kind], middle, *enough[kind + 1 :])
                if self._ask(tried):
                    most = middle
                else:
                    short = middle
            enough = (*enough[:kind], most, *enough[kind + 1 :])
        return enough

    # Supposing nothing

    def _cheapest(self, best: Counts) -> Cheapest:
        """The first of what costs less that is enough, or what is known to be; nothing before it is."""
        exact, open_from = True, None
        for number, counts in enumerate(self._cheaper_than(best)):
            if counts not in self._known and number >= ALL_ASKED and self._is_below(counts):
                exact = False
                continue
            if number >= MOST_LOOKED_AT or (counts not in self._known and len(self._known) >= MOST_ASKED):
                return Cheapest(best, self.cost(counts) if open_from is None else open_from, exact=False)
            verdict = self._ask(counts)
            if verdict:
                best = counts
                break
            if verdict is None and open_from is None:
                open_from = self.cost(counts)
        return Cheapest(best, self.cost(best) if open_from is None else open_from, exact=exact and open_from is None)

    def _cheaper_than(self, best: Counts) -> Iterator[Counts]:
        """Everything that ranks before, in order."""
        zero = tuple(0 for _ in best)
        waiting, met, end = [(self._rank(zero), zero)], {zero}, self._rank(best)
        while waiting:
            rank, counts = heapq.heappop(waiting)
            if rank >= end:
                return
            yield counts
            for kind in range(len(counts)):
                more = (*counts[:kind], counts[kind] + 1, *counts[kind + 1 :])
                if more not in met:
                    met.add(more)
                    heapq.heappush(waiting, (self._rank(more), more))


def one_fewer(counts: Counts) -> Iterator[Counts]:
    """The numbers with one node fewer, for each kind that has any."""
    for kind, count in enumerate(counts):
        if count:
            yield (*counts[:kind], count - 1, *counts[kind + 1 :])


def _under(counts: Counts, short: Counts) -> bool:
    return all(one <= other for one, other in zip(counts, short, strict=True))
