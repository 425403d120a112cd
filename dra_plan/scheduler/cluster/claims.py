"""All claims as the scheduler sees them: stored claims, claims being allocated, and the devices that these use.

The last part covers binding conditions, with which drivers delay binding until devices are prepared (KEP-5007).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from operator import is_

from msgspec.structs import replace

from dra_plan.allocator import View
from dra_plan.allocator.ledger import AllocatedState
from dra_plan.api.core import Pod
from dra_plan.api.resource import AllocatedDeviceStatus, Condition, DeviceRequestAllocationResult, ResourceClaim
from dra_plan.claims.pod_claims import special_claim_owner
from dra_plan.scheduler.clock import parse_time

from .keys import ClaimKey, claim_key


def with_uid(claim: ResourceClaim) -> ResourceClaim:
    """Return the claim, with a generated UID if it has none."""
    if claim.metadata.uid:
        return claim
    return replace(claim, metadata=replace(claim.metadata, uid=f"claim:{claim.key}"))


class StoredClaims:
    """The claims of an input, all with UIDs. Every admission gets the same objects."""

    def __init__(self) -> None:
        self._found: dict[int, tuple[ResourceClaim, ResourceClaim]] = {}
        """The claims by the `id` of the given claim, which is kept alive."""
        self._last: Sequence[ResourceClaim] = ()
        self._last_by_key: dict[ClaimKey, ResourceClaim] = {}

    def by_key(self, claims: Sequence[ResourceClaim]) -> dict[ClaimKey, ResourceClaim]:
        """Return a new dictionary of the claims by namespace and name. Each claim has a UID."""
        changed = self._changed(claims)
        if changed is None:
            self._last, self._last_by_key = claims, {claim_key(claim): claim for claim in self.of(claims)}
            changed = ()
        return self._last_by_key | {claim_key(claim): claim for claim in self.of(changed)}

    def _changed(self, claims: Sequence[ResourceClaim]) -> Sequence[ResourceClaim] | None:
        """Return the claims that differ from the last ones in contents alone; None if other things differ."""
        last = self._last
        if claims is last:
            return ()
        if not len(claims) == len(last) == len(self._last_by_key):
            return None
        pairs = [(old, new) for old, new in zip(last, claims, strict=True) if old is not new]
        if any(claim_key(old) != claim_key(new) for old, new in pairs):
            return None
        return [new for _, new in pairs]

    def of(self, claims: Iterable[ResourceClaim]) -> list[ResourceClaim]:
        """Return the claims in the same order, each with a UID."""
        known = self._found.get
        return [claim if claim.metadata.uid else (known(id(claim)) or self._add(claim))[1] for claim in claims]

    def _add(self, claim: ResourceClaim) -> tuple[ResourceClaim, ResourceClaim]:
        made = self._found[id(claim)] = claim, with_uid(claim)
        return made


class ClaimStore:
    """Claims by namespace and name, in order of arrival.

    A claim is in flight if it has been allocated for a pod that is not bound yet. Claims in flight are stored by UID,
    because a claim for extended resources gets its name later.
    """

    def __init__(self, claims: Iterable[ResourceClaim], *, consumable_capacity: bool) -> None:
        self._claims: dict[ClaimKey, ResourceClaim] = {}
        self._keys: dict[str, ClaimKey] = {}
        self._special: dict[tuple[str, str], dict[ClaimKey, None]] = {}
        self._consumable = consumable_capacity
        self._in_flight: dict[str, ResourceClaim] = {}
        self._sharers: Counter[str] = Counter()
        """The number of additional pods that share an allocation, by the UID of the claim in flight."""
        self._state: AllocatedState | None = None
        self.revision = 0
        """A number that grows with each change."""
        self._numbers: dict[ClaimKey, int] = {}
        """The position of each claim in the order of arrival."""
        self._arrivals = 0
        self._uses: dict[str, dict[ClaimKey, None]] = {}
        """For each pod, by UID or key, the claims that are reserved for it or were created for it."""
        self.written: dict[ClaimKey, None] = {}
        """The claims stored since this was last emptied."""
        self._compared: tuple[int, Iterable[ResourceClaim], bool] | None = None
        """The last answer of `is_allocated_like`, with the revision and the claims that it is about."""
        self._begin(list(claims))

    def _begin(self, claims: Sequence[ResourceClaim]) -> None:
        """Store the first claims, as `put` would one by one."""
        self._claims = {claim_key(claim): claim for claim in claims}
        self._keys = {claim.metadata.uid: key for key, claim in self._claims.items()}
        self._numbers = dict(zip(self._claims, count(1)))
        self.written = dict.fromkeys(self._claims)
        self._arrivals, self.revision = len(self._claims), len(claims)
        for key, claim in self._claims.items():
            if claim.metadata.owner_references or claim.reserved_for:
                self._note_users(key, None, claim)
                self._note_owner(key, claim)

    def copy(self, claims: Sequence[ResourceClaim]) -> ClaimStore | None:
        """Return a copy of this store with these claims. This store must not have changed since it was created.

        Return None if claims were added, removed or reordered.
        """
        if len(claims) != len(self._claims):
            return None
        changed = [(old, new) for old, new in zip(self._claims.values(), claims, strict=True) if old is not new]
        if any(_name(old) != _name(new) for old, new in changed):
            return None
        made = ClaimStore((), consumable_capacity=self._consumable)
        made._claims, made._keys, made._numbers = self._claims.copy(), self._keys.copy(), self._numbers.copy()
        made._special = {owner: keys.copy() for owner, keys in self._special.items()}
        made._uses = {uid: keys.copy() for uid, keys in self._uses.items()}
        made.written, made._arrivals, made.revision = self.written.copy(), self._arrivals, self.revision
        made._compared = self._compared
        if self._state is not None and all(old.allocation is new.allocation for old, new in changed):
            made._state = self._state.copy()
        for _, claim in changed:
            made.put(claim)
        return made

    counters = ("revision",)

    def parts(self) -> Iterable[object]:
        """Return the parts that a fork of the simulation has to save."""
        return () if self._state is None else (self._state,)

    def __iter__(self) -> Iterator[ResourceClaim]:
        return iter(self._claims.values())

    def seen(self) -> Iterator[ResourceClaim]:
        """Yield the claims as a scheduling attempt sees them. Claims in flight have their devices."""
        flying = dict(self._in_flight)
        yield from (flying.pop(claim.metadata.uid, claim) for claim in self._claims.values())
        yield from flying.values()

    def take_over(self, view: View) -> None:
        """Use the device state of the view, if it has the same allocated claims as this store."""
        if self.is_allocated_like(view.claims):
            self._state = view.state

    def is_allocated_like(self, claims: Iterable[ResourceClaim]) -> bool:
        """Return whether the stored claims have the same devices as these claims, and no claim is in flight."""
        known = self._compared
        if known is None or known[0] != self.revision or known[1] is not claims:
            known = self._compared = self.revision, claims, self._has_allocations_of(claims)
        return known[2]

    def _has_allocations_of(self, claims: Iterable[ResourceClaim]) -> bool:
        now = [claim.allocation for claim in self._claims.values() if claim.allocation is not None]
        then = [claim.allocation for claim in claims if claim.allocation is not None]
        return not self._in_flight and len(now) == len(then) and all(map(is_, now, then))

    def get(self, namespace: str, name: str) -> ResourceClaim | None:
        """Return the stored claim with this name, or None."""
        return self._claims.get((namespace, name))

    def special(self, pod: Pod) -> ResourceClaim | None:
        """Return the claim that an earlier attempt created for the pod's extended resources, or None."""
        keys = self._special.get((pod.metadata.name, pod.metadata.uid), ())
        return next((self._claims[key] for key in keys), None)

    def put(self, claim: ResourceClaim) -> ResourceClaim | None:
        """Store a claim. Return the claim that it replaces, or None."""
        self.revision += 1
        key = claim_key(claim)
        old = self._claims.get(key)
        if old is None:
            self._arrivals += 1
            self._numbers[key] = self._arrivals
        self._claims[key] = claim
        self.written[key] = None
        self._note_users(key, old, claim)
        self._keys[claim.metadata.uid] = key
        owner = special_claim_owner(claim)
        if (special_claim_owner(old) if old is not None else None) != owner:
            self._forget_owner(old)
            self._note_owner(key, claim)
        if self._state is not None and (old.allocation if old is not None else None) != claim.allocation:
            self._changed(self._state, old, claim)
        return old

    def remove(self, claim: ResourceClaim) -> ResourceClaim | None:
        """Remove a claim. Return its stored version, or None if it was not stored."""
        self.revision += 1
        old = self._claims.pop(claim_key(claim), None)
        if old is None:
            return None
        self._note_users(claim_key(old), old, None)
        self.written.pop(claim_key(old), None)
        del self._numbers[claim_key(old)]
        self._keys.pop(old.metadata.uid, None)
        self._forget_owner(old)
        if old.allocation is not None:
            self._freed(old)
        return old

    def become(self, claims: Iterable[ResourceClaim]) -> list[ResourceClaim]:
        """Replace the stored claims with these claims, in this order.

        Return the old and the new version of each claim that differs.
        """
        new = {claim_key(claim): claim for claim in claims}
        changed = []
        for key, claim in list(self._claims.items()):
            if key not in new:
                changed.append(claim)
                self.remove(claim)
        for key, claim in new.items():
            known = self._claims.get(key)
            if known is not claim and known != claim:
                changed += [claim, *(() if known is None else (known,))]
                self.put(claim)
        self._claims = {key: self._claims[key] for key in new}
        self._numbers = {key: number for number, key in enumerate(new, 1)}
        self._arrivals = len(new)
        self.written = dict.fromkeys(new)
        self._compared = None
        return changed

    def used_by(self, uids: Iterable[str]) -> list[ResourceClaim]:
        """Return the claims that are reserved for these pods or were created for them, in order of arrival."""
        return self.listed(self.keys_used_by(uids))

    def keys_used_by(self, uids: Iterable[str]) -> Iterator[ClaimKey]:
        """Yield the namespaces and names of the claims that are reserved for these pods or were created for them."""
        return (key for uid in uids for key in self._uses.get(uid, ()))

    def listed(self, keys: Iterable[ClaimKey]) -> list[ResourceClaim]:
        """Return the stored claims with these keys, in order of arrival and without duplicates."""
        there = {key for key in keys if key in self._claims}
        return [self._claims[key] for key in sorted(there, key=self._numbers.__getitem__)]

    def _note_users(self, key: ClaimKey, old: ResourceClaim | None, new: ResourceClaim | None) -> None:
        before = users(old) if old is not None else ()
        after = users(new) if new is not None else ()
        if before == after:
            return
        for uid in before:
            keys = self._uses.get(uid)
            if keys is not None and uid not in after:
                keys.pop(key, None)
                if not keys:
                    del self._uses[uid]
        for uid in after:
            self._uses.setdefault(uid, {})[key] = None

    def _note_owner(self, key: ClaimKey, claim: ResourceClaim) -> None:
        owner = special_claim_owner(claim)
        if owner is not None:
            self._special.setdefault(owner, {})[key] = None

    def _forget_owner(self, claim: ResourceClaim | None) -> None:
        owner = special_claim_owner(claim) if claim is not None else None
        if claim is not None and owner is not None:
            del self._special[owner][claim_key(claim)]

    def _changed(self, state: AllocatedState, old: ResourceClaim | None, new: ResourceClaim) -> None:
        if old is not None and old.allocation is not None:
            self._freed(old)
            if new.allocation is not None:
                self._state = None
        elif new.allocation is not None and new.metadata.uid not in self._in_flight:
            state.add(new, consumable_capacity=self._consumable)

    def _freed(self, claim: ResourceClaim) -> None:
        """Note that a stored claim has lost its devices."""
        if claim.metadata.uid in self._in_flight:
            self._state = None
        else:
            self._forget(claim)

    def _forget(self, claim: ResourceClaim) -> None:
        """Stop counting the devices of a claim."""
        if self._state is not None and not self._state.remove(claim, consumable_capacity=self._consumable):
            self._state = None

    # Claims that are being allocated

    def signal_pending_allocation(self, claim: ResourceClaim) -> None:
        """Put the claim in flight with its allocation. Its devices count as used from now on.

        A claim that is already in flight keeps its first allocation and gets one more user.
        """
        if claim.metadata.uid in self._in_flight:
            self._sharers[claim.metadata.uid] += 1
            return
        self.revision += 1
        self._in_flight[claim.metadata.uid] = claim
        if self._state is not None:
            self._state.add(claim, consumable_capacity=self._consumable)

    def pending_allocation(self, uid: str) -> ResourceClaim | None:
        """Return the claim in flight with this UID, or None."""
        return self._in_flight.get(uid)

    def remove_pending_allocation(self, uid: str) -> ResourceClaim | None:
        """Remove one user of the claim in flight. Return the claim if this frees its devices, or else None.

        Devices are freed if there are no other users and the stored claim has no devices.
        """
        if self._sharers[uid] > 0:
            self._sharers[uid] -= 1
            return None
        self.revision += 1
        claim = self._in_flight.pop(uid, None)
        key = self._keys.get(uid)
        if claim is None or (key is not None and self._claims[key].allocation is not None):
            return None
        self._forget(claim)
        return claim

    @property
    def state(self) -> AllocatedState:
        """The devices used by stored claims and by claims in flight."""
        if self._state is None:
            claims = [c for c in self._claims.values() if c.metadata.uid not in self._in_flight]
            self._state = AllocatedState.of([*claims, *self._in_flight.values()], consumable_capacity=self._consumable)
        return self._state


def _name(claim: ResourceClaim) -> tuple[ClaimKey, str]:
    return claim_key(claim), claim.metadata.uid


def users(claim: ResourceClaim) -> list[str]:
    """Return the UIDs of the pods that the claim is reserved for or was created for.

    A pod without a UID is listed as NAMESPACE/NAME.
    """
    reserved = claim.reserved_for
    if not reserved and not claim.metadata.owner_references:
        return []
    namespace, owner = claim.metadata.namespace, claim.metadata.controller
    found = [user.uid or f"{namespace}/{user.name}" for user in reserved if user.resource == "pods"]
    if owner is not None and owner.kind == "Pod":
        found.append(owner.uid or f"{namespace}/{owner.name}")
    return found


# -- binding conditions ------------------------------------------------------------------------------------------------


def conditional_results(claim: ResourceClaim) -> list[DeviceRequestAllocationResult]:
    """Return the claim's allocation results that have binding conditions."""
    if claim.allocation is None:
        return []
    return [result for result in claim.allocation.devices.results if result.binding_conditions]


def _reported(claim: ResourceClaim, result: DeviceRequestAllocationResult) -> AllocatedDeviceStatus | None:
    devices = claim.status.devices if claim.status is not None else []
    wanted = (result.driver, result.pool, result.device)
    return next((d for d in devices if (d.driver, d.pool, d.device) == wanted), None)


def _true(status: AllocatedDeviceStatus, name: str) -> Condition | None:
    return next((c for c in status.conditions if c.type == name and c.status == "True"), None)


def preparation(claim: ResourceClaim) -> tuple[bool, Condition | None]:
    """Return whether all devices of the claim are ready, and the failure condition that is true, or None.

    A claim without conditions is ready. As in upstream, the check stops at the first device that is not ready, so
    failures of later devices are not found yet.
    """
    for result in conditional_results(claim):
        status = _reported(claim, result)
        if status is None:
            return False, None
        for name in result.binding_failure_conditions:
            found = _true(status, name)
            if found is not None:
                return False, found
        if any(_true(status, name) is None for name in result.binding_conditions):
            return False, None
    return True, None


def timed_out(claim: ResourceClaim, timeout: float, now: float) -> bool:
    """Return whether the claim's allocation is older than the timeout."""
    if claim.allocation is None:
        return False
    since = parse_time(claim.allocation.allocation_timestamp)
    return since is not None and since + timeout < now


def usable(claim: ResourceClaim, timeout: float, now: float) -> bool:
    """Return whether a pod may still use the claim's devices."""
    ready, failed = preparation(claim)
    return failed is None and (ready or not timed_out(claim, timeout, now))
