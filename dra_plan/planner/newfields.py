"""Fields that only some releases have: where the input has one that does not count, this is said."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from dra_plan.api.inventory import Inventory
from dra_plan.api.notice import Notice
from dra_plan.api.resource import ResourceClaimSpec, ResourceSlice
from dra_plan.releases import FIELDS, Target, unused


def of_new_fields(inventory: Inventory, target: Target) -> list[Notice]:
    """A notice for each field that the release drops, or whose rules are not known, at the first object that has it."""
    found = []
    for field in FIELDS:
        code, told = unused(field, target.version, target.gates)
        objects = list(_USERS[field.name](inventory)) if code else []
        if objects:
            others = f" (and in {len(objects) - 1} more)" if len(objects) > 1 else ""
            found.append(Notice(code, f"{field.name}{others}: {told}", objects[0]))
    return found


def _slices(has: Callable[[ResourceSlice], object]) -> Callable[[Inventory], Iterator[str]]:
    """The slices for which something is true."""
    return lambda inventory: (f"ResourceSlice {slice_.metadata.name}" for slice_ in inventory.slices if has(slice_))


def _devices(name: str) -> Callable[[Inventory], Iterator[str]]:
    """The slices with a device that has the field."""
    return _slices(lambda slice_: any(getattr(device, name) for device in slice_.spec.devices))


def _groups(slice_: ResourceSlice) -> bool:
    return any(taken.compatibility_groups for device in slice_.spec.devices for taken in device.consumes_counters)


def _derived(inventory: Inventory) -> Iterator[str]:
    for claim in inventory.claims:
        if _derives(claim.spec):
            yield f"ResourceClaim {claim.key}"
    for template in inventory.templates:
        if _derives(template.spec.spec):
            yield f"ResourceClaimTemplate {template.metadata.namespace}/{template.metadata.name}"


def _derives(spec: ResourceClaimSpec) -> bool:
    asked: Iterable[Any] = (
        part for request in spec.devices.requests for part in (request.exactly, *request.first_available)
    )
    return any(part is not None and part.derived_attributes for part in asked)


_USERS: Mapping[str, Callable[[Inventory], Iterator[str]]] = {
    "nodeAllocatableResourceMappings": _devices("node_allocatable_resource_mappings"),
    "nodeAllocatableResources": _devices("node_allocatable_resources"),
    "skipNodeOperations": _slices(lambda slice_: slice_.spec.skip_node_operations),
    "partitionTypeAttribute": _slices(lambda slice_: slice_.spec.partition_type_attribute),
    "compatibilityGroups": _slices(_groups),
    "derivedAttributes": _derived,
}
"""The objects that use each field."""
