"""`-o name`: names alone, one a line, for scripts."""

from __future__ import annotations

from typing import Any

from . import text


def allocation(document: dict[str, Any]) -> str:
    """`KIND/NAMESPACE/NAME node/NODE` for every node that fits."""
    return "".join(
        f"{text.claim_set_name(claim_set)} node/{node}\n"
        for claim_set in document["claimSets"]
        for node in claim_set["fittingNodes"]
    )


def pools(document: dict[str, Any]) -> str:
    """`DRIVER/POOL` for every pool, each once."""
    names = dict.fromkeys(f"{pool['driver']}/{pool['poolName']}\n" for pool in document["pools"])
    return "".join(names)
