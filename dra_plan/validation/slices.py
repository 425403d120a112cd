"""DRA132, DRA133: a slice by itself, as the API server judges it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dra_plan.api.meta import FieldPath
from dra_plan.api.resource import Counter, CounterSet, Device, DeviceAttribute, ResourceSlice, ResourceSliceSpec
from dra_plan.releases import Target

from . import devices, names, nodefields
from .limits import COMPATIBILITY_GROUPS, TOO_MANY, Limits, at_most, limits_of
from .rule import Problem, info, refused

COUNTERS_BESIDE_DEVICES = refused(
    "DRA132",
    "counter sets and devices in one slice",
    "Since Kubernetes 1.35 counter sets stand in slices of their own, and hold for the whole pool. A list that is "
    "given but empty counts too.",
    "Move sharedCounters to another slice of the same pool, and count it in resourceSliceCount.",
)
POOL_NUMBERS = refused(
    "DRA133",
    "pool numbers that can't be",
    "resourceSliceCount says how many slices make the pool complete, so it is at least 1; generations start at 0.",
    "Write the number of slices that the pool has.",
)
PUBLISHES_NOTHING = info(
    "DRA140",
    "slice with neither devices nor counters",
    "It counts for resourceSliceCount but offers nothing. Drivers publish such slices for nodes without devices.",
    "Nothing to do, if the node really has none.",
)
RULES = (COUNTERS_BESIDE_DEVICES, POOL_NUMBERS, PUBLISHES_NOTHING)

_SPEC: FieldPath = ("spec",)


def check(piece: ResourceSlice, target: Target, written: Any) -> Iterator[Problem]:
    """Everything about one slice; `written` is the spec as it stands in the manifest."""
    spec, limits = piece.spec, limits_of(target.version, fractional=target.features.fractional_ranges)
    yield from names.driver((*_SPEC, "driver"), spec.driver)
    yield from names.pool((*_SPEC, "pool", "name"), spec.pool.name)
    yield from _numbers(piece)
    yield from nodefields.of_slice(spec)
    if not limits.counters_share_slice:
        yield from _beside(spec, target, written)
    if not spec.devices and not spec.shared_counters:
        yield PUBLISHES_NOTHING.at(_SPEC, "neither devices nor sharedCounters: the slice offers nothing")
    yield from _devices(piece, limits)
    yield from _counter_sets(spec.shared_counters, limits)


def _beside(spec: ResourceSliceSpec, target: Target, written: Any) -> Iterator[Problem]:
    """Both lists in one slice: one that is empty counts as given, one that is dropped does not."""
    lists = {"devices": spec.devices, "sharedCounters": spec.shared_counters}
    given = isinstance(written, dict) and all(written.get(name) is not None for name in lists)
    if not given or not target.gates.get("DRAPartitionableDevices", False):
        return
    empty = [name for name, entries in lists.items() if not entries]
    if empty:
        message = "an empty list counts as given beside the other; leave it out"
        yield COUNTERS_BESIDE_DEVICES.at((*_SPEC, empty[-1]), message)
    else:
        yield COUNTERS_BESIDE_DEVICES.at((*_SPEC, "sharedCounters"), "the slice has devices too")


def _numbers(piece: ResourceSlice) -> Iterator[Problem]:
    pool = piece.spec.pool
    path = (*_SPEC, "pool")
    if pool.resource_slice_count <= 0:
        message = f"{pool.resource_slice_count} is not more than 0"
        yield POOL_NUMBERS.at((*path, "resourceSliceCount"), message, "resourceSliceCount: 1")
    if pool.generation < 0:
        yield POOL_NUMBERS.at((*path, "generation"), f"{pool.generation} is less than 0")


def _devices(piece: ResourceSlice, limits: Limits) -> Iterator[Problem]:
    spec = piece.spec
    path = (*_SPEC, "devices")
    costly = any(_is_costly(device) for device in spec.devices)
    most = limits.costly_devices if costly else limits.devices
    if len(spec.devices) > most:
        why = " in a slice with taints, counters or lists" if costly else ""
        yield TOO_MANY.at(path, f"{len(spec.devices)} devices; at most {most} are allowed{why}")
    yield from names.unique(
        (((*path, index, "name"), device.name) for index, device in enumerate(spec.devices)), "device"
    )
    for index, device in enumerate(spec.devices):
        at = (*path, index)
        yield from devices.check(at, device, limits, own_nodes=bool(spec.per_device_node_selection))
        yield from _consumption(at, device, limits)


def _is_costly(device: Device) -> bool:
    return bool(device.taints or device.consumes_counters) or any(map(_is_list, device.attributes.values()))


def _is_list(attribute: DeviceAttribute) -> bool:
    lists = (attribute.int_values, attribute.bool_values, attribute.string_values, attribute.version_values)
    return any(values is not None for values in lists)


def _consumption(path: FieldPath, device: Device, limits: Limits) -> Iterator[Problem]:
    path = (*path, "consumesCounters")
    yield from at_most(path, device.consumes_counters, limits.consumptions_per_device, "counter set")
    sets = (((*path, index, "counterSet"), entry.counter_set) for index, entry in enumerate(device.consumes_counters))
    yield from names.unique(sets, "counter set")
    for index, entry in enumerate(device.consumes_counters):
        yield from names.dns_label((*path, index, "counterSet"), entry.counter_set, "counter set name")
        yield from _counters((*path, index, "counters"), entry.counters, limits.counters_per_consumption)
        groups = entry.compatibility_groups
        yield from at_most((*path, index, "compatibilityGroups"), groups, COMPATIBILITY_GROUPS, "compatibility group")


def _counter_sets(sets: list[CounterSet], limits: Limits) -> Iterator[Problem]:
    path = (*_SPEC, "sharedCounters")
    yield from at_most(path, sets, limits.counter_sets, "counter set")
    yield from names.unique((((*path, index, "name"), entry.name) for index, entry in enumerate(sets)), "counter set")
    if limits.counters_per_slice is not None:
        every = [name for entry in sets for name in entry.counters]
        yield from at_most(path, every, limits.counters_per_slice, "counter")
    for index, entry in enumerate(sets):
        yield from names.dns_label((*path, index, "name"), entry.name, "counter set name")
        yield from _counters((*path, index, "counters"), entry.counters, limits.counters_per_set)


def _counters(path: FieldPath, counters: dict[str, Counter], most: int) -> Iterator[Problem]:
    if not counters:
        yield from names.required(path, "")
    yield from at_most(path, counters, most, "counter")
    for name in counters:
        yield from names.dns_label((*path, name), name, "counter name")
