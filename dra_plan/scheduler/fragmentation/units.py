"""A node's devices as units with a free share, and how much of a unit a request needs.

A unit is a device, or a counter set that devices are partitions of. Shares are in thousandths of the unit. Devices that
several nodes reach are left out.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from dra_plan.allocator import View
from dra_plan.allocator.capacity import Steps
from dra_plan.allocator.ledger import AllocatedState
from dra_plan.allocator.pools import PoolDevice, PoolSlice
from dra_plan.allocator.reasons import AllocationError
from dra_plan.allocator.requests import Want
from dra_plan.api import quantity
from dra_plan.releases import Target
from dra_plan.scheduler.cluster.cluster import SimulatedCluster
from dra_plan.scheduler.cluster.nodes import NodeInfo

WHOLE = 1000
"""The free share of an unused unit, in thousandths."""

Left = tuple[tuple[int, int], ...]
"""The kind of each unit of a node, as a number, and its free share in thousandths, in pool order."""

_encode = msgspec.json.Encoder(decimal_format="string").encode


class Unit(NamedTuple):
    """A unit: the number of its kind, its devices, and their total amounts in nano-units.

    It consists of one device, or of the partitions of one physical device.
    """

    kind: int
    devices: tuple[PoolDevice, ...]
    totals: tuple[tuple[str, int], ...]


class Units:
    """The units on the nodes of a cluster.

    `kinds` has one unit of each kind, with its devices and totals.
    """

    def __init__(self, cluster: SimulatedCluster) -> None:
        self._cluster = cluster
        self._view: View | None = None
        self._of_nodes: dict[str, list[Unit]] = {}
        self._left: dict[str, tuple[int, Left]] = {}
        self._numbers: dict[Hashable, int] = {}
        self.kinds: list[Unit] = []

    def of(self, node: NodeInfo) -> list[Unit]:
        """Return the node's units."""
        view = self._cluster.view
        if view is not self._view:
            self._view = view
            self._of_nodes.clear()
            self._left.clear()
        found = self._of_nodes.get(node.name)
        if found is None:
            found = self._of_nodes[node.name] = list(self._find(view, node))
        return found

    def left(self, node: NodeInfo) -> Left:
        """Return the free share of each of the node's units."""
        units = self.of(node)
        known = self._left.get(node.name)
        if known is not None and known[0] == node.version:
            return known[1]
        state = self._cluster.claims.state
        found = tuple([(unit.kind, _left(unit, state)) for unit in units])
        self._left[node.name] = (node.version, found)
        return found

    def _find(self, view: View, node: NodeInfo) -> Iterator[Unit]:
        try:
            pools = view.gatherer.gather(node.node)
        except AllocationError:
            return
        for pool in pools:
            for slice_ in pool.slices:
                if slice_.object.spec.node_name and pool.usable:
                    yield from self._units_of(slice_)

    def _units_of(self, slice_: PoolSlice) -> Iterator[Unit]:
        parts: dict[str, list[PoolDevice]] = {}
        for device in slice_.devices:
            if device.consumption:
                parts.setdefault(device.consumption[0][0], []).append(device)
            else:
                yield self._unit((device,), _totals(device))
        if not parts:
            return
        assert self._view is not None
        for name, devices in parts.items():
            totals = tuple(
                (counter, quantity.parse(value.value).nano)
                for each in self._view.gatherer.slices[slice_.pool_id]
                if each.generation == slice_.generation
                for counter_set in each.object.spec.shared_counters
                if counter_set.name == name
                for counter, value in counter_set.counters.items()
            )
            yield self._unit(tuple(devices), totals)

    def _unit(self, devices: tuple[PoolDevice, ...], totals: tuple[tuple[str, int], ...]) -> Unit:
        first = devices[0]
        key = (
            first.id.driver,
            tuple(_encode((d.device.attributes, d.device.capacity, d.consumption)) for d in devices),
        )
        number = self._numbers.setdefault((key, first.device.allow_multiple_allocations), len(self._numbers))
        unit = Unit(number, devices, totals)
        if number == len(self.kinds):
            self.kinds.append(unit)
        return unit


def _totals(device: PoolDevice) -> tuple[tuple[str, int], ...]:
    if not device.device.allow_multiple_allocations:
        return ()
    return tuple((name, quantity.parse(each.value).nano) for name, each in device.device.capacity.items())


def _left(unit: Unit, state: AllocatedState) -> int:
    first = unit.devices[0]
    if first.consumption:
        used: dict[str, int] = {}
        for device in unit.devices:
            if state.holds_counters(device.id, shared_too=True):
                for _, name, amount in device.consumption:
                    used[name] = used.get(name, 0) + amount
        return _thousandths(unit.totals, used)
    if first.id in state.dedicated:
        return 0
    if first.id not in state.shared:
        return WHOLE
    return _thousandths(unit.totals, state.aggregate.get(first.id, {}))


def _thousandths(totals: Sequence[tuple[str, int]], used: dict[str, int]) -> int:
    """Return the smallest free share among the amounts, rounded down."""
    shares = [max(0, total - used.get(name, 0)) * WHOLE // total for name, total in totals if total > 0]
    return min(shares, default=WHOLE)


def needed(want: Want, unit: Unit, target: Target) -> int | None:
    """Return how many thousandths of the unit a device for the request takes, or None if no device matches."""
    found = [need for device in unit.devices if (need := _need(want, device, unit, target)) is not None]
    return min(found, default=None)


def _need(want: Want, device: PoolDevice, unit: Unit, target: Target) -> int | None:
    try:
        if want.problem is not None or want.selector_refusal(device) is not None:
            return None
    except AllocationError:
        return None
    totals = dict(unit.totals)
    if device.consumption:
        return _share((amount, totals.get(name, 0)) for _, name, amount in device.consumption)
    if not device.device.allow_multiple_allocations:
        return WHOLE
    asked = Steps.of(target).demand(want.capacity, device)
    if asked.refusal is not None or asked.problem:
        return None
    return _share((portion.amount, portion.total) for portion in asked.portions)


def _share(parts: Iterator[tuple[int, int]]) -> int:
    """Return the largest share of a total, rounded up."""
    return max((-(-amount * WHOLE // total) for amount, total in parts if total > 0), default=0)
