"""`explain`: a running pod without which a pending one fits, where only cpu, memory or other resources are short.

Pods that belong to their node, that are being deleted, or whose priority is higher stay. Of the others, the one that
requests least comes first.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import nsmallest

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.claims.owners import ended
from dra_plan.documents.node_obstacles import NodeObstacle, RefusingNodes
from dra_plan.documents.suggestions import PodsGone
from dra_plan.documents.verdicts import OwnerVerdict
from dra_plan.explanation.suggest import patches
from dra_plan.questions.explain.obstacle_remedies import Remedy, departed
from dra_plan.questions.explain.staying import why_it_stays
from dra_plan.scheduler.cluster.pod_requests import Amounts, amounts, pod_requests

MOST_GROUPS = 4
"""The number of kinds of nodes on which such pods are sought."""

MOST_REMOVED = 2
"""The number of such pods that are tried, one by one."""

_PODS = "pods"


def removals(inventory: Inventory, verdict: OwnerVerdict, priority: int) -> Iterator[tuple[Remedy, ...]]:
    """Yield the removal of a pod. The pod is deleted or moved to another node.

    Pods that request the least come first.
    """
    groups = [group for group in verdict.nodes if _is_short(group)]
    lacking = {name: _lack(group) for group in groups[:MOST_GROUPS] for name in group.nodes}
    if not lacking:
        return
    classes = {one.metadata.name: one.value for one in inventory.priority_classes}
    found = [
        (sorted(_of_short(requests, lack)), pod.key, pod)
        for pod in inventory.pods
        if (lack := lacking.get(pod.spec.node_name)) is not None
        and _may_go(pod)
        and priority_of(pod, classes) <= priority
        and (requests := pod_requests(pod)) is not None
        and all(requests.get(name, 0) >= number for name, number in lack.items())
    ]
    for *_, pod in nsmallest(MOST_REMOVED, found, key=lambda each: each[:2]):
        yield (_gone(pod),)


def priority_of(pod: Pod, classes: dict[str, int]) -> int:
    """Return the priority of a pod.

    The API server takes the priority from the PriorityClass when it creates the pod.
    """
    return pod.spec.priority if pod.spec.priority is not None else classes.get(pod.spec.priority_class_name, 0)


def _is_short(group: RefusingNodes) -> bool:
    about = group.about
    return all(reason.about for reason in group.reasons) and all(_is_of_amount(one) for one in about)


def _is_of_amount(one: NodeObstacle) -> bool:
    return one.kind == "Resource" and not one.never and one.resource != _PODS


def _lack(group: RefusingNodes) -> Amounts:
    """Return what the node of the group with the most left lacks."""
    need = amounts({one.resource: one.need for one in group.about})
    left = amounts({one.resource: one.left or "0" for one in group.about})
    return {name: need[name] - left[name] for name in need}


def _of_short(requests: Amounts, lack: Amounts) -> Iterator[tuple[str, int]]:
    return ((name, requests.get(name, 0)) for name in lack)


def _may_go(pod: Pod) -> bool:
    return not ended(pod) and why_it_stays(pod) in (None, "NoController")


def _gone(pod: Pod) -> Remedy:
    stays = "NoController" if why_it_stays(pod) == "NoController" else ""
    told = PodsGone(code="remove-pods", pods=[pod.key], on=pod.spec.node_name, stays=stays)
    return Remedy((told,), lambda of: departed(of, told.pods), patches=patches.deletions(told.pods))
