"""What is allocated already, read from the status of all claims (of all namespaces).

Rules: upstream's `GatherAllocatedState`. Pool generations, nodes and whether the device still exists play no role.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass, field

from dra_plan.api import quantity
from dra_plan.api.resource import DeviceRequestAllocationResult, ResourceClaim

from .identity import DeviceID, PoolID

_NONE: frozenset[str] = frozenset()


@dataclass(slots=True)
class AllocatedState:
    """Devices in use, by device.

    `dedicated`: given whole, with the claim that has them; no other request may have them.
    `shared`: allocated in shares, with the claims that hold one. `aggregate`: the capacity those shares consume, in
    nano-units by capacity name; a share without consumed capacity is in `shared` only.
    """

    dedicated: dict[DeviceID, str] = field(default_factory=dict)
    shared: dict[DeviceID, list[str]] = field(default_factory=dict)
    aggregate: dict[DeviceID, dict[str, int]] = field(default_factory=dict)
    _by_pool: dict[tuple[str, str], set[str]] = field(default_factory=dict, init=False, repr=False, compare=False)
    _sharing: set[tuple[str, str]] = field(default_factory=set, init=False, repr=False, compare=False)
    """The pools of the shared devices."""

    @classmethod
    def of(cls, claims: Iterable[ResourceClaim], *, consumable_capacity: bool) -> AllocatedState:
        """The state that the allocated ones among the claims make."""
        state = cls()
        for claim in claims:
            state.add(claim, consumable_capacity=consumable_capacity)
        return state

    def add(self, claim: ResourceClaim, *, consumable_capacity: bool) -> None:
        """Takes the devices of one more allocated claim away."""
        status = claim.status
        if status is None or status.allocation is None:
            return
        key = claim.key
        for result in status.allocation.devices.results:
            if result.admin_access:
                continue
            pool = result.driver, result.pool
            device = DeviceID(*pool, result.device)
            if result.share_id is not None and consumable_capacity:
                self._add_share(device, result, key)
                continue
            self.dedicated[device] = key
            names = self._by_pool.get(pool)
            if names is None:
                names = self._by_pool[pool] = set()
            names.add(result.device)

    def _add_share(self, device: DeviceID, result: DeviceRequestAllocationResult, claim: str) -> None:
        self.shared.setdefault(device, []).append(claim)
        self._sharing.add((device.driver, device.pool))
        if result.consumed_capacity is not None:
            total = self.aggregate.setdefault(device, {})
            for name, amount in result.consumed_capacity.items():
                total[name] = total.get(name, 0) + quantity.parse(amount).nano

    def dedicated_in(self, pool: PoolID) -> Set[str]:
        """The names of the pool's devices that are given whole."""
        return self._by_pool.get(pool, _NONE)

    def shares_in(self, pool: PoolID) -> bool:
        """Whether any device of the pool is allocated in shares."""
        return pool in self._sharing

    def holds_counters(self, device: DeviceID, *, shared_too: bool) -> bool:
        """Whether the device's counters are spent."""
        return device in self.dedicated or (shared_too and (device in self.shared or device in self.aggregate))

    def holder(self, device: DeviceID) -> str | None:
        """A claim that has the device, or None."""
        if device in self.dedicated:
            return self.dedicated[device]
        return next(iter(self.shared.get(device, ())), None)
