"""All claims as the scheduler sees them: stored ones, those being allocated, and which devices that leaves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dra_plan.allocator.state import AllocatedState
from dra_plan.api.resource import ResourceClaim

from .keys import ClaimKey, claim_key


class ClaimStore:
    """Claims by namespace and name, in order of arrival.

    `in_flight` holds, by uid, claims that were given devices by a pod that is not bound yet. `revision` changes with
    every change of what is allocated.
    """

    def __init__(self, claims: Iterable[ResourceClaim], *, consumable_capacity: bool) -> None:
        self._claims: dict[ClaimKey, ResourceClaim] = {claim_key(claim): claim for claim in claims}
        self._consumable = consumable_capacity
        self._in_flight: dict[str, ResourceClaim] = {}
        self._state: AllocatedState | None = None

    def __iter__(self) -> Iterator[ResourceClaim]:
        return iter(self._claims.values())

    def get(self, namespace: str, name: str) -> ResourceClaim | None:
        """The stored claim, or None."""
        return self._claims.get((namespace, name))

    def put(self, claim: ResourceClaim) -> ResourceClaim | None:
        """Store a claim; returns the one it replaces."""
        key = claim_key(claim)
        old = self._claims.get(key)
        self._claims[key] = claim
        if (old.allocation if old is not None else None) != claim.allocation:
            self._changed(old, claim)
        return old

    def remove(self, claim: ResourceClaim) -> ResourceClaim | None:
        """Forget a claim; returns what was stored."""
        old = self._claims.pop(claim_key(claim), None)
        if old is not None and old.allocation is not None:
            self._state = None
        return old

    def _changed(self, old: ResourceClaim | None, new: ResourceClaim) -> None:
        if self._state is None:
            return
        if old is not None and old.allocation is not None:
            self._state = None
        elif new.allocation is not None and new.metadata.uid not in self._in_flight:
            self._state.add(new, consumable_capacity=self._consumable)

    # Claims that are being allocated

    def signal_pending_allocation(self, claim: ResourceClaim) -> None:
        """The claim, with its allocation, is in flight: its devices count as used from now on."""
        self._in_flight[claim.metadata.uid] = claim
        if self._state is not None:
            self._state.add(claim, consumable_capacity=self._consumable)

    def pending_allocation(self, uid: str) -> ResourceClaim | None:
        """The claim in flight with this uid, or None."""
        return self._in_flight.get(uid)

    def remove_pending_allocation(self, uid: str) -> ResourceClaim | None:
        """The claim is no longer in flight; its devices are free unless the stored claim has them too."""
        claim = self._in_flight.pop(uid, None)
        if claim is not None:
            stored = self._claims.get(claim_key(claim))
            if stored is None or stored.allocation is None:
                self._state = None
        return claim

    @property
    def state(self) -> AllocatedState:
        """The devices in use, by stored claims and by those in flight."""
        if self._state is None:
            claims = [c for c in self._claims.values() if c.metadata.uid not in self._in_flight]
            self._state = AllocatedState.of([*claims, *self._in_flight.values()], consumable_capacity=self._consumable)
        return self._state
