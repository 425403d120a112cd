"""Preemption candidates and their comparison, and the interface of scheduler extenders.

Candidates come first because extenders may change them (upstream: ProcessPreemption). The HTTP client for extenders is
outside the scheduler.
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
    """A node, the pods that would be evicted from it, and how many of these pods are protected by budgets.

    The most important pod comes first.
    """

    node: str
    victims: tuple[PodInfo, ...]
    violations: int


def by_importance(pods: Sequence[PodInfo]) -> list[PodInfo]:
    """Return the pods in order of importance. Pods with a higher priority come first, and then older pods.

    A pod that has not started yet is compared as if it had started at the time of the comparison. Upstream's sort
    therefore considers each such pod older than the earlier such pods, and the last of them comes first.
    """

    def key(entry: tuple[int, PodInfo]) -> tuple[float, float, int]:
        index, info = entry
        return -info.priority, info.start_time, index if math.isfinite(info.start_time) else -index

    return [info for _, info in sorted(enumerate(pods), key=key)]


def split_by_budget(
    pods: Sequence[PodInfo], budgets: Sequence[PodDisruptionBudget]
) -> tuple[list[PodInfo], list[PodInfo]]:
    """Return the pods whose eviction violates a disruption budget, and the other pods, both in the given order.

    Each eviction reduces what is left of the budgets that cover the pod.
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

    If there are several, these criteria decide, in this order: the lowest priority of the most important victim, the
    lowest sum of priorities, the fewest victims, and the latest start time. If there are still several, the first node
    is chosen.
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
    """Raised when an extender cannot be called, or returns an error."""


class ExtenderFilterResult:
    """The nodes that an extender accepts, and the reasons why it rejects the other nodes."""

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

        An extender handles all pods, or only the pods that request a resource that the extender manages.
        """

    def filter(self, pod: Pod, nodes: Sequence[NodeInfo]) -> ExtenderFilterResult:
        """Return the nodes that the extender does not reject. Raises ExtenderError if the extender can't be called."""

    def prioritize(self, pod: Pod, nodes: Sequence[NodeInfo]) -> dict[str, int]:
        """Return the extender's score for each node, from 0 to 10.

        Raises ExtenderError if the extender can't be called.
        """

    def process_preemption(
        self, pod: Pod, candidates: Sequence[Candidate], cluster: SimulatedCluster
    ) -> list[Candidate]:
        """Return the candidates that the extender accepts. The extender may change their victims.

        Raises ExtenderError if the extender can't be called.
        """

    def bind(self, pod: Pod, node: str) -> None:
        """Bind the pod to the node. Raises ExtenderError if this fails."""
