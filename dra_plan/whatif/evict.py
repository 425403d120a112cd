"""`Evict`: a pod has to leave its node."""

from __future__ import annotations

from dataclasses import dataclass, field

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.claims.index import Index
from dra_plan.documents.base import AppliedEdit

from .departure import comes_back, pod_name, replaced
from .edit import Edited, unknown


@dataclass(frozen=True)
class Evict:
    """As after `kubectl evict`: a pod with a controller comes back pending under its name, a bare one is gone.

    Disruption budgets do not hold it up here.
    """

    namespace: str
    name: str
    index: Index | None = field(default=None, repr=False, compare=False)
    """Of the inventory that is edited, if somebody has it already."""

    def apply(self, inventory: Inventory) -> Edited:
        """The cluster after the eviction. UsageError for a pod that is not there."""
        pod = pod_of(inventory, self.namespace, self.name)
        index = self.index if self.index is not None and self.index.inventory is inventory else Index(inventory)
        departed = replaced(inventory, [pod], index)
        returns = comes_back(pod)
        entry = AppliedEdit(
            edit="Evict",
            object=pod_name(pod),
            pending=[pod_name(pod)] if returns else [],
            gone=[*([] if returns else [pod_name(pod)]), *departed.claims_gone],
            deallocated=departed.deallocated,
        )
        return Edited(departed.inventory, entry)


def pod_of(inventory: Inventory, namespace: str, name: str) -> Pod:
    """The pod of that name. Raises UsageError if there is none."""
    for pod in inventory.pods:
        if (pod.metadata.namespace, pod.metadata.name) == (namespace, name):
            return pod
    raise unknown("Pod", name, (pod.metadata.name for pod in inventory.pods if pod.metadata.namespace == namespace))
