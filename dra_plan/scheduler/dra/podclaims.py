"""Which claims a pod uses, and the scheduler's words when that can't be told."""

from __future__ import annotations

from dra_plan.api.core import Pod, PodResourceClaim
from dra_plan.api.resource import ResourceClaim
from dra_plan.claimsets.generated import is_controlled_by
from dra_plan.errors import DraPlanError
from dra_plan.scheduler.claimstore import ClaimStore

SPECIAL_ANNOTATION = "resource.kubernetes.io/extended-resource-claim"
"""Marks the claim that stands for a pod's extended resources."""


class PodClaimError(DraPlanError):
    """The pod's claims can't be resolved; the text is upstream's."""


def claim_name(pod: Pod, entry: PodResourceClaim) -> tuple[str | None, bool]:
    """The name of the claim for one entry (None: nothing is needed), and whether it was made from a template."""
    if entry.resource_claim_name is not None:
        return entry.resource_claim_name, False
    if entry.resource_claim_template_name is None:
        text = f'pod "{pod.key}", spec.resourceClaim "{entry.name}": none of the supported fields are set'
        raise PodClaimError(text)
    for status in pod.status.resource_claim_statuses:
        if status.name == entry.name:
            return status.resource_claim_name, True
    raise PodClaimError(f'pod "{pod.key}": ResourceClaim not created yet')


def pod_claims(pod: Pod, store: ClaimStore) -> list[ResourceClaim]:
    """The pod's claims, in the order of its entries. PodClaimError where upstream refuses the pod."""
    claims = []
    namespace = pod.metadata.namespace
    for entry in pod.spec.resource_claims:
        name, generated = claim_name(pod, entry)
        if name is None:
            continue
        claim = store.get(namespace, name)
        if claim is None:
            raise PodClaimError(f'could not find ResourceClaim "{namespace}/{name}"')
        if claim.metadata.deletion_timestamp is not None:
            raise PodClaimError(f'resourceclaim "{name}" is being deleted')
        if generated and not is_controlled_by(claim, pod):
            raise PodClaimError(f"ResourceClaim {claim.key} was not created for Pod {pod.key} (Pod is not owner)")
        claims.append(claim)
    return claims


def special_claim(pod: Pod, store: ClaimStore) -> ResourceClaim | None:
    """The claim that an earlier attempt made for the pod's extended resources, or None."""
    for claim in store:
        if (claim.metadata.annotations or {}).get(SPECIAL_ANNOTATION) != "true":
            continue
        owner = claim.metadata.controller
        if owner is not None and owner.name == pod.metadata.name and owner.uid == pod.metadata.uid:
            return claim
    return None
