"""Counter sets of pools: what is left of them, and whether a device's consumption still fits (KEP-4815).

Amounts are nano-units. A table is what running totals and remainders are kept for: a pool, or with Q1 all pools of
one name, or before counter slices a single slice.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set

from dra_plan.api import quantity
from dra_plan.api.resource import ResourceSlice
from dra_plan.releases import Quirk, Target

from .identity import PoolID
from .ledger import Ledger
from .pools import Consumption, Pool, PoolDevice, PoolSlice
from .reasons import CounterShort
from .state import AllocatedState


class CounterTable:
    """What is left of the counters of a table before the search, and which counter is over-committed already."""

    __slots__ = ("left", "negative", "pool")

    def __init__(self, pool: Pool, left: dict[tuple[str, str], int]) -> None:
        self.pool = pool.id
        self.left = left
        self.negative = next((key for key, amount in left.items() if amount < 0), None)


class Counters:
    """The counter tables of one allocator, made when first asked for and kept for all nodes, as upstream does.

    `slices` are those of the whole cluster by pool; without them no table is foreseen. `shared_names` gives the
    pool names that stand for counters of several drivers; it is asked only where that matters.
    """

    def __init__(
        self,
        state: AllocatedState,
        target: Target,
        slices: Mapping[PoolID, Sequence[PoolSlice]] | None = None,
        shared_names: Callable[[], Set[str]] = frozenset,
    ) -> None:
        self._state, self._rules, self._quirks = state, target.rules, target.quirks
        self._slices = slices if slices is not None else {}
        self._shared_names = shared_names
        self._tables: dict[Hashable, CounterTable] = {}
        self._foreseen: dict[tuple[PoolID, str], CounterTable] = {}

    def key(self, device: PoolDevice) -> Hashable:
        """The table that the device is charged to."""
        if not self._rules.counter_slices:
            return device.slice.name
        return device.id.pool if self._quirks.counters_by_pool_name else device.id.pool_id

    def table(self, device: PoolDevice, pool: Pool, sighted: set[Quirk]) -> CounterTable:
        """The device's table; with Q1 it may have been made for another driver's pool."""
        key = self.key(device)
        table = self._tables.get(key)
        if table is None:
            table = self._tables[key] = CounterTable(pool, self.remaining(pool, device.slice))
        elif table.pool != pool.id:
            sighted.add("counters_by_pool_name")
        return table

    def foreseen(self, device: PoolDevice, pool: Pool) -> CounterTable | None:
        """The device's table if it is certain by now, whoever asks first; None while that may still matter (Q1).

        Nothing is settled by asking here.
        """
        table = self._tables.get(self.key(device))
        if table is not None or not self._is_the_same_for_all(pool):
            return table
        place = (pool.id, "" if self._rules.counter_slices else device.slice.name)
        if place not in self._foreseen:
            self._foreseen[place] = CounterTable(pool, self.remaining(pool, device.slice))
        return self._foreseen[place]

    def _is_the_same_for_all(self, pool: Pool) -> bool:
        """Whether every node, and every driver's pool of that name, would make the same table."""
        if not self._rules.counter_slices:
            return True
        if pool.seen != len(self._slices.get(pool.id, ())):
            return False  # there are slices that the node does not count, or of another generation
        return pool.id.pool not in self._shared_names()

    def remaining(self, pool: Pool, slice_: PoolSlice) -> dict[tuple[str, str], int]:
        """Set totals less what allocated devices consume, by (set, counter); may be negative."""
        own = not self._rules.counter_slices
        left = {
            (counter_set.name, name): quantity.parse(counter.value).nano
            for source in ([slice_] if own else pool.counter_slices)
            for counter_set in source.object.spec.shared_counters
            for name, counter in counter_set.counters.items()
        }
        for device in _devices([slice_] if own else [*pool.slices, *pool.elsewhere]):
            if self._state.holds_counters(device.id, shared_too=self._rules.shared_devices_hold_counters):
                for counter_set, name, amount in device.consumption:
                    if (counter_set, name) in left:
                        left[counter_set, name] -= amount
        return left

    def refuses(self, ledger: Ledger, device: PoolDevice, pool: Pool, sighted: set[Quirk]) -> CounterShort | None:
        """The first counter that the device's consumption would overdraw, or None.

        Upstream compares every counter of the pool with its running total. All totals passed that comparison when they
        were made, so only the device's own counters, and counters that were negative from the start (Q7), can fail.
        """
        table = self.table(device, pool, sighted)
        if table.negative is not None and self._quirks.negative_counter_blocks_pool:
            sighted.add("negative_counter_blocks_pool")
        return self.short(device, table, ledger.counters)

    def short(
        self, device: PoolDevice, table: CounterTable, spent: Mapping[tuple[Hashable, str, str], int]
    ) -> CounterShort | None:
        """The same for a table and running totals of the caller's choice."""
        if table.negative is not None and self._quirks.negative_counter_blocks_pool:
            return CounterShort(*table.negative, 0, table.left[table.negative])
        key, left = self.key(device), table.left
        for counter_set, name, amount in summed(device.consumption):
            total = left.get((counter_set, name))
            if total is None:
                continue
            remaining = total - spent.get((key, counter_set, name), 0)
            if amount > remaining:
                return CounterShort(counter_set, name, amount, remaining)
        return None


def _devices(slices: Iterable[PoolSlice]) -> Iterable[PoolDevice]:
    for slice_ in slices:
        for device in slice_.devices:
            if device.device.consumes_counters:
                yield device


def summed(consumption: Consumption) -> Consumption:
    """One entry a counter, for devices that name a set twice."""
    if len(consumption) == len({(counter_set, name) for counter_set, name, _ in consumption}):
        return consumption
    totals: dict[tuple[str, str], int] = {}
    for counter_set, name, amount in consumption:
        totals[counter_set, name] = totals.get((counter_set, name), 0) + amount
    return tuple((counter_set, name, amount) for (counter_set, name), amount in totals.items())


def shared_names(slices: Iterable[ResourceSlice]) -> frozenset[str]:
    """The pool names under which several drivers have devices that consume counters."""
    drivers: dict[str, set[str]] = {}
    for slice_ in slices:
        if any(device.consumes_counters for device in slice_.spec.devices):
            drivers.setdefault(slice_.spec.pool.name, set()).add(slice_.spec.driver)
    return frozenset(name for name, found in drivers.items() if len(found) > 1)
