"""A search for the cheapest numbers of new nodes, which simulates the scheduler with different numbers."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.planner.question import Chosen, Question
from dra_plan.planner.settling import settle_chosen
from dra_plan.releases import Target
from dra_plan.scheduler.attempts import PodRecord
from dra_plan.scheduler.simulate import SimulationResult
from dra_plan.whatif import AddNodes

PodKey = tuple[str, str]
"""The namespace and name of a pod."""


@dataclass(frozen=True)
class Grown:
    """What the scheduler does with the pending pods if new nodes are added."""

    counts: Counts
    result: SimulationResult
    bound: Mapping[PodKey, str]
    """The bound pods and their nodes."""
    unbound: Mapping[PodKey, str | None]
    """The unbound pods and the scheduler's messages."""
    undecided: frozenset[PodKey]
    """The unbound pods whose search was cut short."""
    added: Sequence[Sequence[str]]
    """The names of the new nodes of each kind."""

    @cached_property
    def tied(self) -> frozenset[str]:
        """Return the pods (NAMESPACE/NAME) for which another node had the same score.

        Nodes that differ only in their names are not counted.
        """
        return frozenset(record.pod.key for record in tied(self.result.pods, self.added))

    def spare(self, kind: int) -> int:
        """Return the number of new nodes of this kind that run none of the pods."""
        return len(set(self.added[kind]).difference(self.bound.values()))


def with_more(inventory: Inventory, kinds: Sequence[AddNodes], counts: Counts) -> tuple[Inventory, list[list[str]]]:
    """Return the cluster with new nodes, and the names of the new nodes of each kind.

    `counts` has the number of new nodes of each kind.
    """
    added = []
    for kind, count in zip(kinds, counts, strict=True):
        names: list[str] = []
        if count:
            edited = replace(kind, count=count).apply(inventory)
            inventory, names = edited.inventory, edited.entry.added
        added.append(names)
    return inventory, added


class GrowthQuestion:
    """The results for the question's pods with different numbers of new nodes. Each combination is computed once."""

    def __init__(
        self, inventory: Inventory, target: Target, question: Question, chosen: Chosen, kinds: Sequence[AddNodes]
    ) -> None:
        self._inventory, self._target, self._question = inventory, target, question
        self._kinds = kinds
        self._chosen = chosen
        self._answers: dict[Counts, Grown] = {}
        self._wanted: list[PodKey] | None = None

    @property
    def asked(self) -> int:
        """Return how many combinations have been computed."""
        return len(self._answers)

    @property
    def answers(self) -> list[Grown]:
        """Return the results of all combinations that have been computed."""
        return list(self._answers.values())

    def ask(self, counts: Counts) -> Grown:
        """Return the result with these numbers of new nodes, for the pods that are pending without new nodes."""
        if counts not in self._answers:
            self._answers[counts] = self._asked(counts)
        return self._answers[counts]

    def alone(self, answer: Grown, keys: Collection[PodKey]) -> frozenset[PodKey]:
        """Return which of these pods are bound, with the new nodes of `answer`, if no other pods are pending."""
        inventory, _ = with_more(self._inventory, self._kinds, answer.counts)
        outcome = settle_chosen(inventory, self._target, self._question, lambda pod: _named(pod) in keys)
        return frozenset(key for key, record in outcome.records().items() if record.node and key in keys)

    def _asked(self, counts: Counts) -> Grown:
        inventory, added = with_more(self._inventory, self._kinds, counts)
        outcome = settle_chosen(inventory, self._target, self._question, self._chosen)
        result, records = outcome.result, outcome.records()
        if self._wanted is None:
            placed = {(p.metadata.namespace, p.metadata.name) for p in self._inventory.pods if p.spec.node_name}
            self._wanted = [k for k, record in records.items() if not record.skipped and k not in placed]
        bound = {key: records[key].node for key in self._wanted if key in records and records[key].node}
        refused = outcome.settled.claims_refused if outcome.settled is not None else {}
        unbound = {key: refused.get(key) or _said(records.get(key)) for key in self._wanted if key not in bound}
        undecided = {key for key in unbound if key in records and result.is_undecided(records[key])}
        return Grown(counts, result, bound, unbound, frozenset(undecided), added)


def _named(pod: Pod) -> PodKey:
    return pod.metadata.namespace, pod.metadata.name


def _said(record: PodRecord | None) -> str | None:
    if record is None:
        return "evicted for a pod of higher priority"
    return record.message or record.waiting or None


Counts = tuple[int, ...]
"""The number of nodes of each kind."""


Verdict = bool | None
"""Whether a combination is enough; None if undecided."""


ALL_ASKED = 32
"""The number of cheapest combinations that are tried in any case."""


MOST_ASKED = 400
"""The maximum number of combinations that a search tries."""


MOST_LOOKED_AT = 200_000
"""The maximum number of combinations that a search considers. Most of them are not tried."""


@dataclass(frozen=True)
class Cheapest:
    """The cheapest combination found.

    The numbers in `counts` are enough, and no combination that costs less than `at_least` is enough.
    """

    counts: Counts
    at_least: Decimal
    exact: bool
    """Whether every cheaper combination was tried."""


class CheapestSearch:
    """A search for the cheapest numbers of nodes of several kinds. `costs` has the cost of one node of each kind.

    Among combinations with the same cost, the one with fewer nodes is better, and then the one with more nodes of
    earlier kinds.
    """

    def __init__(self, ask: Callable[[Counts], Verdict], costs: Sequence[Decimal]) -> None:
        self._ask_about = ask
        self._costs = costs
        self._known: dict[Counts, Verdict] = {}
        self._short: list[Counts] = []
        """Combinations that were not enough, none of them below another."""

    def cost(self, counts: Counts) -> Decimal:
        """Return the total cost of these numbers of nodes."""
        return sum((cost * count for cost, count in zip(self._costs, counts, strict=True)), Decimal(0))

    def below(self, enough: Counts) -> Cheapest:
        """Return the cheapest combination that is enough. `enough` must be a combination that is known to be enough."""
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

    # Assuming that more is better

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
        """Reduce each kind as far as the others allow, in this order."""
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

    # Without assumptions

    def _cheapest(self, best: Counts) -> Cheapest:
        """Return the first cheaper combination that is enough, or the known one; no earlier combination is enough."""
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
        """Yield everything that ranks before, in order."""
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
    """Yield the combinations with one node fewer, one for each kind that has any nodes."""
    for kind, count in enumerate(counts):
        if count:
            yield (*counts[:kind], count - 1, *counts[kind + 1 :])


def _under(counts: Counts, short: Counts) -> bool:
    return all(one <= other for one, other in zip(counts, short, strict=True))


def tied(records: Sequence[PodRecord], added: Sequence[Sequence[str]]) -> Iterator[PodRecord]:
    """Yield the bound pods for which another node had the same score.

    An empty new node of the same kind as the chosen one does not count. `records` are in queue order, and `added` has
    the names of the new nodes of each kind. If a pod was tried more than once, or as part of a group, it is not known
    when the pod was bound, so its node never counts as empty.
    """
    records = sorted(records, key=lambda record: -(record.pod.spec.priority or 0))
    kinds = {name: kind for kind, names in enumerate(added) for name in names}
    everything = {record.node for record in records if record.node and not _is_daemon(record.pod)}
    used = {record.node for record in records if _is_late(record)}
    for record in (each for each in records if each.node):
        if len(record.best) > 1 and _is_choice(record.best, kinds, everything if _is_late(record) else used):
            yield record
        if not _is_daemon(record.pod):
            used.add(record.node)


def _is_choice(best: Sequence[str], kinds: Mapping[str, int], used: Collection[str]) -> bool:
    """Return whether these nodes differ in more than their names."""
    first = best[0]
    if first in used or first not in kinds:
        return True
    return any(name in used or kinds.get(name) != kinds[first] for name in best)


def _is_late(record: PodRecord) -> bool:
    return record.attempts > 1 or record.pod.spec.scheduling_group is not None


def _is_daemon(pod: Pod) -> bool:
    """Return whether each node has a pod like this one."""
    return any(owner.kind == "DaemonSet" for owner in pod.metadata.owner_references or ())
