"""`explain`: a running pod without which a pending one fits, where cpu, memory or other resources are short.

Pods that belong to their node, that are being deleted, or whose priority is higher stay. Of the others, the one that
requests least comes first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import nsmallest

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.claims.owners import ended
from dra_plan.documents.node_obstacles import NodeObstacle, RefusingNodes
from dra_plan.documents.suggestions import PodsGone
from dra_plan.explanation.suggest import patches
from dra_plan.questions.explain.obstacle_remedies import Remedy, departed
from dra_plan.questions.explain.staying import why_it_stays
from dra_plan.scheduler.cluster.pod_requests import Amounts, amounts, pod_requests

MOST_GROUPS = 4
"""The number of kinds of nodes on which such pods are sought."""

MOST_REMOVED = 2
"""The number of such pods that are tried, one by one."""

_PODS = "pods"


def removals(
    inventory: Inventory, groups: Sequence[tuple[RefusingNodes, list[NodeObstacle]]], priority: int
) -> Iterator[tuple[int, Remedy]]:
    """Yield the removal of a pod with the position of its node's group. The pod is deleted or moved to another node.

    `groups` are kinds of nodes, with what is in the way there. Kinds that lack nothing else come first, and then pods
    that request the least.
    """
    lacking: dict[str, tuple[int, int, Amounts]] = {}
    short = [at for at, (_, obstacles) in enumerate(groups) if any(map(is_of_amount, obstacles))]
    for at in short[:MOST_GROUPS]:
        group, obstacles = groups[at]
        amount = [one for one in obstacles if is_of_amount(one)]
        lacking |= dict.fromkeys(group.nodes, (len(obstacles) - len(amount), at, _lack(amount)))
    if not lacking:
        return
    classes = {one.metadata.name: one.value for one in inventory.priority_classes}
    found = [
        (others, sorted(_of_short(requests, lack)), pod.key, at, pod)
        for pod in inventory.pods
        if pod.spec.node_name in lacking and _may_go(pod) and priority_of(pod, classes) <= priority
        for others, at, lack in (lacking[pod.spec.node_name],)
        if (requests := pod_requests(pod)) is not None
        and all(requests.get(name, 0) >= number for name, number in lack.items())
    ]
    for *_, at, pod in nsmallest(MOST_REMOVED, found, key=lambda each: each[:3]):
        yield at, _gone(pod)


def priority_of(pod: Pod, classes: dict[str, int]) -> int:
    """Return the priority of a pod.

    The API server takes the priority from the PriorityClass when it creates the pod.
    """
    return pod.spec.priority if pod.spec.priority is not None else classes.get(pod.spec.priority_class_name, 0)


def is_of_amount(one: NodeObstacle) -> bool:
    """Return whether an amount is short that the nodes have if fewer pods run there."""
    return one.kind == "Resource" and not one.never and one.resource != _PODS


def _lack(short: Sequence[NodeObstacle]) -> Amounts:
    """Return what the node with the most left lacks."""
    need = amounts({one.resource: one.need for one in short})
    left = amounts({one.resource: one.left or "0" for one in short})
    return {name: need[name] - left[name] for name in need}


def _of_short(requests: Amounts, lack: Amounts) -> Iterator[tuple[str, int]]:
    return ((name, requests.get(name, 0)) for name in lack)


def _may_go(pod: Pod) -> bool:
    return not ended(pod) and why_it_stays(pod) in (None, "NoController")


def _gone(pod: Pod) -> Remedy:
    stays = "NoController" if why_it_stays(pod) == "NoController" else ""
    told = PodsGone(code="remove-pods", pods=[pod.key], on=pod.spec.node_name, stays=stays)
    return Remedy((told,), lambda of: departed(of, told.pods), patches=patches.deletions(told.pods))
