"""Fields that only some releases have: where the input has one that does not count, this is said."""

from __future__ import annotations

from collections.abc import Iterator

from dra_plan.api.inventory import Inventory, Notice
from dra_plan.api.resource import ResourceClaimSpec, ResourceSlice
from dra_plan.releases import FIELDS, Target, unused


def of_new_fields(inventory: Inventory, target: Target) -> list[Notice]:
    """A notice for each field that the release drops, or whose rules are not known, at the first object that has it."""
    users: dict[str, list[str]] = {}
    for name, user in _uses(inventory):
        users.setdefault(name, []).append(user)
    found = []
    for field in FIELDS:
        code, told = unused(field, target.version, target.gates)
        if code and field.name in users:
            first, *others = users[field.name]
            more = f" (and in {len(others)} more)" if others else ""
            found.append(Notice(code, f"{field.name}{more}: {told}", first))
    return found


def _uses(inventory: Inventory) -> Iterator[tuple[str, str]]:
    """The fields of `FIELDS` that the input has, each with the objects that have it."""
    for slice_ in inventory.slices:
        for name in _of_slice(slice_):
            yield name, f"ResourceSlice {slice_.metadata.name}"
    for claim in inventory.claims:
        if _derives(claim.spec):
            yield "derivedAttributes", f"ResourceClaim {claim.key}"
    for template in inventory.templates:
        if _derives(template.spec.spec):
            owner = f"{template.metadata.namespace}/{template.metadata.name}"
            yield "derivedAttributes", f"ResourceClaimTemplate {owner}"


def _of_slice(slice_: ResourceSlice) -> set[str]:
    found = set()
    if slice_.spec.skip_node_operations:
        found.add("skipNodeOperations")
    if slice_.spec.partition_type_attribute:
        found.add("partitionTypeAttribute")
    for device in slice_.spec.devices:
        mappings, resources = device.node_allocatable_resource_mappings, device.node_allocatable_resources
        if not (mappings or resources or device.consumes_counters):
            continue
        if mappings:
            found.add("nodeAllocatableResourceMappings")
        if resources:
            found.add("nodeAllocatableResources")
        if any(taken.compatibility_groups for taken in device.consumes_counters):
            found.add("compatibilityGroups")
    return found


def _derives(spec: ResourceClaimSpec) -> bool:
    for request in spec.devices.requests:
        if request.exactly is not None and request.exactly.derived_attributes:
            return True
        if request.first_available and any(each.derived_attributes for each in request.first_available):
            return True
    return False
