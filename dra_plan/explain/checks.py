"""What one device must pass to serve one request while nothing is taken yet, in the allocator's order.

The allocator's own functions decide; this file only puts them in a row, so that every check can be asked, not just the
first that fails. A test compares the row with what a watched search says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from dra_plan.allocator import Pool, PoolDevice, SelectorError, capacity, taints
from dra_plan.allocator.counters import Counters
from dra_plan.allocator.ledger import Ledger
from dra_plan.allocator.pools import device_is_on
from dra_plan.allocator.reasons import BindingConditionsOff, CountersOff, InUse, OtherNode, SelectorRefused
from dra_plan.allocator.requests import Want

from .placement import Placement
from .reasons import PoolUnusable, Refusal, SelectorFailed


class Check(NamedTuple):
    """One check: its name in documents, and the reason why a device fails it, or None."""

    name: str
    refusal: Callable[[Want, PoolDevice, Pool], Refusal | None]


class Checks:
    """The checks of one placement."""

    def __init__(self, placement: Placement) -> None:
        self._placement = placement
        self._features, self._rules, self._quirks = (
            placement.view.target.features,
            placement.view.target.rules,
            placement.view.target.quirks,
        )
        self._counters = Counters(placement.view.state, placement.view.target)
        self._ledger = Ledger(len(placement.claims))
        self._kind = (
            Check("feature", self._binding),
            Check("selector", self._selector),
            Check("node", self._node),
        )
        self._capacity_check = Check("capacity", self._capacity)
        self._rest = (
            Check("feature", self._counters_off),
            Check("counter", self._counter),
            Check("taint", self._taint),
            Check("constraint", self._constraint),
        )
        in_use = Check("in-use", self._in_use)
        pool = Check("pool", self._pool)
        self._one_by_one = (pool, in_use, *self._kind, self._capacity_check, *self._rest)
        self._listed = (pool, *self._kind, self._capacity_check, in_use, *self._rest)
        self._matching = (pool, *self._kind, Check("capacity", self._all_capacity))

    def of(self, want: Want) -> tuple[Check, ...]:
        """The checks in the order in which the want meets them; All lists what matches before it looks what is free."""
        return self._listed if want.takes_all else self._one_by_one

    def first(self, want: Want, device: PoolDevice, pool: Pool) -> Refusal | None:
        """The first reason against the device, or None."""
        for _, refusal in self.of(want):
            found = refusal(want, device, pool)
            if found is not None:
                return found
        return None

    def matches(self, want: Want, device: PoolDevice, pool: Pool) -> bool:
        """Whether All includes the device."""
        return all(check.refusal(want, device, pool) is None for check in self._matching)

    def _pool(self, _want: Want, _device: PoolDevice, pool: Pool) -> Refusal | None:
        if not pool.incomplete and not pool.problem and pool.superseded_by is None:
            return None
        usable = pool.usable or not (self._rules.skips_unusable_pools or pool.problem)
        return None if usable else PoolUnusable(pool.state.value.lower())

    def _in_use(self, want: Want, device: PoolDevice, _pool: Pool) -> Refusal | None:
        holder = None if want.admin else self._placement.view.state.dedicated.get(device.id)
        return None if holder is None else InUse(holder)

    def _binding(self, _want: Want, device: PoolDevice, _pool: Pool) -> Refusal | None:
        off = bool(device.device.binding_conditions) and not self._features.binding_conditions
        return BindingConditionsOff() if off else None

    def _selector(self, want: Want, device: PoolDevice, _pool: Pool) -> Refusal | None:
        return self.selector(want, device)

    def selector(self, want: Want, device: PoolDevice) -> Refusal | None:
        """The first selector of the class, then of the request, that is false for the device or fails on it."""
        for condition in want.conditions:
            try:
                if not condition.holds(device):
                    return SelectorRefused(condition.class_name, condition.index, condition.expression)
            except SelectorError as error:
                compiles = error.device is not None
                place = (condition.class_name, condition.index, condition.expression)
                return SelectorFailed(*place, str(error), compiles, error.of_device)
        return None

    def _node(self, _want: Want, device: PoolDevice, _pool: Pool) -> Refusal | None:
        return None if device_is_on(device, self._placement.node) else OtherNode()

    def _capacity(self, want: Want, device: PoolDevice, _pool: Pool) -> Refusal | None:
        if not self._features.consumable_capacity:
            return None
        demand = capacity.demand(want.capacity, device, self._quirks)
        if demand.refusal is not None:
            return demand.refusal
        if want.admin and not self._quirks.admin_pays:
            return capacity.short(demand.portions, None, None)
        return capacity.short(demand.portions, self._placement.view.state.aggregate.get(device.id), None)

    def _all_capacity(self, want: Want, device: PoolDevice, pool: Pool) -> Refusal | None:
        """As for a single device; repaired, All also means devices whose capacity others use (Q10)."""
        refusal = self._capacity(want, device, pool)
        if refusal is None or self._quirks.all_drops_exhausted:
            return refusal
        demand = capacity.demand(want.capacity, device, self._quirks)
        return demand.refusal or capacity.short(demand.portions, None, None)

    def _counters_off(self, _want: Want, device: PoolDevice, _pool: Pool) -> Refusal | None:
        off = bool(device.device.consumes_counters) and not self._features.partitionable_devices
        return CountersOff() if off else None

    def _counter(self, want: Want, device: PoolDevice, pool: Pool) -> Refusal | None:
        if not device.device.consumes_counters or not self._features.partitionable_devices:
            return None
        return self._counters.refuses(self._ledger, device, pool, set()) if self._pays(want, device) else None

    def _pays(self, want: Want, device: PoolDevice) -> bool:
        """A share of a device that is shared already costs no counters, and neither does admin access once repaired."""
        state, shared = (
            self._placement.view.state,
            self._features.consumable_capacity and device.device.allow_multiple_allocations,
        )
        paid = device.id in state.aggregate or (
            device.id in state.shared and not self._quirks.share_without_capacity_pays_twice
        )
        if shared and paid:
            return False
        return not want.admin or self._quirks.admin_pays

    def _taint(self, want: Want, device: PoolDevice, _pool: Pool) -> Refusal | None:
        if not self._features.device_taints or not device.taints:
            return None
        return taints.first_untolerated(device.taints, want.tolerations, self._rules)

    def _constraint(self, want: Want, device: PoolDevice, _pool: Pool) -> Refusal | None:
        for constraint in want.constraints:
            refusal = constraint.refuses(self._ledger, device)
            if refusal is not None:
                return refusal
        return None
