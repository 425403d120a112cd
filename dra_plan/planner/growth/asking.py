"""What the scheduler does with so many new nodes: the one question of `grow`, asked again and again."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.planner.question import Question
from dra_plan.planner.scheduling import choice, schedule_chosen
from dra_plan.releases import Target
from dra_plan.scheduler.attempts import PodRecord
from dra_plan.scheduler.simulate import SimulationResult
from dra_plan.whatif import AddNodes

from .search import Counts
from .ties import tied

PodKey = tuple[str, str]
"""Namespace and name."""


@dataclass(frozen=True)
class Grown:
    """What became of the pods that wait."""

    counts: Counts
    result: SimulationResult
    bound: Mapping[PodKey, str]
    """The pods with their nodes."""
    unbound: Mapping[PodKey, str | None]
    """The others, with what the scheduler says."""
    undecided: frozenset[PodKey]
    """Those of them for which a search was cut short."""
    added: Sequence[Sequence[str]]
    """The names of the new nodes, of each kind."""

    @cached_property
    def tied(self) -> frozenset[str]:
        """NAMESPACE/NAME of pods for which another node scored the same, one that is not the same but for its name."""
        return frozenset(record.pod.key for record in tied(self.result.pods, self.added))

    def spare(self, kind: int) -> int:
        """How many new nodes of the kind got none of the pods."""
        return len(set(self.added[kind]).difference(self.bound.values()))


def with_more(inventory: Inventory, kinds: Sequence[AddNodes], counts: Counts) -> tuple[Inventory, list[list[str]]]:
    """The cluster with so many more nodes of each kind, and their names."""
    added = []
    for kind, count in zip(kinds, counts, strict=True):
        names: list[str] = []
        if count:
            edited = replace(kind, count=count).apply(inventory)
            inventory, names = edited.inventory, edited.entry.added
        added.append(names)
    return inventory, added


class GrowthQuestion:
    """Asks what becomes of the pods of a question, in a cluster with more nodes. Each number is asked about once."""

    def __init__(self, inventory: Inventory, target: Target, question: Question, kinds: Sequence[AddNodes]) -> None:
        self._inventory, self._target, self._question = inventory, target, question
        self._kinds = kinds
        self._chosen = choice(inventory, target, question)
        self._answers: dict[Counts, Grown] = {}
        self._wanted: list[PodKey] | None = None

    @property
    def asked(self) -> int:
        """How many numbers were asked about."""
        return len(self._answers)

    @property
    def answers(self) -> list[Grown]:
        """What became of the pods with each number that was asked about."""
        return list(self._answers.values())

    def ask(self, counts: Counts) -> Grown:
        """What becomes of the pods that wait without new nodes, with so many of them."""
        if counts not in self._answers:
            self._answers[counts] = self._asked(counts)
        return self._answers[counts]

    def alone(self, answer: Grown, keys: Collection[PodKey]) -> frozenset[PodKey]:
        """Which of these pods are bound with the new nodes of `answer` if no others wait."""
        inventory, _ = with_more(self._inventory, self._kinds, answer.counts)
        result = schedule_chosen(inventory, self._target, self._question, lambda pod: _named(pod) in keys)
        return frozenset(key for record in result.pods if record.node and (key := _key(record)) in keys)

    def _asked(self, counts: Counts) -> Grown:
        inventory, added = with_more(self._inventory, self._kinds, counts)
        result = schedule_chosen(inventory, self._target, self._question, self._chosen)
        records = {_key(record): record for record in result.pods}
        if self._wanted is None:
            placed = {(p.metadata.namespace, p.metadata.name) for p in self._inventory.pods if p.spec.node_name}
            self._wanted = [k for k, record in records.items() if not record.skipped and k not in placed]
        bound = {key: records[key].node for key in self._wanted if key in records and records[key].node}
        unbound = {key: _said(records.get(key)) for key in self._wanted if key not in bound}
        undecided = {key for key in unbound if key in records and result.is_undecided(records[key])}
        return Grown(counts, result, bound, unbound, frozenset(undecided), added)


def _key(record: PodRecord) -> PodKey:
    return _named(record.pod)


def _named(pod: Pod) -> PodKey:
    return pod.metadata.namespace, pod.metadata.name


def _said(record: PodRecord | None) -> str | None:
    if record is None:
        return "evicted for a pod of higher priority"
    return record.message or record.waiting or None
