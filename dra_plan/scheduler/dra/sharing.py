"""What pods of a group share: devices in flight in the group's cycle, and claims that are the group's own."""

from __future__ import annotations

from collections.abc import Sequence

from dra_plan.api.core import Pod
from dra_plan.api.resource import AllocationResult, ResourceClaim
from dra_plan.claims.expand import reservers
from dra_plan.scheduler.claimstore import ClaimStore
from dra_plan.scheduler.handle import Handle

from .state import PodState


def in_flight(claims: Sequence[ResourceClaim], store: ClaimStore) -> dict[str, AllocationResult]:
    """By uid, what other pods of the group have put in flight for these claims in this cycle."""
    found = {}
    for claim in claims:
        flying = store.pending_allocation(claim.metadata.uid)
        if claim.allocation is None and flying is not None and flying.allocation is not None:
            found[claim.metadata.uid] = flying.allocation
    return found


def reserve_for_group(kept: PodState, pod: Pod, entries: Sequence[ResourceClaim | None], handle: Handle) -> None:
    """Note which of the pod's claims are reserved for its group; `entries` are the claims of its entries."""
    kept.group = handle.cluster.groups.of(pod)
    needed = [claim is not None for claim in entries]
    flags = reservers(pod, kept.group, needed, shifted=handle.target.quirks.group_reservations_shifted)
    kept.for_group = frozenset(c.metadata.uid for c, of_group in zip(kept.claims, flags, strict=True) if of_group)
