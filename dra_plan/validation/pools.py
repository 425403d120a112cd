"""Rules about the slices of a pool, as the allocator gathers them (DRA210 to DRA217).

Slices can contradict each other only if one node sees them both.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from msgspec.structs import replace

from dra_plan.allocator import AllocationError, PoolID
from dra_plan.allocator.pools import PoolSlice, targets
from dra_plan.api.core import Node, NodeSelector
from dra_plan.api.meta import FieldPath
from dra_plan.api.quantity import parse
from dra_plan.api.resource import Device, ResourceSliceSpec
from dra_plan.releases import Target
from dra_plan.remembered import Remembered

from .formats import count, listed, nearest, shown
from .input import Input, PlacedPool, PlacedSlice
from .rule import Problem, error, info, unschedulable, warning
from .subject import Subject

# -- slices gathered by one node ---------------------------------------------------------------------------------------


class Sighting:
    """Determines which slices a node can see together, for the nodes in the input and the nodes that slices name."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = nodes
        self._known: Remembered[tuple[PoolSlice, PoolSlice], bool] = Remembered()

    def joins(self, one: PoolSlice, other: PoolSlice) -> bool:
        """Return whether a node may see both slices.

        It may be a known node, or an unknown node that matches both node selectors.
        """
        spec, beside = one.object.spec, other.object.spec
        if spec.node_name and beside.node_name:
            return spec.node_name == beside.node_name
        return self._known.of(
            (one, other), lambda: _meet(spec, beside) or any(_sees(node, one, other) for node in self._nodes)
        )


def _sees(node: Node, *slices: PoolSlice) -> bool:
    try:
        return all(targets(slice_, node) for slice_ in slices)
    except AllocationError:
        return False  # other rules report an invalid selector


def _meet(spec: ResourceSliceSpec, beside: ResourceSliceSpec) -> bool:
    one, other = _places(spec), _places(beside)
    if _EVERYWHERE in one or _EVERYWHERE in other:
        return bool(one and other)
    return any(place in other for place in one)


_EVERYWHERE = True
_Place = str | NodeSelector | bool
"""The name of a node, a node selector, or `_EVERYWHERE`."""


def _places(spec: ResourceSliceSpec) -> list[_Place]:
    """Return the slice's nodes, or with per-device node selection its devices' nodes."""
    fields: Sequence[ResourceSliceSpec | Device] = spec.devices if spec.per_device_node_selection else [spec]
    return [place for each in fields if (place := _place(each)) is not None]


def _place(fields: ResourceSliceSpec | Device) -> _Place | None:
    return fields.node_name or (_EVERYWHERE if fields.all_nodes else fields.node_selector)


# -- rules of pools ----------------------------------------------------------------------------------------------------

DISAGREE = error(
    "DRA210",
    "slices of a pool that disagree about the number of slices",
    (
        "All slices of a generation must have the same `resourceSliceCount`. Otherwise, the order"
        " of the slices determines which number is used, and the pool may never become complete."
    ),
    "In every slice of the pool, set `resourceSliceCount` to the number of slices of its newest generation.",
)
MISSING_SLICES = warning(
    "DRA211",
    "pool with too few or too many slices",
    (
        "A pool is complete when it has exactly `resourceSliceCount` slices. Until then, none of its "
        "devices are allocated."
    ),
    "Add the missing slices to the input, or correct `resourceSliceCount`.",
)
OLD_GENERATION = info(
    "DRA212",
    "slice with an old generation",
    "Only slices with the newest generation of a pool are used. The driver normally deletes older slices.",
    "If the slice still describes the pool, publish it with the newest generation; otherwise, remove it.",
)
DUPLICATE_DEVICE = unschedulable(
    "DRA213",
    "device name used twice in a pool",
    (
        "A device is identified by its driver, pool and name. If a node can access two devices with the "
        "same name, the pool is invalid on that node, and none of its devices are used."
    ),
    "Rename one of the devices.",
)
SAME_NAME = warning(
    "DRA217",
    "device name used twice in a pool, for different nodes",
    (
        "Each node has its own device, but both devices have the same identity (driver, pool and name). "
        "When one of them is allocated, the other is treated as in use as well. The API requires device "
        "names to be unique within a pool."
    ),
    "Rename one of the devices, or give each node its own pool.",
)
DUPLICATE_SET = unschedulable(
    "DRA214",
    "counter set name used twice in a pool",
    (
        "Counter sets apply to the whole pool. If two counter sets have the same name, the pool is "
        "invalid, and none of its devices are used."
    ),
    "Rename or remove one of the counter sets.",
)
NO_COUNTER = unschedulable(
    "DRA215",
    "device that consumes a counter that is not in any counter set",
    (
        "The API server does not check such references. The allocator treats the pool as invalid and uses "
        "none of its devices."
    ),
    (
        "Publish the missing counter set or counter in `sharedCounters` of a slice of the same pool, and include that "
        "slice in `resourceSliceCount`. Since Kubernetes 1.35, this slice must not contain devices. Alternatively, use "
        "the name of an existing counter set or counter."
    ),
)
COUNTER_TOO_SMALL = warning(
    "DRA216",
    "device that consumes more than a counter provides",
    "The device can never be allocated, even if no other device consumes the counter.",
    "Correct the amount in the device or in the counter set.",
)
RULES = (
    DISAGREE,
    MISSING_SLICES,
    OLD_GENERATION,
    DUPLICATE_DEVICE,
    DUPLICATE_SET,
    NO_COUNTER,
    COUNTER_TOO_SMALL,
    SAME_NAME,
)

_POOL: FieldPath = ("spec", "pool")
_DEVICES: FieldPath = ("spec", "devices")
Found = Iterator[tuple[Subject, Problem]]


def check(given: Input) -> Found:
    """Check all resource pools in the input."""
    sighting = Sighting([node for _, node in given.of(Node)])
    for placed in given.pools:
        yield from _old(placed)
        yield from _numbers(placed, whole=given.knows_all_devices)
        yield from _devices(placed.pool.id, placed.newest, sighting)
        yield from _set_names(placed.newest)
        if given.target.gates.get("DRAPartitionableDevices", False):  # otherwise, the references are dropped
            yield from _counters(placed, given.target)


def _old(placed: PlacedPool) -> Found:
    newest = placed.pool.generation
    for piece in placed.older:
        message = f"generation {piece.slice.generation} is not used, because the pool has generation {newest}"
        yield piece.subject, OLD_GENERATION.at((*_POOL, "generation"), message)


def _numbers(placed: PlacedPool, *, whole: bool) -> Found:
    pool, newest = placed.pool, placed.newest
    first, there, expected = newest[0], pool.seen, pool.expected
    path = (*_POOL, "resourceSliceCount")
    for piece in newest[1:]:
        if _expected(piece) != expected:
            message = f"{_expected(piece)}, but it is {expected} in {first.subject.label} of the same pool"
            yield piece.subject, DISAGREE.at(path, message, f"resourceSliceCount: {there}")
            return
    if whole and expected > 0 and pool.incomplete:
        which = f"only {count(there, 'slice')}" if there < expected else count(there, "slice")
        message = f"pool {shown(pool.id.pool)} of {pool.id.driver} has {which} in the input, but should have {expected}"
        yield first.subject, MISSING_SLICES.at(path, message)


def _expected(piece: PlacedSlice) -> int:
    return piece.slice.object.spec.pool.resource_slice_count


def _devices(pool: PoolID, newest: list[PlacedSlice], sighting: Sighting) -> Found:
    """Check for repeated device names: every name that a node sees twice, and one name per slice for other nodes."""
    names = _DeviceNames(sighting)
    for piece in newest:
        apart: list[tuple[int, str, PlacedSlice]] = []
        for index, name in enumerate(device.name for device in piece.slice.object.spec.devices):
            other, seen = names.add(name, piece) if name else (None, False)
            if other is not None and seen:
                message = f"device {shown(name)} of pool {shown(pool.pool)} is also in {other.subject.label}"
                yield piece.subject, DUPLICATE_DEVICE.at((*_DEVICES, index, "name"), message)
            elif other is not None:
                apart.append((index, name, other))
        if apart:
            index, name, other = apart[0]
            which = f"device {shown(name)}" + (f" (and {len(apart) - 1} more)" if len(apart) > 1 else "")
            message = f"{which} of pool {shown(pool.pool)} is also in {other.subject.label}, for other nodes"
            yield piece.subject, SAME_NAME.at((*_DEVICES, index, "name"), message)


class _DeviceNames:
    """The device names in a pool's slices, by the slice's single node, and in slices for several nodes."""

    def __init__(self, sighting: Sighting) -> None:
        self._sighting = sighting
        self._on_node: dict[tuple[str, str], PlacedSlice] = {}
        self._pieces: dict[str, list[PlacedSlice]] = {}
        self._shared: dict[str, list[PlacedSlice]] = {}

    def add(self, name: str, piece: PlacedSlice) -> tuple[PlacedSlice | None, bool]:
        """Return a slice that already has a device of this name, and whether one node sees both slices.

        If several slices have the name, a slice that is seen together with `piece` is preferred.
        """
        node = piece.slice.object.spec.node_name
        known = self._pieces.setdefault(name, [])
        first = next((one for one in known if one is not piece), None)
        near = self._shared.get(name, []) if node else known
        beside = [self._on_node[name, node]] if node and (name, node) in self._on_node else []
        joined = (one for one in (*beside, *near) if one is not piece)
        found = next((one for one in joined if self._sighting.joins(one.slice, piece.slice)), None)
        known.append(piece)
        if node:
            self._on_node.setdefault((name, node), piece)
        else:
            self._shared.setdefault(name, []).append(piece)
        return found or first, found is not None


def _set_names(newest: list[PlacedSlice]) -> Found:
    sets: dict[str, PlacedSlice] = {}
    for piece in newest:
        for index, counter_set in enumerate(piece.slice.object.spec.shared_counters):
            other = sets.setdefault(counter_set.name, piece)
            if other is not piece and counter_set.name:
                message = f"counter set {shown(counter_set.name)} of the pool is also in {other.subject.label}"
                yield piece.subject, DUPLICATE_SET.at(("spec", "sharedCounters", index, "name"), message)


_Sets = dict[str, dict[str, str | int | float]]


def _counters(placed: PlacedPool, target: Target) -> Found:
    pool_wide = target.rules.counter_slices
    pool, everything = placed.pool, _sets(placed.newest)
    homes = {} if pool_wide else _homes(placed.newest)
    alike: dict[str, list[tuple[Subject, Problem]]] = {}
    for piece in placed.newest:
        sets = everything if pool_wide else _sets([piece])
        if not sets and pool.seen < pool.expected:
            continue  # the slice with the counters is missing
        for index, device in enumerate(piece.slice.object.spec.devices):
            path = (*_DEVICES, index, "consumesCounters")
            for at, entry in enumerate(device.consumes_counters):
                home = homes.get(entry.counter_set) if entry.counter_set not in sets else None
                if home is not None:
                    message = f"counter set {shown(entry.counter_set)} is in {home}, but {target.version} {_SAME_SLICE}"
                    yield piece.subject, NO_COUNTER.at((*path, at, "counterSet"), message)
            for problem in _consumption(pool.id, path, device, sets, homes):
                if problem.rule is NO_COUNTER and not problem.suggestion:
                    alike.setdefault(problem.message, []).append((piece.subject, problem))
                else:
                    yield piece.subject, problem
    for message, [(subject, first), *others] in alike.items():
        told = f"{message}; {count(len(others) + 1, 'device')} consume it" if others else message
        yield subject, replace(first, message=told)


_SAME_SLICE = "looks for it only in the slice of the device: move `sharedCounters` there"


def _homes(pieces: list[PlacedSlice]) -> dict[str, str]:
    """Return the slice of each counter set."""
    return {entry.name: piece.subject.label for piece in pieces for entry in piece.slice.object.spec.shared_counters}


def _sets(pieces: list[PlacedSlice]) -> _Sets:
    return {
        entry.name: {name: counter.value for name, counter in entry.counters.items()}
        for piece in pieces
        for entry in piece.slice.object.spec.shared_counters
    }


def _consumption(
    pool: PoolID, path: FieldPath, device: Device, sets: _Sets, elsewhere: Collection[str]
) -> Iterator[Problem]:
    for index, entry in enumerate(device.consumes_counters):
        if entry.counter_set not in sets and entry.counter_set in elsewhere:
            continue
        if entry.counter_set not in sets:
            there = f"; it has {listed(sets)}" if sets else " and no other counter set"
            message = f"pool {shown(pool.pool)} has no counter set {shown(entry.counter_set)}{there}"
            yield NO_COUNTER.at((*path, index, "counterSet"), message, nearest(entry.counter_set, sets) or "")
            continue
        known = sets[entry.counter_set]
        for name, counter in entry.counters.items():
            at = (*path, index, "counters", name)
            if name not in known:
                message = f"counter set {shown(entry.counter_set)} has no counter {shown(name)}; it has {listed(known)}"
                yield NO_COUNTER.at(at, message, nearest(name, known) or "")
            elif parse(counter.value) > parse(known[name]):
                message = (
                    f"consumes {counter.value} of counter {shown(name)}, "
                    f"but counter set {shown(entry.counter_set)} has only {known[name]}"
                )
                yield COUNTER_TOO_SMALL.at(at, message)
