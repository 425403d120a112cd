"""Rules of the API server about slices and devices (DRA130, DRA132 to DRA136, DRA139, DRA140, DRA155, DRA156, DRA160).

`pools` checks the slices of a pool together, and `selectors` checks node selectors and taints.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from dra_plan.api import semver
from dra_plan.api.meta import FieldPath, QuantityText
from dra_plan.api.quantity import MAX_INT64, Quantity, QuantityError, parse
from dra_plan.api.resource import (
    CapacityRequestPolicy,
    CapacityRequestPolicyRange,
    Counter,
    CounterSet,
    Device,
    DeviceAttribute,
    DeviceCapacity,
    DeviceRequestAllocationResult,
    ResourceSlice,
    ResourceSliceSpec,
)
from dra_plan.releases import Target

from . import formats, names, selectors
from .formats import count, listed, nearest, shown
from .limits import (
    ATTRIBUTE_BYTES,
    BINDING_CONDITIONS,
    COMPATIBILITY_GROUPS,
    TOO_MANY,
    VALID_VALUES,
    Limits,
    at_most,
    at_most_bytes,
    limits_of,
)
from .rule import Problem, info, refused, warning

# -- node resources taken by devices -----------------------------------------------------------------------------------
# DRA160 (KEP-5517, alpha in 1.36).

MAPPING = refused(
    "DRA160",
    "node resource mapping that the API server rejects",
    (
        "A device can represent its node's cpu, memory, ephemeral-storage and hugepages-SIZE, either as a "
        "multiple of one of its capacities or as a fixed amount. The multiplier must be greater than 0."
    ),
    "Name a node resource and one of the device's capacities, and use a multiplier greater than 0.",
)
NODE_ALLOCATABLE_RULES = (MAPPING,)

_NATIVE = ("cpu", "memory", "ephemeral-storage")
_HUGE_PAGES = "hugepages-"


def check_node_allocatable(path: FieldPath, device: Device) -> Iterator[Problem]:
    """Check how a device maps its capacity to node resources."""
    for name, mapping in device.node_allocatable_resource_mappings.items():
        at = (*path, "nodeAllocatableResourceMappings", name)
        if name not in _NATIVE and not name.startswith(_HUGE_PAGES):
            message = f"{shown(name)} is not one of {', '.join(_NATIVE)} and {_HUGE_PAGES}SIZE"
            yield MAPPING.at(at, message, nearest(name, _NATIVE) or "")
        key, capacities = mapping.capacity_key, device.capacity
        if key is not None and (not key or key not in capacities):
            there = f"the device has {listed(capacities)}" if capacities else "the device has no capacities"
            message = f"no capacity {shown(key)}; {there}" if key else f"empty; {there}"
            yield MAPPING.at((*at, "capacityKey"), message, nearest(key, capacities) or "")
        multiplier = mapping.allocation_multiplier
        if multiplier is not None and parse(multiplier).sign <= 0:
            yield MAPPING.at((*at, "allocationMultiplier"), f"{multiplier} {formats.NOT_POSITIVE}")


# -- nodes of slices and devices ---------------------------------------------------------------------------------------
# DRA130.

NODE_FIELDS = refused(
    "DRA130",
    "slice that does not select its nodes in exactly one way",
    (
        "A slice must set exactly one of `nodeName`, `nodeSelector`, `allNodes` and "
        "`perDeviceNodeSelection`. With `perDeviceNodeSelection`, each device must set exactly one of the "
        "other three. Empty and false values count as set, and the API server rejects them."
    ),
    "Keep only the field that you need.",
)
NODE_FIELD_RULES = (NODE_FIELDS,)


def of_slice(spec: ResourceSliceSpec) -> Iterator[Problem]:
    """Check the fields with which a slice selects its nodes."""
    path: FieldPath = ("spec",)
    yield from _one_of(path, spec, {"perDeviceNodeSelection": spec.per_device_node_selection})


def of_device(path: FieldPath, device: Device, *, wanted: bool) -> Iterator[Problem]:
    """Check the fields with which a device selects its nodes. `wanted` says whether the slice requires them."""
    if wanted:
        yield from _one_of(path, device, {})
        return
    given = [name for name, value in _fields(device).items() if value is not None]
    if given:
        yield NODE_FIELDS.at((*path, given[0]), "only with perDeviceNodeSelection: true in the slice")


def _fields(owner: ResourceSliceSpec | Device) -> dict[str, object]:
    return {"nodeName": owner.node_name, "nodeSelector": owner.node_selector, "allNodes": owner.all_nodes}


def _one_of(path: FieldPath, owner: ResourceSliceSpec | Device, more: dict[str, bool | None]) -> Iterator[Problem]:
    fields = {**_fields(owner), **more}
    given = [name for name, value in fields.items() if value is not None]
    for name in given:
        if fields[name] is False:
            yield NODE_FIELDS.at((*path, name), "false; remove the field instead")
        elif fields[name] == "":
            yield NODE_FIELDS.at((*path, name), "empty; remove the field instead")
    if not given:
        yield NODE_FIELDS.at(path, f"none of {', '.join(fields)} is set")
    said = [name for name in given if fields[name] not in (False, "")]
    if len(said) > 1:
        yield NODE_FIELDS.at((*path, said[1]), f"{' and '.join(said)} are set; exactly one is allowed")
    if owner.node_name:
        yield from names.subdomain((*path, "nodeName"), owner.node_name, "node name")
    if owner.node_selector is not None:
        in_device = isinstance(owner, Device)
        yield from selectors.check_node_selector((*path, "nodeSelector"), owner.node_selector, in_device=in_device)


# -- request policies of capacities ------------------------------------------------------------------------------------
# DRA135, DRA156 (KEP-5075).

POLICY = refused(
    "DRA135",
    "request policy that contradicts itself",
    (
        "The policy defines how requests for a shared capacity are rounded and limited. The API "
        "server rejects policies that contradict themselves. It compares values and steps in "
        "whole units, with fractions rounded up. Since 1.37, it compares them in thousandths."
    ),
    "Make the default, the values and the range consistent with each other and with the capacity.",
)
USELESS_POLICY = warning(
    "DRA156",
    "request policy that the API server accepts but no request can use",
    (
        "If the default exceeds the capacity, every request without an amount fails on the device. A step "
        "must be greater than 0."
    ),
    "Use a default that does not exceed the capacity, and a step that is greater than 0.",
)
POLICY_RULES = (POLICY, USELESS_POLICY)


def check_policies(path: FieldPath, capacity: DeviceCapacity, limits: Limits, *, shared: bool) -> Iterator[Problem]:
    """Check the request policy of a capacity. `shared` says whether the device allows multiple allocations."""
    policy = capacity.request_policy
    if policy is None:
        return
    path = (*path, "requestPolicy")
    if not shared:
        yield POLICY.at(path, "only devices with allowMultipleAllocations: true may have a request policy")
    total = parse(capacity.value)
    both = policy.valid_values and policy.valid_range is not None
    if both:
        yield POLICY.at(path, "validValues and validRange exclude each other")
    if policy.default is None:
        if policy.valid_values or policy.valid_range is not None:
            yield POLICY.at((*path, "default"), "missing; validValues and validRange need it")
        return
    default = parse(policy.default)
    if default > total:
        yield USELESS_POLICY.at((*path, "default"), f"{policy.default} is more than the capacity of {capacity.value}")
    if both:
        return
    if policy.valid_values:
        yield from _values((*path, "validValues"), policy, policy.valid_values, default, capacity.value)
    if policy.valid_range is not None:
        yield from _range((*path, "validRange"), policy.valid_range, policy.default, capacity.value, limits)


def _values(
    path: FieldPath,
    policy: CapacityRequestPolicy,
    values: Sequence[QuantityText],
    default: Quantity,
    capacity: QuantityText,
) -> Iterator[Problem]:
    yield from at_most(path, values, VALID_VALUES, "value")
    parsed = [parse(value) for value in values]
    if default not in parsed:
        yield POLICY.at(path, f"the default, {policy.default}, is not among the values")
    first: dict[int, QuantityText] = {}
    for index, value in enumerate(parsed):
        at = (*path, index)
        if value > parse(capacity):
            yield POLICY.at(at, f"{values[index]} is more than the capacity of {capacity}")
        if index and value < parsed[index - 1]:
            yield POLICY.at(at, f"{values[index]} after {values[index - 1]}: values must be in ascending order")
        other = first.get(value.units)
        if other is None:
            first[value.units] = values[index]
        elif value == parse(other):
            yield POLICY.at(at, f"{values[index]} is listed twice")
        else:
            yield POLICY.at(at, f"{values[index]} and {other} are the same, as both count as {value.units} whole units")


def _range(
    path: FieldPath, wanted: CapacityRequestPolicyRange, default: QuantityText, capacity: QuantityText, limits: Limits
) -> Iterator[Problem]:
    if limits.checks_amounts:
        yield from _amounts(path, wanted)
    if wanted.min is None:
        yield POLICY.at((*path, "min"), "missing; a range needs it")
        return
    least, most, total, usual = parse(wanted.min), parse(wanted.max or capacity), parse(capacity), parse(default)
    if least > total:
        yield POLICY.at((*path, "min"), f"{wanted.min} is more than the capacity of {capacity}")
    if usual < least:
        yield POLICY.at((*path, "min"), f"{wanted.min} is more than the default, {default}")
    if wanted.max is not None:
        yield from _maximum((*path, "max"), wanted, default, capacity)
    if wanted.step is not None:
        at = (*path, "step")
        yield from _step(at, wanted, least, most if wanted.max is not None else None, usual, total, limits)


def _amounts(path: FieldPath, wanted: CapacityRequestPolicyRange) -> Iterator[Problem]:
    """Check for amounts with which the release cannot calculate; a step of 0 is reported with the steps."""
    for name in ("min", "max", "step"):
        written = getattr(wanted, name)
        amount = parse(written if written is not None else 0)
        if amount.sign < 0:
            yield POLICY.at((*path, name), f"{written} is negative")
        elif amount.nano > MAX_INT64 * 10**9:
            yield POLICY.at((*path, name), f"{written} is more than an int64 holds")


def _maximum(
    path: FieldPath, wanted: CapacityRequestPolicyRange, default: QuantityText, capacity: QuantityText
) -> Iterator[Problem]:
    most = parse(wanted.max or "0")
    if most < parse(wanted.min or "0"):
        yield POLICY.at(path, f"{wanted.max} is less than min, {wanted.min}")
    if most > parse(capacity):
        yield POLICY.at(path, f"{wanted.max} is more than the capacity of {capacity}")
    if parse(default) > most:
        yield POLICY.at(path, f"{wanted.max} is less than the default, {default}")


def _step(
    path: FieldPath,
    wanted: CapacityRequestPolicyRange,
    least: Quantity,
    most: Quantity | None,
    usual: Quantity,
    total: Quantity,
    limits: Limits,
) -> Iterator[Problem]:
    """Check the step, which is counted in whole numbers, fractions rounded up as upstream does, or in thousandths."""
    step = parse(wanted.step or "0")
    if limits.checks_amounts and step.is_zero:
        yield POLICY.at(path, f"{wanted.step} {formats.NOT_POSITIVE}")
        return
    if not step.units:
        yield POLICY.at(path, f"{wanted.step} counts as 0 whole units, by which the API server divides and fails")
        return
    if step.sign <= 0 and not limits.checks_amounts:
        yield USELESS_POLICY.at(path, f"{wanted.step} {formats.NOT_POSITIVE}")
    in_thousandths = limits.thousandths and any(q is not None and _has_fraction(q) for q in (least, most, step))
    counted = (step.milli if in_thousandths else step.units) or 1
    if _sum_exceeds(least, step, total):
        yield POLICY.at(path, f"min {wanted.min} and one step {wanted.step} are more than the capacity")
    if _distance(least, usual, in_thousandths) % counted:
        yield POLICY.at(path, f"the default is not a whole number of steps of {wanted.step} above min {wanted.min}")
    if most is not None and _distance(least, most, in_thousandths) % counted:
        yield POLICY.at(
            path, f"max {wanted.max} is not a whole number of steps of {wanted.step} above min {wanted.min}"
        )


def _has_fraction(amount: Quantity) -> bool:
    return amount.nano % 10**9 != 0


def _distance(least: Quantity, other: Quantity, in_thousandths: bool) -> int:
    """Return the distance in whole units, or thousandths, as a 64-bit integer, which wraps around."""
    between = other.milli - least.milli if in_thousandths else other.units - least.units
    return (between + 2**63) % 2**64 - 2**63


def _sum_exceeds(least: Quantity, step: Quantity, total: Quantity) -> bool:
    try:
        return least + step > total
    except QuantityError:  # if two amounts are so far apart, only the larger one counts
        return max(least, step) > total


# -- attributes and binding conditions ---------------------------------------------------------------------------------
# DRA134, DRA136, DRA139, DRA155.

ATTRIBUTE = refused(
    "DRA134",
    "attribute that does not have exactly one value",
    (
        "An attribute must have exactly one value: an int, bool, string or version, or a non-empty list "
        "of one of these types. Otherwise, every selector fails on the whole device."
    ),
    "Keep only the value that you need.",
)
BINDING = refused(
    "DRA136",
    "binding conditions that the API server rejects",
    (
        "The scheduler waits until a binding condition or a binding failure condition is reported. If "
        "either list is set, both must have entries, and no condition may be in both."
    ),
    "List at least one condition of each kind, and list each condition only once.",
)
VERSION = refused(
    "DRA139",
    "version attribute that is not a valid semantic version",
    (
        "Versions must follow semver 2.0.0 strictly: three numbers without leading zeros, optionally "
        "followed by -PRERELEASE and +BUILD."
    ),
    "Write all three numbers without a leading `v`, or publish the value as a string.",
)
LARGE_VERSION = warning(
    "DRA155",
    "version attribute with a number beyond 64 bits",
    (
        "The API server accepts the version, but selectors cannot read it. Every selector fails on the "
        "whole device, and the pod is not scheduled on any node."
    ),
    "Publish the value as a string.",
    refused_by="Scheduler",
)
RULES = (ATTRIBUTE, BINDING, VERSION, LARGE_VERSION)

_VALUES = {
    "int": "int_value",
    "bool": "bool_value",
    "string": "string_value",
    "version": "version_value",
    "ints": "int_values",
    "bools": "bool_values",
    "strings": "string_values",
    "versions": "version_values",
}
_LOOSE = re.compile(r"v?(\d+)(?:\.(\d+))?(?:\.(\d+))?([-+].*)?\Z")


def check(path: FieldPath, device: Device, limits: Limits, *, own_nodes: bool) -> Iterator[Problem]:
    """Check a device, except for its counters.

    `own_nodes` says whether the slice lets its devices select their nodes.
    """
    yield from names.dns_label((*path, "name"), device.name, "device name")
    yield from _attributes(path, device, limits)
    for name, capacity in device.capacity.items():
        at = (*path, "capacity", name)
        yield from names.qualified(at, name, "capacity")
        yield from check_policies(at, capacity, limits, shared=bool(device.allow_multiple_allocations))
    yield from of_device(path, device, wanted=own_nodes)
    yield from at_most((*path, "taints"), device.taints, limits.taints, "taint")
    for index, taint in enumerate(device.taints):
        yield from selectors.taint((*path, "taints", index), taint)
    yield from binding(path, device)
    yield from check_node_allocatable(path, device)


def _attributes(path: FieldPath, device: Device, limits: Limits) -> Iterator[Problem]:
    many = len(device.attributes) + len(device.capacity)
    if many > limits.names_per_device:
        names_of_device = [*device.attributes, *device.capacity]
        yield from at_most(
            (*path, "attributes"), names_of_device, limits.names_per_device, "attribute and capacity name"
        )
    values = [value for attribute in device.attributes.values() for value in _listed(attribute)]
    yield from at_most((*path, "attributes"), values, limits.values_per_device, "attribute value")
    for name, attribute in device.attributes.items():
        at = (*path, "attributes", name)
        yield from names.qualified(at, name, "attribute")
        yield from _attribute(at, attribute)


def _listed(attribute: DeviceAttribute) -> list[object]:
    values: list[object] = []
    for slot in _VALUES.values():
        value = getattr(attribute, slot)
        if value is not None:
            values += value if isinstance(value, list) else [value]
    return values


def _attribute(path: FieldPath, attribute: DeviceAttribute) -> Iterator[Problem]:
    given = [name for name, slot in _VALUES.items() if getattr(attribute, slot) is not None]
    if not given:
        yield ATTRIBUTE.at(path, f"no value is set; one of {', '.join(_VALUES)} is required")
    elif len(given) > 1:
        yield ATTRIBUTE.at(path, f"{' and '.join(given)} are set; exactly one value is allowed")
    for name in given:
        value = getattr(attribute, _VALUES[name])
        if value == []:
            yield ATTRIBUTE.at((*path, name), "the list is empty")
        texts = value if isinstance(value, list) else [value]
        for index, text in enumerate(texts):
            at = (*path, name, index) if isinstance(value, list) else (*path, name)
            if name in ("version", "versions"):
                yield from _version(at, text)
            if name in ("string", "strings", "version", "versions"):
                yield from at_most_bytes(at, text, ATTRIBUTE_BYTES, "value")


def _version(path: FieldPath, text: str) -> Iterator[Problem]:
    if not formats.is_version(text):
        yield VERSION.at(path, f"{shown(text)} is not a valid semantic version, such as 1.2.3", _strict(text))
        return
    try:
        semver.parse(text)
    except semver.SemverError:
        yield LARGE_VERSION.at(path, f"{shown(text)} has a number beyond 64 bits")


def _strict(text: str) -> str:
    """Return the version that was probably meant, or an empty string."""
    match = _LOOSE.match(text)
    if match is None:
        return ""
    made = ".".join(str(int(match[part] or "0")) for part in (1, 2, 3)) + (match[4] or "")
    return made if formats.is_version(made) else ""


def binding(path: FieldPath, device: Device | DeviceRequestAllocationResult) -> Iterator[Problem]:
    """Check the binding conditions of a published or allocated device."""
    kinds = {
        "bindingConditions": device.binding_conditions,
        "bindingFailureConditions": device.binding_failure_conditions,
    }
    seen: set[str] = set()
    for name, conditions in kinds.items():
        at = (*path, name)
        yield from at_most(at, conditions, BINDING_CONDITIONS, "condition")
        for index, condition in enumerate(conditions):
            if not formats.is_label_name(condition):
                yield from names.label_name((*at, index), condition)
            elif condition in seen:
                yield BINDING.at((*at, index), f"{shown(condition)} is listed twice")
            seen.add(condition)
    given = [name for name, conditions in kinds.items() if conditions]
    if len(given) == 1:
        other = next(name for name in kinds if name not in given)
        many = count(len(kinds[given[0]]), "condition")
        yield BINDING.at((*path, other), f"empty, but {given[0]} has {many}; set both fields or neither")


# -- slices ------------------------------------------------------------------------------------------------------------
# DRA132, DRA133, DRA140.

COUNTERS_BESIDE_DEVICES = refused(
    "DRA132",
    "counter sets and devices in one slice",
    (
        "Since Kubernetes 1.35, counter sets must be in separate slices and apply to the whole pool. An "
        "empty list counts as set."
    ),
    ("Move `sharedCounters` to another slice of the same pool, and include that slice in `resourceSliceCount`."),
)
POOL_NUMBERS = refused(
    "DRA133",
    "invalid pool number",
    (
        "`resourceSliceCount` is the number of slices in the complete pool, so it must be at least 1. "
        "Generations start at 0."
    ),
    "Set `resourceSliceCount` to the pool's number of slices, and the generation to 0 or more.",
)
PUBLISHES_NOTHING = info(
    "DRA140",
    "slice with neither devices nor counters",
    (
        "The slice is included in `resourceSliceCount`, but contains no devices. Drivers publish such "
        "slices for nodes without devices."
    ),
    "If the node really has no devices, no change is needed.",
)
SLICE_RULES = (COUNTERS_BESIDE_DEVICES, POOL_NUMBERS, PUBLISHES_NOTHING)

_SPEC: FieldPath = ("spec",)


def check_slice(piece: ResourceSlice, target: Target, written: Any) -> Iterator[Problem]:
    """Check a slice and its devices. `written` is the slice's spec as it is in the manifest."""
    spec, limits = piece.spec, limits_of(target.version, fractional=target.features.fractional_ranges)
    yield from names.driver((*_SPEC, "driver"), spec.driver)
    yield from names.pool((*_SPEC, "pool", "name"), spec.pool.name)
    yield from _numbers(piece)
    yield from of_slice(spec)
    if not limits.counters_share_slice:
        yield from _beside(spec, target, written)
    if not spec.devices and not spec.shared_counters:
        yield PUBLISHES_NOTHING.at(_SPEC, "neither devices nor sharedCounters is set, so the slice offers nothing")
    yield from _devices(piece, limits)
    yield from _counter_sets(spec.shared_counters, limits)


def _beside(spec: ResourceSliceSpec, target: Target, written: Any) -> Iterator[Problem]:
    """Check for both lists in one slice; an empty list counts as set, but a dropped list does not."""
    lists = {"devices": spec.devices, "sharedCounters": spec.shared_counters}
    given = isinstance(written, dict) and all(written.get(name) is not None for name in lists)
    if not given or not target.gates.get("DRAPartitionableDevices", False):
        return
    empty = [name for name, entries in lists.items() if not entries]
    if empty:
        message = "an empty list counts as set next to the other; remove it"
        yield COUNTERS_BESIDE_DEVICES.at((*_SPEC, empty[-1]), message)
    else:
        yield COUNTERS_BESIDE_DEVICES.at((*_SPEC, "sharedCounters"), "the slice also has devices")


def _numbers(piece: ResourceSlice) -> Iterator[Problem]:
    pool = piece.spec.pool
    path = (*_SPEC, "pool")
    if pool.resource_slice_count <= 0:
        message = f"{pool.resource_slice_count} {formats.NOT_POSITIVE}"
        yield POOL_NUMBERS.at((*path, "resourceSliceCount"), message, "resourceSliceCount: 1")
    if pool.generation < 0:
        yield POOL_NUMBERS.at((*path, "generation"), f"{pool.generation} is negative")


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
        yield from check(at, device, limits, own_nodes=bool(spec.per_device_node_selection))
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
