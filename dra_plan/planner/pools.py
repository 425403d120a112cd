"""Pools as each node sees them, their free capacity, and devices that are partitions of other devices."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from dra_plan.allocator import PoolGatherer, View
from dra_plan.allocator.capacity import Counters, summed
from dra_plan.allocator.identity import DeviceID
from dra_plan.allocator.ledger import Ledger
from dra_plan.allocator.pools import Pool, PoolDevice, PoolSlice, PoolState, targets
from dra_plan.allocator.reasons import CounterShort
from dra_plan.allocator.taints import blocks
from dra_plan.api import quantity
from dra_plan.api.core import Node
from dra_plan.api.resource import CounterSet
from dra_plan.documents.pools import CounterSetLeft, DeviceState, PartitionProfile

_PROFILE = ("profile", "type")
MODEL_ATTRIBUTES = ("model", "productName", "product")
"""The attributes, in a driver's own domain, in which drivers publish the model of a device."""


def model(device: PoolDevice) -> str:
    """Return the device's model, or "" if the driver does not publish it."""
    return _first(device, MODEL_ATTRIBUTES)


def profile(device: PoolDevice) -> str:
    """Return the kind of partition or, if the driver does not publish it, the device name without numbers."""
    return _first(device, _PROFILE) or re.sub(r"[-_.]?\d+", "", device.id.device) or device.id.device


class DeviceKind(NamedTuple):
    """The properties that all devices on one line of a list share."""

    driver: str
    model: str
    profile: str
    """The kind of partition, or "" for a device that is not a partition."""


def kind(device: PoolDevice) -> DeviceKind:
    """Return the device's driver and model and, if it is a partition, the kind of partition."""
    return DeviceKind(device.id.driver, model(device), profile(device) if device.consumption else "")


def _first(device: PoolDevice, names: Sequence[str]) -> str:
    attributes = device.device.attributes
    for name in names:
        found = attributes.get(name) or attributes.get(f"{device.id.driver}/{name}")
        if found is not None and found.string_value:
            return found.string_value
    return ""


def physical(devices: Sequence[PoolDevice]) -> int:
    """Return the number of physical devices.

    Devices that use a counter set are partitions, so each counter set counts as one physical device. Each other device
    counts as one.
    """
    drawn_from = {counter_set for device in devices for counter_set, _, _ in device.consumption}
    return len(drawn_from) + sum(not device.consumption for device in devices)


def profiles(
    counters: Counters, pool: Pool, devices: Sequence[PoolDevice], available: Sequence[PoolDevice]
) -> list[PartitionProfile]:
    """Return the kinds of partitions in a pool.

    Each has the number of its partitions, and how many of them still fit if no other kind is allocated.
    """
    total = Counter(profile(device) for device in devices if device.consumption)
    fit: Counter[str] = Counter()
    spent: dict[str, dict[tuple[Hashable, str, str], int]] = {}
    for device in available:
        if not device.consumption:
            continue
        name = profile(device)
        taken = spent.setdefault(name, {})
        if counters.short(device, counters.table(device, pool, set()), taken) is None:
            fit[name] += 1
            for counter_set, counter, amount in summed(device.consumption):
                place = (counters.key(device), counter_set, counter)
                taken[place] = taken.get(place, 0) + amount
    return [PartitionProfile(profile=name, devices=total[name], fit=fit[name]) for name in sorted(total)]


class PoolRemainder:
    """The devices and capacity of a pool that are free before any new claim is allocated."""

    def __init__(self, view: View, pool: Pool) -> None:
        self._view, self._pool = view, pool
        target = view.target
        # Counters are counted by pool here, regardless of Q1, because the list shows each pool separately.
        self.counters = Counters(view.state, target.repaired("counters_by_pool_name"))
        self._empty = Ledger(0)
        slices = [*pool.slices, *pool.elsewhere]
        slices.sort(key=lambda slice_: slice_.name if target.rules.sorted else slice_.position)
        published: dict[DeviceID, PoolDevice] = {}
        for device in (device for slice_ in slices for device in slice_.devices):
            known = published.setdefault(device.id, device)
            if known is not device and self.state(known)[0] == "Unavailable" != self.state(device)[0]:
                published[device.id] = device
        self.devices = list(published.values())
        """Each device once. If several slices of the pool publish a device, the first one that requests can get is
        used.
        """

    def is_tainted(self, device: PoolDevice) -> bool:
        """Return whether the device has a taint that keeps requests without a toleration away."""
        return bool(self.taint(device))

    def taint(self, device: PoolDevice) -> str:
        """Return the first taint that keeps requests without a toleration away, as KEY=VALUE:EFFECT, or ""."""
        target = self._view.target
        blocking = (taint for taint in device.taints if target.features.device_taints and blocks(taint, target.rules))
        return next((f"{each.key}{'=' if each.value else ''}{each.value}:{each.effect}" for each in blocking), "")

    def state(self, device: PoolDevice) -> tuple[DeviceState, str]:
        """Return the state of the device, and the reason why requests cannot get it, or "".

        The state is Allocated, Shared (allocated, with capacity left), Available or Unavailable.
        """
        state = self._view.state
        if device.id in state.dedicated:
            return "Allocated", ""
        if device.id in state.shared:
            used_up = [name for name, left in self.capacity(device).items() if left <= 0]
            return ("Allocated", f"no {used_up[0]} left") if used_up else ("Shared", self._obstacle(device))
        obstacle = self._obstacle(device)
        return ("Unavailable", obstacle) if obstacle else ("Available", "")

    def _obstacle(self, device: PoolDevice) -> str:
        """Return the reason why no request can get the device, or why only a request that tolerates its taints can."""
        return self.withheld(device) or (self._counter_obstacle(device) if device.device.consumes_counters else "")

    def withheld(self, device: PoolDevice) -> str:
        """Return why requests could not get the device even if it were not in use, or "" if there is no reason."""
        pool, target = self._pool, self._view.target
        if not pool.usable and (target.rules.skips_unusable_pools or pool.state is not PoolState.INCOMPLETE):
            return f"pool is {pool.state.value.lower()}"
        if device.device.binding_conditions and not target.features.binding_conditions:
            return "binding conditions, with DRADeviceBindingConditions off"
        if taint := self.taint(device):
            return f"taint {taint}"
        if device.device.consumes_counters and not target.features.partitionable_devices:
            return "counters, with DRAPartitionableDevices off"
        return ""

    def _counter_obstacle(self, device: PoolDevice) -> str:
        if device.id in self._view.state.aggregate:
            return ""  # the existing shares have already been charged for it
        short = self.counters.refuses(self._empty, device, self._pool, set())
        if short is None:
            return ""
        like = self._total(device, short)
        need, left = _text(short.need, like), _text(short.left, like)
        which = f"counter {short.counter} of {short.counter_set}"
        # a counter that is overdrawn makes the whole pool unusable (Q7)
        return f"{which}: {need} needed, {left} left" if short.need else f"{which} is overdrawn: {left} left"

    def _total(self, device: PoolDevice, short: CounterShort) -> quantity.Quantity:
        """Return the counter's total. All of the counter's amounts use the total's notation."""
        sources = self._pool.counter_slices if self._view.target.rules.counter_slices else [device.slice]
        sets = {each.name: each for slice_ in sources for each in slice_.object.spec.shared_counters}
        return quantity.parse(sets[short.counter_set].counters[short.counter].value)

    def capacity(self, device: PoolDevice) -> dict[str, int]:
        """Return how much of each capacity is free on the device, in nano-units. The device may be shared."""
        used = self._view.state.aggregate.get(device.id, {})
        return {
            name: quantity.parse(capacity.value).nano - used.get(name, 0)
            for name, capacity in device.device.capacity.items()
        }

    def capacity_texts(self, device: PoolDevice) -> dict[str, str]:
        """Return how much of each capacity is free on the device, in the notation of its total amount."""
        left = self.capacity(device)
        return {
            name: _text(left[name], quantity.parse(capacity.value)) for name, capacity in device.device.capacity.items()
        }

    def counter_sets(self) -> list[CounterSetLeft]:
        """Return the total and free amounts of every counter set, in the order of the slices."""
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
    """Return an amount in the notation of another one."""
    if nano == like.nano:
        return like.text
    whole, rest = divmod(nano, 10**9)
    return quantity.make(nano, -9, like.format).text if rest else quantity.canonical(whole, like.format)


@dataclass(slots=True)
class SeenPool:
    """A pool in one state, and the nodes that see it in this state.

    Nodes can see different generations or states of a pool.
    """

    pool: Pool
    nodes: list[Node] = field(default_factory=list)
    reached_by: list[Node] = field(default_factory=list)
    """The nodes that see the pool and can use its devices. For an old generation, all given nodes are considered."""


def seen_pools(view: View, nodes: Sequence[Node], *, everywhere: bool) -> list[SeenPool]:
    """Return the pools as the nodes see them, sorted by driver, pool name and generation.

    A pool is returned once for each state in which nodes see it. If `everywhere` is set, pools that no node reaches are
    returned too, once and with all of their devices. A node that sees a pool only because of the pool's counters (Q15)
    cannot use its devices, so the state that such a node sees is left out.
    """
    gatherer = view.gatherer
    found: dict[tuple[Any, ...], SeenPool] = {}
    for node in nodes:
        obsolete: list[Pool] = []
        for pool in (*gatherer.gather(node, obsolete=obsolete), *obsolete):
            found.setdefault(_key(pool, gatherer), SeenPool(pool)).nodes.append(node)
    for seen in found.values():
        seen.reached_by = _reaching(seen, gatherer, nodes)
    found = {key: seen for key, seen in found.items() if seen.reached_by}
    for pool in _unseen(view, {(seen.pool.id, seen.pool.generation) for seen in found.values()}):
        seen = SeenPool(pool)
        seen.reached_by = _reaching(seen, gatherer, nodes)
        if everywhere or seen.reached_by:
            found[_key(pool, gatherer)] = seen
    return [found[key] for key in sorted(found)]


def _reaching(seen: SeenPool, gatherer: PoolGatherer, nodes: Sequence[Node]) -> list[Node]:
    pool = seen.pool
    slices = gatherer.generation(pool.id, pool.generation).slices
    if seen.nodes and not any(slice_.object.spec.shared_counters for slice_ in slices):
        return seen.nodes
    among = seen.nodes or (nodes if pool.state is PoolState.OBSOLETE else ())
    name = node_name(slices)
    if name:
        return [node for node in among if node.metadata.name == name]
    known = [each for each in slices if gatherer.counts(each.object)]
    offering = [each for each in known if each.object.spec.devices or not each.object.spec.shared_counters]
    return [node for node in among if any(targets(slice_, node) for slice_ in offering)]


def node_name(slices: Iterable[PoolSlice]) -> str:
    """Return the node that all slices name, or "" if they name several or none."""
    names = {slice_.object.spec.node_name or "" for slice_ in slices}
    return names.pop() if len(names) == 1 else ""


def _key(pool: Pool, gatherer: PoolGatherer) -> tuple[Any, ...]:
    """Return the key of a pool, which is equal if two nodes see it alike: its slices, and the resulting state."""
    slices: tuple[int, ...] = ()  # the whole generation, as for most pools
    if pool.seen != len(gatherer.generation(pool.id, pool.generation).slices):
        slices = tuple(sorted(each.position for each in (*pool.slices, *pool.counter_slices)))
    return (*pool.id, pool.generation, pool.state.value, str(pool.problem or ""), pool.seen, slices)


def _unseen(view: View, seen: set[Any]) -> Iterable[Pool]:
    """Yield pool generations that no node sees: older ones, and those for nodes that are not in the input."""
    for pool_id, slices in view.gatherer.slices.items():
        for generation in sorted({slice_.generation for slice_ in slices}):
            if (pool_id, generation) not in seen:
                yield view.gatherer.whole(pool_id, generation)
