"""DRA152: fields that the API server drops because their feature gate is off."""

from __future__ import annotations

from collections.abc import Iterator

from dra_plan.api.base import Object
from dra_plan.api.resource import (
    Device,
    DeviceAttribute,
    DeviceClass,
    DeviceTaintRule,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimTemplate,
    ResourceSlice,
)
from dra_plan.manifests.paths import FieldPath
from dra_plan.releases import Target

from .rule import Problem, warning

DROPPED = warning(
    "DRA152",
    "field that is dropped because its feature gate is off",
    "The API server removes fields of features that are switched off when the object is written, without a word; what "
    "is left means something else.",
    "Switch the gate on in the cluster and say so with --feature-gates, or do without the field.",
)
RULES = (DROPPED,)

_Use = tuple[str, FieldPath]
"""(gate, field)."""
_SPEC: FieldPath = ("spec",)


def check(obj: Object, target: Target) -> Iterator[Problem]:
    """One problem for each gate that is off and whose fields the object uses, at the first such field."""
    told: set[str] = set()
    for gate, path in _uses(obj):
        if gate not in told and not target.gates.get(gate, False):
            told.add(gate)
            yield DROPPED.at(path, f"Kubernetes {target.version} drops it: feature gate {gate} is off")


def _uses(obj: Object) -> Iterator[_Use]:
    if isinstance(obj, ResourceSlice):
        yield from _slice(obj)
    elif isinstance(obj, ResourceClaim):
        yield from _claim(_SPEC, obj.spec)
    elif isinstance(obj, ResourceClaimTemplate):
        yield from _claim((*_SPEC, "spec"), obj.spec.spec)
    elif isinstance(obj, DeviceClass) and obj.spec.extended_resource_name:
        yield "DRAExtendedResource", (*_SPEC, "extendedResourceName")
    elif isinstance(obj, DeviceTaintRule):
        yield "DRADeviceTaints", _SPEC


def _slice(piece: ResourceSlice) -> Iterator[_Use]:
    spec = piece.spec
    if spec.per_device_node_selection is not None:
        yield "DRAPartitionableDevices", (*_SPEC, "perDeviceNodeSelection")
    if spec.shared_counters:
        yield "DRAPartitionableDevices", (*_SPEC, "sharedCounters")
    for index, device in enumerate(spec.devices):
        yield from _device((*_SPEC, "devices", index), device)


def _device(path: FieldPath, device: Device) -> Iterator[_Use]:
    if device.consumes_counters:
        yield "DRAPartitionableDevices", (*path, "consumesCounters")
    if device.taints:
        yield "DRADeviceTaints", (*path, "taints")
    if device.binding_conditions or device.binds_to_node is not None:
        name = "bindingConditions" if device.binding_conditions else "bindsToNode"
        yield "DRADeviceBindingConditions", (*path, name)
    if device.allow_multiple_allocations is not None:
        yield "DRAConsumableCapacity", (*path, "allowMultipleAllocations")
    if device.node_allocatable_resource_mappings:
        yield "DRANodeAllocatableResources", (*path, "nodeAllocatableResourceMappings")
    for name, capacity in device.capacity.items():
        if capacity.request_policy is not None:
            yield "DRAConsumableCapacity", (*path, "capacity", name, "requestPolicy")
    for name, attribute in device.attributes.items():
        if is_list(attribute):
            yield "DRAListTypeAttributes", (*path, "attributes", name)


def is_list(attribute: DeviceAttribute) -> bool:
    """Whether the attribute has a list value."""
    lists = (attribute.int_values, attribute.bool_values, attribute.string_values, attribute.version_values)
    return any(values is not None for values in lists)


def _claim(path: FieldPath, spec: ResourceClaimSpec) -> Iterator[_Use]:
    path = (*path, "devices")
    for index, request in enumerate(spec.devices.requests):
        at = (*path, "requests", index)
        if request.first_available:
            yield "DRAPrioritizedList", (*at, "firstAvailable")
        if request.exactly is not None and request.exactly.admin_access is not None:
            yield "DRAAdminAccess", (*at, "exactly", "adminAccess")
        forms = [((*at, "firstAvailable", i), sub) for i, sub in enumerate(request.first_available)]
        for where, wanted in [((*at, "exactly"), request.exactly), *forms]:
            if wanted is not None and wanted.tolerations:
                yield "DRADeviceTaints", (*where, "tolerations")
            if wanted is not None and wanted.capacity is not None:
                yield "DRAConsumableCapacity", (*where, "capacity")
    for index, constraint in enumerate(spec.devices.constraints):
        if constraint.distinct_attribute is not None:
            yield "DRAConsumableCapacity", (*path, "constraints", index, "distinctAttribute")
