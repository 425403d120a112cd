"""resource.k8s.io/v1: device classes, slices, claims, claim templates and device taint rules.

Older versions are converted before they become these structs (`manifests`). If upstream distinguishes an absent field
from an empty one, the absent field is None. Quantities are stored as they are written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from .core import NodeSelector
from .meta import Int64, ObjectMeta, QuantityText, StrictObject

_ATTRIBUTE_NAMES = {
    "int_value": "int",
    "bool_value": "bool",
    "string_value": "string",
    "version_value": "version",
    "int_values": "ints",
    "bool_values": "bools",
    "string_values": "strings",
    "version_values": "versions",
}


class DeviceAttribute(StrictObject, frozen=True, rename=_ATTRIBUTE_NAMES):
    """The value of an attribute.

    Exactly one field should be set. As in upstream, this is checked only when it is used.
    """

    int_value: Int64 | None = None
    bool_value: bool | None = None
    string_value: str | None = None
    version_value: str | None = None
    int_values: list[Int64] | None = None
    bool_values: list[bool] | None = None
    string_values: list[str] | None = None
    version_values: list[str] | None = None


class CapacityRequestPolicyRange(StrictObject, frozen=True):
    """The amounts that a request may ask for: from `min` to `max`, in steps of `step`."""

    min: QuantityText | None = None
    max: QuantityText | None = None
    step: QuantityText | None = None


class CapacityRequestPolicy(StrictObject, frozen=True):
    """The rules for rounding and limiting requests for a capacity (KEP-5075)."""

    default: QuantityText | None = None
    valid_values: list[QuantityText] | None = None
    valid_range: CapacityRequestPolicyRange | None = None


class DeviceCapacity(StrictObject, frozen=True):
    """A capacity of a device, with the request policy for shares of it."""

    value: QuantityText = "0"
    request_policy: CapacityRequestPolicy | None = None


class Counter(StrictObject, frozen=True):
    """The value of a counter."""

    value: QuantityText = "0"


class CounterSet(StrictObject, frozen=True):
    """A named group of counters that the devices of one pool share (KEP-4815)."""

    name: str = ""
    counters: dict[str, Counter] = {}


class DeviceCounterConsumption(StrictObject, frozen=True):
    """The amounts that a device consumes from a counter set.

    `compatibility_groups` are the groups that the device belongs to in this set (alpha in 1.37).
    """

    counter_set: str = ""
    counters: dict[str, Counter] = {}
    compatibility_groups: list[str] = []


class DeviceTaint(StrictObject, frozen=True):
    """A taint on a device. A taint with effect NoSchedule or NoExecute rejects requests; other effects only inform."""

    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: str | None = None


class DeviceToleration(StrictObject, frozen=True):
    """A request's toleration of device taints."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: Int64 | None = None


class NodeAllocatableResourceMapping(StrictObject, frozen=True):
    """The amount of a node resource that a device provides (alpha in 1.36). The default multiplier is 1."""

    capacity_key: str | None = None
    allocation_multiplier: QuantityText | None = None


class NodeAllocatableResource(StrictObject, frozen=True):
    """A node resource that a device provides, or takes in addition (second alpha in 1.37; not simulated)."""

    mapping: Any = None
    overhead: Any = None


class Device(StrictObject, frozen=True):
    """A device in a slice."""

    name: str = ""
    attributes: dict[str, DeviceAttribute] = {}
    capacity: dict[str, DeviceCapacity] = {}
    consumes_counters: list[DeviceCounterConsumption] = []
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    taints: list[DeviceTaint] = []
    binds_to_node: bool | None = None
    binding_conditions: list[str] = []
    binding_failure_conditions: list[str] = []
    allow_multiple_allocations: bool | None = None
    node_allocatable_resource_mappings: dict[str, NodeAllocatableResourceMapping] = {}
    node_allocatable_resources: dict[str, NodeAllocatableResource] = {}


class ResourcePool(StrictObject, frozen=True):
    """The pool that a slice belongs to."""

    name: str = ""
    generation: Int64 = 0
    resource_slice_count: Int64 = 0


class ResourceSliceSpec(StrictObject, frozen=True):
    """The specification of a slice: devices or counter sets of a pool, and the nodes that can use the devices."""

    driver: str = ""
    pool: ResourcePool = ResourcePool()
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    per_device_node_selection: bool | None = None
    devices: list[Device] = []
    shared_counters: list[CounterSet] = []
    skip_node_operations: list[str] = []
    partition_type_attribute: str | None = None


class ResourceSlice(StrictObject, frozen=True):
    """A part of a pool, as a driver publishes it."""

    api_version: str = "resource.k8s.io/v1"
    kind: str = "ResourceSlice"
    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceSliceSpec = ResourceSliceSpec()


class CELDeviceSelector(StrictObject, frozen=True):
    """A CEL expression that is true for the selected devices."""

    expression: str = ""


class DeviceSelector(StrictObject, frozen=True):
    """A selector for devices. CEL is the only kind."""

    cel: CELDeviceSelector | None = None


class OpaqueDeviceConfiguration(StrictObject, frozen=True):
    """Configuration parameters for a driver."""

    driver: str = ""
    parameters: Any = None


class DeviceConfiguration(StrictObject, frozen=True):
    """A configuration entry of a class."""

    opaque: OpaqueDeviceConfiguration | None = None


class DeviceClaimConfiguration(StrictObject, frozen=True):
    """A configuration entry of a claim, for the listed requests or, if none is listed, for all."""

    requests: list[str] = []
    opaque: OpaqueDeviceConfiguration | None = None


class DeviceClassSpec(StrictObject, frozen=True):
    """The specification of a class: selectors and configuration that apply to every request for the class."""

    selectors: list[DeviceSelector] = []
    config: list[DeviceConfiguration] = []
    extended_resource_name: str | None = None


class DeviceClass(StrictObject, frozen=True):
    """A class of devices."""

    api_version: str = "resource.k8s.io/v1"
    kind: str = "DeviceClass"
    metadata: ObjectMeta = ObjectMeta()
    spec: DeviceClassSpec = DeviceClassSpec()


class CapacityRequirements(StrictObject, frozen=True):
    """The capacity that each device for a request must have."""

    requests: dict[str, QuantityText] = {}


class DerivedAttribute(StrictObject, frozen=True):
    """An attribute that a request computes for each device (alpha in 1.37; not simulated)."""

    name: str = ""
    expression: str = ""


class ExactDeviceRequest(StrictObject, frozen=True):
    """A request for devices of a class.

    Defaulting sets the allocation mode and, for ExactCount, the count.
    """

    device_class_name: str = ""
    selectors: list[DeviceSelector] = []
    allocation_mode: str = ""
    count: Int64 = 0
    admin_access: bool | None = None
    tolerations: list[DeviceToleration] = []
    capacity: CapacityRequirements | None = None
    derived_attributes: list[DerivedAttribute] = []


class DeviceSubRequest(StrictObject, frozen=True):
    """An alternative of a firstAvailable request (KEP-4816). Admin access is not possible."""

    name: str = ""
    device_class_name: str = ""
    selectors: list[DeviceSelector] = []
    allocation_mode: str = ""
    count: Int64 = 0
    tolerations: list[DeviceToleration] = []
    capacity: CapacityRequirements | None = None
    derived_attributes: list[DerivedAttribute] = []


class DeviceRequest(StrictObject, frozen=True):
    """A named request: either `exactly`, or the first alternative in `first_available` that can be met."""

    name: str = ""
    exactly: ExactDeviceRequest | None = None
    first_available: list[DeviceSubRequest] = []


class DeviceConstraint(StrictObject, frozen=True):
    """A condition on the devices for several requests together."""

    requests: list[str] = []
    match_attribute: str | None = None
    distinct_attribute: str | None = None


class DeviceClaim(StrictObject, frozen=True):
    """The devices that a claim requests."""

    requests: list[DeviceRequest] = []
    constraints: list[DeviceConstraint] = []
    config: list[DeviceClaimConfiguration] = []


class ResourceClaimSpec(StrictObject, frozen=True):
    """The specification of a claim."""

    devices: DeviceClaim = DeviceClaim()


class DeviceRequestAllocationResult(StrictObject, frozen=True):
    """A device allocated for a request."""

    request: str = ""
    driver: str = ""
    pool: str = ""
    device: str = ""
    admin_access: bool | None = None
    tolerations: list[DeviceToleration] = []
    binding_conditions: list[str] = []
    binding_failure_conditions: list[str] = []
    share_id: str | None = msgspec.field(default=None, name="shareID")
    consumed_capacity: dict[str, QuantityText] | None = None
    skip_node_operations: list[str] = []


class DeviceAllocationConfiguration(StrictObject, frozen=True):
    """A configuration entry of an allocation. `source` says whether it comes from a class or from the claim."""

    source: str = ""
    requests: list[str] = []
    opaque: OpaqueDeviceConfiguration | None = None


class DeviceAllocationResult(StrictObject, frozen=True):
    """The devices and configuration of an allocation."""

    results: list[DeviceRequestAllocationResult] = []
    config: list[DeviceAllocationConfiguration] = []


class AllocationResult(StrictObject, frozen=True):
    """The devices allocated to a claim, and the nodes where the claim can be used."""

    devices: DeviceAllocationResult = DeviceAllocationResult()
    node_selector: NodeSelector | None = None
    allocation_timestamp: str | None = None


class ResourceClaimConsumerReference(StrictObject, frozen=True):
    """A reference to a user of a claim, usually a pod."""

    api_group: str = ""
    resource: str = ""
    name: str = ""
    uid: str = ""


class Condition(StrictObject, frozen=True):
    """A condition that a driver reports."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None
    observed_generation: Int64 | None = None


class AllocatedDeviceStatus(StrictObject, frozen=True):
    """A driver's report about an allocated device."""

    driver: str = ""
    pool: str = ""
    device: str = ""
    share_id: str | None = msgspec.field(default=None, name="shareID")
    conditions: list[Condition] = []
    data: Any = None
    network_data: Any = None


class ResourceClaimStatus(StrictObject, frozen=True):
    """The status of a claim: its allocation and its users."""

    allocation: AllocationResult | None = None
    reserved_for: list[ResourceClaimConsumerReference] = []
    devices: list[AllocatedDeviceStatus] = []


class ResourceClaim(StrictObject, frozen=True):
    """A claim for devices."""

    api_version: str = "resource.k8s.io/v1"
    kind: str = "ResourceClaim"
    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceClaimSpec = ResourceClaimSpec()
    status: ResourceClaimStatus | None = None

    @property
    def key(self) -> str:
        """The claim's name, as `NAMESPACE/NAME`."""
        return f"{self.metadata.namespace}/{self.metadata.name}"

    @property
    def allocation(self) -> AllocationResult | None:
        """The allocation of the claim, or None if it is not allocated."""
        return self.status.allocation if self.status is not None else None

    @property
    def reserved_for(self) -> Sequence[ResourceClaimConsumerReference]:
        """The objects, mostly pods, for which the claim is reserved."""
        return self.status.reserved_for if self.status is not None else ()


class ResourceClaimTemplateSpec(StrictObject, frozen=True):
    """The metadata and the specification of each claim that is created from the template."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceClaimSpec = ResourceClaimSpec()


class ResourceClaimTemplate(StrictObject, frozen=True):
    """A template from which one claim is created for each pod."""

    api_version: str = "resource.k8s.io/v1"
    kind: str = "ResourceClaimTemplate"
    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceClaimTemplateSpec = ResourceClaimTemplateSpec()


class DeviceTaintSelector(StrictObject, frozen=True):
    """The devices that a device taint rule applies to. A device must match every field that is set."""

    driver: str | None = None
    pool: str | None = None
    device: str | None = None
    device_class_name: str | None = None
    selectors: list[DeviceSelector] = []


class DeviceTaintRuleSpec(StrictObject, frozen=True):
    """The specification of a device taint rule: the taint, and the devices that it applies to."""

    device_selector: DeviceTaintSelector | None = None
    taint: DeviceTaint = DeviceTaint()


class DeviceTaintRule(StrictObject, frozen=True):
    """An administrator's rule that adds a taint to devices (KEP-5055)."""

    api_version: str = "resource.k8s.io/v1beta2"
    kind: str = "DeviceTaintRule"
    metadata: ObjectMeta = ObjectMeta()
    spec: DeviceTaintRuleSpec = DeviceTaintRuleSpec()
    status: Any = None
