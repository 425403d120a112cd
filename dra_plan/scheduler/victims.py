"""What preemption weighs: the pods that would go, the budgets that protect them, and which node loses least."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dra_plan.api.core import Pod, PodDisruptionBudget
from dra_plan.api.selectors import labels_match

from .nodeinfo import PodInfo

_PRIORITY_OFFSET = 2**31
"""Added to each victim's priority, so that more victims always weigh more."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node, the pods to evict there (most important first) and how many of them budgets protect."""

    node: str
    victims: tuple[PodInfo, ...]
    violations: int


def by_importance(pods: Sequence[PodInfo]) -> list[PodInfo]:
    """The most important pod first: by priority, then by age.

    Pods that have not started yet count as started when they are compared, so that upstream's sort finds each one
    older than those before it: of several such pods the last one comes first.
    """

    def key(entry: tuple[int, PodInfo]) -> tuple[float, float, int]:
        index, info = entry
        return -info.priority, info.start_time, index if math.isfinite(info.start_time) else -index

    return [info for _, info in sorted(enumerate(pods), key=key)]


def split_by_budget(
    pods: Sequence[PodInfo], budgets: Sequence[PodDisruptionBudget]
) -> tuple[list[PodInfo], list[PodInfo]]:
    """(pods whose eviction breaks a budget, the others), in the given order; each eviction uses its budgets up."""
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
    """Budgets with an empty selector, and pods without labels, don't count."""
    selector = budget.spec.selector
    if budget.metadata.namespace != pod.metadata.namespace or not pod.metadata.labels:
        return False
    if selector is None or not (selector.match_labels or selector.match_expressions):
        return False
    return labels_match(selector, pod.metadata.labels)


def best_candidate(candidates: Sequence[Candidate]) -> Candidate:
    """Fewest violations, least important top victim, lowest sum, fewest victims, latest start; then node order."""
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
