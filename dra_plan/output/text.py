"""Small wordings that several tables share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .columns import Screen

NAMES_ON_SCREEN = 4
"""Nodes that a cell names on a screen; elsewhere it names them all."""


def node_list(names: Sequence[str], screen: Screen | None) -> str:
    """Node names in one cell: all of them off a screen, the first few and a count on one."""
    if screen is None or len(names) <= NAMES_ON_SCREEN + 1:
        return ", ".join(names)
    return f"{', '.join(names[:NAMES_ON_SCREEN])} and {len(names) - NAMES_ON_SCREEN} more"


def claim_set_name(claim_set: dict[str, Any]) -> str:
    """KIND/NAMESPACE/NAME of the owner; of the claim, or claims, for a set that no pod owns."""
    owner = claim_set["owner"]
    if owner:
        return f"{owner['kind'].lower()}/{owner['namespace']}/{owner['name']}"
    names = [f"{claim['namespace']}/{claim['name']}" for claim in claim_set["claims"]]
    return f"resourceclaim/{','.join(names)}" if names else "resourceclaim/-"


def object_name(label: str) -> str:
    """`kind/NAMESPACE/NAME` of `KIND NAMESPACE/NAME`."""
    kind, space, name = label.partition(" ")
    return f"{kind.lower()}{'/' if space else ''}{name}"


def device_name(result: dict[str, Any]) -> str:
    """DRIVER/POOL/DEVICE."""
    return f"{result['driver']}/{result['pool']}/{result['device']}"


def consumed(result: dict[str, Any]) -> str:
    """What a share takes of its device, NAME=AMOUNT; `admin` for access that takes nothing."""
    if result.get("adminAccess"):
        return "admin"
    return ", ".join(f"{name}={amount}" for name, amount in (result.get("consumedCapacity") or {}).items())


def target(document: dict[str, Any]) -> str:
    """One line that says what the answer is for."""
    about = document["target"]
    defects = "known defects included" if about["quirks"] == "upstream" else "known defects repaired"
    return f"Kubernetes {about['release']}, {about['variant']} allocator, {defects}."
