"""Optional behaviour, and which feature gates switch it."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace


class Features(Struct, frozen=True, kw_only=True):
    """Optional behaviour that gates switch; each one changes the control flow of the allocator at least once."""

    admin_access: bool = True
    prioritized_list: bool = True
    partitionable_devices: bool = True
    device_taints: bool = True
    device_taint_rules: bool = False
    binding_conditions: bool = True
    consumable_capacity: bool = True
    extended_resources: bool = True
    list_attributes: bool = False
    node_allocatable: bool = False
    filter_timeout: bool = True
    fractional_ranges: bool = False
    compatibility_groups: bool = False
    pod_groups: bool = False
    gang_scheduling: bool = False
    topology_placement: bool = False
    group_preemption: bool = False
    group_claims: bool = False

    def without_pod_groups(self) -> Features:
        """The same, with every pod by itself."""
        return replace(
            self,
            pod_groups=False,
            gang_scheduling=False,
            topology_placement=False,
            group_preemption=False,
            group_claims=False,
        )


def features_of(gates: Mapping[str, bool]) -> Features:
    """What the gates switch on; a gate that the release does not know is off."""
    on = gates.get
    taints = bool(on("DRADeviceTaints"))
    groups = bool(on("GenericWorkload"))
    gangs = groups and bool(on("GangScheduling"))
    return Features(
        admin_access=bool(on("DRAAdminAccess")),
        prioritized_list=bool(on("DRAPrioritizedList")),
        partitionable_devices=bool(on("DRAPartitionableDevices")),
        device_taints=taints,
        # 1.34 has no gate of its own for the rules: they come with the taints
        device_taint_rules=taints and bool(on("DRADeviceTaintRules", taints)),
        binding_conditions=bool(on("DRADeviceBindingConditions")) and bool(on("DRAResourceClaimDeviceStatus")),
        consumable_capacity=bool(on("DRAConsumableCapacity")),
        extended_resources=bool(on("DRAExtendedResource")),
        list_attributes=bool(on("DRAListTypeAttributes")),
        node_allocatable=bool(on("DRANodeAllocatableResources")),
        filter_timeout=bool(on("DRASchedulerFilterTimeout")),
        fractional_ranges=bool(on("DRAFractionalCapacityRange")),
        compatibility_groups=bool(on("DRADeviceCompatibilityGroups")),
        pod_groups=groups,
        gang_scheduling=gangs,
        topology_placement=groups and bool(on("TopologyAwareWorkloadScheduling")),
        group_preemption=gangs and bool(on("WorkloadAwarePreemption")),
        group_claims=groups and bool(on("DRAWorkloadResourceClaims")),
    )
