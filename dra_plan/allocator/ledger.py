"""The devices that one search has taken, and the devices that allocated claims hold.

The ledger records how to undo each write, and `rewind` undoes them. Upstream forgets to undo some of its writes; the
methods named `leak_*` reproduce this, and their writes are never undone. The allocated state is read from the status of
the claims in all namespaces.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Set
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from dra_plan.api import quantity
from dra_plan.api.resource import DeviceRequestAllocationResult, ResourceClaim

from .identity import DeviceID, PoolID

Undo = tuple[Callable[..., None], Any, Any]


class Ledger:
    """Everything that one search has taken so far. Only the methods of this class may write to the fields."""

    __slots__ = (
        "admin_taken",
        "counters",
        "kept",
        "leaked",
        "leaks",
        "pins",
        "remembered",
        "results",
        "shares",
        "taken",
        "trail",
    )

    def __init__(self, claims: int) -> None:
        self.taken: dict[DeviceID, tuple[int, ...]] = {}
        """The dedicated devices taken, with the indices of the claims that took them."""
        self.admin_taken: dict[DeviceID, tuple[int, ...]] = {}
        """The devices taken with admin access, in releases where this leaves them free for other requests."""
        self.counters: dict[tuple[Hashable, str, str], int] = {}
        """The amounts taken from counters in nano-units, by counter table, counter set and counter."""
        self.leaked: dict[tuple[Hashable, str, str], int] = {}
        """The part of `counters` that is never given back."""
        self.leaks = 0
        """The number of writes that cannot be undone."""
        self.shares: dict[DeviceID, dict[str, int]] = {}
        """The capacity taken from shared devices, in nano-units. Devices with an entry already consume their
        counters."""
        self.kept: set[DeviceID] = set()
        """The shared devices whose entry in `shares` is never removed."""
        self.pins: dict[Hashable, tuple[int, Any]] = {}
        """The number of devices and their common value, by matchAttribute constraint."""
        self.remembered: dict[Hashable, dict[Any, Any]] = {}
        """The values of the devices taken, by distinctAttribute constraint."""
        self.results: list[list[Any]] = [[] for _ in range(claims)]
        """The devices that each claim takes, in order."""
        self.trail: list[Undo] = []

    def mark(self) -> int:
        """Return a mark that `rewind` can return to."""
        return len(self.trail)

    def rewind(self, mark: int) -> None:
        """Undo all writes since the mark, except leaks."""
        trail = self.trail
        while len(trail) > mark:
            undo, first, second = trail.pop()
            undo(first, second)

    def settle(self) -> None:
        """Make all writes permanent, so that they cannot be undone.

        A finished search calls this, so that its memory is freed early.
        """
        self.trail.clear()

    # -- devices -------------------------------------------------------------------------------------------------

    def take(self, device: DeviceID, claim: int) -> None:
        """Record that a claim takes a device for exclusive use."""
        self._append(self.taken, device, claim)

    def leak_take(self, device: DeviceID, claim: int) -> None:
        """Record permanently that a claim takes a device for exclusive use (Q21)."""
        self.leaks += 1
        self.taken[device] = (*self.taken.get(device, ()), claim)

    def take_as_admin(self, device: DeviceID, claim: int) -> None:
        """Record that a claim uses a device with admin access, which leaves the device free for other claims."""
        self._append(self.admin_taken, device, claim)

    def _append(self, table: dict[DeviceID, tuple[int, ...]], device: DeviceID, claim: int) -> None:
        before = table.get(device, ())
        table[device] = (*before, claim)
        self.trail.append((table.__setitem__, device, before))

    def record(self, claim: int, result: Any) -> None:
        """Append a result to the results of a claim."""
        self.results[claim].append(result)
        self.trail.append((self._drop_result, claim, None))

    def _drop_result(self, claim: int, _: Any) -> None:
        self.results[claim].pop()

    # -- counters ------------------------------------------------------------------------------------------------

    def charge(self, table: Hashable, consumption: tuple[tuple[str, str, int], ...]) -> None:
        """Subtract the device's consumption from a counter table."""
        _add(self.counters, table, consumption)
        self.trail.append((self._refund, table, consumption))

    def leak_charge(self, table: Hashable, consumption: tuple[tuple[str, str, int], ...]) -> None:
        """Subtract the device's consumption from a counter table permanently (Q4, Q5, Q21)."""
        self.leaks += 1
        _add(self.counters, table, consumption)
        _add(self.leaked, table, consumption)

    def _refund(self, table: Hashable, consumption: tuple[tuple[str, str, int], ...]) -> None:
        for counter_set, name, amount in consumption:
            self.counters[(table, counter_set, name)] -= amount

    # -- capacity ------------------------------------------------------------------------------------------------

    def share(self, device: DeviceID, amounts: tuple[tuple[str, int], ...], keeps_empty: bool) -> None:
        """Take a share of a device. If `keeps_empty` is true, a share without amounts is never given back (Q5)."""
        held = self.shares.get(device)
        before = None if held is None else held.copy()
        if held is None:
            held = self.shares[device] = {}
        for name, amount in amounts:
            held[name] = held.get(name, 0) + amount
        if not keeps_empty:
            self.trail.append((self._restore_shares, device, before))
        elif amounts:
            self.trail.append((self._unshare, device, amounts))
        elif device not in self.kept:
            self.leaks += 1
            self.kept.add(device)

    def _restore_shares(self, device: DeviceID, before: dict[str, int] | None) -> None:
        if before is None:
            del self.shares[device]
        else:
            self.shares[device] = before

    def _unshare(self, device: DeviceID, amounts: tuple[tuple[str, int], ...]) -> None:
        """Forget a device, as upstream does, once none of its capacity is used.

        It is forgotten even if shares without amounts remain (Q5).
        """
        held = self.shares.get(device)
        if held is None:
            return
        for name, amount in amounts:
            held[name] -= amount
        if not any(held.values()):
            del self.shares[device]

    # -- constraints ---------------------------------------------------------------------------------------------

    def pin(self, constraint: Hashable, value: Any) -> None:
        """Record another device for a matchAttribute constraint, and the value that all its devices have."""
        self._pin(constraint, value)
        self.trail.append((self._unpin, constraint, None))

    def leak_pin(self, constraint: Hashable, value: Any) -> None:
        """Record another device for a matchAttribute constraint permanently (Q21)."""
        self.leaks += 1
        self._pin(constraint, value)

    def _pin(self, constraint: Hashable, value: Any) -> None:
        count, _ = self.pins.get(constraint, (0, None))
        self.pins[constraint] = (count + 1, value)

    def narrow(self, constraint: Hashable, value: Any) -> None:
        """Record another device for a matchAttribute constraint, and the elements that all its lists have in common."""
        before = self.pins.get(constraint, (0, None))
        self.pins[constraint] = (before[0] + 1, value)
        self.trail.append((self.pins.__setitem__, constraint, before))

    def _unpin(self, constraint: Hashable, _: Any) -> None:
        count, value = self.pins[constraint]
        self.pins[constraint] = (count - 1, value)

    def remember(self, constraint: Hashable, slot: Any, value: Any) -> None:
        """Record the value of a device for a distinctAttribute constraint."""
        seen = self.remembered.setdefault(constraint, {})
        seen[slot] = value
        self.trail.append((self._forget, constraint, slot))

    def leak_remember(self, constraint: Hashable, slot: Any, value: Any) -> None:
        """Record the value of a device for a distinctAttribute constraint permanently (Q21)."""
        self.leaks += 1
        self.remembered.setdefault(constraint, {})[slot] = value

    def leak_forget(self, constraint: Hashable, slot: Any) -> None:
        """Forget the value in `slot` permanently, even if an earlier device set it (Q2)."""
        self.remembered.get(constraint, {}).pop(slot, None)

    def _forget(self, constraint: Hashable, slot: Any) -> None:
        self.remembered[constraint].pop(slot, None)


def _add(
    totals: dict[tuple[Hashable, str, str], int], table: Hashable, consumption: tuple[tuple[str, str, int], ...]
) -> None:
    for counter_set, name, amount in consumption:
        key = (table, counter_set, name)
        totals[key] = totals.get(key, 0) + amount


# -- allocated claims --------------------------------------------------------------------------------------------------
# The rules are those of upstream's `GatherAllocatedState`. Pool generations, nodes and the device's existence do not
# matter.

_NONE: frozenset[str] = frozenset()

DeviceUse = tuple[bool, tuple[tuple[str, int], ...] | None]
"""The use of a device: whether it is allocated as a whole, and the capacity that its shares consume (None: no
shares)."""

FREE: DeviceUse = (False, None)
_WHOLE: DeviceUse = (True, None)


class _Holding(NamedTuple):
    """Everything that the state says about one device."""

    claim: str | None
    shares: list[str] | None
    amounts: dict[str, int] | None
    is_given_twice: bool


def _put(table: dict[DeviceID, Any], device: DeviceID, value: Any) -> None:
    if value is None:
        table.pop(device, None)
    else:
        table[device] = value


@dataclass(slots=True)
class AllocatedState:
    """The devices that allocated claims hold.

    `dedicated` has the holder of each device that is allocated as a whole. `shared` has the holders of each device that
    is allocated in shares, and `aggregate` has the capacity that those shares consume, in nano-units. A device whose
    shares consume no capacity is in `shared` only.
    """

    dedicated: dict[DeviceID, str] = field(default_factory=dict)
    shared: dict[DeviceID, list[str]] = field(default_factory=dict)
    aggregate: dict[DeviceID, dict[str, int]] = field(default_factory=dict)
    _by_pool: dict[tuple[str, str], set[str]] = field(default_factory=dict, init=False, repr=False, compare=False)
    _sharing: Counter[tuple[str, str]] = field(default_factory=Counter, init=False, repr=False, compare=False)
    """The pools of the shared devices, with the number of shares."""
    _given_twice: set[DeviceID] = field(default_factory=set, init=False, repr=False, compare=False)
    """Devices that several claims hold whole; once one claim is removed, only the full list of claims shows who holds
    them.
    """
    _uses: dict[tuple[str, str], dict[Hashable, tuple[DeviceUse, ...]]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """The cached results of `uses`, by pool."""
    _kept: list[dict[DeviceID, _Holding]] = field(default_factory=list, init=False, repr=False, compare=False)
    """For each open fork, the devices that have changed since, as they were then."""

    @classmethod
    def of(cls, claims: Iterable[ResourceClaim], *, consumable_capacity: bool) -> AllocatedState:
        """Return the devices that these claims hold."""
        state = cls()
        for claim in claims:
            state.add(claim, consumable_capacity=consumable_capacity)
        return state

    def copy(self) -> AllocatedState:
        """Return an independent copy of this state. No fork may be open."""
        shared = {device: [*claims] for device, claims in self.shared.items()}
        aggregate = {device: {**amounts} for device, amounts in self.aggregate.items()}
        made = AllocatedState({**self.dedicated}, shared, aggregate)
        made._by_pool = {pool: {*names} for pool, names in self._by_pool.items()}
        made._sharing, made._given_twice = self._sharing.copy(), {*self._given_twice}
        made._uses = {pool: {**uses} for pool, uses in self._uses.items()}
        return made

    def add(self, claim: ResourceClaim, *, consumable_capacity: bool) -> None:
        """Add the devices that a claim holds, except devices with admin access."""
        status = claim.status
        if status is None or status.allocation is None:
            return
        key = claim.key
        for result in status.allocation.devices.results:
            if result.admin_access:
                continue
            pool = result.driver, result.pool
            if self._uses:
                self._uses.pop(pool, None)
            device = DeviceID(*pool, result.device)
            if self._kept:
                self._keep(device)
            if result.share_id is not None and consumable_capacity:
                self._add_share(device, result, key)
                continue
            if device in self.dedicated:
                self._given_twice.add(device)
            self.dedicated[device] = key
            names = self._by_pool.get(pool)
            if names is None:
                names = self._by_pool[pool] = set()
            names.add(result.device)

    def _add_share(self, device: DeviceID, result: DeviceRequestAllocationResult, claim: str) -> None:
        self.shared.setdefault(device, []).append(claim)
        self._sharing[device.driver, device.pool] += 1
        if result.consumed_capacity is not None:
            total = self.aggregate.setdefault(device, {})
            for name, amount in result.consumed_capacity.items():
                total[name] = total.get(name, 0) + quantity.parse(amount).nano

    def remove(self, claim: ResourceClaim, *, consumable_capacity: bool) -> bool:
        """Remove the devices that `add` added for the claim.

        Return False if this is not possible. The state must then be built again from all claims.
        """
        status = claim.status
        if status is None or status.allocation is None:
            return True
        results = [result for result in status.allocation.devices.results if not result.admin_access]
        devices = [DeviceID(result.driver, result.pool, result.device) for result in results]
        shared = [result.share_id is not None and consumable_capacity for result in results]
        key = claim.key
        for device, is_share in zip(devices, shared, strict=True):
            known = key in self.shared.get(device, ()) if is_share else self.dedicated.get(device) == key
            if not known or device in self._given_twice:
                return False
        for result, device, is_share in zip(results, devices, shared, strict=True):
            if self._kept:
                self._keep(device)
            self._uses.pop((device.driver, device.pool), None)
            if is_share:
                if not self._remove_share(device, result, key):
                    return False
            else:
                del self.dedicated[device]
                self._by_pool[device.driver, device.pool].discard(device.device)
        return True

    def _remove_share(self, device: DeviceID, result: DeviceRequestAllocationResult, claim: str) -> bool:
        holders = self.shared[device]
        holders.remove(claim)
        self._sharing[device.driver, device.pool] -= 1
        if result.consumed_capacity is not None:
            total = self.aggregate[device]
            for name, amount in result.consumed_capacity.items():
                total[name] -= quantity.parse(amount).nano
        if not holders:
            del self.shared[device]
            self.aggregate.pop(device, None)
            return True
        # the state does not record whether a remaining share holds an amount of 0
        return all(self.aggregate.get(device, {}).values())

    # What can be taken back: the devices are many, and few of them change

    @property
    def not_kept(self) -> tuple[str, ...]:
        """The fields that a fork does not save, because `reverted` restores them device by device."""
        return self.__slots__

    def forked(self) -> None:
        """Start a fork: from now on, remember how each changed device was used before."""
        self._kept.append({})

    def committed(self) -> None:
        """End the last fork, and keep its changes."""
        kept = self._kept.pop()
        if self._kept:
            self._kept[-1] = kept | self._kept[-1]

    def reverted(self) -> None:
        """End the last fork, and undo its changes."""
        for device, before in self._kept.pop().items():
            pool, now = (device.driver, device.pool), self._holding(device)
            self._uses.pop(pool, None)
            self._sharing[pool] += len(before.shares or ()) - len(now.shares or ())
            names = self._by_pool.setdefault(pool, set())
            (names.discard if before.claim is None else names.add)(device.device)
            (self._given_twice.add if before.is_given_twice else self._given_twice.discard)(device)
            _put(self.dedicated, device, before.claim)
            _put(self.shared, device, before.shares)
            _put(self.aggregate, device, before.amounts)

    def _keep(self, device: DeviceID) -> None:
        if device not in self._kept[-1]:
            self._kept[-1][device] = self._holding(device)

    def _holding(self, device: DeviceID) -> _Holding:
        shares, amounts = self.shared.get(device), self.aggregate.get(device)
        return _Holding(
            self.dedicated.get(device),
            None if shares is None else [*shares],
            None if amounts is None else {**amounts},
            device in self._given_twice,
        )

    def dedicated_in(self, pool: PoolID) -> Set[str]:
        """Return the names of the devices in the pool that are allocated as a whole."""
        return self._by_pool.get(pool, _NONE)

    def shares_in(self, pool: PoolID) -> bool:
        """Return whether any device in the pool is allocated in shares."""
        return self._sharing[pool] > 0

    def uses(self, pool: PoolID, owner: Hashable, names: Callable[[], Iterable[str]]) -> tuple[DeviceUse, ...]:
        """Return how each device in a slice of the pool is used.

        `owner` identifies the slice, and `names` returns the names of its devices.
        """
        known = self._uses.get(pool)
        if known is None:
            known = self._uses[pool] = {}
        found = known.get(owner)
        if found is None:
            if self.shares_in(pool):
                uses = [self._use(DeviceID(*pool, name)) for name in names()]
            else:
                whole = self.dedicated_in(pool)
                uses = [_WHOLE if name in whole else FREE for name in names()]
            found = known[owner] = tuple(uses)
        return found

    def _use(self, device: DeviceID) -> DeviceUse:
        if device in self.shared:
            return device in self.dedicated, tuple(self.aggregate.get(device, {}).items())
        return _WHOLE if device in self.dedicated else FREE

    def holds_counters(self, device: DeviceID, *, shared_too: bool) -> bool:
        """Return whether the device already consumes its counters.

        A device that is allocated in shares counts only if `shared_too` is true.
        """
        return device in self.dedicated or (shared_too and (device in self.shared or device in self.aggregate))

    def holders(self, device: DeviceID) -> list[str]:
        """Return the claims that hold the device or a share of it, without duplicates."""
        if device in self.dedicated:
            return [self.dedicated[device]]
        return list(dict.fromkeys(self.shared.get(device, ())))

    def holder(self, device: DeviceID) -> str | None:
        """Return a claim that holds the device or a share of it, or None."""
        if device in self.dedicated:
            return self.dedicated[device]
        return next(iter(self.shared.get(device, ())), None)
