"""PodDisruptionBudgets: how many evictions each budget still allows, and which budgets block a node drain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from dra_plan.api.core import Pod, PodDisruptionBudget
from dra_plan.api.int_or_string import scaled
from dra_plan.api.selectors import labels_match

from .index import Index
from .owners import ended, is_ready, wanted


class Hold(NamedTuple):
    """One or more disruption budgets that allow too few evictions, so that `kubectl drain` waits.

    If `budgets` has several names, they protect the same pods. The API server refuses to evict such pods.
    """

    namespace: str
    budgets: tuple[str, ...]
    allowed: int
    pods: tuple[Pod, ...]


def counted(budget: PodDisruptionBudget, index: Index) -> PodDisruptionBudget:
    """Return the budget with `disruptionsAllowed` set to the value that the disruption controller would write."""
    if budget.spec.selector is None:
        return budget
    pods = [pod for pod in index.inventory.pods if not ended(pod) and covers(budget, pod)]
    healthy = sum(map(is_ready, pods))
    allowed = max(0, healthy - _desired(budget, pods, index))
    if allowed == budget.status.disruptions_allowed:
        return budget
    return replace(budget, status=replace(budget.status, disruptions_allowed=allowed))


def covers(budget: PodDisruptionBudget, pod: Pod) -> bool:
    """Return whether the budget protects the pod.

    Without a selector, a budget protects no pods; with an empty selector, it protects all pods in its namespace.
    """
    selector = budget.spec.selector
    if selector is None or pod.metadata.namespace != budget.metadata.namespace:
        return False
    return labels_match(selector, pod.metadata.labels)


def holds(index: Index, leaving: Sequence[Pod]) -> Iterator[Hold]:
    """Yield the disruption budgets that prevent these pods from all being evicted at once.

    The rules are those of the eviction API. Pods that have no node, have finished or are being deleted can always be
    evicted. Other pods are evicted in order while their budget allows it. A pod that several budgets protect is never
    evicted. A pod that is not ready can always be evicted under the `AlwaysAllow` policy, and under `IfHealthyBudget`
    if enough other pods are healthy.
    """
    under: dict[tuple[str, tuple[str, ...]], list[Pod]] = {}
    budgets = {(each.metadata.namespace, each.metadata.name): each for each in index.inventory.disruption_budgets}
    for pod in leaving:
        if ended(pod) or not pod.spec.node_name or pod.metadata.deletion_timestamp is not None:
            continue
        names = tuple(name for (_, name), budget in budgets.items() if covers(budget, pod))
        if names:
            under.setdefault((pod.metadata.namespace, names), []).append(pod)
    for (namespace, names), pods in under.items():
        if len(names) > 1:
            yield Hold(namespace, names, 0, tuple(pods))
            continue
        budget = budgets[namespace, names[0]]
        allowed = counted(budget, index).status.disruptions_allowed
        held = [pod for pod in pods if is_ready(pod) or not _lets_unready_go(budget, index)]
        if len(held) > allowed:
            yield Hold(namespace, names, allowed, tuple(held))


def _lets_unready_go(budget: PodDisruptionBudget, index: Index) -> bool:
    """Return whether a pod that is not ready may be evicted without using up the budget."""
    if budget.spec.unhealthy_pod_eviction_policy == "AlwaysAllow":
        return True
    pods = [pod for pod in index.inventory.pods if not ended(pod) and covers(budget, pod)]
    desired = _desired(budget, pods, index)
    return desired > 0 and sum(map(is_ready, pods)) >= desired


def _desired(budget: PodDisruptionBudget, pods: Sequence[Pod], index: Index) -> int:
    """Return the number of pods that must stay healthy.

    Percentages refer to the controllers' replicas, and are rounded up.
    """
    least, most = budget.spec.min_available, budget.spec.max_unavailable
    if most is not None:
        expected = _expected(pods, index)
        return max(0, expected - scaled(most, expected, up=True))
    if least is None:
        return 0
    return least if isinstance(least, int) else scaled(least, _expected(pods, index), up=True)


def _expected(pods: Sequence[Pod], index: Index) -> int:
    """Return the number of replicas that the pods' controllers want; a pod without a controller counts as one."""
    total, seen = 0, set()
    for pod in pods:
        workload = index.controllers.of(pod.metadata)
        if workload is None or isinstance(workload, Pod):
            total += 1
        elif (workload.kind, workload.metadata.name) not in seen:
            seen.add((workload.kind, workload.metadata.name))
            total += wanted(workload, index.pods_of(workload)).number
    return total
