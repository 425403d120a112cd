"""Claim sets that are alike: they differ in nothing but names, so that what is found for one holds for the others."""

from __future__ import annotations

from collections.abc import Hashable

import msgspec

from .sets import ClaimSet

_encode = msgspec.json.Encoder(decimal_format="string").encode


def asked(claim_set: ClaimSet) -> Hashable:
    """What the set asks of a node: equal for sets that get the same devices there, in as many steps.

    None for a set that could not be formed. Of the rules that look at node and pod alone it says nothing.
    """
    if claim_set.error is not None:
        return None
    return (
        tuple(_encode(claim.spec) for claim in claim_set.claims),
        tuple(claim.key for claim in claim_set.allocated),
    )
