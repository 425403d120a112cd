"""Check devices as upstream does, in the same order, and take them.

`Taker.take` is the only way to take a device.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from dra_plan.api.core import Node
from dra_plan.releases import Features, Quirk, Quirks, Rules

from . import capacity, taints
from .capacity import Counters, CounterTable, Demand
from .identity import DeviceID
from .ledger import AllocatedState, Ledger
from .pools import Pool, PoolDevice, device_is_on
from .reasons import (
    AllocationError,
    BindingConditionsOff,
    ConstraintReason,
    CounterShort,
    CountersOff,
    DeviceReason,
    InUse,
    NotTolerated,
    OtherNode,
    SelectorRefused,
)
from .requests import Want
from .results import Take


class TakingCheck(NamedTuple):
    """A check that a device must pass to be taken. `refusal` returns why the device fails it, or None."""

    name: str
    refusal: Callable[[Taker, Want, PoolDevice], DeviceReason | None]


class Taker:
    """Takes devices from the pools of one node, in one search."""

    def __init__(
        self,
        node: Node,
        pools: Sequence[Pool],
        claims: int,
        state: AllocatedState,
        counters: Counters,
        features: Features,
        rules: Rules,
        quirks: Quirks,
    ) -> None:
        self._node, self.state, self.counters = node, state, counters
        self.features, self._rules, self.quirks = features, rules, quirks
        self._steps = capacity.steps_of(features, rules, quirks)
        self._pools = {pool.id: pool for pool in pools}
        self._claims = claims
        self._matches: dict[Want, dict[DeviceID, DeviceReason | None]] = {}
        self._portions: dict[tuple[Want, DeviceID], Demand] = {}
        self.ledger = Ledger(claims)
        self.sighted: set[Quirk] = set()

    def restart(self) -> None:
        """Start again with an empty ledger. Cached facts are kept."""
        self.ledger.settle()
        self.ledger = Ledger(self._claims)

    # -- checks, in upstream's order -----------------------------------------------------------------------------

    def checks(self, want: Want) -> tuple[TakingCheck, ...]:
        """Return the checks that a device must pass, in upstream's order.

        A request for all devices checks which devices match before it checks whether they are free. Checks take
        nothing, and may raise AllocationError.
        """
        return _OF_ALL if want.takes_all else _OF_ONE

    def in_use(self, want: Want, device: PoolDevice) -> InUse | None:
        """Return the reason if an allocated claim or this search uses the device, or None if it is free."""
        takers = self.ledger.taken.get(device.id, ())
        if want.admin:
            mine = (*takers, *self.ledger.admin_taken.get(device.id, ()))
            return InUse(None) if want.claim_index in mine else None
        if device.id in self.state.dedicated:
            return InUse(self.state.dedicated[device.id])
        if takers:
            if not all(claim == want.claim_index for claim in takers):
                self.sighted.add("admin_take_blocks")
            return InUse(None)
        if want.claim_index in self.ledger.admin_taken.get(device.id, ()):
            return InUse(None)
        return None

    def match_refusal(self, want: Want, device: PoolDevice) -> DeviceReason | None:
        """Return why the device does not match the request, whether or not it is free, or None if it matches."""
        known = self._matches.get(want)
        if known is None:
            known = self._matches[want] = {}
        if device.id not in known:
            known[device.id] = self._find_match_refusal(want, device)
        return known[device.id]

    def _find_match_refusal(self, want: Want, device: PoolDevice) -> DeviceReason | None:
        for _, refusal in _KIND:
            found = refusal(self, want, device)
            if found is not None:
                return found
        return None

    def binding_refusal(self, _want: Want, device: PoolDevice) -> BindingConditionsOff | None:
        """Return the reason if the device has binding conditions and the feature gate is off, or None."""
        off = device.device.binding_conditions and not self.features.binding_conditions
        return BindingConditionsOff() if off else None

    def selector_refusal(self, want: Want, device: PoolDevice) -> SelectorRefused | None:
        """Return the first selector that is false for the device, or None. Raises SelectorError."""
        return want.selector_refusal(device)

    def node_refusal(self, _want: Want, device: PoolDevice) -> OtherNode | None:
        """Return the reason if the device is available only on other nodes, or None."""
        return None if device_is_on(device, self._node) else OtherNode()

    def all_includes(self, want: Want, device: PoolDevice) -> bool:
        """Return whether a request for all devices includes the device.

        Upstream leaves out shared devices with no capacity left (Q10).
        """
        if self.match_refusal(want, device) is not None:
            return False
        refusal = self.counted_capacity_refusal(want, device)
        if refusal is None:
            return True
        demand = self.demand(want, device)
        if demand.refusal is not None or capacity.short(demand.portions, None, None) is not None:
            return False
        self.sighted.add("all_drops_exhausted")
        return not self.quirks.all_drops_exhausted

    def demand(self, want: Want, device: PoolDevice) -> Demand:
        """Return the amounts that the request takes from the device's capacity."""
        key = (want, device.id)
        demand = self._portions.get(key)
        if demand is None:
            demand = self._portions[key] = self._steps.demand(want.capacity, device)
            self.sighted.update(demand.sighted)
        return demand

    @property
    def capacity_counts(self) -> bool:
        """True if the feature gate for consumable capacity is on."""
        return self.features.consumable_capacity

    def capacity_refusal(self, want: Want, device: PoolDevice) -> DeviceReason | None:
        """Return why the device has too little capacity left for the request, or None if it has enough.

        Raises AllocationError for an amount that cannot be counted.
        """
        demand = self.demand(want, device)
        if demand.problem:
            text = f"checking capacity for device {device.id}: {demand.problem}"
            raise AllocationError(want.cause("capacity-request", text))
        if demand.refusal is not None:
            return demand.refusal
        if want.admin:
            full = capacity.short(demand.portions, None, None)
            if not self.quirks.admin_pays:
                return full
        short = capacity.short(demand.portions, self.state.aggregate.get(device.id), self.ledger.shares.get(device.id))
        if short is not None and want.admin:
            self.sighted.add("admin_pays")
        return short

    def counted_capacity_refusal(self, want: Want, device: PoolDevice) -> DeviceReason | None:
        """Return the result of `capacity_refusal`, or None if the feature gate for consumable capacity is off."""
        return self.capacity_refusal(want, device) if self.capacity_counts else None

    def judged(self, slot: int, device: PoolDevice) -> PoolDevice:
        """Return the device whose capacity is checked for this device.

        This is the device itself or, with C1, the device of the slice whose index is `slot`.
        """
        if not self.quirks.capacity_of_wrong_device:
            return device
        devices = device.slice.devices
        if slot >= len(devices) or devices[slot] is device:
            return device
        self.sighted.add("capacity_of_wrong_device")
        return devices[slot]

    def is_shared(self, device: PoolDevice) -> bool:
        """Return whether the device is allocated in shares, so that other requests can get it too."""
        return self.features.consumable_capacity and bool(device.device.allow_multiple_allocations)

    def capacity_in_use(self, device: PoolDevice) -> bool:
        """Return whether a share of the device is in use, so that the device already consumes its counters.

        With Q19, a share without capacity does not count.
        """
        if device.id in self.state.aggregate or device.id in self.ledger.shares:
            return True
        if device.id in self.state.shared:
            self.sighted.add("share_without_capacity_pays_twice")
            return not self.quirks.share_without_capacity_pays_twice
        return False

    # -- devices that can never be taken -------------------------------------------------------------------------

    def never(self, want: Want, device: PoolDevice) -> bool:
        """Return whether the request cannot get the device even if it is the first to be taken.

        Call this only before any device is taken. If it is not known which counter table the device will use, its
        counters are not checked.
        """
        if device.device.consumes_counters:
            if not self.features.partitionable_devices:
                return True
            table = self.foreseen(device) if self.pays_counters(want, device) else None
            if table is not None and self.counters.short(device, table, {}) is not None:
                return True
        if self.capacity_counts and self.capacity_refusal(want, device) is not None:
            return True
        if self.taint_refusal(want, device) is not None:
            return True
        return any(constraint.value(device) is None for constraint in want.constraints)

    def foreseen(self, device: PoolDevice) -> CounterTable | None:
        """Return the counter table that the device will use, or None if this is not known yet (Q1)."""
        return self.counters.foreseen(device, self._pools[device.id.pool_id])

    def taint_refusal(self, want: Want, device: PoolDevice) -> NotTolerated | None:
        """Return the first blocking taint that the request does not tolerate, or None."""
        if not device.taints or not self.features.device_taints:
            return None
        return taints.first_untolerated(device.taints, want.tolerations, self._rules)

    def counters_off(self, _want: Want, device: PoolDevice) -> CountersOff | None:
        """Return the reason if the device consumes counters and the feature gate is off, or None."""
        off = device.device.consumes_counters and not self.features.partitionable_devices
        return CountersOff() if off else None

    def counter_refusal(self, want: Want, device: PoolDevice) -> CounterShort | None:
        """Return the first counter with too little left for the device, or None."""
        if not device.device.consumes_counters or not self.features.partitionable_devices:
            return None
        return self._counter_short(device) if self.pays_counters(want, device) else None

    def _counter_short(self, device: PoolDevice) -> CounterShort | None:
        return self.counters.refuses(self.ledger, device, self._pools[device.id.pool_id], self.sighted)

    def constraint_refusal(self, want: Want, device: PoolDevice) -> ConstraintReason | None:
        """Return how the device violates a constraint of the request, or None. The first violated constraint counts."""
        for constraint in want.constraints:
            if constraint.misreads(device):
                self.sighted.add("list_constraints_as_scalars")
            refusal = constraint.refuses(self.ledger, device)
            if refusal is not None:
                return refusal
        return None

    # -- taking --------------------------------------------------------------------------------------------------

    def take(self, want: Want, device: PoolDevice) -> DeviceReason | None:
        """Take the device if it passes the checks that depend on other devices.

        Return None if it was taken, and the reason otherwise.
        """
        off = self.counters_off(want, device)
        if off is not None:
            return off
        pays = bool(device.device.consumes_counters) and self.pays_counters(want, device)
        short = self._counter_short(device) if pays else None
        if short is not None:
            return short
        untolerated = self.taint_refusal(want, device)
        if untolerated is not None:
            self._leak_counters(device, pays, "rejection_leaks_counters")
            return untolerated
        broken = self.constraint_refusal(want, device)
        if broken is not None:
            self._roll_back(want, device, pays, broken)
            return broken
        return self._write(want, device, pays)

    def pays_counters(self, want: Want, device: PoolDevice) -> bool:
        """Return whether taking the device would consume its counters. The device must have counters."""
        if self.is_shared(device) and self.capacity_in_use(device):
            return False
        if want.admin:
            self.sighted.add("admin_pays")
            return self.quirks.admin_pays
        return True

    def _leak_counters(self, device: PoolDevice, pays: bool, quirk: Quirk) -> None:
        """Leak counters, because upstream has already charged them and does not release them (Q4, Q21)."""
        if pays:
            self.sighted.add(quirk)
            if getattr(self.quirks, quirk):
                self.ledger.leak_charge(self.counters.key(device), device.consumption)

    def _roll_back(self, want: Want, device: PoolDevice, pays: bool, broken: ConstraintReason) -> None:
        """Apply what upstream leaves behind when a constraint rejects. Raises AllocationError for All (Q11)."""
        if want.takes_all:
            self.sighted.add("all_with_constraint_fatal")
            if self.quirks.all_with_constraint_fatal:
                text = f"cannot add device {device.id} because a claim constraint would not be satisfied"
                raise AllocationError(want.cause("all-and-constraint", text))
        self._leak_counters(device, pays, "rejection_leaks_counters")
        for earlier in want.constraints:
            if earlier.index == broken.constraint:
                return
            if earlier.rolled_back(self.ledger, want.request_name):
                self.sighted.add("distinct_remembers_last")

    def _write(self, want: Want, device: PoolDevice, pays: bool) -> DeviceReason | None:
        """Write all the changes for a taken device.

        The capacity check can still fail here, because All used up the capacity in the meantime (Q21), or because it
        was not checked before (C1).
        """
        ledger, shared = self.ledger, self.is_shared(device)
        demand = self.demand(want, device) if self.features.consumable_capacity else None
        if demand is not None and (want.takes_all or self.quirks.capacity_of_wrong_device):
            refusal = self.capacity_refusal(want, device)
            if refusal is not None:
                self._leak_late_failure(want, device, pays)
                return refusal
        for constraint in want.constraints:
            if constraint.overwrites(ledger, want.request_name):
                self.sighted.add("distinct_remembers_last")
            constraint.take(ledger, device, want.request_name)
        if pays:
            self._charge(device, shared)
        share = None
        if not shared or demand is None:
            if want.admin and not self.quirks.admin_take_blocks:
                ledger.take_as_admin(device.id, want.claim_index)
            else:
                ledger.take(device.id, want.claim_index)
        elif not want.admin or self.quirks.admin_pays:
            share = demand.portions
            amounts = tuple((portion.name, portion.amount) for portion in share)
            ledger.share(device.id, amounts, keeps_empty=self.quirks.shared_undo_keeps_counters)
        ledger.record(want.claim_index, Take(want, device, share))
        return None

    def _charge(self, device: PoolDevice, shared: bool) -> None:
        key = self.counters.key(device)
        if shared:
            self.sighted.add("shared_undo_keeps_counters")
            if self.quirks.shared_undo_keeps_counters:
                self.ledger.leak_charge(key, device.consumption)
                return
        self.ledger.charge(key, device.consumption)

    def _leak_late_failure(self, want: Want, device: PoolDevice, pays: bool) -> None:
        self.sighted.add("late_all_failure_leaks")
        if self.quirks.late_all_failure_leaks:
            for constraint in want.constraints:
                constraint.leak_take(self.ledger, device, want.request_name)
            self._leak_counters(device, pays, "late_all_failure_leaks")
            if not self.is_shared(device):
                self.ledger.leak_take(device.id, want.claim_index)


_IN_USE = TakingCheck("in-use", Taker.in_use)
_KIND = (
    TakingCheck("feature", Taker.binding_refusal),
    TakingCheck("selector", Taker.selector_refusal),
    TakingCheck("node", Taker.node_refusal),
)
_MATCHING = (*_KIND, TakingCheck("capacity", Taker.counted_capacity_refusal))
_TAKING = (
    TakingCheck("feature", Taker.counters_off),
    TakingCheck("counter", Taker.counter_refusal),
    TakingCheck("taint", Taker.taint_refusal),
    TakingCheck("constraint", Taker.constraint_refusal),
)
_OF_ONE = (_IN_USE, *_MATCHING, *_TAKING)
_OF_ALL = (*_MATCHING, _IN_USE, *_TAKING)
