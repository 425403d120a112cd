"""PodDisruptionBudgets as the disruption controller keeps them: how many evictions each still allows."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from dra_plan.api.core import Pod, PodDisruptionBudget
from dra_plan.api.int_or_string import scaled
from dra_plan.api.selectors import labels_match
from dra_plan.claims.owners import ended, is_ready, wanted

from .state import ClusterState


def budgets(state: ClusterState) -> list[PodDisruptionBudget]:
    """The budgets with what they allow now."""
    return [_counted(state, budget) for budget in state.inventory.disruption_budgets]


def _counted(state: ClusterState, budget: PodDisruptionBudget) -> PodDisruptionBudget:
    selector = budget.spec.selector
    if selector is None:
        return budget
    pods = [
        pod
        for pod in state.inventory.pods
        if pod.metadata.namespace == budget.metadata.namespace
        and not ended(pod)
        and labels_match(selector, pod.metadata.labels)
    ]
    healthy = sum(map(is_ready, pods))
    allowed = max(0, healthy - _desired(state, budget, pods))
    if allowed == budget.status.disruptions_allowed:
        return budget
    return replace(budget, status=replace(budget.status, disruptions_allowed=allowed))


def _desired(state: ClusterState, budget: PodDisruptionBudget, pods: Sequence[Pod]) -> int:
    """How many pods have to stay healthy; percentages are of what the pods' controllers want, and round up."""
    least, most = budget.spec.min_available, budget.spec.max_unavailable
    if most is not None:
        expected = _expected(state, pods)
        return max(0, expected - scaled(most, expected, up=True))
    if least is None:
        return 0
    return least if isinstance(least, int) else scaled(least, _expected(state, pods), up=True)


def _expected(state: ClusterState, pods: Sequence[Pod]) -> int:
    """The replicas that the controllers of the pods want; a pod without one counts as itself."""
    total, seen = 0, set()
    for pod in pods:
        workload = state.index.controllers.of(pod.metadata)
        if workload is None or isinstance(workload, Pod):
            total += 1
        elif (workload.kind, workload.metadata.name) not in seen:
            seen.add((workload.kind, workload.metadata.name))
            total += wanted(workload, state.index.pods_of(workload)).number
    return total
