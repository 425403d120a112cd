"""Choosing victims: on which node would removing less important pods make room, and at what price."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dra_plan.api.core import Pod, PodDisruptionBudget
from dra_plan.api.selectors import labels_match

from .cyclestate import CycleState
from .handle import Handle
from .nodeinfo import NodeInfo, PodInfo
from .status import Status, error, succeeded, unresolvable

NO_VICTIMS = "No preemption victims found for incoming pod"
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


def select_victims(handle: Handle, state: CycleState, pod: Pod, node: NodeInfo) -> Candidate | Status:
    """The fewest, least important pods whose removal lets the pod fit; `state` and `node` are used up."""
    trial = handle.trial
    priority = handle.cluster.info(pod).priority
    potential = [info for info in node.pods.values() if info.priority < priority]
    if not potential:
        return unresolvable(NO_VICTIMS)
    for info in potential:
        node.remove(info.uid)
        status = trial.remove_pod(state, pod, info, node)
        if not succeeded(status):
            return error(status.message if status else "")
    status = trial.filter_with_nominated(state, pod, node)
    if status is not None and not succeeded(status):
        return status
    violating, fine = split_by_budget(by_importance(potential), handle.cluster.budgets)
    victims: list[PodInfo] = []
    violations = 0
    for group in (violating, fine):
        for info in group:
            spared = _spare(handle, state, pod, node, info)
            if isinstance(spared, Status):
                return spared
            if not spared:
                victims.append(info)
                violations += group is violating
    if violating and fine:
        victims = by_importance(victims)
    return Candidate(node.name, tuple(victims), violations)


def _spare(handle: Handle, state: CycleState, pod: Pod, node: NodeInfo, info: PodInfo) -> bool | Status:
    """Put the pod back if the other one still fits beside it."""
    node.add(info)
    status = handle.trial.add_pod(state, pod, info, node)
    if not succeeded(status):
        return error(status.message if status else "")
    if succeeded(handle.trial.filter_with_nominated(state, pod, node)):
        return True
    node.remove(info.uid)
    status = handle.trial.remove_pod(state, pod, info, node)
    return False if succeeded(status) else error(status.message if status else "")


def dry_run(
    handle: Handle, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo], wanted: int
) -> tuple[list[Candidate], dict[str, Status]]:
    """Candidates, until `wanted` are found and one of them breaks no budget, and why the other nodes are none.

    Upstream begins at a random node; here the first one begins.
    """
    candidates: list[Candidate] = []
    statuses: dict[str, Status] = {}
    for node in nodes:
        found = select_victims(handle, state.clone(), pod, node.clone())
        if isinstance(found, Status):
            statuses[node.name] = found
            continue
        if not found.victims:
            statuses[node.name] = error(f'expected at least one victim pod on node "{node.name}"')
            continue
        candidates.append(found)
        if len(candidates) >= wanted and any(not c.violations for c in candidates):
            break
    return candidates, statuses


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
