"""`Bind`: a pod that waits runs on a node, with the devices that it was given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from msgspec import structs

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.api.resource import ResourceClaim, ResourceClaimConsumerReference, ResourceClaimStatus
from dra_plan.documents.base import AppliedEdit

from .departure import pod_name
from .edit import Edited, node_named


@dataclass(frozen=True)
class Bind:
    """The pod is bound to the node, and its claims are reserved for it.

    `claims` are all that it uses, each with its allocation: those of the input take the place of what they were, the
    others are new. `pod` names its generated claims in its status. Nobody asks here whether that fits.
    """

    pod: Pod
    node: str
    claims: Sequence[ResourceClaim] = ()

    def apply(self, inventory: Inventory) -> Edited:
        """The cluster with the pod on the node. UsageError for an unknown node."""
        node_named(inventory, self.node)
        key = (self.pod.metadata.namespace, self.pod.metadata.name)
        pods = [pod for pod in inventory.pods if (pod.metadata.namespace, pod.metadata.name) != key]
        spec = structs.replace(self.pod.spec, node_name=self.node)
        pods.append(structs.replace(self.pod, spec=spec, status=structs.replace(self.pod.status, phase="Running")))
        reserved = {(claim.metadata.namespace, claim.metadata.name): self._reserved(claim) for claim in self.claims}
        claims = [reserved.pop((c.metadata.namespace, c.metadata.name), c) for c in inventory.claims]
        after = replace(inventory, pods=pods, claims=[*claims, *reserved.values()])
        return Edited(after, AppliedEdit(edit="Bind", object=pod_name(self.pod), node=self.node))

    def _reserved(self, claim: ResourceClaim) -> ResourceClaim:
        status = claim.status or ResourceClaimStatus()
        metadata = self.pod.metadata
        user = ResourceClaimConsumerReference(resource="pods", name=metadata.name, uid=metadata.uid)
        if any((each.resource, each.name, each.uid) == ("pods", user.name, user.uid) for each in status.reserved_for):
            return claim
        return structs.replace(claim, status=structs.replace(status, reserved_for=[*status.reserved_for, user]))
