"""DRA134, DRA136, DRA139: the devices of a slice."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dra_plan.api import semver
from dra_plan.api.meta import FieldPath
from dra_plan.api.resource import Device, DeviceAttribute, DeviceRequestAllocationResult

from . import formats, names, nodeallocatable, nodefields, policies, taints
from .limits import ATTRIBUTE_BYTES, BINDING_CONDITIONS, Limits, at_most, at_most_bytes
from .rule import Problem, refused, warning
from .words import count, shown

ATTRIBUTE = refused(
    "DRA134",
    "attribute without exactly one value",
    "An attribute has one value of one type: int, bool, string or version, or a list of one of them that is not "
    "empty. With any other attribute every selector fails on the whole device.",
    "Keep the one value that is meant.",
)
BINDING = refused(
    "DRA136",
    "binding conditions that the API server refuses",
    "The scheduler waits until a binding condition or a binding failure condition is reported, so there must be both, "
    "and no condition may be in both lists.",
    "List at least one condition of each kind, each once.",
)
VERSION = refused(
    "DRA139",
    "version attribute that is no semantic version",
    "Versions follow semver 2.0.0 strictly: three numbers without leading zeros, then perhaps -PRERELEASE and +BUILD.",
    "Write all three numbers, without `v`; or publish the text as string.",
)
LARGE_VERSION = warning(
    "DRA155",
    "version attribute with a number beyond 64 bits",
    "The API server takes it, but selectors can't read it: every selector fails on the whole device, and with it the "
    "pod on all nodes.",
    "Publish the text as string.",
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
    """Everything about one device but its counters; `own_nodes` if the slice leaves the nodes to its devices."""
    yield from names.dns_label((*path, "name"), device.name, "device name")
    yield from _attributes(path, device, limits)
    for name, capacity in device.capacity.items():
        at = (*path, "capacity", name)
        yield from names.qualified(at, name, "capacity")
        yield from policies.check(at, capacity, limits, shared=bool(device.allow_multiple_allocations))
    yield from nodefields.of_device(path, device, wanted=own_nodes)
    yield from at_most((*path, "taints"), device.taints, limits.taints, "taint")
    for index, taint in enumerate(device.taints):
        yield from taints.taint((*path, "taints", index), taint)
    yield from binding(path, device)
    yield from nodeallocatable.check(path, device)


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
        yield ATTRIBUTE.at(path, f"no value: one of {', '.join(_VALUES)} is needed")
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
        yield VERSION.at(path, f"{shown(text)} is no semantic version, such as 1.2.3", _strict(text))
        return
    try:
        semver.parse(text)
    except semver.SemverError:
        yield LARGE_VERSION.at(path, f"{shown(text)} has a number beyond 64 bits")


def _strict(text: str) -> str:
    """The version that was probably meant, or an empty text."""
    match = _LOOSE.match(text)
    if match is None:
        return ""
    made = ".".join(str(int(match[part] or "0")) for part in (1, 2, 3)) + (match[4] or "")
    return made if formats.is_version(made) else ""


def binding(path: FieldPath, device: Device | DeviceRequestAllocationResult) -> Iterator[Problem]:
    """The binding conditions of a device, or of an allocated one."""
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
                yield BINDING.at((*at, index), f"{shown(condition)} is there already")
            seen.add(condition)
    given = [name for name, conditions in kinds.items() if conditions]
    if len(given) == 1:
        other = next(name for name in kinds if name not in given)
        many = count(len(kinds[given[0]]), "condition")
        yield BINDING.at((*path, other), f"none, but {many} in {given[0]}: each needs the other")
