"""Fields that the API server drops because their feature gates are off (DRA152)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from msgspec.structs import fields, replace

from dra_plan.api.meta import FieldPath, Object
from dra_plan.api.resource import (
    AllocatedDeviceStatus,
    AllocationResult,
    Device,
    DeviceAllocationResult,
    DeviceAttribute,
    DeviceCapacity,
    DeviceClaim,
    DeviceClass,
    DeviceClassSpec,
    DeviceConstraint,
    DeviceCounterConsumption,
    DeviceRequest,
    DeviceRequestAllocationResult,
    DeviceSubRequest,
    DeviceTaintRule,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimStatus,
    ResourceClaimTemplate,
    ResourceClaimTemplateSpec,
    ResourceSlice,
    ResourceSliceSpec,
)
from dra_plan.releases import FIELDS, Target
from dra_plan.releases.fields import does_not_have

from .rule import Problem, warning

DROPPED = warning(
    "DRA152",
    "field that is dropped because its feature gate is off",
    (
        "The API server silently drops fields whose features are disabled. Without the field, the object has a "
        "different meaning."
    ),
    "Enable the feature gate in the cluster and pass it with `--feature-gates`, or remove the field.",
)
RULES = (DROPPED,)

_GATED: Mapping[type, Mapping[str, str]] = {
    ResourceSliceSpec: {
        "per_device_node_selection": "DRAPartitionableDevices",
        "shared_counters": "DRAPartitionableDevices",
        "skip_node_operations": "DRAOptionalNodeOperations",
        "partition_type_attribute": "DRAPartitionableDevicesType",
    },
    DeviceCounterConsumption: {"compatibility_groups": "DRADeviceCompatibilityGroups"},
    Device: {
        "consumes_counters": "DRAPartitionableDevices",
        "node_name": "DRAPartitionableDevices",
        "node_selector": "DRAPartitionableDevices",
        "all_nodes": "DRAPartitionableDevices",
        "taints": "DRADeviceTaints",
        "binding_conditions": "DRADeviceBindingConditions",
        "binding_failure_conditions": "DRADeviceBindingConditions",
        "binds_to_node": "DRADeviceBindingConditions",
        "allow_multiple_allocations": "DRAConsumableCapacity",
        "node_allocatable_resource_mappings": "DRANodeAllocatableResources",
        "node_allocatable_resources": "DRANodeAllocatableResources",
    },
    DeviceCapacity: {"request_policy": "DRAConsumableCapacity"},
    DeviceAttribute: dict.fromkeys(
        ("int_values", "bool_values", "string_values", "version_values"), "DRAListTypeAttributes"
    ),
    DeviceRequest: {"first_available": "DRAPrioritizedList"},
    ExactDeviceRequest: {
        "admin_access": "DRAAdminAccess",
        "tolerations": "DRADeviceTaints",
        "capacity": "DRAConsumableCapacity",
        "derived_attributes": "DRADerivedAttributes",
    },
    DeviceSubRequest: {
        "tolerations": "DRADeviceTaints",
        "capacity": "DRAConsumableCapacity",
        "derived_attributes": "DRADerivedAttributes",
    },
    DeviceConstraint: {"distinct_attribute": "DRAConsumableCapacity"},
    DeviceClassSpec: {"extended_resource_name": "DRAExtendedResource"},
    ResourceClaimStatus: {"devices": "DRAResourceClaimDeviceStatus"},
    DeviceRequestAllocationResult: {
        "binding_conditions": "DRADeviceBindingConditions",
        "binding_failure_conditions": "DRADeviceBindingConditions",
        "skip_node_operations": "DRAOptionalNodeOperations",
        "share_id": "DRAConsumableCapacity",
        "consumed_capacity": "DRAConsumableCapacity",
    },
    AllocatedDeviceStatus: {"share_id": "DRAConsumableCapacity"},
}
"""The fields by type, and the gates without which they are dropped."""

_PARTS: Mapping[type, tuple[str, ...]] = {
    ResourceSlice: ("spec",),
    ResourceSliceSpec: ("devices",),
    Device: ("capacity", "attributes", "consumes_counters"),
    ResourceClaim: ("spec", "status"),
    ResourceClaimTemplate: ("spec",),
    ResourceClaimTemplateSpec: ("spec",),
    ResourceClaimSpec: ("devices",),
    DeviceClaim: ("requests", "constraints"),
    DeviceRequest: ("exactly", "first_available"),
    DeviceClass: ("spec",),
    ResourceClaimStatus: ("allocation", "devices"),
    AllocationResult: ("devices",),
    DeviceAllocationResult: ("results",),
}
"""The fields that contain further such fields."""


def _fields(kind: Any) -> dict[str, tuple[str, Any]]:
    made = kind()
    return {field.name: (field.encode_name, getattr(made, field.name)) for field in fields(kind)}


_FIELDS = {kind: _fields(kind) for kind in (*_GATED, *_PARTS)}
"""These types' fields, with their names in manifests, and their values if missing."""


class StoredObject(NamedTuple):
    """An object as the API server stores it.

    `problems` contains a problem for each disabled gate that causes fields to be dropped, located at the first such
    field.
    """

    kept: Any
    problems: list[Problem]
    dropped: dict[FieldPath, str]
    """The dropped fields, and the reason for each."""

    def explained(self, problem: Problem) -> Problem:
        """Return the problem. If it concerns a missing field that the API server drops, the message says so."""
        for path, reason in self.dropped.items():
            if path[:-1] == problem.path:
                return replace(problem, message=f"{problem.message} ({reason.replace(' the field', f' {path[-1]}')})")
        return problem


def stored(obj: Object, target: Target) -> StoredObject:
    """Return the object as the API server stores it."""
    if type(obj) not in _PARTS and not isinstance(obj, DeviceTaintRule):
        return StoredObject(obj, [], {})  # other kinds have no fields with gates
    told: dict[FieldPath, str] = {}
    if isinstance(obj, DeviceTaintRule) and not target.gates["DRADeviceTaints"]:
        told["spec",] = "DRADeviceTaints"
    gates = {**target.gates, **dict.fromkeys(_lacking(target.version), False)}
    kept = _kept(obj, (), gates, told)
    first: dict[str, FieldPath] = {}
    for path, gate in told.items():
        first.setdefault(gate, path)
    problems = [DROPPED.at(path, _reason(gate, target)) for gate, path in first.items()]
    return StoredObject(kept, problems, {path: _reason(gate, target) for path, gate in told.items()})


@lru_cache
def _lacking(version: str) -> list[str]:
    """Return the fields that the release no longer has, or does not yet have, as names of gates that are always off."""
    return [field.name for field in FIELDS if not field.exists_in(version)]


def _reason(gate: str, target: Target) -> str:
    if gate in target.gates:
        return f"Kubernetes {target.version} drops the field because feature gate {gate} is off"
    return does_not_have(target.version)


def _kept(value: Any, path: FieldPath, gates: Mapping[str, bool], told: dict[FieldPath, str]) -> Any:
    """Return the value without the dropped fields; the same value if nothing is dropped."""
    if isinstance(value, dict):
        entries = {key: _kept(item, (*path, key), gates, told) for key, item in value.items()}
        return entries if any(entries[key] is not value[key] for key in value) else value
    if isinstance(value, list):
        items = [_kept(item, (*path, index), gates, told) for index, item in enumerate(value)]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    changes = {}
    for name, gate in _GATED.get(type(value), {}).items():
        written, default = _FIELDS[type(value)][name]
        off = written if written in gates else gate  # a field that the release does not have, or whose gate is off
        if not gates.get(off, False) and getattr(value, name) != default:
            told[*path, written] = off
            changes[name] = default
    for name in _PARTS.get(type(value), ()):
        old = changes.get(name, getattr(value, name))
        new = _kept(old, (*path, _FIELDS[type(value)][name][0]), gates, told)
        if new is not old:
            changes[name] = new
    return replace(value, **changes) if changes else value
