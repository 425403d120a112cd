"""The claims of a pod, and the claims generated from templates.

The first part finds the claim for each entry in a pod's resourceClaims, and raises the scheduler's errors
(`docs/framework.md`, PreEnqueue). Its callers look claims up in the input or in the changing state of a simulation. The
second part creates claims from templates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec.structs import replace

from dra_plan.api.core import Pod, PodResourceClaim
from dra_plan.api.inventory import ObjectKey
from dra_plan.api.meta import ObjectMeta, OwnerReference
from dra_plan.api.resource import ResourceClaim, ResourceClaimTemplate
from dra_plan.api.scheduling import PodGroup
from dra_plan.api.well_known import POD_CLAIM_ANNOTATION, SPECIAL_ANNOTATION
from dra_plan.errors import DraPlanError

from .owners import Dependents, controls

FindClaim = Callable[[str, str], ResourceClaim | None]
"""A function that returns the claim with the given namespace and name, or None."""


class PodClaimError(DraPlanError):
    """The error raised if the claims of a pod cannot be resolved. The message is the scheduler's own.

    `missing` identifies the missing object, if there is one.
    """

    def __init__(self, text: str, missing: ObjectKey | None = None) -> None:
        super().__init__(text, missing)
        self.missing = missing

    def __str__(self) -> str:
        return str(self.args[0])


def not_created(pod: Pod, template: str | None = None) -> PodClaimError:
    """Return the error for an entry whose claim has not been created. `template` is the missing template, if any."""
    missing = ("ResourceClaimTemplate", pod.metadata.namespace, template) if template is not None else None
    return PodClaimError(f'pod "{pod.key}": ResourceClaim not created yet', missing)


def is_unmade(pod: Pod, entry: PodResourceClaim) -> bool:
    """Return whether the entry needs a claim from a template but the pod's status has no result for it."""
    return (
        entry.resource_claim_name is None
        and entry.resource_claim_template_name is not None
        and all(status.name != entry.name for status in pod.status.resource_claim_statuses)
    )


def named_claims(pod: Pod) -> frozenset[str]:
    """Return all claim names in the pod's spec and status. The pod cannot use any other claims."""
    said = [entry.resource_claim_name for entry in pod.spec.resource_claims]
    noted = [status.resource_claim_name for status in pod.status.resource_claim_statuses]
    return frozenset(name for name in (*said, *noted) if name)


def claim_name(pod: Pod, entry: PodResourceClaim) -> str | None:
    """Return the name of the claim for the entry, or None if the entry needs no claim.

    Raises `PodClaimError` if the entry names neither a claim nor a template, or if the claim has not been created yet.
    """
    if entry.resource_claim_name is not None:
        return entry.resource_claim_name
    if entry.resource_claim_template_name is None:
        text = f'pod "{pod.key}", spec.resourceClaim "{entry.name}": none of the supported fields are set'
        raise PodClaimError(text)
    for status in pod.status.resource_claim_statuses:
        if status.name == entry.name:
            return status.resource_claim_name
    raise not_created(pod)


def entry_claim(pod: Pod, entry: PodResourceClaim, find: FindClaim, *, of_groups: bool = False) -> ResourceClaim | None:
    """Return the claim for an entry in the pod's resourceClaims, or None if the entry needs no claim.

    If `of_groups` is set, the claim may belong to the pod's group. Raises `PodClaimError` if the scheduler rejects the
    pod: if no claim is named, or if the claim does not exist, is being deleted, or was created for another owner.
    """
    name = claim_name(pod, entry)
    if name is None:
        return None
    namespace = pod.metadata.namespace
    claim = find(namespace, name)
    if claim is None:
        raise missing_claim(namespace, name)
    check_not_deleted(claim)
    if entry.resource_claim_name is None and not controls(pod, claim.metadata):
        group = pod.spec.scheduling_group.pod_group_name if of_groups and pod.spec.scheduling_group else ""
        if not group or not _belongs_to_group(claim, group):
            owners = f"neither Pod nor PodGroup {group} is the owner" if group else "Pod is not owner"
            raise PodClaimError(f"ResourceClaim {claim.key} was not created for Pod {pod.key} ({owners})")
    return claim


def missing_claim(namespace: str, name: str) -> PodClaimError:
    """Return the error for a claim that does not exist."""
    return PodClaimError(f'could not find ResourceClaim "{namespace}/{name}"', ("ResourceClaim", namespace, name))


def _belongs_to_group(claim: ResourceClaim, group: str) -> bool:
    owner = claim.metadata.controller
    return owner is not None and (owner.kind, owner.name) == ("PodGroup", group)


def check_not_deleted(claim: ResourceClaim) -> None:
    """Raise `PodClaimError` if the claim is being deleted, because pods can no longer use it."""
    if claim.metadata.deletion_timestamp:
        raise PodClaimError(f'resourceclaim "{claim.metadata.name}" is being deleted')


def pod_claims(pod: Pod, find: FindClaim, *, of_groups: bool = False) -> list[ResourceClaim]:
    """Return the pod's claims in the order of its entries. Raises `PodClaimError`, as `entry_claim` does."""
    found = (entry_claim(pod, entry, find, of_groups=of_groups) for entry in pod.spec.resource_claims)
    return [claim for claim in found if claim is not None]


def special_claim_owner(claim: ResourceClaim) -> tuple[str, str] | None:
    """Return the name and UID of the pod whose extended resources the claim provides, or None for other claims.

    Like the scheduler, this takes the claim's controller to be that pod, whatever the controller's kind.
    """
    if (claim.metadata.annotations or {}).get(SPECIAL_ANNOTATION) != "true":
        return None
    owner = claim.metadata.controller
    return (owner.name, owner.uid) if owner is not None else None


# -- claims generated from templates -----------------------------------------------------------------------------------
# As in upstream's claim controller, this is the claim that an entry already has, or the claim to create.

_RANDOM_LENGTH = 5
_MAX_PREFIX = 63 - _RANDOM_LENGTH


ClaimOwner = Pod | PodGroup
"""The pod or pod group that a claim is created for."""


def claim_prefix(owner: ClaimOwner, entry: str) -> str:
    """Return the generateName of the claim for an entry of a pod or pod group."""
    return f"{owner.metadata.name}-{entry}-"[:_MAX_PREFIX]


def make_claim(template: ResourceClaimTemplate, owner: ClaimOwner, entry: str) -> ResourceClaim:
    """Return the claim that the controller would create. Its name is OWNER-ENTRY, without a random suffix."""
    prefix = claim_prefix(owner, entry)
    metadata = template.spec.metadata
    return ResourceClaim(
        metadata=ObjectMeta(
            name=prefix.removesuffix("-"),
            generate_name=prefix,
            namespace=owner.metadata.namespace,
            labels=metadata.labels,
            annotations={**(metadata.annotations or {}), POD_CLAIM_ANNOTATION: entry},
            owner_references=[_controller(owner)],
        ),
        spec=template.spec.spec,
    )


def _controller(owner: ClaimOwner) -> OwnerReference:
    version, kind, metadata = owner.api_version, owner.kind, owner.metadata
    return OwnerReference(api_version=version, kind=kind, name=metadata.name, uid=metadata.uid, controller=True)


class GeneratedClaims:
    """The claims in an input that were created from templates, by owner (a pod or pod group) and entry.

    The owner is the claim's controller, and the entry is in an annotation or, failing that, in the claim's name. A
    claim that has lost its owner references is recognized by its annotation and name.
    """

    def __init__(self, claims: Iterable[ResourceClaim]) -> None:
        claims = [claim for claim in claims if claim.metadata.owner_references or claim.metadata.annotations]
        self._controlled = Dependents(claims)
        self._orphans: dict[tuple[str, str, str], ResourceClaim] = {}
        for claim in claims:
            metadata = claim.metadata
            entry = _entry(claim)
            if entry is not None and metadata.controller is None:
                prefix = metadata.generate_name or metadata.name[:-_RANDOM_LENGTH]
                self._orphans.setdefault((metadata.namespace, prefix, entry), claim)

    def of(self, owner: ClaimOwner, entry: str) -> ResourceClaim | None:
        """Return the claim that was created for this entry of the owner, or None if there is none yet."""
        prefix = claim_prefix(owner, entry)
        for claim in self._controlled.of(owner):
            if _entry(claim) == entry or (_entry(claim) is None and _has_prefix(claim, prefix)):
                return claim
        orphan = self._orphans.get((owner.metadata.namespace, prefix, entry))
        if orphan is None:
            return None
        return replace(orphan, metadata=replace(orphan.metadata, owner_references=[_controller(owner)]))


def _entry(claim: ResourceClaim) -> str | None:
    return (claim.metadata.annotations or {}).get(POD_CLAIM_ANNOTATION)


def _has_prefix(claim: ResourceClaim, prefix: str) -> bool:
    return claim.metadata.generate_name == prefix or claim.metadata.name.startswith(prefix)
