"""The resource claim controller (KEP-4381): reservations, deallocation, and claims created from templates."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from dra_plan.api.core import Pod
from dra_plan.api.resource import ResourceClaim, ResourceClaimConsumerReference, ResourceClaimStatus
from dra_plan.api.well_known import DELETE_PROTECTION
from dra_plan.claims.owners import ended
from dra_plan.claims.pod_claims import is_unmade, make_claim
from dra_plan.scheduler.cluster.keys import pod_uid

from .state import Action, ClusterState, CreateClaim, DeleteClaim, ReportFailure, WriteClaim, needs_none

FAILED = "FailedResourceClaimCreation"


def release(state: ClusterState) -> Iterator[Action]:
    """Yield the actions that delete or free the claims that pods no longer need.

    A generated claim is deleted with its pod. Other claims are no longer reserved for the pod, and are deallocated when
    their last user ends. A claim that is not reserved for any pod stays allocated.
    """
    for claim in state.inventory.claims:
        owner = claim.metadata.controller
        if owner is not None and owner.kind == "Pod" and _is_done(state, owner.uid, claim, owner.name):
            yield DeleteClaim(claim)
            continue
        status = claim.status
        if claim.metadata.deletion_timestamp is not None and (status is None or not status.reserved_for):
            yield DeleteClaim(claim)
            continue
        if status is None or not status.reserved_for:
            continue
        users = [user for user in status.reserved_for if not _has_left(state, user, claim)]
        if len(users) < len(status.reserved_for):
            yield WriteClaim(_reserved(claim, status, users))


def _reserved(
    claim: ResourceClaim, status: ResourceClaimStatus, users: list[ResourceClaimConsumerReference]
) -> ResourceClaim:
    if users:
        return replace(claim, status=replace(status, reserved_for=users))
    kept = [each for each in claim.metadata.finalizers or () if each != DELETE_PROTECTION]
    metadata = replace(claim.metadata, finalizers=kept or None)
    return replace(claim, metadata=metadata, status=ResourceClaimStatus())


def _has_left(state: ClusterState, user: ResourceClaimConsumerReference, claim: ResourceClaim) -> bool:
    return user.resource == "pods" and _is_done(state, user.uid, claim, user.name)


def _is_done(state: ClusterState, uid: str, claim: ResourceClaim, name: str) -> bool:
    """Return whether the pod no longer needs claims.

    A pod that was never in the input is ignored: dumps may be partial.
    """
    uid = uid or f"{claim.metadata.namespace}/{name}"
    pod = state.pods_by_uid.get(uid)
    if pod is None:
        return uid in state.ended_uids
    return needs_none(pod)


def generate(state: ClusterState) -> Iterator[Action]:
    """Yield the actions that create the claims that pods lack, in the order of the pods' entries.

    If one of a pod's claims cannot be created, its remaining claims are not created either.
    """
    for pod in state.inventory.pods:
        if pod.spec.node_name or pod.metadata.deletion_timestamp is not None or ended(pod):
            continue
        for entry in pod.spec.resource_claims:
            if not is_unmade(pod, entry):
                continue
            key = (pod.metadata.namespace, entry.resource_claim_template_name or "")
            template = state.index.template(*key) or state.unlisted_templates.get(key)
            if template is None:
                yield _template_missing(pod, entry.name, entry.resource_claim_template_name or "")
                break
            # a new pod has no claims; a pod in the input may have claims that its status does not mention
            is_new = pod_uid(pod) in state.made
            known = None if is_new else state.index.generated_claims.of(pod, entry.name)
            yield CreateClaim(known or make_claim(template, pod, entry.name), pod, entry.name)


def _template_missing(pod: Pod, entry: str, template: str) -> ReportFailure:
    message = (
        f'PodResourceClaim {entry}: resource claim template "{template}": '
        f'resourceclaimtemplate.resource.k8s.io "{template}" not found'
    )
    return ReportFailure("Pod", pod.metadata.namespace, pod.metadata.name, FAILED, message)
