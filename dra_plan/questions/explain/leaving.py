"""`explain`: pods that are being deleted, without which a pod may fit. Some of them never end by themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import structs

from dra_plan.api.core import Node, Pod
from dra_plan.api.inventory import Inventory
from dra_plan.claims.owners import ended
from dra_plan.controllers.foreseen import newest_time
from dra_plan.documents.cluster_changes import PodsGone
from dra_plan.documents.node_obstacles import NodeObstacle, RefusingNodes
from dra_plan.documents.verdicts import OwnerVerdict
from dra_plan.explanation.suggest import patches
from dra_plan.questions.explain.bindings import is_unreachable, users_of
from dra_plan.questions.explain.editing import Remedy, departed
from dra_plan.scheduler.clock import START, format_time, latest

OVERDUE_SECONDS = 60
"""The time after the end of its grace period after which a pod that still exists is probably stuck."""

MOST_NODES = 3
"""The maximum number of nodes for which removing these pods is tried."""


def without_leaving(inventory: Inventory, verdict: OwnerVerdict, claims: Sequence[str]) -> Iterator[Remedy]:
    """Yield, for a node, the change that removes the pods that are being deleted there.

    It is yielded only if these pods may be an obstacle: if they leave too little room on the node, or use one of
    `claims`.
    """
    there: dict[str, list[Pod]] = {}
    for pod in inventory.pods:
        if pod.metadata.deletion_timestamp and pod.spec.node_name and not ended(pod):
            there.setdefault(pod.spec.node_name, []).append(pod)
    if not there:
        return
    users = users_of(inventory, verdict.namespace, claims)
    shared = [name for name, pods in there.items() if any(pod.metadata.name in users for pod in pods)]
    full = [name for group in verdict.nodes for name in group.nodes if _are_in_the_way(there.get(name, []), group)]
    nodes, now = {node.metadata.name: node for node in inventory.nodes}, _last_seen(inventory)
    for name in list(dict.fromkeys([*shared, *full]))[:MOST_NODES]:
        yield _gone(name, nodes.get(name), there[name], now)


def is_of_leaving(one: NodeObstacle) -> bool:
    """Return whether the obstacle may go away once the pods that are being deleted on the node are gone."""
    return one.is_of_room or one.kind in ("VolumeInUse", "Devices")


def _are_in_the_way(pods: Sequence[Pod], group: RefusingNodes) -> bool:
    if any(one.is_of_room or one.kind == "VolumeInUse" for one in group.about):
        return bool(pods)
    return any(pod.spec.resource_claims for pod in pods) and any(one.kind == "Devices" for one in group.about)


def _gone(name: str, node: Node | None, pods: Sequence[Pod], now: float) -> Remedy:
    """Return the remedy that these pods of a node are gone; if the node does not report, they have to be forced."""
    told = PodsGone(code="force-delete-pods", pods=[pod.key for pod in pods], on=name)
    if not is_unreachable(node):
        ends = latest(pod.metadata.deletion_timestamp for pod in pods)
        late = [pod for pod in pods if now - latest([pod.metadata.deletion_timestamp]) > OVERDUE_SECONDS]
        told = structs.replace(
            told,
            code="await-pods",
            until=format_time(ends) if ends != START else "",
            overdue=bool(late),
            finalizers=list(dict.fromkeys(name for pod in late for name in pod.metadata.finalizers or ())),
        )
    return Remedy((told,), lambda of: departed(of, told.pods), patches=patches.deletions(told.pods))


def _last_seen(inventory: Inventory) -> float:
    """Return the newest time in the input; nodes report every few minutes even if nothing changes."""
    heartbeats = (one.last_heartbeat_time for node in inventory.nodes for one in node.status.conditions)
    return max(newest_time(inventory), latest(heartbeats))
