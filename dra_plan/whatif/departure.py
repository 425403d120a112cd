"""What controllers do when pods leave: generated claims go, other claims are freed, successors wait for a node.

As the garbage collector, the resource claim controller and the controllers of workloads do it. Which pods leave, and
why, is decided by the edits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from msgspec import structs

from dra_plan.api.core import Pod, PodStatus
from dra_plan.api.inventory import Inventory
from dra_plan.api.meta import ObjectMeta
from dra_plan.api.resource import (
    ResourceClaim,
    ResourceClaimConsumerReference,
    ResourceClaimStatus,
    ResourceClaimTemplate,
    ResourceClaimTemplateSpec,
)
from dra_plan.claims.index import Index
from dra_plan.claims.owners import counts_for
from dra_plan.claims.pod_claims import make_claim
from dra_plan.documents.base import ClaimName, ObjectName

_LEFT_TO_NODES = ("DaemonSet", "Node")
"""Kinds that control pods which belong to their node: those of DaemonSets, and static pods."""


@dataclass(frozen=True)
class Departed:
    """The cluster without the pods, and what became of their claims."""

    inventory: Inventory
    claims_gone: list[ObjectName]
    deallocated: list[ClaimName]


def belongs_to_node(pod: Pod) -> bool:
    """Whether the pod stays on its node whatever is drained: a DaemonSet's pod, or a static one."""
    controller = pod.metadata.controller
    return controller is not None and controller.kind in _LEFT_TO_NODES


def depart(inventory: Inventory, pods: Sequence[Pod], index: Index | None = None) -> Departed:
    """The cluster after these pods have left; the index, if it is given, is of the claims of the inventory.

    Claims that they control go with them. Of other claims they are no users any more; a claim that nobody uses then
    loses its devices (KEP-4381: the claim controller deallocates when `status.reservedFor` becomes empty).
    """
    if not pods:
        return Departed(inventory, [], [])
    leaving = {(pod.metadata.namespace, pod.metadata.name) for pod in pods}
    mine = generated_claims(Index(inventory) if index is None else index, pods)
    kept: list[ResourceClaim] = []
    gone: list[ObjectName] = []
    deallocated: list[ClaimName] = []
    users = _Users(pods)
    for claim in inventory.claims:
        name = (claim.metadata.namespace, claim.metadata.name)
        if name in mine:
            gone.append(ObjectName(kind="ResourceClaim", namespace=name[0], name=name[1]))
            continue
        freed = users.freed(claim)
        if freed.allocation is None and claim.allocation is not None:
            deallocated.append(ClaimName(namespace=name[0], name=name[1]))
        kept.append(freed)
    staying = [pod for pod in inventory.pods if (pod.metadata.namespace, pod.metadata.name) not in leaving]
    same = len(kept) == len(inventory.claims) and all(a is b for a, b in zip(kept, inventory.claims, strict=True))
    after = replace(inventory, pods=staying, claims=inventory.claims if same else kept)
    return Departed(after, gone, deallocated)


def replaced(inventory: Inventory, pods: Sequence[Pod], index: Index) -> Departed:
    """The cluster after these pods have left, with a successor of each that comes back; the index is as for `depart`.

    Successors are as old as the youngest pod.
    """
    departed = depart(inventory, pods, index)
    returning = [pod for pod in pods if comes_back(pod)]
    time = max((pod.metadata.creation_timestamp or "" for pod in inventory.pods), default="") or None
    after = departed.inventory
    after = replace(after, pods=[*after.pods, *(successor(pod, time) for pod in returning)])
    rewritten = [claim for pod in returning for claim in claims_without_template(pod, index)]
    if rewritten:
        after = replace(after, claims=[*after.claims, *rewritten])
    return replace(departed, inventory=after)


def comes_back(pod: Pod) -> bool:
    """Whether a controller makes the pod anew, and has not done so already."""
    controller = pod.metadata.controller
    return controller is not None and counts_for(pod, controller.kind)


def generated_claims(index: Index, pods: Sequence[Pod]) -> set[tuple[str, str]]:
    """Namespace and name of the claims that go with the pods."""
    controlled, generated = index.dependent_claims, index.generated_claims
    found = {(c.metadata.namespace, c.metadata.name) for pod in pods for c in controlled.of(pod)}
    for pod in pods:
        for entry in pod.spec.resource_claims:
            if entry.resource_claim_name is None:
                claim = generated.of(pod, entry.name)
                if claim is not None:
                    found.add((claim.metadata.namespace, claim.metadata.name))
    return found


class _Users:
    """The leaving pods as users of claims."""

    def __init__(self, pods: Sequence[Pod]) -> None:
        self._uids = {pod.metadata.uid for pod in pods if pod.metadata.uid}
        self._names = {(pod.metadata.namespace, pod.metadata.name) for pod in pods}

    def freed(self, claim: ResourceClaim) -> ResourceClaim:
        """The claim without these users; the same object if they do not use it."""
        status = claim.status
        if status is None or not status.reserved_for:
            return claim
        users = [user for user in status.reserved_for if not self._is_leaving(user, claim.metadata.namespace)]
        if len(users) == len(status.reserved_for):
            return claim
        left = structs.replace(status, reserved_for=users) if users else ResourceClaimStatus()
        return structs.replace(claim, status=left)

    def _is_leaving(self, user: ResourceClaimConsumerReference, namespace: str) -> bool:
        if user.resource != "pods":
            return False
        return user.uid in self._uids if user.uid and self._uids else (namespace, user.name) in self._names


def successor(pod: Pod, time: str | None) -> Pod:
    """The pod that its controller makes in its place, under the same name so that it can be followed.

    It is as old as `time`, and has neither node nor claims yet.
    """
    metadata = structs.replace(
        pod.metadata,
        uid=f"{pod.metadata.uid}-again" if pod.metadata.uid else "",
        creation_timestamp=time,
        deletion_timestamp=None,
    )
    spec = structs.replace(pod.spec, node_name="")
    return structs.replace(pod, metadata=metadata, spec=spec, status=PodStatus(phase="Pending"))


def claims_without_template(pod: Pod, index: Index) -> list[ResourceClaim]:
    """Claims for the successor, where the template is not in the input but the claim that was made from it is.

    What a claim asks for never changes, so the old one tells what the template said when it was made.
    """
    heir = successor(pod, None)
    made = []
    for entry in pod.spec.resource_claims:
        template = entry.resource_claim_template_name
        if template is None or index.template(pod.metadata.namespace, template) is not None:
            continue
        claim = index.generated_claims.of(pod, entry.name)
        if claim is not None:
            spec = ResourceClaimTemplateSpec(metadata=ObjectMeta(labels=claim.metadata.labels), spec=claim.spec)
            made.append(make_claim(ResourceClaimTemplate(spec=spec), heir, entry.name))
    return made


def pod_name(pod: Pod) -> ObjectName:
    """The pod as documents name it."""
    return ObjectName(kind="Pod", namespace=pod.metadata.namespace, name=pod.metadata.name)
