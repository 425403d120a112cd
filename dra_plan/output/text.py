"""Small wordings that several tables share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .columns import Screen

if TYPE_CHECKING:
    from dra_plan.api.resource import DeviceRequestAllocationResult
    from dra_plan.documents.allocation import ClaimSetName
    from dra_plan.documents.base import AnswerTarget
    from dra_plan.documents.selectors import DeviceMatch

NAMES_ON_SCREEN = 4
"""Nodes that a cell names on a screen; elsewhere it names them all."""


def node_list(names: Sequence[str], screen: Screen | None) -> str:
    """Node names in one cell: all of them off a screen, the first few and a count on one."""
    if screen is None or len(names) <= NAMES_ON_SCREEN + 1:
        return ", ".join(names)
    return f"{', '.join(names[:NAMES_ON_SCREEN])} and {len(names) - NAMES_ON_SCREEN} more"


def claim_set_name(claim_set: ClaimSetName) -> str:
    """KIND/NAMESPACE/NAME of the owner; of the claim, or claims, for a set that no pod owns."""
    owner = claim_set.owner
    if owner is not None:
        return f"{owner.kind.lower()}/{owner.namespace}/{owner.name}"
    names = [f"{claim.namespace}/{claim.name}" for claim in claim_set.claims]
    return f"resourceclaim/{','.join(names)}" if names else "resourceclaim/-"


def object_name(label: str) -> str:
    """`kind/NAMESPACE/NAME` of `KIND NAMESPACE/NAME`."""
    kind, space, name = label.partition(" ")
    return f"{kind.lower()}{'/' if space else ''}{name}"


def device_name(named: DeviceRequestAllocationResult | DeviceMatch) -> str:
    """DRIVER/POOL/DEVICE."""
    return f"{named.driver}/{named.pool}/{named.device}"


def consumed(result: DeviceRequestAllocationResult) -> str:
    """What a share takes of its device, NAME=AMOUNT; `admin` for access that takes nothing."""
    if result.admin_access:
        return "admin"
    return ", ".join(f"{name}={amount}" for name, amount in (result.consumed_capacity or {}).items())


def target(about: AnswerTarget) -> str:
    """One line that says what the answer is for."""
    defects = "known defects included" if about.quirks == "upstream" else "known defects repaired"
    return f"Kubernetes {about.release}, {about.variant} allocator, {defects}."
