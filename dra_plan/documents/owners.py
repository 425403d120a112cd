"""Owners that were named and have nothing to plan: what they are instead. Parts of the documents of claim sets."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from .allocation import PlannedClaim
from .base import Amount, ClaimName, DocumentPart, ObjectName, Text

OwnerState = Literal["Bound", "Finished", "Deleting", "Allocated", "WithoutClaims"]
"""Bound: a pod that has its node. Finished: a pod or job that is over. Allocated: a claim that has its devices."""


class AskedResource(DocumentPart, frozen=True, kw_only=True):
    """A resource that a pod asks for by itself, without a claim."""

    name: Text
    amount: Text
    device_class: Annotated[str, Meta(description="The class whose devices serve this extended resource.")] = ""
    nodes: Annotated[Amount, Meta(description="How many nodes have any of it to allocate.")]


class UnplannedOwner(DocumentPart, frozen=True, kw_only=True):
    """A pod, workload or claim that was named and needs no devices, or has them."""

    owner: ObjectName
    state: Annotated[
        OwnerState,
        Meta(
            description="Bound: a pod that has its node. Finished: a pod or job that is over. Deleting: it goes. "
            "Allocated: a claim that has its devices. WithoutClaims: no devices are asked for by claims."
        ),
    ]
    node_name: Annotated[str, Meta(description="The node that a pod is bound to.")] = ""
    phase: Annotated[str, Meta(description="Of a finished pod.")] = ""
    claims: Annotated[list[PlannedClaim], Meta(description="The claims with the devices that they have.")] = []
    pending_claims: Annotated[list[ClaimName], Meta(description="Claims that no devices are allocated for.")] = []
    missing_claims: Annotated[list[str], Meta(description="Entries of resourceClaims without claim in the input.")] = []
    used_by: Annotated[list[ObjectName], Meta(description="Who an allocated claim is reserved for.")] = []
    asks: Annotated[list[AskedResource], Meta(description="What a pod asks of its node beside claims.")] = []
