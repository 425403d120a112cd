"""DRA160: how much of a node's resources a device stands for (KEP-5517, alpha in 1.36)."""

from __future__ import annotations

from collections.abc import Iterator

from dra_plan.api.meta import FieldPath
from dra_plan.api.quantity import parse
from dra_plan.api.resource import Device

from .rule import Problem, refused
from .words import listed, nearest, shown

MAPPING = refused(
    "DRA160",
    "mapping to a node's resources that the API server refuses",
    "A device can stand for cpu, memory, ephemeral-storage and hugepages-SIZE of its node. What it stands for is a "
    "multiple of one of its own capacities, or a fixed amount; the multiplier is more than 0.",
    "Name a resource of the node, a capacity of the device, and a multiplier above 0.",
)
RULES = (MAPPING,)

_NATIVE = ("cpu", "memory", "ephemeral-storage")
_HUGE_PAGES = "hugepages-"


def check(path: FieldPath, device: Device) -> Iterator[Problem]:
    """The mappings of one device."""
    for name, mapping in device.node_allocatable_resource_mappings.items():
        at = (*path, "nodeAllocatableResourceMappings", name)
        if name not in _NATIVE and not name.startswith(_HUGE_PAGES):
            message = f"{shown(name)} is none of {', '.join(_NATIVE)} and {_HUGE_PAGES}SIZE"
            yield MAPPING.at(at, message, nearest(name, _NATIVE) or "")
        key, capacities = mapping.capacity_key, device.capacity
        if key is not None and (not key or key not in capacities):
            there = f"the device has {listed(capacities)}" if capacities else "the device has no capacity"
            message = f"{there}, not {shown(key)}" if key else f"empty; {there}"
            yield MAPPING.at((*at, "capacityKey"), message, nearest(key, capacities) or "")
        multiplier = mapping.allocation_multiplier
        if multiplier is not None and parse(multiplier).sign <= 0:
            yield MAPPING.at((*at, "allocationMultiplier"), f"{multiplier} is not more than 0")
