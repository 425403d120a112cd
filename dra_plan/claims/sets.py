"""Claim sets (claims that must be satisfied together on one node), their owners, and sets with the same requests."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import NamedTuple

import msgspec
from msgspec import Struct

from dra_plan.api.core import Node, Pod
from dra_plan.api.inventory import Notice, Origin
from dra_plan.api.resource import ResourceClaim
from dra_plan.api.selectors import node_matches

from .pod_claims import PodClaimError

CANNOT_ALLOCATE = "cannot allocate all claims"
NOT_AVAILABLE = "resourceclaim not available on the node"
"""The scheduler's message for a node that lacks the devices, or where an allocated claim cannot be used."""


class Owner(NamedTuple):
    """The pod, workload or claim to which a claim set belongs."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


class ClaimSet(Struct, frozen=True, kw_only=True):
    """A set of claims that must fit together on one node.

    `claims` are the pending claims, in the order of the pod's resourceClaims. `allocated` are the allocated claims,
    which restrict the nodes. `pods` are the planned pods: a single pod, or several pods if claim sets were joined.
    `copies` says how many of these pods have no node yet. If the owner has several pod templates, `part` is the field
    that contains the template used for the pods of this claim set. If the set cannot be formed, `error` says why, and
    there are no claims.
    """

    owner: Owner | None = None
    part: str = ""
    pods: tuple[Pod, ...] = ()
    copies: int = 1
    claims: tuple[ResourceClaim, ...] = ()
    allocated: tuple[ResourceClaim, ...] = ()
    error: PodClaimError | None = None
    origin: Origin | None = None

    def __repr__(self) -> str:
        keys = ", ".join(claim.key for claim in (*self.claims, *self.allocated))
        return f"<ClaimSet of {self.owner or 'nobody'}: {self.error or keys or 'no claims'}>"

    def out_of_reach(self, node: Node) -> list[ResourceClaim]:
        """Return the allocated claims whose devices are not accessible from the node."""
        metadata = node.metadata
        return [claim for claim in self.allocated if not is_in_reach(claim, metadata.name, metadata.labels)]


def is_in_reach(claim: ResourceClaim, node: str, labels: Mapping[str, str] | None) -> bool:
    """Return whether the claim's devices can be reached from the node. This is true of every pending claim."""
    selector = claim.allocation.node_selector if claim.allocation is not None else None
    return selector is None or node_matches(selector, node, labels)


def joined(sets: Iterable[ClaimSet]) -> ClaimSet:
    """Return one set with the claims of all sets, without duplicates.

    If a set has an error, the result has it too.
    """
    sets = list(sets)
    error = next((one.error for one in sets if one.error is not None), None)
    if error is not None:
        return ClaimSet(pods=tuple(pod for one in sets for pod in one.pods), error=error)
    return ClaimSet(
        pods=tuple(pod for one in sets for pod in one.pods),
        claims=tuple({id(claim): claim for one in sets for claim in one.claims}.values()),
        allocated=tuple({id(claim): claim for one in sets for claim in one.allocated}.values()),
    )


class Expansion(NamedTuple):
    """The claim sets of an input, with the notices about them.

    The sets of pods come first, then the sets of workloads, and then the sets of standalone claims.
    """

    sets: list[ClaimSet]
    notices: list[Notice]


# -- equal claim sets --------------------------------------------------------------------------------------------------
# Equal sets differ only in names, so a result for one is valid for the others.

_encode = msgspec.json.Encoder(decimal_format="string").encode


def asked(claim_set: ClaimSet) -> Hashable:
    """Return what the claim set requests, or None if the set could not be formed.

    The search takes the same course for sets with equal results, apart from rules that depend only on the node and the
    pod.
    """
    if claim_set.error is not None:
        return None
    return (
        tuple(_encode(claim.spec) for claim in claim_set.claims),
        tuple(claim.key for claim in claim_set.allocated),
    )
