"""The PodTopologySpread plugin, which spreads selected pods evenly over the values of a node label.

Contents: the constraints of a pod, the numbers of pods per node and domain, and the plugin.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
from msgspec import Struct

from dra_plan.api.core import Node, Pod, TopologySpreadConstraint
from dra_plan.api.meta import LabelSelector, LabelSelectorRequirement
from dra_plan.api.selectors import labels_match, selector_text
from dra_plan.api.well_known import HOSTNAME, ZONE
from dra_plan.api.workloads import ReplicationController, Workload
from dra_plan.remembered import Remembered
from dra_plan.scheduler.cluster.cluster import SimulatedCluster
from dra_plan.scheduler.cluster.memo import NodeAnswers
from dra_plan.scheduler.cluster.nodes import NodeInfo, PodInfo, with_label_keys
from dra_plan.scheduler.events import Action, Hint, Interest, Resource
from dra_plan.scheduler.framework import plugin_names
from dra_plan.scheduler.framework.interface import (
    MAX_NODE_SCORE,
    EnqueueExtensions,
    FilterPlugin,
    Handle,
    PreFilterExtensions,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    ScorePlugin,
)
from dra_plan.scheduler.framework.status import (
    SKIP,
    CycleState,
    Obstacle,
    SpreadUneven,
    Status,
    unresolvable,
    unschedulable,
)

from .node_affinity import matches as matches_affinity
from .node_affinity import shape as affinity_shape
from .node_checks import shape as toleration_shape
from .node_checks import untolerated

# -- spread constraints of a pod ---------------------------------------------------------------------------------------
# These are the pod's own constraints or the defaults, and the pods and nodes that each constraint counts.

SYSTEM_DEFAULTS = (
    TopologySpreadConstraint(max_skew=3, topology_key=HOSTNAME, when_unsatisfiable="ScheduleAnyway"),
    TopologySpreadConstraint(max_skew=5, topology_key=ZONE, when_unsatisfiable="ScheduleAnyway"),
)


class SpreadConstraint(Struct, frozen=True):
    """A topology spread constraint of a pod, prepared for counting."""

    key: str
    selector: LabelSelector | None
    max_skew: int
    min_domains: int
    honor_affinity: bool
    honor_taints: bool

    def counts(self, pod: Pod, node: NodeInfo) -> bool:
        """Return whether pods on the node count for this constraint of the given pod."""
        if self.honor_affinity and not matches_affinity(pod, node.name, node.labels):
            return False
        return not self.honor_taints or untolerated(node.node.spec.taints, pod.spec.tolerations) is None

    def selects(self, pod: Pod, namespace: str) -> bool:
        """Return whether the constraint selects the pod."""
        return pod.metadata.namespace == namespace and labels_match(self.selector, pod.metadata.labels)

    def count(self, node: NodeInfo, namespace: str) -> int:
        """Return the number of pods on the node that the constraint selects, without terminating pods.

        As in upstream, an empty selector counts no pods, although it selects every pod.
        """
        if self.selector is None or not (self.selector.match_labels or self.selector.match_expressions):
            return 0
        label = next(iter((self.selector.match_labels or {}).items()), None)
        pods: Iterable[PodInfo] = node.pods.values() if label is None else node.labelled(*label)
        return sum(not info.terminating and self.selects(info.pod, namespace) for info in pods)


def constraints_of(pod: Pod, listed: Sequence[TopologySpreadConstraint], when: str) -> list[SpreadConstraint]:
    """Return the constraints with the action `when`. Their label keys become requirements."""
    return [
        SpreadConstraint(
            key=c.topology_key,
            selector=with_label_keys(c.label_selector, pod, c.match_label_keys),
            max_skew=c.max_skew,
            min_domains=c.min_domains or 1,
            honor_affinity=(c.node_affinity_policy or "Honor") == "Honor",
            honor_taints=c.node_taints_policy == "Honor",
        )
        for c in listed
        if c.when_unsatisfiable == when
    ]


def default_selector(pod: Pod, cluster: SimulatedCluster) -> LabelSelector | None:
    """Return the selector for pods like this pod, or None.

    It is built from the services that select the pod and from the pod's controller.
    """
    labels = pod.metadata.labels or {}
    wanted: dict[str, str] = {}
    for service in cluster.services.get(pod.metadata.namespace, ()):
        selector = service.spec.selector
        if selector and all(labels.get(key) == value for key, value in selector.items()):
            wanted.update(selector)
    expressions: list[LabelSelectorRequirement] = []
    owner = pod.metadata.controller
    workload = cluster.workloads.get((owner.kind, pod.metadata.namespace, owner.name)) if owner is not None else None
    if isinstance(workload, ReplicationController):
        wanted.update(workload.spec.selector)
    elif isinstance(workload, Workload) and workload.spec.selector is not None:
        wanted.update(workload.spec.selector.match_labels or {})
        expressions = workload.spec.selector.match_expressions or []
    if not wanted and not expressions:
        return None
    return LabelSelector(match_labels=wanted, match_expressions=expressions)


def has_all(labels: Mapping[str, str], constraints: Sequence[SpreadConstraint]) -> bool:
    """Return whether a node with these labels has the topology key of every constraint."""
    return all(constraint.key in labels for constraint in constraints)


# -- counts per node and domain ----------------------------------------------------------------------------------------
# The numbers are updated while pods are added and removed. A constraint that many pods have in common is counted once;
# after that, only the nodes that have changed are examined.

_MOST_CONSTRAINTS = 512


class _Domain:
    """The label value of a node that counts; `value` is None for a node that does not count."""

    __slots__ = ("value",)

    def __init__(self, value: str | None) -> None:
        self.value = value


_NOWHERE = _Domain(None)


class _Totals:
    """The number of pods by label value on nodes that count, and each node's share, by position."""

    __slots__ = ("brought", "objects", "read", "revision", "values")

    def __init__(self) -> None:
        self.values: dict[str, int] = {}
        self.brought: list[int] = []
        self.read = self.objects = 0
        self.revision = -1


class SpreadCounts:
    """The numbers of pods for each constraint in a cluster. The least recently used constraints are dropped."""

    def __init__(self, cluster: SimulatedCluster, most: int = _MOST_CONSTRAINTS) -> None:
        self._cluster = cluster
        self._on_nodes: NodeAnswers[int | None] = NodeAnswers(cluster, None, most)
        self._domains: NodeAnswers[_Domain | None] = NodeAnswers(cluster, None, most, of_objects=True)
        self._totals: Remembered[Hashable, _Totals] = Remembered(most)

    def on_nodes(self, constraint: SpreadConstraint, namespace: str, nodes: Sequence[NodeInfo]) -> list[int]:
        """Return how many pods the constraint selects on each node, including nodes that do not count for it."""
        known = self._on_nodes.of((namespace, _encoded(constraint))).answers
        return [_count(constraint, namespace, node, known) for node in nodes]

    def in_domains(self, constraint: SpreadConstraint, pod: Pod, labels: Sequence[str]) -> Mapping[str, int]:
        """Return how many pods the constraint selects for each label value.

        Only nodes that count for the pod and have all of `labels` are included. Callers must not change the result. A
        number may be 0.
        """
        where = (
            constraint.key,
            tuple(labels),
            affinity_shape(pod) if constraint.honor_affinity else None,
            toleration_shape(pod) if constraint.honor_taints else None,
        )
        namespace = pod.metadata.namespace
        key = (where, namespace, _encoded(constraint))
        found = self._totals.of(key, _Totals)
        self._bring_up_to_date(found, constraint, pod, labels, where)
        return found.values

    def _bring_up_to_date(
        self, found: _Totals, constraint: SpreadConstraint, pod: Pod, labels: Sequence[str], where: Hashable
    ) -> None:
        cluster, namespace = self._cluster, pod.metadata.namespace
        end = cluster.journal.end()
        if found.revision == cluster.node_revision and found.read == end:
            return
        known = self._on_nodes.of((namespace, _encoded(constraint))).answers
        by_object = self._domains.of(where)
        domains, objects = by_object.answers, by_object.read
        if (found.revision, found.objects) != (cluster.node_revision, objects):
            found.values, found.brought = {}, [0] * len(cluster.nodes)
            changed = cluster.in_order
        else:
            changed = [cluster.nodes[name] for name in cluster.journal.since(found.read) if name in cluster.nodes]
        values, brought = found.values, found.brought
        for node in changed:
            position = node.position
            domain = domains[position]
            if domain is None:
                domain = domains[position] = _domain(constraint, pod, node, labels)
            if domain.value is not None:
                count = _count(constraint, namespace, node, known)
                values[domain.value] = values.get(domain.value, 0) + count - brought[position]
                brought[position] = count
        found.revision, found.read, found.objects = cluster.node_revision, end, objects


def _encoded(constraint: SpreadConstraint) -> bytes:
    return msgspec.json.encode(constraint.selector)


def _count(constraint: SpreadConstraint, namespace: str, node: NodeInfo, known: list[int | None]) -> int:
    count = known[node.position]
    if count is None:
        count = known[node.position] = constraint.count(node, namespace)
    return count


def _domain(constraint: SpreadConstraint, pod: Pod, node: NodeInfo, labels: Sequence[str]) -> _Domain:
    if all(label in node.labels for label in labels) and constraint.counts(pod, node):
        return _Domain(node.labels.get(constraint.key))
    return _NOWHERE


# -- the plugin --------------------------------------------------------------------------------------------------------

_TEXT = "node(s) didn't match pod topology spread constraints"
_UNEVEN = unschedulable(_TEXT)
_UNLABELLED = unresolvable(f"{_TEXT} (missing required label)")


@dataclass
class _DomainTotals:
    """The numbers per constraint and label value, over the nodes that count."""

    constraints: list[SpreadConstraint]
    totals: list[dict[str, int]]
    _least: dict[int, int] = field(default_factory=dict)

    def clone(self) -> _DomainTotals:
        return _DomainTotals(self.constraints, [dict(values) for values in self.totals])

    def least(self, index: int) -> int:
        """Return the smallest number of pods in a domain, or 0 if there are fewer domains than required."""
        if index not in self._least:
            values = self.totals[index]
            enough = len(values) >= self.constraints[index].min_domains
            self._least[index] = min(values.values(), default=0) if enough else 0
        return self._least[index]

    def shift(self, index: int, value: str, by: int) -> None:
        """Change the number of pods in a domain by `by`."""
        self.totals[index][value] = self.totals[index].get(value, 0) + by
        self._least.pop(index, None)


@dataclass
class _SpreadScores:
    """Counts per constraint, by label value or for hosts by node name, their weights, and nodes that lack a label."""

    constraints: list[SpreadConstraint]
    totals: list[Mapping[str, int]] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    ignored: set[str] = field(default_factory=set)


class PodTopologySpread(
    PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin, EnqueueExtensions, PreFilterExtensions
):
    """The plugin for topology spread constraints.

    DoNotSchedule constraints exclude nodes; ScheduleAnyway constraints affect their scores.
    """

    name = plugin_names.SPREAD

    def __init__(
        self, handle: Handle, defaults: Sequence[TopologySpreadConstraint] = SYSTEM_DEFAULTS, *, system: bool = True
    ) -> None:
        self._handle = handle
        self._defaults = list(defaults)
        self._system = system
        self._counts = SpreadCounts(handle.cluster)

    def _constraints(self, pod: Pod, when: str) -> list[SpreadConstraint]:
        own = pod.spec.topology_spread_constraints
        if own:
            return constraints_of(pod, own, when)
        listed = [c for c in self._defaults if c.when_unsatisfiable == when]
        if not listed:
            return []
        selector = default_selector(pod, self._handle.cluster)
        if selector is None:
            return []
        return [
            SpreadConstraint(
                c.topology_key, selector, c.max_skew, c.min_domains or 1, honor_affinity=True, honor_taints=False
            )
            for c in listed
        ]

    # Filter

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult | None, Status | None]:
        """Count the pods in every domain."""
        constraints = self._constraints(pod, "DoNotSchedule")
        if not constraints:
            return None, SKIP
        labels = [constraint.key for constraint in constraints]
        totals = [dict(self._counts.in_domains(constraint, pod, labels)) for constraint in constraints]
        state.write(self.name, _DomainTotals(constraints, totals))
        return None, None

    def pre_filter_extensions(self) -> PreFilterExtensions | None:
        """Return the object that updates the counts when pods are added or removed in a trial."""
        return self

    def add_pod(self, state: CycleState, pod: Pod, added: PodInfo, node: NodeInfo) -> Status | None:
        """Count the pod `added` in its domain."""
        self._shift(state, pod, added, node, 1)
        return None

    def remove_pod(self, state: CycleState, pod: Pod, removed: PodInfo, node: NodeInfo) -> Status | None:
        """Stop counting the removed pod in its domain."""
        self._shift(state, pod, removed, node, -1)
        return None

    def _shift(self, state: CycleState, pod: Pod, other: PodInfo, node: NodeInfo, by: int) -> None:
        counted: _DomainTotals = state.read(self.name)
        if not has_all(node.labels, counted.constraints):
            return
        for index, constraint in enumerate(counted.constraints):
            if constraint.selects(other.pod, pod.metadata.namespace) and constraint.counts(pod, node):
                counted.shift(index, node.labels[constraint.key], by)

    def obstacles(self, state: CycleState, pod: Pod, node: NodeInfo) -> Sequence[Obstacle]:
        """Return the first constraint that is not met on the node."""
        counted: _DomainTotals = state.read(self.name)
        for index, constraint in enumerate(counted.constraints):
            domain, skew = node.labels.get(constraint.key), constraint.max_skew
            if domain is None:
                return (SpreadUneven(constraint.key, None, 0, 0, skew),)
            pods, least = counted.totals[index].get(domain, 0), counted.least(index)
            if pods + labels_match(constraint.selector, pod.metadata.labels) - least > skew:
                domains = counted.totals[index]
                emptiest = min((name for name, there in domains.items() if there == least), default="")
                too_few = (len(domains), constraint.min_domains) if len(domains) < constraint.min_domains else (0, 0)
                selector = selector_text(constraint.selector)
                least_in = "" if all(too_few) else emptiest
                return (SpreadUneven(constraint.key, domain, pods, least, skew, least_in, *too_few, selector),)
        return ()

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Reject the node if it lacks a topology label, or if the pod would violate a constraint on the node."""
        counted: _DomainTotals = state.read(self.name)
        for index, constraint in enumerate(counted.constraints):
            value = node.labels.get(constraint.key)
            if value is None:
                return _UNLABELLED
            itself = labels_match(constraint.selector, pod.metadata.labels)
            if counted.totals[index].get(value, 0) + itself - counted.least(index) > constraint.max_skew:
                return _UNEVEN
        return None

    # Score

    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        """Count the pods in the domains of the nodes that passed the filters."""
        constraints = self._constraints(pod, "ScheduleAnyway")
        if not constraints:
            return SKIP
        # the system's defaults accept nodes that lack a label
        all_labels = bool(pod.spec.topology_spread_constraints) or not self._system
        labels = [constraint.key for constraint in constraints] if all_labels else []
        scored = _SpreadScores(constraints)
        if all_labels:
            scored.ignored.update(node.name for node in nodes if not has_all(node.labels, constraints))
        counted = [node for node in nodes if node.name not in scored.ignored] if scored.ignored else nodes
        for constraint in constraints:
            if constraint.key == HOSTNAME:
                met = self._counts.on_nodes(constraint, pod.metadata.namespace, counted)
                found = {node.name: pods for node, pods in zip(counted, met, strict=True)}
            else:
                totals = self._counts.in_domains(constraint, pod, labels)
                domains = {node.labels.get(constraint.key, "") for node in counted}
                found = {domain: totals.get(domain, 0) for domain in domains}
            scored.totals.append(found)
            scored.weights.append(math.log(len(found) + 2))
        state.write(f"{self.name}/score", scored)
        return None

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int | Status:
        """Return the score before normalization, which increases with the number of similar pods in the domains."""
        scored: _SpreadScores = state.read(f"{self.name}/score")
        if node.name in scored.ignored:
            return 0
        total = 0.0
        for constraint, values, weight in zip(scored.constraints, scored.totals, scored.weights, strict=True):
            value = node.labels.get(constraint.key)
            if value is None:
                continue
            met = values.get(node.name if constraint.key == HOSTNAME else value, 0)
            total += met * weight + (constraint.max_skew - 1)
        return math.floor(total + 0.5)

    def normalize(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo], scores: list[int]) -> Status | None:
        """Scale the scores so that the emptiest domains get the highest score."""
        ignored = state.read(f"{self.name}/score").ignored
        lost = [node.name in ignored for node in nodes] if ignored else [False] * len(nodes)
        known = [score for out, score in zip(lost, scores, strict=True) if not out] if ignored else scores
        most, least = max(known, default=0), min(known, default=0)
        if most == 0:
            scores[:] = [0 if out else MAX_NODE_SCORE for out in lost]
        else:
            both = most + least
            scores[:] = [
                0 if out else MAX_NODE_SCORE * (both - score) // most for out, score in zip(lost, scores, strict=True)
            ]
        return None

    # Events

    def events_to_register(self) -> Sequence[Interest]:
        """Return the events after which a rejected pod may become schedulable.

        These are changes to pods that the constraints select, and to nodes with the topology labels.
        """
        return [
            Interest(Resource.ASSIGNED_POD, Action.ADD | Action.DELETE | Action.UPDATE_POD_LABEL, self._after_pod),
            Interest(
                Resource.NODE,
                Action.ADD | Action.DELETE | Action.UPDATE_NODE_LABEL | Action.UPDATE_NODE_TAINT,
                self._after_node,
            ),
        ]

    def _after_pod(self, pod: Pod, old: Pod | None, new: Pod | None) -> Hint:
        constraints = self._constraints(pod, "DoNotSchedule")

        def counted(other: Pod | None) -> list[bool]:
            return [other is not None and c.selects(other, pod.metadata.namespace) for c in constraints]

        return Hint.QUEUE if counted(old) != counted(new) else Hint.SKIP

    def _after_node(self, pod: Pod, old: Node | None, new: Node | None) -> Hint:
        constraints = self._constraints(pod, "DoNotSchedule")

        def place(node: Node | None) -> list[str | None]:
            labels = (node.metadata.labels or {}) if node is not None else {}
            return [labels.get(c.key) for c in constraints] if has_all(labels, constraints) else []

        before, after = place(old), place(new)
        if old is not None and new is not None:
            return Hint.QUEUE if before != after or old.spec.taints != new.spec.taints else Hint.SKIP
        return Hint.QUEUE if before or after else Hint.SKIP
