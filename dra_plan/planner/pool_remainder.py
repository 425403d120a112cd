"""What is left of one pool: the state of each device, and what its counters and capacities still have."""

from __future__ import annotations

from dra_plan.allocator import View
from dra_plan.allocator.capacity import Counters
from dra_plan.allocator.ledger import Ledger
from dra_plan.allocator.pools import Pool, PoolDevice, PoolSlice, PoolState
from dra_plan.allocator.reasons import CounterShort
from dra_plan.allocator.taints import blocks
from dra_plan.api import quantity
from dra_plan.api.resource import CounterSet
from dra_plan.documents.pools import CounterSetLeft, DeviceState


class PoolRemainder:
    """What is left of one pool before anything new is allocated."""

    def __init__(self, view: View, pool: Pool) -> None:
        self._view, self._pool = view, pool
        target = view.target
        # Counters are kept by pool here whatever Q1 does: the list shows each pool on its own.
        self.counters = Counters(view.state, target.repaired("counters_by_pool_name"))
        self._empty = Ledger(0)
        slices = [*pool.slices, *pool.elsewhere]
        slices.sort(key=lambda slice_: slice_.name if target.rules.sorted else slice_.position)
        self.devices = [device for slice_ in slices for device in slice_.devices]

    def is_tainted(self, device: PoolDevice) -> bool:
        """Whether a taint keeps requests without toleration away."""
        return self._view.target.features.device_taints and any(
            blocks(taint, self._view.target.rules) for taint in device.taints
        )

    def state(self, device: PoolDevice) -> tuple[DeviceState, str]:
        """Allocated, Shared (allocated, with something left), Available, or Unavailable; and what is in the way."""
        state = self._view.state
        if device.id in state.dedicated:
            return "Allocated", ""
        if device.id in state.shared:
            used_up = [name for name, left in self.capacity(device).items() if left <= 0]
            return ("Allocated", f"no {used_up[0]} left") if used_up else ("Shared", self._obstacle(device))
        obstacle = self._obstacle(device)
        return ("Unavailable", obstacle) if obstacle else ("Available", "")

    def _obstacle(self, device: PoolDevice) -> str:
        """Why no request can have the device, or only one that tolerates its taints."""
        return self.withheld(device) or (self._counter_obstacle(device) if device.device.consumes_counters else "")

    def withheld(self, device: PoolDevice) -> str:
        """The same as far as it is not for what is in use."""
        pool, target = self._pool, self._view.target
        if not pool.usable and (target.rules.skips_unusable_pools or pool.state is not PoolState.INCOMPLETE):
            return f"pool is {pool.state.value.lower()}"
        if device.device.binding_conditions and not target.features.binding_conditions:
            return "binding conditions, with DRADeviceBindingConditions off"
        if self.is_tainted(device):
            taint = next(taint for taint in device.taints if blocks(taint, target.rules))
            return f"taint {taint.key}{'=' if taint.value else ''}{taint.value}:{taint.effect}"
        if device.device.consumes_counters and not target.features.partitionable_devices:
            return "counters, with DRAPartitionableDevices off"
        return ""

    def _counter_obstacle(self, device: PoolDevice) -> str:
        if device.id in self._view.state.aggregate:
            return ""  # the shares that exist have paid for it
        short = self.counters.refuses(self._empty, device, self._pool, set())
        if short is None:
            return ""
        like = self._total(device, short)
        need, left = _text(short.need, like), _text(short.left, like)
        which = f"counter {short.counter} of {short.counter_set}"
        # a counter that more was taken from than there is keeps the whole pool from being used (Q7)
        return f"{which}: {need} needed, {left} left" if short.need else f"{which} is overdrawn: {left} left"

    def _total(self, device: PoolDevice, short: CounterShort) -> quantity.Quantity:
        """The counter's total, whose notation the amounts get."""
        sources = self._pool.counter_slices if self._view.target.rules.counter_slices else [device.slice]
        sets = {each.name: each for slice_ in sources for each in slice_.object.spec.shared_counters}
        return quantity.parse(sets[short.counter_set].counters[short.counter].value)

    def capacity(self, device: PoolDevice) -> dict[str, int]:
        """Nano-units left of each capacity of a device that may be shared."""
        used = self._view.state.aggregate.get(device.id, {})
        return {
            name: quantity.parse(capacity.value).nano - used.get(name, 0)
            for name, capacity in device.device.capacity.items()
        }

    def capacity_texts(self, device: PoolDevice) -> dict[str, str]:
        """The same as quantities, in the notation of the total."""
        left = self.capacity(device)
        return {
            name: _text(left[name], quantity.parse(capacity.value)) for name, capacity in device.device.capacity.items()
        }

    def counter_sets(self) -> list[CounterSetLeft]:
        """Totals and remainders of every counter set, in the order of the slices."""
        pool = self._pool
        own = not self._view.target.rules.counter_slices
        sources = pool.slices if own else pool.counter_slices
        return [
            self._counter_set(slice_, counter_set)
            for slice_ in sources
            for counter_set in slice_.object.spec.shared_counters
        ]

    def _counter_set(self, slice_: PoolSlice, counter_set: CounterSet) -> CounterSetLeft:
        left = self.counters.remaining(self._pool, slice_)
        totals = {name: quantity.parse(counter.value) for name, counter in counter_set.counters.items()}
        return CounterSetLeft(
            name=counter_set.name,
            total={name: total.text for name, total in totals.items()},
            left={name: _text(left[counter_set.name, name], total) for name, total in totals.items()},
        )


def _text(nano: int, like: quantity.Quantity) -> str:
    """An amount in the notation of another one."""
    if nano == like.nano:
        return like.text
    whole, rest = divmod(nano, 10**9)
    return quantity.make(nano, -9, like.format).text if rest else quantity.canonical(whole, like.format)
