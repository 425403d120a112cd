"""`diff --drain each`: what would have no place if a node were drained, for each node in turn.

A row says the same as `diff --drain NODE` says of pods. What the states have in common is worked out once: a drain
costs by what it changes, and a look at each object.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from dra_plan.allocator import View
from dra_plan.api.inventory import Inventory, Notice
from dra_plan.claims.index import Index
from dra_plan.documents.base import ObjectName, answer_target, warnings
from dra_plan.documents.drains import DrainedNode, DrainsDocument, LostPod
from dra_plan.releases import Target
from dra_plan.scheduler.attempts import PodRecord
from dra_plan.scheduler.cluster.common import Common
from dra_plan.scheduler.simulate import SimulationResult
from dra_plan.whatif import Drain
from dra_plan.whatif.edits import bare_pod_notice, is_bare, node_named

from . import completeness, parallel
from .answer import PrintedAnswer, counted
from .nodes import choose_nodes, with_nodes
from .question import Question
from .scheduling import choice, notices_about, schedule_chosen

Records = Mapping[tuple[str, str], PodRecord]
"""What became of pods, by namespace and name."""


@dataclass(frozen=True, repr=False)
class DrainList(PrintedAnswer[DrainsDocument]):
    """The answer of `diff --drain each`: nodes, which `for` goes through, the most harmful first."""

    target: Target
    nodes: tuple[DrainedNode, ...]
    notices: tuple[Notice, ...]

    def __iter__(self) -> Iterator[DrainedNode]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def __repr__(self) -> str:
        harmful = sum(bool(node.lost) for node in self.nodes)
        return f"<DrainList for {self.target.version}: {counted(len(self), 'node')}, {harmful} with pods to lose>"

    def _document(self) -> DrainsDocument:
        return DrainsDocument(
            target=answer_target(self.target), nodes=list(self.nodes), warnings=warnings(self.notices)
        )


def drain_each(inventory: Inventory, target: Target, question: Question, jobs: int = 1) -> DrainList:
    """Drains each node of the question in turn, with `jobs` processes; all of them if it names none.

    Raises UsageError for unknown nodes and owners, InputError for an input without nodes.
    """
    inventory, inferred = with_nodes(inventory, infer=question.infer_nodes)
    drained = choose_nodes(inventory.nodes, question.nodes)
    names = [node.metadata.name for node in drained]
    given = _Given(inventory, target, replace(question, progress=None, probe=None))
    each = _Drains(given)
    several = jobs > 1 and len(names) > 1
    rows = parallel.in_shares(_share, each, names, min(jobs, len(names))) if several else _share(each, names)
    told = [
        *notices_about(inventory, target, each.before, inferred),
        *completeness.of_leaving(each.index, "a drain", drained),
        *each.bare_pods(set(names)),
        *each.before.notices,
    ]
    return DrainList(target, tuple(sorted(rows, key=_harm)), tuple(told))


def _harm(row: DrainedNode) -> tuple[int, int, int]:
    """The smaller, the earlier; of equal harm, as the input has them."""
    return -len(row.lost), -len(row.gone), -row.moved


class _Given(NamedTuple):
    inventory: Inventory
    target: Target
    question: Question


def _share(each: _Drains, names: Iterable[str]) -> Iterable[DrainedNode]:
    """What one process does."""
    return map(each.drained, names)


class _Drains:
    """The cluster as it is, and what the drains of its nodes have in common."""

    def __init__(self, given: _Given) -> None:
        self._given = given
        self._inventory, self._target, self._question = given
        self._view = View.of(self._inventory, self._target)
        self._chosen = choice(*given)
        self._common = Common()
        self.index = Index(self._inventory)
        self.before = self._scheduled(self._inventory, self._view)
        self._records = self._by_name(self.before)
        self._moves = any(not record.skipped and (record.attempts or not record.node) for record in self.before.pods)
        """Whether pods wait in any case, so that a node without pods of its own may be missed, too."""

    def __reduce__(self) -> tuple[type[_Drains], tuple[_Given]]:
        """Other machines find again what the drains have in common."""
        return _Drains, (self._given,)

    def _scheduled(self, inventory: Inventory, view: View) -> SimulationResult:
        return schedule_chosen(inventory, self._target, self._question, self._chosen, self._common, view)

    def drained(self, name: str) -> DrainedNode:
        """What would become of pods without the node."""
        edited = Drain(name, self.index).apply(self._inventory)
        absent = [ObjectName(kind="Pod", namespace=space, name=pod) for space, pod in self._absent(name)]
        if not self._moves and not edited.entry.pending and not edited.entry.gone:
            return DrainedNode(name=name, lost=[], gone=[], moved=0, gained=0, absent=absent)
        after = self._scheduled(edited.inventory, self._view.after(edited.inventory))
        records = self._by_name(after)
        lost, gone, unknown, moved, gained = [], [], [], 0, 0
        for key, was in self._records.items():
            now = records.get(key)
            name_of = ObjectName(kind="Pod", namespace=key[0], name=key[1])
            if now is None:
                gone.append(name_of)
            elif was.node and not now.node:
                undecided = after.is_undecided(now)
                said = now.message or now.waiting or None
                running = not was.attempts
                lost.append(LostPod(namespace=key[0], name=key[1], running=running, message=said, undecided=undecided))
            elif self.before.is_undecided(was) or after.is_undecided(now):
                unknown.append(name_of)
            elif was.node != now.node:
                moved += bool(was.node)
                gained += not was.node
        return DrainedNode(
            name=name, lost=lost, gone=gone, undecided=unknown, moved=moved, gained=gained, absent=absent
        )

    def _absent(self, name: str) -> Iterator[tuple[str, str]]:
        """Namespace and name of the pods that the input lacks and that may be on the node."""
        for pod in self.index.absent_pods.on(node_named(self._inventory, name)):
            namespace, _, own = pod.partition("/")
            yield namespace, own

    def bare_pods(self, nodes: Collection[str]) -> Iterator[Notice]:
        """That chosen pods are gone when one of these nodes, theirs, is drained."""
        for pod in self._inventory.pods:
            if pod.spec.node_name in nodes and is_bare(pod) and self._chosen(pod):
                yield bare_pod_notice(pod, "its node")

    def _by_name(self, result: SimulationResult) -> Records:
        """Of the chosen pods, those that have to do with the scheduler."""
        asked = (record for record in result.pods if not record.skipped and self._chosen(record.pod))
        return {(record.pod.metadata.namespace, record.pod.metadata.name): record for record in asked}
