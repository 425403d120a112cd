"""`Drain`: a node is cordoned and its pods have to go elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, field

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory, Notice
from dra_plan.claims.index import Index
from dra_plan.claims.owners import ended
from dra_plan.documents.base import AppliedEdit

from .absentpods import absent_pods_notice
from .cordon import Cordon
from .departure import belongs_to_node, comes_back, pod_name, replaced
from .edit import Edited, node_named


@dataclass(frozen=True)
class Drain:
    """As after `kubectl drain --ignore-daemonsets --force`.

    Pods with a controller come back pending, with new claims from their templates. Bare pods are gone. Pods of
    DaemonSets and static pods stay: they go when the node does. Disruption budgets do not hold a drain up here.
    Claims that are reserved for pods which are not there keep their devices.
    """

    node: str
    index: Index | None = field(default=None, repr=False, compare=False)
    """Of the inventory that is edited, if somebody has it already."""

    def apply(self, inventory: Inventory) -> Edited:
        """The cluster after the drain. UsageError for an unknown node."""
        cordoned = Cordon(self.node).apply(inventory).inventory
        leaving = [pod for pod in inventory.pods if pod.spec.node_name == self.node and not belongs_to_node(pod)]
        bare = [pod for pod in leaving if not comes_back(pod)]
        index = self.index if self.index is not None and self.index.inventory is inventory else Index(inventory)
        departed = replaced(cordoned, leaving, index)
        entry = AppliedEdit(
            edit="Drain",
            node=self.node,
            pending=[pod_name(pod) for pod in leaving if comes_back(pod)],
            gone=[*map(pod_name, bare), *departed.claims_gone],
            deallocated=departed.deallocated,
        )
        notices = [bare_pod_notice(pod, self.node) for pod in bare if is_bare(pod)]
        absent = index.absent_pods.on(node_named(inventory, self.node))
        if absent:
            notices.append(absent_pods_notice(absent, "the drain", self.node))
        return Edited(departed.inventory, entry, notices)


def is_bare(pod: Pod) -> bool:
    """Whether nobody makes the pod anew that has to leave, and that is still at work."""
    return pod.metadata.controller is None and pod.metadata.deletion_timestamp is None and not ended(pod)


def bare_pod_notice(pod: Pod, node: str) -> Notice:
    """That the pod is gone when the node is drained."""
    message = f"no controller makes this pod anew: when {node} is drained, it is gone"
    return Notice("bare-pod-gone", message, f"Pod {pod.key}")
