"""How good the alternatives are that a claim's firstAvailable requests got: the plugin's score."""

from __future__ import annotations

from dra_plan.api.resource import AllocationResult, ResourceClaim

_BEST_RANK = 8
"""The score of a request's first alternative; one less for each further one."""


def is_ranked(claim: ResourceClaim) -> bool:
    """Whether any of the claim's requests has alternatives."""
    return any(request.first_available for request in claim.spec.devices.requests)


def rank(claim: ResourceClaim, allocation: AllocationResult | None) -> int:
    """The sum over the claim's firstAvailable requests of the rank of the alternative that was allocated."""
    ranked = [request for request in claim.spec.devices.requests if request.first_available]
    if allocation is None or not ranked:
        return 0
    given = {result.request for result in allocation.devices.results}
    total = 0
    for request in ranked:
        ranks = (
            _BEST_RANK - index
            for index, option in enumerate(request.first_available)
            if f"{request.name}/{option.name}" in given
        )
        total += next(ranks, 0)
    return total
