"""PodTopologySpread: keeps the pods that a selector names evenly spread over the values of a node label."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from dra_plan.api.core import Node, Pod, TopologySpreadConstraint
from dra_plan.api.selectors import labels_match
from dra_plan.scheduler import pluginnames
from dra_plan.scheduler.cyclestate import CycleState
from dra_plan.scheduler.events import Action, Hint, Interest, Resource
from dra_plan.scheduler.framework import (
    MAX_NODE_SCORE,
    EnqueueExtensions,
    FilterPlugin,
    PreFilterExtensions,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    ScorePlugin,
)
from dra_plan.scheduler.handle import Handle
from dra_plan.scheduler.nodeinfo import NodeInfo, PodInfo
from dra_plan.scheduler.status import SKIP, Status, unresolvable, unschedulable

from .spreadconstraints import (
    HOSTNAME,
    SYSTEM_DEFAULTS,
    SpreadConstraint,
    constraints_of,
    default_selector,
    has_all,
)

_TEXT = "node(s) didn't match pod topology spread constraints"
_UNEVEN = unschedulable(_TEXT)
_UNLABELLED = unresolvable(f"{_TEXT} (missing required label)")


@dataclass
class _SpreadCounts:
    """Counts per constraint and label value, among the nodes that count."""

    constraints: list[SpreadConstraint]
    totals: list[dict[str, int]]

    def clone(self) -> _SpreadCounts:
        return _SpreadCounts(self.constraints, [dict(values) for values in self.totals])

    def least(self, index: int) -> int:
        """The smallest count; 0 if there are fewer domains than wanted."""
        values = self.totals[index]
        if len(values) < self.constraints[index].min_domains:
            return 0
        return min(values.values(), default=0)


@dataclass
class _SpreadScores:
    """Counts per constraint and label value, their weights, and the nodes that lack a label."""

    constraints: list[SpreadConstraint]
    totals: list[dict[str, int]] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    ignored: set[str] = field(default_factory=set)


class PodTopologySpread(
    PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin, EnqueueExtensions, PreFilterExtensions
):
    """DoNotSchedule constraints filter, ScheduleAnyway constraints score."""

    name = pluginnames.SPREAD

    def __init__(
        self, handle: Handle, defaults: Sequence[TopologySpreadConstraint] = SYSTEM_DEFAULTS, *, system: bool = True
    ) -> None:
        self._handle = handle
        self._defaults = list(defaults)
        self._system = system

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
        totals: list[dict[str, int]] = [{} for _ in constraints]
        for node in nodes:
            if not has_all(node.labels, constraints):
                continue
            for constraint, values in zip(constraints, totals, strict=True):
                if constraint.counts(pod, node):
                    value = node.labels[constraint.key]
                    values[value] = values.get(value, 0) + constraint.count(node, pod.metadata.namespace)
        state.write(self.name, _SpreadCounts(constraints, totals))
        return None, None

    def pre_filter_extensions(self) -> PreFilterExtensions | None:
        """Counts follow pods that are added or removed on trial."""
        return self

    def add_pod(self, state: CycleState, pod: Pod, added: PodInfo, node: NodeInfo) -> Status | None:
        """One more."""
        self._shift(state, pod, added, node, 1)
        return None

    def remove_pod(self, state: CycleState, pod: Pod, removed: PodInfo, node: NodeInfo) -> Status | None:
        """One less."""
        self._shift(state, pod, removed, node, -1)
        return None

    def _shift(self, state: CycleState, pod: Pod, other: PodInfo, node: NodeInfo, by: int) -> None:
        counted: _SpreadCounts = state.read(self.name)
        if not has_all(node.labels, counted.constraints):
            return
        for constraint, values in zip(counted.constraints, counted.totals, strict=True):
            if constraint.selects(other.pod, pod.metadata.namespace) and constraint.counts(pod, node):
                value = node.labels[constraint.key]
                values[value] = values.get(value, 0) + by

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Reject nodes that would make it too uneven, or lack the label."""
        counted: _SpreadCounts = state.read(self.name)
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
        """Count the pods in the domains of the nodes that passed."""
        constraints = self._constraints(pod, "ScheduleAnyway")
        if not constraints:
            return SKIP
        # the system's defaults are lenient with nodes that lack a label
        all_labels = bool(pod.spec.topology_spread_constraints) or not self._system
        scored = _SpreadScores(constraints, [{} for _ in constraints])
        for node in nodes:
            if all_labels and not has_all(node.labels, constraints):
                scored.ignored.add(node.name)
                continue
            for constraint, values in zip(constraints, scored.totals, strict=True):
                if constraint.key != HOSTNAME:
                    values.setdefault(node.labels.get(constraint.key, ""), 0)
        self._count_domains(scored, pod, all_labels)
        for constraint, values in zip(constraints, scored.totals, strict=True):
            size = len(nodes) - len(scored.ignored) if constraint.key == HOSTNAME else len(values)
            scored.weights.append(math.log(size + 2))
        state.write(f"{self.name}/score", scored)
        return None

    def _count_domains(self, scored: _SpreadScores, pod: Pod, all_labels: bool) -> None:
        for node in self._handle.snapshot.values():
            if all_labels and not has_all(node.labels, scored.constraints):
                continue
            for constraint, values in zip(scored.constraints, scored.totals, strict=True):
                value = node.labels.get(constraint.key)
                if value in values and constraint.counts(pod, node):
                    values[value] += constraint.count(node, pod.metadata.namespace)

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int | Status:
        """The larger, the more of its like the pod would meet."""
        scored: _SpreadScores = state.read(f"{self.name}/score")
        if node.name in scored.ignored:
            return 0
        total = 0.0
        for constraint, values, weight in zip(scored.constraints, scored.totals, scored.weights, strict=True):
            value = node.labels.get(constraint.key)
            if value is None:
                continue
            by_node = constraint.key == HOSTNAME
            met = constraint.count(node, pod.metadata.namespace) if by_node else values.get(value, 0)
            total += met * weight + (constraint.max_skew - 1)
        return math.floor(total + 0.5)

    def normalize(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo], scores: list[int]) -> Status | None:
        """The emptiest domains score highest."""
        ignored = state.read(f"{self.name}/score").ignored
        known = [score for node, score in zip(nodes, scores, strict=True) if node.name not in ignored]
        most, least = max(known, default=0), min(known, default=0)
        for index, node in enumerate(nodes):
            if node.name in ignored:
                scores[index] = 0
            elif most == 0:
                scores[index] = MAX_NODE_SCORE
            else:
                scores[index] = MAX_NODE_SCORE * (most + least - scores[index]) // most
        return None

    # Events

    def events_to_register(self) -> Sequence[Interest]:
        """Pods of the same kind that come, go or change, and nodes with the labels."""
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
