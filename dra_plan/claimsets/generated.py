"""Claims made from templates: what the claim controller would create, and how to know one that it has created."""

from __future__ import annotations

from dra_plan.api.core import Pod
from dra_plan.api.meta import ObjectMeta, OwnerReference
from dra_plan.api.resource import ResourceClaim, ResourceClaimTemplate

from .sets import Owner

POD_CLAIM_ANNOTATION = "resource.kubernetes.io/pod-claim-name"
"""Set on every claim made from a template: the name of the pod's entry."""

_RANDOM_LENGTH = 5
_MAX_PREFIX = 63 - _RANDOM_LENGTH


def claim_prefix(owner_name: str, entry: str) -> str:
    """The generateName of the claim for one entry of a pod's resourceClaims."""
    return f"{owner_name}-{entry}-"[:_MAX_PREFIX]


def make_claim(template: ResourceClaimTemplate, owner: Owner, uid: str, entry: str) -> ResourceClaim:
    """The claim that the controller would create, named POD-ENTRY instead of getting a random suffix."""
    prefix = claim_prefix(owner.name, entry)
    metadata = template.spec.metadata
    controller = OwnerReference(api_version="v1", kind="Pod", name=owner.name, uid=uid, controller=True)
    return ResourceClaim(
        metadata=ObjectMeta(
            name=prefix.removesuffix("-"),
            generate_name=prefix,
            namespace=owner.namespace,
            labels=metadata.labels,
            annotations={**(metadata.annotations or {}), POD_CLAIM_ANNOTATION: entry},
            owner_references=[controller],
        ),
        spec=template.spec.spec,
    )


def pod_clue(claim: ResourceClaim) -> str | None:
    """Under what to look for a claim that may have been made from a template; None for all others.

    The name of its controller or, for one that lost its owners, the generateName that it was made with.
    """
    metadata = claim.metadata
    if metadata.controller is not None:
        return metadata.controller.name
    if POD_CLAIM_ANNOTATION in (metadata.annotations or {}):
        return metadata.generate_name or metadata.name[:-_RANDOM_LENGTH]
    return None


def is_generated_for(claim: ResourceClaim, pod: Pod, entry: str) -> bool:
    """Whether the claim was made for this entry of the pod.

    A controller must be the pod; without one, as in manifests that lost their owners, the name must fit.
    Without the annotation the name must fit too.
    """
    metadata = claim.metadata
    if metadata.namespace != pod.metadata.namespace:
        return False
    controller = metadata.controller
    if controller is not None and not is_controlled_by(claim, pod):
        return False
    prefix = claim_prefix(pod.metadata.name, entry)
    name_fits = metadata.generate_name == prefix or metadata.name.startswith(prefix)
    annotation = (metadata.annotations or {}).get(POD_CLAIM_ANNOTATION)
    if annotation is None:
        return controller is not None and name_fits
    return annotation == entry and (controller is not None or name_fits)


def is_controlled_by(claim: ResourceClaim, pod: Pod) -> bool:
    """Whether the pod controls the claim; by uid where both are known, else by kind and name."""
    controller = claim.metadata.controller
    if controller is None:
        return False
    if controller.uid and pod.metadata.uid:
        return controller.uid == pod.metadata.uid
    return controller.kind == "Pod" and controller.name == pod.metadata.name
