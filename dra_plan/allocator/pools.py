"""The device pools of a node, as GatherPools sees them: which slices count, and what state each pool is in.

Nothing here knows of claims. Pool lists are made per node; prepared slices and devices are shared by all nodes.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from dra_plan.api import quantity
from dra_plan.api.core import Node
from dra_plan.api.resource import Device, DeviceTaint, DeviceTaintRule, ResourceSlice, ResourceSliceSpec
from dra_plan.api.selectors import as_go, node_matches, selector_problem
from dra_plan.releases import Features, Quirk, Quirks, Rules

from .errors import AllocationError, Cause
from .identity import DeviceID, PoolID
from .taints import tainted


class PoolState(enum.Enum):
    """What a pool is good for."""

    COMPLETE = "Complete"
    INCOMPLETE = "Incomplete"
    INVALID = "Invalid"
    OBSOLETE = "Obsolete"


Consumption = tuple[tuple[str, str, int], ...]
"""What a device takes from counters: (counter set, counter, nano-units)."""


class PoolDevice:
    """A device in its slice, with the taints that rules add. The same object serves all nodes."""

    __slots__ = ("_consumption", "device", "id", "slice", "taints")

    def __init__(self, device: Device, owner: PoolSlice, taints: Sequence[DeviceTaint]) -> None:
        self.device = device
        self.slice = owner
        self.id = DeviceID(owner.pool_id.driver, owner.pool_id.pool, device.name)
        self.taints = taints
        self._consumption: Consumption | None = None

    @property
    def consumption(self) -> Consumption:
        """What the device takes from its pool's counters."""
        if self._consumption is None:
            self._consumption = tuple(
                (entry.counter_set, name, quantity.parse(counter.value).nano)
                for entry in self.device.consumes_counters
                for name, counter in entry.counters.items()
            )
        return self._consumption

    def __repr__(self) -> str:
        return f"PoolDevice({self.id})"


class PoolSlice:
    """A slice prepared for gathering."""

    __slots__ = ("_devices", "_rules", "generation", "name", "object", "pool_id", "position")

    def __init__(self, slice_: ResourceSlice, position: int = 0, rules: Sequence[DeviceTaintRule] = ()) -> None:
        spec = slice_.spec
        self.object = slice_
        self.position = position
        self.name = slice_.metadata.name
        self.pool_id = PoolID(spec.driver, spec.pool.name)
        self.generation = spec.pool.generation
        self._rules = rules
        self._devices: tuple[PoolDevice, ...] | None = None

    @property
    def devices(self) -> tuple[PoolDevice, ...]:
        """The slice's devices in manifest order."""
        if self._devices is None:
            self._devices = tuple(
                PoolDevice(device, self, tainted(device, self.pool_id, self._rules))
                for device in self.object.spec.devices
            )
        return self._devices

    @property
    def has_rules(self) -> bool:
        """Whether device taint rules may add taints."""
        return bool(self._rules)

    @property
    def binds(self) -> bool:
        """Whether any device has binding conditions."""
        return any(device.binding_conditions for device in self.object.spec.devices)


@dataclass(slots=True, eq=False)
class Pool:
    """A pool as one node sees it.

    `slices` are the device slices that target the node, in search order; `elsewhere` those that target other nodes
    (they matter for counters); `counter_slices` hold counter sets. `seen` slices were counted of `expected`;
    `invalid` says why the pool contradicts itself; `superseded_by` is the newer generation that makes it obsolete.
    Only the slices of complete pools are sorted and split; incomplete and obsolete pools keep what was gathered.
    """

    id: PoolID
    generation: int
    expected: int
    seen: int
    incomplete: bool = False
    invalid: str = ""
    superseded_by: int | None = None
    slices: list[PoolSlice] = field(default_factory=list)
    counter_slices: list[PoolSlice] = field(default_factory=list)
    elsewhere: list[PoolSlice] = field(default_factory=list)

    @property
    def state(self) -> PoolState:
        """The state, the one that upstream tests first where several hold."""
        if self.superseded_by is not None:
            return PoolState.OBSOLETE
        if self.incomplete:
            return PoolState.INCOMPLETE
        return PoolState.INVALID if self.invalid else PoolState.COMPLETE

    @property
    def usable(self) -> bool:
        """Whether devices may be taken from it in a release that passes over broken pools."""
        return self.state is PoolState.COMPLETE

    def devices(self) -> Iterable[PoolDevice]:
        """The devices that the node can reach, in search order."""
        for slice_ in self.slices:
            yield from slice_.devices


class PoolGatherer:
    """Finds the pools of nodes. Made once for all nodes."""

    def __init__(
        self,
        slices: Iterable[ResourceSlice],
        features: Features,
        rules: Rules,
        quirks: Quirks,
        taint_rules: Sequence[DeviceTaintRule] = (),
    ) -> None:
        self._features, self._rules, self._quirks = features, rules, quirks
        self._local: dict[str, list[PoolSlice]] = {}
        self._shared: list[PoolSlice] = []
        self._by_pool: dict[PoolID, list[PoolSlice]] = {}
        for position, slice_ in enumerate(slices):
            prepared = PoolSlice(slice_, position, taint_rules)
            self._by_pool.setdefault(prepared.pool_id, []).append(prepared)
            if not self._known(slice_):
                continue
            name = slice_.spec.node_name
            if name and not (slice_.spec.shared_counters and rules.counter_slices):
                self._local.setdefault(name, []).append(prepared)
            else:
                self._shared.append(prepared)

    @property
    def slices(self) -> dict[PoolID, list[PoolSlice]]:
        """All slices of the cluster by pool, in input order."""
        return self._by_pool

    @property
    def node_names(self) -> Iterable[str]:
        """The nodes that have slices of their own."""
        return self._local.keys()

    @property
    def shared_slices(self) -> Sequence[PoolSlice]:
        """The slices that are not one node's own."""
        return self._shared

    def local_slices(self, node: str) -> Sequence[PoolSlice]:
        """The slices that name the node."""
        return self._local.get(node, ())

    def _known(self, slice_: ResourceSlice) -> bool:
        """Without partitionable devices, slices that need them are passed over."""
        if self._features.partitionable_devices:
            return True
        spec = slice_.spec
        return spec.per_device_node_selection is None and not (self._rules.counter_slices and spec.shared_counters)

    def gather(
        self, node: Node, *, sighted: set[Quirk] | None = None, obsolete: list[Pool] | None = None
    ) -> list[Pool]:
        """The node's pools in the order in which they are searched.

        The quirks that shaped the answer are added to `sighted`, and pools that vanish because a newer generation
        exists to `obsolete`, where these are given.
        Raises AllocationError when a node selector can't be parsed, as upstream does.
        """
        pools = []
        sighted = set() if sighted is None else sighted
        for pool_id, slices in self._relevant(node).items():
            pool = self._pool(pool_id, slices, sighted)
            if pool.state is PoolState.OBSOLETE:
                if obsolete is not None:
                    obsolete.append(pool)
            elif self._is_reachable(pool, slices, node, sighted):
                pools.append(pool)
        if self._rules.sorted:
            pools.sort(key=lambda pool: pool.id)
        if self._rules.bound_pools_last:
            pools.sort(key=self._is_bound)
        return pools

    def whole(self, pool_id: PoolID, generation: int) -> Pool:
        """A generation of a pool with all its slices, whichever nodes they are for."""
        slices = self._by_pool[pool_id]
        pool = self._pool(pool_id, [slice_ for slice_ in slices if slice_.generation == generation], set())
        newest = max(slice_.generation for slice_ in slices)
        pool.superseded_by = newest if newest > generation else None
        return pool

    def _is_bound(self, pool: Pool) -> bool:
        """Whether the pool goes behind the others; the slices of a pool that is passed over are not looked at."""
        seen = pool.usable or not self._rules.skips_unusable_pools
        return seen and any(slice_.binds for slice_ in pool.slices)

    def _relevant(self, node: Node) -> dict[PoolID, list[PoolSlice]]:
        """The slices of the newest generation that the node sees, by pool."""
        pools: dict[PoolID, list[PoolSlice]] = {}
        candidates = [*self._local.get(node.metadata.name, ()), *self._shared]
        if not self._rules.sorted:
            candidates.sort(key=lambda slice_: slice_.position)
        if self._rules.bound_slices_last:
            candidates.sort(key=lambda slice_: slice_.binds)
        for slice_ in candidates:
            if not self._is_relevant(slice_, node):
                continue
            gathered = pools.setdefault(slice_.pool_id, [])
            if gathered and slice_.generation < gathered[0].generation:
                continue
            if gathered and slice_.generation > gathered[0].generation:
                gathered.clear()
            gathered.append(slice_)
        return pools

    def _is_relevant(self, slice_: PoolSlice, node: Node) -> bool:
        if slice_.object.spec.shared_counters and self._rules.counter_slices:
            return True
        return targets(slice_, node)

    def _is_reachable(self, pool: Pool, slices: Sequence[PoolSlice], node: Node, sighted: set[Quirk]) -> bool:
        """Upstream keeps a pool with counter slices on every node (Q15); repaired, only where a slice reaches."""
        if any(not slice_.object.spec.shared_counters for slice_ in slices):
            return True
        if not self._rules.counter_slices or any(targets(slice_, node) for slice_ in slices):
            return True
        if self._quirks.counter_slices_everywhere:
            if not pool.usable:
                sighted.add("counter_slices_everywhere")
            return True
        return False

    def _pool(self, pool_id: PoolID, gathered: list[PoolSlice], sighted: set[Quirk]) -> Pool:
        first = gathered[0]
        expected = first.object.spec.pool.resource_slice_count
        pool = Pool(pool_id, first.generation, expected, len(gathered), slices=gathered)
        complete = len(gathered) == expected
        if len(self._by_pool[pool_id]) > 1:
            complete = self._compare(pool, gathered, sighted)
            if pool.superseded_by is not None:
                return pool
        pool.incomplete = not complete
        if pool.incomplete and self._rules.skips_unusable_pools:
            return pool
        self._arrange(pool)
        self._check(pool)
        return pool

    def _compare(self, pool: Pool, gathered: list[PoolSlice], sighted: set[Quirk]) -> bool:
        """Whether the pool is complete, seen beside those of its slices that the node does not see."""
        everything = self._by_pool[pool.id]
        complete = pool.seen == pool.expected
        newest = max(slice_.generation for slice_ in everything)
        if newest > pool.generation and (self._rules.counts_all_slices or not self._quirks.local_generation_only):
            if not complete or not self._quirks.local_generation_only:
                pool.superseded_by = newest
                return complete
            sighted.add("local_generation_only")
        peers = [slice_ for slice_ in everything if slice_.generation == pool.generation]
        if not complete and self._rules.counts_all_slices:
            pool.seen = len(peers)
            complete = pool.seen == pool.expected
            pool.elsewhere = [slice_ for slice_ in peers if slice_ not in gathered]
        if len({slice_.object.spec.pool.resource_slice_count for slice_ in peers}) > 1:
            if not self._quirks.first_slice_counts:
                return False
            sighted.add("first_slice_counts")
        return complete

    def _arrange(self, pool: Pool) -> None:
        """Sorts the slices and sets counter slices aside."""
        slices = sorted(pool.slices, key=lambda slice_: slice_.name) if self._rules.sorted else list(pool.slices)
        if self._features.partitionable_devices and self._rules.counter_slices:
            everywhere = (*slices, *pool.elsewhere)
            pool.counter_slices = [slice_ for slice_ in everywhere if slice_.object.spec.shared_counters]
            slices = [slice_ for slice_ in slices if not slice_.object.spec.shared_counters]
            pool.elsewhere = [slice_ for slice_ in pool.elsewhere if not slice_.object.spec.shared_counters]
        pool.slices = slices

    def _check(self, pool: Pool) -> None:
        problem = _duplicate_device(pool)
        if problem is None and self._features.partitionable_devices and self._rules.checks_counter_references:
            problem = _counter_problem(pool)
        pool.invalid = problem or ""


def targets(slice_: PoolSlice, node: Node) -> bool:
    """Whether the slice's own node fields, or those of any device with per-device selection, mean the node."""
    spec = slice_.object.spec
    if spec.node_name or spec.all_nodes or spec.node_selector is not None:
        return _selects(spec, node, f"slice {slice_.name}")
    if spec.per_device_node_selection:
        return any(_selects(device, node, f"device {device.name} in slice {slice_.name}") for device in spec.devices)
    return False


def device_is_on(device: PoolDevice, node: Node) -> bool:
    """Whether a device may be used on the node; always true without per-device node selection."""
    if not device.slice.object.spec.per_device_node_selection:
        return True
    return _selects(device.device, node, "")


def _selects(fields: ResourceSliceSpec | Device, node: Node, where: str) -> bool:
    """The node fields of a slice or device, in upstream's order; an unreadable selector is fatal."""
    if fields.node_name:
        return fields.node_name == node.metadata.name
    if fields.all_nodes:
        return True
    if fields.node_selector is None:
        return False
    problem = selector_problem(fields.node_selector)
    if problem is not None:
        place = f"gather pool information: failed to perform node selection for {where}: " if where else ""
        text = f"{place}failed to parse node selector {as_go(fields.node_selector)}: {problem}"
        raise AllocationError(Cause("node-selector-invalid", text))
    return node_matches(fields.node_selector, node.metadata.name, node.metadata.labels)


def _duplicate_device(pool: Pool) -> str | None:
    names: set[str] = set()
    for slice_ in pool.slices:
        devices = slice_.object.spec.devices
        before = len(names)
        names.update([device.name for device in devices])
        if len(names) != before + len(devices):
            return f"duplicate device name {_first_twice(pool)}"
    return None


def _first_twice(pool: Pool) -> str | None:
    names: set[str] = set()
    for slice_ in pool.slices:
        for device in slice_.object.spec.devices:
            if device.name in names:
                return device.name
            names.add(device.name)
    return None


def _counter_problem(pool: Pool) -> str | None:
    sets: dict[str, set[str]] = {}
    for slice_ in pool.counter_slices:
        for counter_set in slice_.object.spec.shared_counters:
            if counter_set.name in sets:
                return f"duplicate counter set name {counter_set.name}"
            sets[counter_set.name] = set(counter_set.counters)
    for slice_ in (*pool.slices, *pool.elsewhere):
        for device in slice_.object.spec.devices:
            problem = _dangling(device, sets) if device.consumes_counters else None
            if problem is not None:
                return problem
    return None


def _dangling(device: Device, sets: dict[str, set[str]]) -> str | None:
    for entry in device.consumes_counters:
        if entry.counter_set not in sets:
            return f"counter set {entry.counter_set} not found"
        for name in entry.counters:
            if name not in sets[entry.counter_set]:
                return f"counter {name} not found in counter set {entry.counter_set}"
    return None
