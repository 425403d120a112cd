"""Preemption candidates and their order, and the interface of scheduler extenders.

Extenders may change candidates (upstream: ProcessPreemption). The HTTP client for extenders is outside this package.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec import Struct

from dra_plan.api.core import Pod, PodDisruptionBudget
from dra_plan.api.selectors import labels_match
from dra_plan.errors import DraPlanError
from dra_plan.scheduler.cluster.cluster import SimulatedCluster
from dra_plan.scheduler.cluster.nodes import NodeInfo, PodInfo

# -- candidates for preemption -----------------------------------------------------------------------------------------
# These are the pods to evict, the disruption budgets that protect them, and the node that loses least.

_PRIORITY_OFFSET = 2**31
"""A number added to each victim's priority, so that more victims always weigh more."""


class Candidate(Struct, frozen=True):
    """A node, the pods to evict from it, most important first, and how many of them disruption budgets protect."""

    node: str
    victims: tuple[PodInfo, ...]
    violations: int


def by_importance(pods: Sequence[PodInfo]) -> list[PodInfo]:
    """Return the pods, most important first: pods of higher priority, and then pods that started earlier.

    Upstream compares a pod that has not started as if it started during the comparison. Its sort therefore puts the
    last such pod before the earlier ones.
    """

    def key(entry: tuple[int, PodInfo]) -> tuple[float, float, int]:
        index, info = entry
        return -info.priority, info.start_time, index if math.isfinite(info.start_time) else -index

    return [info for _, info in sorted(enumerate(pods), key=key)]


def split_by_budget(
    pods: Sequence[PodInfo], budgets: Sequence[PodDisruptionBudget]
) -> tuple[list[PodInfo], list[PodInfo]]:
    """Return the pods whose eviction violates a disruption budget, and the other pods, both in the given order.

    Each eviction uses up one of the evictions that a budget allows.
    """
    allowed = [budget.status.disruptions_allowed for budget in budgets]
    violating: list[PodInfo] = []
    fine: list[PodInfo] = []
    for info in pods:
        broken = False
        for index, budget in enumerate(budgets):
            if not _protects(budget, info.pod):
                continue
            if info.pod.metadata.name in budget.status.disrupted_pods:
                continue
            allowed[index] -= 1
            broken = broken or allowed[index] < 0
        (violating if broken else fine).append(info)
    return violating, fine


def _protects(budget: PodDisruptionBudget, pod: Pod) -> bool:
    """Return whether the budget protects the pod.

    Budgets with an empty selector, and pods without labels, don't count.
    """
    selector = budget.spec.selector
    if budget.metadata.namespace != pod.metadata.namespace or not pod.metadata.labels:
        return False
    if selector is None or not (selector.match_labels or selector.match_expressions):
        return False
    return labels_match(selector, pod.metadata.labels)


def best_candidate(candidates: Sequence[Candidate]) -> Candidate:
    """Return the candidate with the fewest budget violations.

    If several are equal, the following decide in turn: the lowest priority of the most important victim, the lowest sum
    of priorities, the fewest victims, the latest start time, and finally the order of the candidates.
    """
    left = list(candidates)
    criteria: tuple[Callable[[Candidate], float], ...] = (
        lambda c: c.violations,
        lambda c: c.victims[0].priority,
        lambda c: sum(v.priority + _PRIORITY_OFFSET for v in c.victims),
        lambda c: len(c.victims),
        lambda c: -min(v.start_time for v in c.victims if v.priority == c.victims[0].priority),
    )
    for criterion in criteria:
        least = min(map(criterion, left))
        left = [c for c in left if criterion(c) == least]
        if len(left) == 1:
            break
    return left[0]


# -- scheduler extenders -----------------------------------------------------------------------------------------------


class ExtenderError(DraPlanError):
    """The error raised if an extender cannot be called or returns an error."""


class ExtenderFilterResult:
    """The nodes that an extender accepts, and the reasons why it rejects the others."""

    __slots__ = ("failed", "nodes", "unresolvable")

    def __init__(self, nodes: Sequence[str], failed: dict[str, str], unresolvable: dict[str, str]) -> None:
        self.nodes = list(nodes)
        self.failed = failed
        self.unresolvable = unresolvable


class Extender(Protocol):
    """An extender in the scheduler's configuration."""

    name: str
    ignorable: bool
    weight: int
    is_filter: bool
    is_prioritizer: bool
    is_binder: bool
    supports_preemption: bool

    def is_interested(self, pod: Pod) -> bool:
        """Return whether the extender handles the pod.

        It handles all pods, or only those that request a resource that it manages.
        """

    def filter(self, pod: Pod, nodes: Sequence[NodeInfo]) -> ExtenderFilterResult:
        """Return the nodes that the extender accepts. Raises ExtenderError if it cannot be called."""

    def prioritize(self, pod: Pod, nodes: Sequence[NodeInfo]) -> dict[str, int]:
        """Return the extender's score for each node, from 0 to 10. Raises ExtenderError if it cannot be called."""

    def process_preemption(
        self, pod: Pod, candidates: Sequence[Candidate], cluster: SimulatedCluster
    ) -> list[Candidate]:
        """Return the candidates that the extender accepts. It may change their victims.

        Raises ExtenderError if it cannot be called.
        """

    def bind(self, pod: Pod, node: str) -> None:
        """Bind the pod to the node. Raises ExtenderError if this fails."""
