"""`diff --drain each`: for each node, the pods that would have no node if it were drained.

The results agree with `diff --drain NODE`, but the work that all drains share is done only once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from msgspec.structs import replace

from dra_plan import allotted
from dra_plan.allocator import View
from dra_plan.api.core import Node
from dra_plan.api.inventory import Inventory, Notice
from dra_plan.claims.index import Index
from dra_plan.documents.base import ObjectName, answer_target, warnings
from dra_plan.planner import parallel
from dra_plan.planner.answer import PrintedAnswer, counted
from dra_plan.planner.node_choice import by_label
from dra_plan.planner.nodes import choose_nodes, of_leaving, with_nodes
from dra_plan.planner.question import Question
from dra_plan.planner.refused import accepted, notices_of
from dra_plan.planner.settling import SettledOutcome, settle_chosen
from dra_plan.planner.suspended import resumed
from dra_plan.questions.drain_each.document import DrainedNode, DrainsDocument, LostPod
from dra_plan.questions.schedule.answer import choice, notices_about
from dra_plan.releases import Target
from dra_plan.scheduler.attempts import PodRecord
from dra_plan.scheduler.cluster.common import Common
from dra_plan.whatif import Drain
from dra_plan.whatif.edits import MOST_NAMED, bare_pod_notice, is_bare, node_named

Records = Mapping[tuple[str, str], PodRecord]
"""The results of pods, by namespace and name."""


@dataclass(frozen=True, repr=False)
class DrainList(PrintedAnswer[DrainsDocument]):
    """The result of `Cluster.drain_each`.

    Iterating over the result yields the nodes. Nodes whose drain does the most harm come first.
    """

    target: Target
    nodes: tuple[DrainedNode, ...]
    notices: tuple[Notice, ...]
    by: str = ""
    """The label by which nodes are grouped. Nodes with the same value are drained together."""

    def __iter__(self) -> Iterator[DrainedNode]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def __repr__(self) -> str:
        harmful = sum(bool(node.lost) for node in self.nodes)
        number = counted(len(self), "group" if self.by else "node")
        return f"<DrainList for {self.target.version}: {number}, {harmful} with pods to lose>"

    def _document(self) -> DrainsDocument:
        return DrainsDocument(
            target=answer_target(self.target), by=self.by, nodes=list(self.nodes), warnings=warnings(self.notices)
        )


def drain_each(
    inventory: Inventory, target: Target, question: Question, jobs: int = 1, by: str | None = None
) -> DrainList:
    """Return the effect of draining each node that the question names, or each node of the cluster if it names none.

    The nodes are divided among `jobs` processes. If `by` is given, all nodes with the same value of this label are
    drained together. Raises UsageError for unknown nodes and owners, and for a label that no node has. Raises
    InputError for input without nodes.
    """
    inventory, inferred = with_nodes(inventory, infer=question.infer_nodes)
    inventory = resumed(inventory, question.owners, question.namespace)
    drained = choose_nodes(inventory.nodes, question.nodes)
    groups, unlabelled = _groups(drained, by)
    given = _Given(inventory, target, replace(question, progress=None, probe=None))
    each = _Drains(given)
    several = jobs > 1 and len(groups) > 1
    rows = parallel.in_shares(_share, each, groups, min(jobs, len(groups))) if several else _share(each, groups)
    told = [
        *notices_about(inventory, target, each.before.result, inferred, settled=True),
        *of_leaving(each.index, "a drain", drained),
        *each.bare_pods({name for _, names in groups for name in names}),
        *unlabelled,
        *each.before.result.notices,
        *notices_of(each.refused),
    ]
    return DrainList(target, tuple(sorted(allotted.steps(rows, len(groups)), key=_harm)), tuple(told), by or "")


_Group = tuple[str, tuple[str, ...]]
"""The nodes drained together: their common name, and their names."""


def _groups(nodes: Iterable[Node], label: str | None) -> tuple[list[_Group], list[Notice]]:
    """Return single nodes, or groups by the value of a label, with a warning about nodes without it."""
    if label is None:
        return [(node.metadata.name, (node.metadata.name,)) for node in nodes], []
    values, without = by_label(nodes, label)
    groups = [(f"{label}={value}", tuple(names)) for value, names in values.items()]
    if not without:
        return groups, []
    some = f"{', '.join(without[:MOST_NAMED])}{', ...' if len(without) > MOST_NAMED else ''}"
    said = f"{counted(len(without), 'node')} without the label {label} not drained: {some}"
    return groups, [Notice("nodes-not-drained", said)]


def _harm(row: DrainedNode) -> tuple[int, int, int]:
    """Return the sort key, more harm first; for equal harm, input order remains."""
    return -len(row.lost), -len(row.gone), -row.moved


class _Given(NamedTuple):
    inventory: Inventory
    target: Target
    question: Question


def _share(each: _Drains, groups: Iterable[_Group]) -> Iterable[DrainedNode]:
    """Return the drained nodes of one process."""
    return (each.drained(*group) for group in groups)


class _Drains:
    """The present cluster, and the shared parts of the drains of its nodes."""

    def __init__(self, given: _Given) -> None:
        self._given = given
        self._inventory, self._target, self._question = given
        self._chosen = choice(*given)
        taken = accepted(self._inventory, self._target, self._chosen, self._question.runtime_config)
        self._inventory, self.refused = taken.inventory, taken.refused
        self._view = View.of(self._inventory, self._target)
        self._common = Common()
        self.index = Index(self._inventory)
        outcome = self._scheduled(self._inventory, self._view)
        self.before = outcome
        self._records = self._of_chosen(outcome)
        self._settles = outcome.settled is not None
        self._moves = self._settles or any(
            not record.skipped and (record.attempts or not record.node) for record in self.before.result.pods
        )
        """True if pods are pending or end in any case, so that even a node without pods of its own may be missed."""

    def __reduce__(self) -> tuple[type[_Drains], tuple[_Given]]:
        """Pickle only the input: other machines compute the shared parts again."""
        return _Drains, (self._given,)

    def _scheduled(self, inventory: Inventory, view: View, *, always: bool = False) -> SettledOutcome:
        return settle_chosen(
            inventory, self._target, self._question, self._chosen, self._common, view, ordered=True, always=always
        )

    @cached_property
    def _settled_records(self) -> Records:
        """Return the results of pods without a drain, for comparison with drains after which controllers act."""
        if self._settles:
            return self._records
        return self._of_chosen(self._scheduled(self._inventory, self._view, always=True))

    def drained(self, name: str, nodes: Sequence[str]) -> DrainedNode:
        """Return the results for the pods if these nodes, which together have this name, are drained."""
        inventory, entries = self._inventory, []
        for node in nodes:
            edited = Drain(node, self.index).apply(inventory)
            inventory = edited.inventory
            entries.append(edited.entry)
        held_by = [hold for entry in entries for hold in entry.held_by]
        found = dict.fromkeys(pod for node in nodes for pod in self._absent(node))
        absent = [ObjectName(kind="Pod", namespace=space, name=pod) for space, pod in found]
        members = list(nodes) if list(nodes) != [name] else []
        if not self._moves and not any(entry.pending or entry.gone for entry in entries):
            return DrainedNode(
                name=name, nodes=members, lost=[], gone=[], moved=0, gained=0, held_by=held_by, absent=absent
            )
        outcome = self._scheduled(inventory, self._view.after(inventory), always=self._settles)
        records = self._of_chosen(outcome)
        ended = outcome.settled.places if outcome.settled is not None else {}
        lost, gone, unknown, moved, gained = [], [], [], 0, 0
        for key, was in (self._records if outcome.settled is None else self._settled_records).items():
            now = records.get(key)
            name_of = ObjectName(kind="Pod", namespace=key[0], name=key[1])
            if now is None and key in ended and was.node:
                by, running = ended[key][0].cause.by, not was.attempts
                lost.append(LostPod(namespace=key[0], name=key[1], running=running, message=None, ended_by=by))
            elif now is None:
                gone.append(name_of)
            elif was.node and not now.node:
                undecided = outcome.is_undecided(now)
                said = outcome.why(now) or None
                running = not was.attempts
                lost.append(LostPod(namespace=key[0], name=key[1], running=running, message=said, undecided=undecided))
            elif self.before.is_undecided(was) or outcome.is_undecided(now):
                unknown.append(name_of)
            elif was.node != now.node:
                moved += bool(was.node)
                gained += not was.node
        return DrainedNode(
            name=name,
            nodes=members,
            lost=lost,
            gone=gone,
            undecided=unknown,
            moved=moved,
            gained=gained,
            held_by=held_by,
            absent=absent,
        )

    def _absent(self, name: str) -> Iterator[tuple[str, str]]:
        """Yield namespace and name of pods that may be on the node but are missing from the input."""
        for pod in self.index.absent_pods.on(node_named(self._inventory, name)):
            namespace, _, own = pod.partition("/")
            yield namespace, own

    def bare_pods(self, nodes: Collection[str]) -> Iterator[Notice]:
        """Yield a notice for each selected bare pod on these nodes. A drain deletes such a pod for good."""
        for pod in self._inventory.pods:
            if pod.spec.node_name in nodes and is_bare(pod) and self._chosen(pod):
                yield bare_pod_notice(pod, "its node is drained")

    def _of_chosen(self, outcome: SettledOutcome) -> Records:
        """Return the selected pods that the scheduler handles."""
        records = outcome.records()
        return {key: record for key, record in records.items() if not record.skipped and self._is_chosen(record, key)}

    def _is_chosen(self, record: PodRecord, key: tuple[str, str]) -> bool:
        """Return whether the pod, or the pod that it replaces, is selected."""
        own = (record.pod.metadata.namespace, record.pod.metadata.name)
        return own != key or self._chosen(record.pod)
