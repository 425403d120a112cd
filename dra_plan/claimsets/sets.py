"""What a claim set is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from dra_plan.api.notice import Notice, Origin
from dra_plan.api.resource import ResourceClaim

from .podclaims import PodClaimError


class Owner(NamedTuple):
    """The pod or workload whose claims form a set."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimSet:
    """Claims that must be satisfied on one node together.

    `claims` are pending, in the order of the pod's resourceClaims; `allocated` ones restrict the nodes.
    `error` says, in the scheduler's words, why the set can't even be formed; then both are empty.
    """

    owner: Owner | None = None
    claims: tuple[ResourceClaim, ...] = ()
    allocated: tuple[ResourceClaim, ...] = ()
    error: PodClaimError | None = None
    origin: Origin | None = None


class Expansion(NamedTuple):
    """The claim sets of an input, in the order pods, workloads, lone claims, and what to know about them."""

    sets: list[ClaimSet]
    notices: list[Notice]
