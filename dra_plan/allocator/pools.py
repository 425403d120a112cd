"""Find the pools of a node: the slices of each pool, the pool's state, and the devices that the node can use.

In order: slices and devices, and a pool as a node sees it; a generation of a pool in the whole cluster, with its
problems; and the search for a node's pools, as in upstream's GatherPools (KEP-4381).
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter

import msgspec
from msgspec import Struct, field

from dra_plan.api import quantity
from dra_plan.api.core import Node
from dra_plan.api.resource import Device, DeviceTaint, DeviceTaintRule, ResourceSlice, ResourceSliceSpec
from dra_plan.api.selectors import as_go, node_matches, selector_problem
from dra_plan.releases import Features, Quirk, Rules, Target

from .identity import DeviceID, PoolID, PoolProblem
from .reasons import AllocationError, Cause
from .taints import tainted

_encode = msgspec.json.Encoder(decimal_format="string").encode


class PoolState(enum.Enum):
    """The state of a pool, which decides whether its devices can be used."""

    COMPLETE = "Complete"
    INCOMPLETE = "Incomplete"
    INVALID = "Invalid"
    OBSOLETE = "Obsolete"


Consumption = tuple[tuple[str, str, int], ...]
"""The counters that a device consumes: counter set, counter, and amount in nano-units."""


class PoolDevice:
    """A device in a slice, with its own taints and the taints from device taint rules.

    All nodes share one object for each device.
    """

    __slots__ = ("_capacity_key", "_consumption", "device", "id", "slice", "taints")

    def __init__(self, device: Device, owner: PoolSlice, taints: Sequence[DeviceTaint]) -> None:
        self.device = device
        self.slice = owner
        self.id = DeviceID(owner.pool_id.driver, owner.pool_id.pool, device.name)
        self.taints = taints
        self._consumption: Consumption | None = None
        self._capacity_key: bytes | None = None

    @property
    def capacity_key(self) -> bytes:
        """A key that is equal for devices with equal capacity."""
        if self._capacity_key is None:
            self._capacity_key = _encode(self.device.capacity)
        return self._capacity_key

    @property
    def consumption(self) -> Consumption:
        """The counters that the device consumes."""
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
    """A ResourceSlice, prepared for finding the pools of nodes."""

    __slots__ = ("_devices", "_is_plain", "_rules", "generation", "name", "object", "pool_id", "position")

    def __init__(self, slice_: ResourceSlice, position: int = 0, rules: Sequence[DeviceTaintRule] = ()) -> None:
        spec = slice_.spec
        self.object = slice_
        self.position = position
        self.name = slice_.metadata.name
        self.pool_id = PoolID(spec.driver, spec.pool.name)
        self.generation = spec.pool.generation
        self._rules = rules
        self._devices: tuple[PoolDevice, ...] | None = None
        self._is_plain: bool | None = None

    @property
    def is_plain(self) -> bool:
        """True if all device names differ and no device consumes counters or has binding conditions."""
        if self._is_plain is None:
            devices = self.object.spec.devices
            special = [device for device in devices if device.consumes_counters or device.binding_conditions]
            self._is_plain = not special and len({device.name for device in devices}) == len(devices)
        return self._is_plain

    @property
    def devices(self) -> tuple[PoolDevice, ...]:
        """The devices of the slice in manifest order."""
        if self._devices is None:
            self._devices = tuple(
                PoolDevice(device, self, self.taints_of(device)) for device in self.object.spec.devices
            )
        return self._devices

    def device_names(self) -> list[str]:
        """Return the names of the slice's devices in manifest order."""
        return [device.name for device in self.object.spec.devices]

    def taints_of(self, device: Device) -> Sequence[DeviceTaint]:
        """Return the taints of a device in the slice, including those from device taint rules."""
        return tainted(device, self.pool_id, self._rules)

    @property
    def has_rules(self) -> bool:
        """True if device taint rules may add taints to the slice's devices."""
        return bool(self._rules)

    @property
    def binds(self) -> bool:
        """True if a device in the slice has binding conditions."""
        return any(device.binding_conditions for device in self.object.spec.devices)


class Pool(Struct, eq=False):
    """A pool as a node sees it.

    `slices` contains the slices that have devices for the node, in search order. `counter_slices` contains the slices
    that have counter sets. `seen` is the number of slices found, and `expected` is the number of slices that the pool
    should have. `peers` are the slices of the pool for all nodes, if these slices were counted. `superseded_by` is the
    newer generation that makes the pool obsolete.

    If the pool is incomplete or obsolete, its slices are in input order, and slices with counter sets are not
    separated.
    """

    id: PoolID
    generation: int
    expected: int
    seen: int
    incomplete: bool = False
    problem: PoolProblem | None = None
    superseded_by: int | None = None
    slices: list[PoolSlice] = field(default_factory=list)
    counter_slices: list[PoolSlice] = field(default_factory=list)
    peers: Sequence[PoolSlice] = ()

    @property
    def elsewhere(self) -> list[PoolSlice]:
        """The slices whose devices are only for other nodes, in input order."""
        own = {*self.slices, *self.counter_slices}
        return [slice_ for slice_ in self.peers if slice_ not in own]

    @property
    def state(self) -> PoolState:
        """The state of the pool. If several states apply, this is the one that kube-scheduler checks first."""
        if self.superseded_by is not None:
            return PoolState.OBSOLETE
        if self.incomplete:
            return PoolState.INCOMPLETE
        return PoolState.COMPLETE if self.problem is None else PoolState.INVALID

    @property
    def usable(self) -> bool:
        """True if the pool is complete and valid."""
        return self.state is PoolState.COMPLETE

    def devices(self) -> Iterable[PoolDevice]:
        """Yield those of the pool's devices that the node can use, in search order."""
        for slice_ in self.slices:
            yield from slice_.devices


def is_searched(pool: Pool, rules: Rules) -> bool:
    """Return whether the scheduler takes devices from the pool.

    Releases that do not skip unusable pools take devices from an incomplete pool too.
    """
    return pool.usable or not (rules.skips_unusable_pools or pool.problem)


def targets(slice_: PoolSlice, node: Node) -> bool:
    """Return whether the slice is for the node.

    With per-device node selection, at least one of its devices must be for the node.
    """
    spec = slice_.object.spec
    if spec.node_name or spec.all_nodes or spec.node_selector is not None:
        return _selects(spec, node, f"slice {slice_.name}")
    if spec.per_device_node_selection:
        return any(_selects(device, node, f"device {device.name} in slice {slice_.name}") for device in spec.devices)
    return False


def device_is_on(device: PoolDevice, node: Node) -> bool:
    """Return whether the device is available on the node. Only per-device node selection can exclude it."""
    if not device.slice.object.spec.per_device_node_selection:
        return True
    return _selects(device.device, node, "")


def _selects(fields: ResourceSliceSpec | Device, node: Node, where: str) -> bool:
    """Return whether the node fields of a slice or device select the node.

    The fields are checked in upstream's order; a selector that cannot be parsed is fatal.
    """
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


# -- one generation of a pool ------------------------------------------------------------------------------------------
# These facts about a generation do not depend on the node, and are found once for all nodes if the pool has several
# slices.


class Generation:
    """The slices of one generation of a pool, in input order. `newest` is the pool's newest generation."""

    __slots__ = ("_agrees", "_counters", "_repeats", "newest", "slices")

    def __init__(self, slices: Sequence[PoolSlice], newest: int) -> None:
        self.slices = slices
        self.newest = newest
        self._counters: _Counters | None = None
        self._agrees: bool | None = None
        self._repeats: bool | None = None
        """True if two devices in the whole generation have the same name; None until first needed."""

    @property
    def agrees(self) -> bool:
        """True if all slices have the same resourceSliceCount."""
        if len(self.slices) == 1:
            return True
        if self._agrees is None:
            self._agrees = len({slice_.object.spec.pool.resource_slice_count for slice_ in self.slices}) <= 1
        return self._agrees

    @property
    def is_whole(self) -> bool:
        """True if no slice is missing, according to resourceSliceCount."""
        return self.agrees and len(self.slices) == self.slices[0].object.spec.pool.resource_slice_count

    def duplicate_device(self, slices: Sequence[PoolSlice]) -> PoolProblem | None:
        """Return a problem if two devices in `slices` have the same name, or None."""
        if self._repeats is None:
            names = [device.name for slice_ in self.slices for device in slice_.object.spec.devices]
            self._repeats = len(set(names)) < len(names)
        name = repeated_device(slices) if self._repeats else None
        return None if name is None else PoolProblem(device=name)

    def counter_problem(
        self, counter_slices: Sequence[PoolSlice], slices: Sequence[PoolSlice], *, elsewhere: bool
    ) -> PoolProblem | None:
        """Return a problem with counter sets or with the devices that consume them, or None.

        `slices` are the slices that the node sees; they are checked first. If `elsewhere` is true, slices for other
        nodes are checked too. `counter_slices` are the slices with counter sets, which all nodes see.
        """
        if self._counters is None:
            self._counters = _Counters(counter_slices, self.slices)
        if self._counters.twice is not None:
            return self._counters.twice
        dangling = self._counters.dangling
        for slice_ in slices if dangling else ():
            if slice_ in dangling:
                return dangling[slice_]
        return next(iter(dangling.values()), None) if elsewhere else None


class _Counters:
    """A generation's counter sets: the one that occurs twice, and the slices with dangling references."""

    def __init__(self, counter_slices: Iterable[PoolSlice], slices: Iterable[PoolSlice]) -> None:
        self.twice: PoolProblem | None = None
        self.dangling: dict[PoolSlice, PoolProblem] = {}
        sets: dict[str, set[str]] = {}
        for slice_ in counter_slices:
            for counter_set in slice_.object.spec.shared_counters:
                if counter_set.name in sets:
                    self.twice = self.twice or PoolProblem(counter_set=counter_set.name, twice=True)
                sets[counter_set.name] = set(counter_set.counters)
        for slice_ in slices:
            found = None if slice_.object.spec.shared_counters else _first_dangling(slice_, sets)
            if found is not None:
                self.dangling[slice_] = found


def repeated_device(slices: Iterable[PoolSlice]) -> str | None:
    """Return the first device name that occurs twice in the slices, or None."""
    names: set[str] = set()
    for slice_ in slices:
        for device in slice_.object.spec.devices:
            if device.name in names:
                return device.name
            names.add(device.name)
    return None


def _first_dangling(slice_: PoolSlice, sets: Mapping[str, set[str]]) -> PoolProblem | None:
    for device in slice_.object.spec.devices:
        problem = _dangling(device, sets) if device.consumes_counters else None
        if problem is not None:
            return problem
    return None


def _dangling(device: Device, sets: Mapping[str, set[str]]) -> PoolProblem | None:
    for entry in device.consumes_counters:
        if entry.counter_set not in sets:
            return PoolProblem(counter_set=entry.counter_set)
        for name in entry.counters:
            if name not in sets[entry.counter_set]:
                return PoolProblem(counter_set=entry.counter_set, counter=name)
    return None


# -- the pools of a node -----------------------------------------------------------------------------------------------

_by_id = attrgetter("id")


class PoolGatherer:
    """Finds the pools of nodes."""

    def __init__(
        self,
        slices: Iterable[ResourceSlice],
        target: Target,
        taint_rules: Sequence[DeviceTaintRule] = (),
    ) -> None:
        self._features, self._rules, self._quirks = target.features, target.rules, target.quirks
        self._local: dict[str, list[PoolSlice]] = {}
        self._shared: list[PoolSlice] = []
        self._by_pool: dict[PoolID, list[PoolSlice]] = {}
        self._generations: dict[tuple[PoolID, int], Generation] = {}
        self._made: dict[tuple[PoolSlice, ...], tuple[Pool, frozenset[Quirk]]] = {}
        for position, slice_ in enumerate(slices):
            if self._rules.ignores_compatibility_groups and _is_grouped(slice_, self._features):
                continue
            prepared = PoolSlice(slice_, position, taint_rules)
            self._by_pool.setdefault(prepared.pool_id, []).append(prepared)
            if not self.counts(slice_):
                continue
            name = slice_.spec.node_name
            if name and not (slice_.spec.shared_counters and target.rules.counter_slices):
                self._local.setdefault(name, []).append(prepared)
            else:
                self._shared.append(prepared)

    @property
    def slices(self) -> dict[PoolID, list[PoolSlice]]:
        """All slices in the cluster, by pool, in input order."""
        return self._by_pool

    @property
    def node_names(self) -> Iterable[str]:
        """The nodes that have slices of their own."""
        return self._local.keys()

    @property
    def shared_slices(self) -> Sequence[PoolSlice]:
        """The slices without a node name."""
        return self._shared

    def local_slices(self, node: str) -> Sequence[PoolSlice]:
        """Return the slices with this node name."""
        return self._local.get(node, ())

    def counts(self, slice_: ResourceSlice) -> bool:
        """Return whether the scheduler reads the slice. It skips a slice that needs a disabled feature."""
        if self._features.partitionable_devices:
            return True
        spec = slice_.spec
        return spec.per_device_node_selection is None and not (self._rules.counter_slices and spec.shared_counters)

    def gather(
        self, node: Node, *, sighted: set[Quirk] | None = None, obsolete: list[Pool] | None = None
    ) -> list[Pool]:
        """Return the node's pools in search order.

        `sighted` collects the quirks that affect the result, and `obsolete` collects the pools that a newer generation
        replaces. Raises AllocationError if a node selector cannot be parsed, as upstream does.
        """
        if not self._shared and (lone := self._lone_pools(node)) is not None:
            return lone
        pools = []
        sighted = set() if sighted is None else sighted
        for slices in self._relevant(node).values():
            pool = self._pool(slices, sighted)
            if pool.state is PoolState.OBSOLETE:
                if obsolete is not None:
                    obsolete.append(pool)
            elif self._is_reachable(pool, slices, node, sighted):
                pools.append(pool)
        if self._rules.sorted:
            pools.sort(key=_by_id)
        if self._rules.bound_pools_last:
            pools.sort(key=self._is_bound)
        return pools

    def _lone_pools(self, node: Node) -> list[Pool] | None:
        """Return the node's pools if each consists of exactly one slice on this node, as most do; otherwise None.

        In every release, such pools are complete and valid, and only on this node.
        """
        pools = []
        for slice_ in self._local.get(node.metadata.name, ()):
            is_all = slice_.object.spec.pool.resource_slice_count == 1 == len(self._by_pool[slice_.pool_id])
            if not (is_all and slice_.is_plain):
                return None
            pools.append(Pool(slice_.pool_id, slice_.generation, expected=1, seen=1, slices=[slice_]))
        if self._rules.sorted and len(pools) > 1:
            pools.sort(key=_by_id)
        return pools

    def whole(self, pool_id: PoolID, generation: int) -> Pool:
        """Return one generation of a pool with the slices for all nodes."""
        whole = self.generation(pool_id, generation)
        pool = self._put_together(list(whole.slices), set())
        pool.superseded_by = whole.newest if whole.newest > generation else None
        return pool

    def generation(self, pool_id: PoolID, number: int) -> Generation:
        """Return one generation of a pool."""
        slices = self._by_pool[pool_id]
        if len(slices) == 1:  # like most pools: not worth caching
            return Generation(slices, number)
        found = self._generations.get((pool_id, number))
        return found if found is not None else self._find_generations(pool_id)[number]

    def _find_generations(self, pool_id: PoolID) -> dict[int, Generation]:
        """Return all generations of a pool by number, cached for later calls."""
        by_number: dict[int, list[PoolSlice]] = {}
        for slice_ in self._by_pool[pool_id]:
            by_number.setdefault(slice_.generation, []).append(slice_)
        newest = max(by_number)
        found = {number: Generation(slices, newest) for number, slices in by_number.items()}
        self._generations.update({(pool_id, number): made for number, made in found.items()})
        return found

    def newest(self, pool_id: PoolID) -> Generation:
        """Return the newest generation of a pool. Devices of older generations cannot be used."""
        first = self._by_pool[pool_id][0].generation
        return self.generation(pool_id, self.generation(pool_id, first).newest)

    def _is_bound(self, pool: Pool) -> bool:
        """Return whether the pool is sorted after the others; the slices of a skipped pool are not examined."""
        seen = pool.usable or not self._rules.skips_unusable_pools
        return seen and any(slice_.binds for slice_ in pool.slices)

    def _relevant(self, node: Node) -> dict[PoolID, list[PoolSlice]]:
        """Return the slices of the newest generation that the node sees, by pool."""
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
        """Return whether the node reaches the pool.

        Upstream includes a pool with counter slices on every node (Q15); if Q15 is fixed, only nodes that a slice
        targets reach the pool.
        """
        if any(not slice_.object.spec.shared_counters for slice_ in slices):
            return True
        if not self._rules.counter_slices or any(targets(slice_, node) for slice_ in slices):
            return True
        if self._quirks.counter_slices_everywhere:
            if not pool.usable:
                sighted.add("counter_slices_everywhere")
            return True
        return False

    def _pool(self, gathered: list[PoolSlice], sighted: set[Quirk]) -> Pool:
        """Return the pool made of these slices; nodes that see the same slices share one object."""
        if gathered[0].object.spec.node_name or any(slice_.object.spec.node_name for slice_ in gathered):
            return self._put_together(gathered, sighted)
        key = tuple(gathered)
        if key not in self._made:
            own: set[Quirk] = set()
            self._made[key] = self._put_together(gathered, own), frozenset(own)
        pool, quirks = self._made[key]
        sighted |= quirks
        return pool

    def _put_together(self, gathered: list[PoolSlice], sighted: set[Quirk]) -> Pool:
        first = gathered[0]
        expected = first.object.spec.pool.resource_slice_count
        pool = Pool(first.pool_id, first.generation, expected, len(gathered), slices=gathered)
        generation = self.generation(pool.id, pool.generation)
        complete = self._is_complete(pool, generation, sighted)
        if pool.superseded_by is not None:
            return pool
        pool.incomplete = not complete
        if pool.incomplete and self._rules.skips_unusable_pools:
            return pool
        self._arrange(pool)
        pool.problem = self._problem(pool, generation)
        return pool

    def _is_complete(self, pool: Pool, generation: Generation, sighted: set[Quirk]) -> bool:
        """Return whether the pool is complete, counting the slices that the node does not see.

        Also find out whether a newer generation makes the pool obsolete.
        """
        complete = pool.seen == pool.expected
        if generation.newest > pool.generation and (
            self._rules.counts_all_slices or not self._quirks.local_generation_only
        ):
            if not complete or not self._quirks.local_generation_only:
                pool.superseded_by = generation.newest
                return complete
            sighted.add("local_generation_only")
        if not complete and self._rules.counts_all_slices:
            pool.seen, pool.peers = len(generation.slices), generation.slices
            complete = pool.seen == pool.expected
        if not generation.agrees:
            if not self._quirks.first_slice_counts:
                return False
            sighted.add("first_slice_counts")
        return complete

    def _arrange(self, pool: Pool) -> None:
        """Sort the slices and separate the counter slices."""
        slices = list(pool.slices)
        if self._rules.sorted and len(slices) > 1:
            slices.sort(key=lambda slice_: slice_.name)
        if self._features.partitionable_devices and self._rules.counter_slices:
            pool.counter_slices = [slice_ for slice_ in slices if slice_.object.spec.shared_counters]
            slices = [slice_ for slice_ in slices if not slice_.object.spec.shared_counters]
        pool.slices = slices

    def _problem(self, pool: Pool, generation: Generation) -> PoolProblem | None:
        problem = generation.duplicate_device(pool.slices)
        if problem is None and self._features.partitionable_devices and self._rules.checks_counter_references:
            elsewhere = bool(pool.peers)
            problem = generation.counter_problem(pool.counter_slices, pool.slices, elsewhere=elsewhere)
        return problem


class KnownPools:
    """A cache for the pools that a gatherer finds, by node."""

    def __init__(self, gatherer: PoolGatherer) -> None:
        self._gatherer = gatherer
        self._found: dict[str, tuple[Node, list[Pool], frozenset[Quirk]]] = {}

    def gather(self, node: Node, *, sighted: set[Quirk] | None = None) -> list[Pool]:
        """Return the node's pools, as `PoolGatherer.gather` does."""
        known = self._found.get(node.metadata.name)
        if known is None or known[0] is not node:
            own: set[Quirk] = set()
            known = node, self._gatherer.gather(node, sighted=own), frozenset(own)
            self._found[node.metadata.name] = known
        if sighted is not None:
            sighted |= known[2]
        return known[1]


def _is_grouped(slice_: ResourceSlice, features: Features) -> bool:
    """Return whether a device is in a compatibility group; if the gate is off, the pool lacks this slice."""
    return not features.compatibility_groups and any(
        taken.compatibility_groups for device in slice_.spec.devices for taken in device.consumes_counters
    )
