"""Check whether the capacity of a device and the counters of its pool are enough for a request.

In order: the ranges of request policies; consumable capacity (KEP-5075); counter sets (KEP-4815). Amounts are in
nano-units. The `ledger` records the amounts that the current search has taken.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from functools import lru_cache
from typing import NamedTuple

from dra_plan.api import quantity
from dra_plan.api.meta import QuantityText
from dra_plan.api.quantity import MAX_INT64, Quantity
from dra_plan.api.resource import CapacityRequestPolicy, CapacityRequestPolicyRange, DeviceCapacity, ResourceSlice
from dra_plan.errors import DraPlanError
from dra_plan.releases import Features, Quirk, Quirks, Rules, Target
from dra_plan.remembered import Remembered

from .identity import DeviceID, PoolID
from .ledger import AllocatedState, Ledger
from .pools import Consumption, Pool, PoolDevice, PoolSlice
from .reasons import CapacityMissing, CapacityShort, CounterShort, PolicyViolated

# -- ranges of request policies ----------------------------------------------------------------------------------------
# The smallest amount that a range allows. Upstream counts steps in whole units; with DRAFractionalCapacityRange it
# counts in thousandths where the range consists of thousandths. Rules: `roundUpRange` and `violateValidRange` of 1.36
# and 1.37.

_NANO_PER_UNIT = 10**9
_NOT_COUNTABLE = "capacity request cannot be represented in the device's range arithmetic: "


class UncountableError(DraPlanError):
    """Raised if an amount cannot be counted in steps. The message is upstream's.

    The error ends the scheduling attempt of the pod.
    """


MOST_DEMANDS = 10_000
"""The maximum number of demands in the cache."""


@lru_cache(maxsize=16)
def steps_of(features: Features, rules: Rules, quirks: Quirks) -> Steps:
    """Return the rounding rules of a release. Equal arguments return the same object."""
    return Steps(features, rules, quirks)


class Steps:
    """The rounding rules of a release for the steps of a capacity range."""

    def __init__(self, features: Features, rules: Rules, quirks: Quirks) -> None:
        self._fractional = features.fractional_ranges
        self.checks_amounts = rules.checks_amounts
        self._keeps_notation = rules.steps_keep_notation
        self._whole = quirks.whole_steps
        self._quirks = quirks
        self._demands: Remembered[Hashable, Demand] = Remembered(MOST_DEMANDS)

    @classmethod
    def of(cls, target: Target) -> Steps:
        """Return the rounding rules of the target's release."""
        return steps_of(target.features, target.rules, target.quirks)

    def demand(self, requests: Mapping[str, QuantityText] | None, device: PoolDevice) -> Demand:
        """Return the amounts that these capacity requests take from the device. Equal devices have equal demands."""
        asked = tuple([(name, str(written)) for name, written in requests.items()]) if requests else ()
        key = (asked, device.id.driver, device.capacity_key)
        return self._demands.of(key, lambda: demand(requests, device, self, self._quirks))

    def rounded(self, amount: Quantity, valid: CapacityRequestPolicyRange, sighted: list[Quirk]) -> Quantity:
        """Return the amount rounded up to the next step of the range, but at least the minimum of the range.

        Raises UncountableError if the release cannot count the amount.
        """
        least = quantity.parse(valid.min if valid.min is not None else 0)
        if amount < least:
            return least
        step = quantity.parse(valid.step) if valid.step is not None else None
        if step is None or step.nano <= 0:
            return amount
        if self._in_thousandths(valid):
            return self._rounded_in_thousandths(amount, least, step)
        exact = least.nano + -((least.nano - amount.nano) // step.nano) * step.nano
        whole = self._rounded_in_units(amount, least, step)
        if exact != whole * _NANO_PER_UNIT:
            if not self._whole:
                return quantity.make(exact, -9, step.format if self._keeps_notation else amount.format)
            sighted.append("whole_steps")
        return quantity.make(whole, 0, step.format if self._keeps_notation else "BinarySI")

    def _rounded_in_units(self, amount: Quantity, least: Quantity, step: Quantity) -> int:
        """Return the amount in whole units, rounded up."""
        if self.checks_amounts and amount.nano > MAX_INT64 * _NANO_PER_UNIT:
            raise UncountableError(f"{_NOT_COUNTABLE}request {amount.text} exceeds MaxInt64")
        count = -((least.units - amount.units) // step.units)
        if self.checks_amounts and least.units >= 0 and count > (MAX_INT64 - least.units) // step.units:
            told = f"rounding request {amount.text} up to the next step passes MaxInt64"
            raise UncountableError(_NOT_COUNTABLE + told)
        return least.units + count * step.units

    def _rounded_in_thousandths(self, amount: Quantity, least: Quantity, step: Quantity) -> Quantity:
        if not _is_thousandths(amount):
            raise UncountableError(f"{_NOT_COUNTABLE}request {amount.text} is not a representable milli value")
        count = -((least.milli - amount.milli) // step.milli)
        if count > (MAX_INT64 - least.milli) // step.milli:
            told = f"rounding request {amount.text} up to the next step passes the milli-value range"
            raise UncountableError(_NOT_COUNTABLE + told)
        found = least.milli + count * step.milli
        return quantity.make(found, -3, step.format) if found % 1000 else quantity.make(found // 1000, 0, step.format)

    def outside(self, amount: Quantity, valid: CapacityRequestPolicyRange) -> bool:
        """Return whether the amount is outside the range."""
        if valid.max is not None and amount > quantity.parse(valid.max):
            return True
        if valid.step is None:
            return False
        step, least = quantity.parse(valid.step), quantity.parse(valid.min if valid.min is not None else 0)
        if step.nano <= 0:
            return False
        if self._in_thousandths(valid):
            return not _is_thousandths(amount) or (amount.milli - least.milli) % step.milli != 0
        if self._whole:
            return (amount.units - least.units) % step.units != 0
        return (amount.nano - least.nano) % step.nano != 0

    def _in_thousandths(self, valid: CapacityRequestPolicyRange) -> bool:
        """Return whether steps are counted in thousandths, because they can express all bounds of the range."""
        ends = (valid.min, valid.max, valid.step)
        return self._fractional and all(_is_thousandths(quantity.parse(end)) for end in ends if end is not None)


def _is_thousandths(amount: Quantity) -> bool:
    """Return whether an int64 of thousandths equals the amount exactly."""
    return quantity.make(amount.milli, -3, amount.format) == amount


# -- consumable capacity -----------------------------------------------------------------------------------------------


class Portion(NamedTuple):
    """The amount that a request takes from one capacity of a device.

    `total` is the capacity of the device, and `text` is the amount as it is written in the allocation result.
    """

    name: str
    amount: int
    total: int
    text: str


class Demand(NamedTuple):
    """The amounts that a request takes from a device, or the reason why the device cannot serve the request.

    `sighted` lists the quirks that affect the result. If the amounts cannot be computed, `problem` is upstream's
    message for the error, which ends the scheduling attempt of the pod.
    """

    portions: tuple[Portion, ...]
    refusal: CapacityMissing | PolicyViolated | None = None
    sighted: tuple[Quirk, ...] = ()
    problem: str = ""


def demand(requests: Mapping[str, QuantityText] | None, device: PoolDevice, steps: Steps, quirks: Quirks) -> Demand:
    """Return the amounts that the requests take from each capacity of the device.

    A request may also take an amount from a capacity that it does not mention.
    """
    capacities = device.device.capacity
    wanted: dict[str, QuantityText] = {}
    for name, written in (requests or {}).items():
        found = name if name in capacities else _qualified(name, device.id, capacities)
        if found is not None and found != name and quirks.literal_capacity_names:
            return Demand((), CapacityMissing(name), ("literal_capacity_names",))
        if found is None:
            return Demand((), CapacityMissing(name))
        wanted[found] = written
    sighted: list[Quirk] = []
    amounts: dict[str, Quantity] = {}
    for name, capacity in capacities.items():
        try:
            amounts[name] = consumed(wanted.get(name), capacity, steps, sighted)
        except UncountableError as error:
            return Demand((), PolicyViolated(name, str(wanted[name])), (), f'capacity "{name}": {error}')
        if amounts[name].sign < 0 and steps.checks_amounts:
            refusal = PolicyViolated(name, amounts[name].text)
            return Demand((), refusal, (), f'capacity "{name}": capacity value is negative')
    portions = []
    for name, amount in amounts.items():
        if violates(amount, capacities[name].request_policy, steps, quirks, sighted):
            return Demand((), PolicyViolated(name, amount.text), tuple(sighted))
        portions.append(Portion(name, amount.nano, quantity.parse(capacities[name].value).nano, amount.text))
    return Demand(tuple(portions), None, tuple(sighted))


def short(
    portions: tuple[Portion, ...], persisted: Mapping[str, int] | None, taken: Mapping[str, int] | None
) -> CapacityShort | None:
    """Return the first capacity with too little left, or None if there is enough of each.

    `persisted` is what allocated claims consume, and `taken` is what the current search has taken.
    """
    for name, amount, total, _ in portions:
        used = (persisted.get(name, 0) if persisted else 0) + (taken.get(name, 0) if taken else 0)
        if used + amount > total:
            return CapacityShort(name, amount, total - used)
    return None


def _qualified(name: str, device: DeviceID, capacities: Mapping[str, DeviceCapacity]) -> str | None:
    """Return the same capacity's name with or without the driver's domain.

    Upstream knows only the literal name (Q18).
    """
    domain, slash, identifier = name.partition("/")
    other = (identifier if domain == device.driver else None) if slash else f"{device.driver}/{name}"
    return other if other in capacities else None


def consumed(requested: QuantityText | None, capacity: DeviceCapacity, steps: Steps, sighted: list[Quirk]) -> Quantity:
    """Return the amount that a request consumes, rounded as the request policy says.

    A request without an amount consumes the policy's default or, if there is no default, the whole capacity. Raises
    UncountableError.
    """
    policy = capacity.request_policy
    if requested is None:
        default = policy.default if policy is not None else None
        return quantity.parse(capacity.value if default is None else default)
    amount = quantity.parse(requested)
    if policy is None:
        return amount
    if policy.valid_range is not None and policy.valid_range.min is not None:
        return steps.rounded(amount, policy.valid_range, sighted)
    if policy.valid_values:
        allowed = (quantity.parse(value) for value in policy.valid_values)
        return next((value for value in allowed if value >= amount), amount)
    return amount


def violates(
    amount: Quantity, policy: CapacityRequestPolicy | None, steps: Steps, quirks: Quirks, sighted: list[Quirk]
) -> bool:
    """Return whether the policy forbids the amount.

    The policy allows its default, and the amounts in its range or list of values.
    """
    if policy is None:
        return False
    if policy.default is not None:
        default = quantity.parse(policy.default)
        if amount.is_identical(default):
            return False
        if amount == default:
            if not quirks.default_compared_by_form:
                return False
            sighted.append("default_compared_by_form")
    if policy.valid_range is not None:
        return steps.outside(amount, policy.valid_range)
    if policy.valid_values:
        return all(amount != quantity.parse(value) for value in policy.valid_values)
    return False


# -- counter sets of pools ---------------------------------------------------------------------------------------------
# Running totals and remainders are stored by table. A table belongs to a pool, with Q1 to all pools that share a name,
# and in releases without counter slices to a single slice.


class CounterTable:
    """The amounts of a pool's counters that are left before the search.

    `negative` is the first counter that is overcommitted, or None.
    """

    __slots__ = ("left", "negative", "pool")

    def __init__(self, pool: Pool, left: dict[tuple[str, str], int]) -> None:
        self.pool = pool.id
        self.left = left
        self.negative = next((key for key, amount in left.items() if amount < 0), None)


class Counters:
    """The counter tables of one allocator.

    As in upstream, the first device that needs a table creates it, and all nodes then share it. `slices` are the slices
    of the cluster, by pool; without them, no table is known before its first use. `shared_names` returns the pool names
    that several drivers use.
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
        """Return the key of the device's counter table."""
        if not self._rules.counter_slices:
            return device.slice.name
        return device.id.pool if self._quirks.counters_by_pool_name else device.id.pool_id

    def table(self, device: PoolDevice, pool: Pool, sighted: set[Quirk]) -> CounterTable:
        """Return the device's counter table, creating it if necessary.

        With Q1, the table may belong to another driver's pool.
        """
        key = self.key(device)
        table = self._tables.get(key)
        if table is None:
            table = self._tables[key] = CounterTable(pool, self.remaining(pool, device.slice))
        elif table.pool != pool.id:
            sighted.add("counters_by_pool_name")
        return table

    def foreseen(self, device: PoolDevice, pool: Pool) -> CounterTable | None:
        """Return the counter table that the device will use, or None if this depends on which device comes first (Q1).

        No table is created.
        """
        table = self._tables.get(self.key(device))
        if table is not None or not self._is_the_same_for_all(pool):
            return table
        place = (pool.id, "" if self._rules.counter_slices else device.slice.name)
        if place not in self._foreseen:
            self._foreseen[place] = CounterTable(pool, self.remaining(pool, device.slice))
        return self._foreseen[place]

    def _is_the_same_for_all(self, pool: Pool) -> bool:
        """Return whether every node, and every driver's pool with that name, would create the same table."""
        if not self._rules.counter_slices:
            return True
        if pool.seen != len(self._slices.get(pool.id, ())):
            return False  # some slices are not counted by the node, or belong to another generation
        return pool.id.pool not in self._shared_names()

    def remaining(self, pool: Pool, slice_: PoolSlice) -> dict[tuple[str, str], int]:
        """Return how much of each counter is left, by counter set and counter. Amounts may be negative."""
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
        """Return the first counter that the device would overdraw, or None if there is none.

        Upstream checks every counter of the pool, but only the device's own counters, and counters that were negative
        before the search (Q7), can fail.
        """
        table = self.table(device, pool, sighted)
        if table.negative is not None and self._quirks.negative_counter_blocks_pool:
            sighted.add("negative_counter_blocks_pool")
        return self.short(device, table, ledger.counters)

    def short(
        self, device: PoolDevice, table: CounterTable, spent: Mapping[tuple[Hashable, str, str], int]
    ) -> CounterShort | None:
        """Return the first counter that the device would overdraw, or None if there is none.

        `spent` is what the search has taken from the table so far.
        """
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
    """Return the consumption with one entry per counter.

    A device may list a counter set twice; the amounts are then added up.
    """
    if len(consumption) == len({(counter_set, name) for counter_set, name, _ in consumption}):
        return consumption
    totals: dict[tuple[str, str], int] = {}
    for counter_set, name, amount in consumption:
        totals[counter_set, name] = totals.get((counter_set, name), 0) + amount
    return tuple((counter_set, name, amount) for (counter_set, name), amount in totals.items())


def shared_names(slices: Iterable[ResourceSlice]) -> frozenset[str]:
    """Return the pool names that several drivers use for devices that consume counters."""
    drivers: dict[str, set[str]] = {}
    for slice_ in slices:
        if any(device.consumes_counters for device in slice_.spec.devices):
            drivers.setdefault(slice_.spec.pool.name, set()).add(slice_.spec.driver)
    return frozenset(name for name, found in drivers.items() if len(found) > 1)
