"""Claims made from templates, as upstream's claim controller does it: which one an entry has, or what to make."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from dra_plan.api.core import Pod
from dra_plan.api.meta import ObjectMeta, OwnerReference
from dra_plan.api.resource import ResourceClaim, ResourceClaimTemplate
from dra_plan.api.scheduling import PodGroup
from dra_plan.api.well_known import POD_CLAIM_ANNOTATION

from .ownership import Dependents

_RANDOM_LENGTH = 5
_MAX_PREFIX = 63 - _RANDOM_LENGTH


ClaimOwner = Pod | PodGroup
"""Whom a claim is made for."""


def claim_prefix(owner: ClaimOwner, entry: str) -> str:
    """The generateName of the claim for one entry of a pod's, or a pod group's, resourceClaims."""
    return f"{owner.metadata.name}-{entry}-"[:_MAX_PREFIX]


def make_claim(template: ResourceClaimTemplate, owner: ClaimOwner, entry: str) -> ResourceClaim:
    """The claim that the controller would create, named OWNER-ENTRY instead of getting a random suffix."""
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
    """The claims of an input that were made from templates, by pod or pod group, and entry.

    The controller of such a claim is its owner, and the annotation names the entry; where only the annotation is
    missing, the name tells the entry. A claim in a manifest that lost its owners is known by annotation and name.
    """

    def __init__(self, claims: Iterable[ResourceClaim]) -> None:
        claims = list(claims)
        self._controlled = Dependents(claims)
        self._orphans: dict[tuple[str, str, str], ResourceClaim] = {}
        for claim in claims:
            metadata = claim.metadata
            entry = _entry(claim)
            if entry is not None and metadata.controller is None:
                prefix = metadata.generate_name or metadata.name[:-_RANDOM_LENGTH]
                self._orphans.setdefault((metadata.namespace, prefix, entry), claim)

    def of(self, owner: ClaimOwner, entry: str) -> ResourceClaim | None:
        """The claim that was made for this entry of the owner, controlled by it; None if there is none yet."""
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
