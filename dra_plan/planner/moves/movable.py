"""Which running pods may be asked to leave for another one, and why the others are left alone.

Those that nothing would make anew, that belong to their node, that a disruption budget protects, and those of higher
priority stay. What is gained by a move is not asked here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Literal, NamedTuple

from dra_plan.api.core import Pod, PodDisruptionBudget
from dra_plan.api.selectors import labels_match
from dra_plan.claims.owners import ended
from dra_plan.documents.base import ObjectName
from dra_plan.documents.moves import PodsLeftAlone
from dra_plan.placement.node_kinds import Ground, PodToPlace
from dra_plan.whatif.edits import belongs_to_node, pod_name

_MIRROR = "kubernetes.io/config.mirror"
_EXAMPLES = 5

Reason = Literal["NoController", "DaemonSet", "Static", "DisruptionBudget", "HigherPriority", "Leaving"]
_ORDER: tuple[Reason, ...] = ("NoController", "DaemonSet", "Static", "DisruptionBudget", "HigherPriority", "Leaving")


class MovablePod(NamedTuple):
    """A running pod that may be asked to leave."""

    pod: Pod
    priority: int
    preemptable: bool
    """Whether it may go without another place, being of lower priority."""

    @property
    def node(self) -> str:
        """Where it runs."""
        return self.pod.spec.node_name


class Movables:
    """The running pods as one that waits sees them: those that may leave, by node, and those that are left alone."""

    def __init__(self, ground: Ground, wanting: PodToPlace) -> None:
        self._budgets = ground.cluster.budgets
        self.pods: list[MovablePod] = []
        alone: dict[Reason, list[Pod]] = {}
        priority = wanting.info.priority
        preempts = wanting.pod.spec.preemption_policy != "Never"
        for node in ground.nodes:
            for info in node.pods.values():
                if ended(info.pod) or info is wanting.info:
                    continue
                reason = _reason(info.pod, info.priority, priority, self._budgets)
                if reason is not None:
                    alone.setdefault(reason, []).append(info.pod)
                else:
                    self.pods.append(MovablePod(info.pod, info.priority, preempts and info.priority < priority))
        self.left_alone = [_told(reason, alone[reason]) for reason in _ORDER if reason in alone]

    def may_leave(self, pods: Collection[MovablePod]) -> bool:
        """Whether the disruption budgets let all of these go; each of them counts, though it comes back elsewhere."""
        return all(
            sum(_protects(budget, each.pod) for each in pods) <= budget.status.disruptions_allowed
            for budget in self._budgets
        )


def _reason(pod: Pod, own: int, wanting: int, budgets: Sequence[PodDisruptionBudget]) -> Reason | None:
    if pod.metadata.deletion_timestamp is not None:
        return "Leaving"
    controller = pod.metadata.controller
    if _MIRROR in (pod.metadata.annotations or {}) or (controller is not None and controller.kind == "Node"):
        return "Static"
    if belongs_to_node(pod):
        return "DaemonSet"
    if controller is None:
        return "NoController"
    if own > wanting:
        return "HigherPriority"
    protecting = [budget for budget in budgets if _protects(budget, pod)]
    is_at_limit = any(budget.status.disruptions_allowed < 1 for budget in protecting)
    return "DisruptionBudget" if is_at_limit or len(protecting) > 1 else None


def _protects(budget: PodDisruptionBudget, pod: Pod) -> bool:
    """As the eviction API asks it: an empty selector is of all pods of the namespace, none of nobody.

    Pods with several budgets can't be evicted at all (policy/v1, pods/eviction).
    """
    selector = budget.spec.selector
    if selector is None or budget.metadata.namespace != pod.metadata.namespace:
        return False
    return labels_match(selector, pod.metadata.labels)


def _told(reason: Reason, pods: Sequence[Pod]) -> PodsLeftAlone:
    return PodsLeftAlone(reason=reason, pods=len(pods), examples=_names(pods[:_EXAMPLES]))


def _names(pods: Iterable[Pod]) -> list[ObjectName]:
    return [pod_name(pod) for pod in pods]
