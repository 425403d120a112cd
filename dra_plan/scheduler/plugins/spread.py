"""PodTopologySpread: keeps the pods that a selector names evenly spread over the values of a node label."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dra_plan.api.core import Node, Pod, TopologySpreadConstraint
from dra_plan.api.selectors import labels_match
from dra_plan.api.well_known import HOSTNAME
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

from .spreadconstraints import SYSTEM_DEFAULTS, SpreadConstraint, constraints_of, default_selector, has_all
from .spreadcounts import SpreadCounts

_TEXT = "node(s) didn't match pod topology spread constraints"
_UNEVEN = unschedulable(_TEXT)
_UNLABELLED = unresolvable(f"{_TEXT} (missing required label)")


@dataclass
class _DomainTotals:
    """Counts per constraint and label value, among the nodes that count."""

    constraints: list[SpreadConstraint]
    totals: list[dict[str, int]]
    _least: dict[int, int] = field(default_factory=dict)

    def clone(self) -> _DomainTotals:
        return _DomainTotals(self.constraints, [dict(values) for values in self.totals])

    def least(self, index: int) -> int:
        """The smallest count; 0 if there are fewer domains than wanted."""
        if index not in self._least:
            values = self.totals[index]
            enough = len(values) >= self.constraints[index].min_domains
            self._least[index] = min(values.values(), default=0) if enough else 0
        return self._least[index]

    def shift(self, index: int, value: str, by: int) -> None:
        """More or fewer pods in a domain."""
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
    """DoNotSchedule constraints filter, ScheduleAnyway constraints score."""

    name = pluginnames.SPREAD

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
        counted: _DomainTotals = state.read(self.name)
        if not has_all(node.labels, counted.constraints):
            return
        for index, constraint in enumerate(counted.constraints):
            if constraint.selects(other.pod, pod.metadata.namespace) and constraint.counts(pod, node):
                counted.shift(index, node.labels[constraint.key], by)

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Reject nodes that would make it too uneven, or lack the label."""
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
        """Count the pods in the domains of the nodes that passed."""
        constraints = self._constraints(pod, "ScheduleAnyway")
        if not constraints:
            return SKIP
        # the system's defaults are lenient with nodes that lack a label
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
        """The larger, the more of its like the pod would meet."""
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
        """The emptiest domains score highest."""
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
