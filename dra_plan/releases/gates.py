"""Feature gates: each gate's stage and default in each minor version, and the gates that it depends on.

Sources: the feature gate tables of the releases (for 1.37, only that of kube-scheduler), and for gates that only the
API server has, the pages on kubernetes.io, which list no stage after 1.36.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from dra_plan.api.inventory import Notice
from dra_plan.errors import UsageError
from dra_plan.near import nearest

from .versions import MINORS, find_release, not_recorded, not_simulated

OTHERS = {
    "InPlacePodLevelResourcesVerticalScaling": "1.35",
    "InPlacePodVerticalScaling": "1.34",
    "InPlacePodVerticalScalingSchedulerPreemption": "1.37",
    "InterPodAffinityHostnameFastPath": "1.37",
    "MatchLabelKeysInPodTopologySpread": "1.34",
    "NodeDeclaredFeatures": "1.35",
    "NodeInclusionPolicyInPodTopologySpread": "1.34",
    "NominatedNodeNameForExpectation": "1.34",
    "OpportunisticBatching": "1.35",
    "PodLevelResources": "1.34",
    "ResourceHealthStatus": "1.34",
    "SchedulerAsyncAPICalls": "1.34",
    "SchedulerAsyncPreemption": "1.34",
    "SchedulerPopFromBackoffQ": "1.34",
    "SchedulerQueueingHints": "1.34",
    "SidecarContainers": "1.34",
    "StorageCapacityScoring": "1.34",
    "TaintTolerationComparisonOperators": "1.35",
    "VolumeAttributesClass": "1.34",
    "VolumeLimitScaling": "1.35",
    "WorkloadWithJob": "1.36",
}
"""Gates that affect the scheduler but are not simulated, and the first minor version with each gate."""


class FeatureGate(NamedTuple):
    """A feature gate in one release: its stage (alpha, beta or GA), its default, and whether the default is locked."""

    stage: str
    default: bool
    locked: bool = False


_ALPHA, _BETA_OFF, _BETA, _GA, _LOCKED = (
    FeatureGate("alpha", False),
    FeatureGate("beta", False),
    FeatureGate("beta", True),
    FeatureGate("GA", True),
    FeatureGate("GA", True, locked=True),
)

GATES: dict[str, dict[str, FeatureGate]] = {
    "DynamicResourceAllocation": {"1.34": _GA, "1.35": _LOCKED, "1.36": _LOCKED, "1.37": _LOCKED},
    "DRAAdminAccess": {"1.34": _BETA, "1.35": _BETA, "1.36": _LOCKED, "1.37": _LOCKED},
    "DRAPrioritizedList": {"1.34": _BETA, "1.35": _BETA, "1.36": _GA, "1.37": _LOCKED},
    "DRAPartitionableDevices": {"1.34": _ALPHA, "1.35": _ALPHA, "1.36": _BETA, "1.37": _BETA},
    "DRADeviceTaints": {"1.34": _ALPHA, "1.35": _ALPHA, "1.36": _BETA, "1.37": _GA},
    "DRADeviceTaintRules": {"1.35": _ALPHA, "1.36": _BETA_OFF, "1.37": _GA},
    "DRAResourceClaimDeviceStatus": {"1.34": _BETA, "1.35": _BETA, "1.36": _BETA, "1.37": _LOCKED},
    "DRADeviceBindingConditions": {"1.34": _ALPHA, "1.35": _ALPHA, "1.36": _BETA, "1.37": _BETA},
    "DRAConsumableCapacity": {"1.34": _ALPHA, "1.35": _ALPHA, "1.36": _BETA, "1.37": _BETA},
    "DRAExtendedResource": {"1.34": _ALPHA, "1.35": _ALPHA, "1.36": _BETA, "1.37": _LOCKED},
    "DRASchedulerFilterTimeout": {"1.34": _BETA, "1.35": _BETA, "1.36": _BETA, "1.37": _BETA},
    "DRAListTypeAttributes": {"1.36": _ALPHA, "1.37": _ALPHA},
    "DRANodeAllocatableResources": {"1.36": _ALPHA, "1.37": _ALPHA},
    "DRAWorkloadResourceClaims": {"1.36": _ALPHA, "1.37": _BETA_OFF},
    "DRAResourcePoolStatus": {"1.36": _ALPHA, "1.37": _ALPHA},
    "DRAResourceClaimGranularStatusAuthorization": {"1.36": _BETA, "1.37": _BETA},
    "DRAFractionalCapacityRange": {"1.37": _BETA},
    "DRADerivedAttributes": {"1.37": _ALPHA},
    "DRAOptionalNodeOperations": {"1.37": _ALPHA},
    "DRADeviceCompatibilityGroups": {"1.37": _ALPHA},
    "DRAPartitionableDevicesType": {"1.37": _ALPHA},
    "GenericWorkload": {"1.35": _ALPHA, "1.36": _ALPHA, "1.37": _BETA_OFF},
    "GangScheduling": {"1.35": _ALPHA, "1.36": _ALPHA},
    "TopologyAwareWorkloadScheduling": {"1.36": _ALPHA, "1.37": _ALPHA},
    "WorkloadAwarePreemption": {"1.36": _ALPHA},
    "CompositePodGroup": {"1.37": _ALPHA},
    "PodGroupPreemptionPolicy": {"1.37": _ALPHA},
    "SchedulerPreQueueingHints": {"1.37": _ALPHA},
}
"""The state of each gate in each minor version that knows the gate."""

NEEDS: dict[str, tuple[str, ...]] = {
    "DRADeviceTaintRules": ("DRADeviceTaints",),
    "DRADeviceBindingConditions": ("DRAResourceClaimDeviceStatus",),
    "DRAResourceClaimGranularStatusAuthorization": ("DRAResourceClaimDeviceStatus",),
    "DRAFractionalCapacityRange": ("DRAConsumableCapacity",),
    "DRADeviceCompatibilityGroups": ("DRAPartitionableDevices",),
    "DRAPartitionableDevicesType": ("DRAPartitionableDevices", "DRAResourcePoolStatus"),
    "DRAWorkloadResourceClaims": ("GenericWorkload",),
    "GangScheduling": ("GenericWorkload",),
    "TopologyAwareWorkloadScheduling": ("GenericWorkload",),
    "WorkloadAwarePreemption": ("GangScheduling",),
}
"""The gates that each gate depends on, in releases that know them."""


def switched_on_with(gate: str, version: str) -> list[str]:
    """Return the gates that enable the feature of this gate in this release: the gate itself and those it depends on.

    Gates that the release does not know are left out.
    """
    known = gates_of(find_release(version).minor)
    return [name for name in (gate, *NEEDS.get(gate, ())) if name in known]


def gates_of(version: str) -> dict[str, FeatureGate]:
    """Return the feature gates that this minor version knows, sorted by name."""
    return {name: stages[version] for name, stages in sorted(GATES.items()) if version in stages}


def gate_defaults(version: str) -> dict[str, bool]:
    """Return the default of each feature gate that this minor version knows, sorted by name."""
    return {name: gate.default for name, gate in gates_of(version).items()}


def _meant(name: str, version: str) -> str:
    """Return a hint about a gate that a release does not know: the releases that know it, or its correct spelling."""
    since = MINORS.index(OTHERS[name]) if name in OTHERS else len(MINORS)
    others = [minor for at, minor in enumerate(MINORS) if name in gates_of(minor) or at >= since]
    if others:
        return f": it is one of {' and '.join(others) if len(others) < 3 else f'{others[0]} to {others[-1]}'}"
    known = gates_of(version)
    near = nearest(name, known)
    return f" (did you mean {near!r}?)" if near else f": known are {', '.join(known)}"


def set_gates(version: str, changed: Mapping[str, bool]) -> tuple[dict[str, bool], list[Notice]]:
    """Return all feature gates of this minor version after the changes, and notices about the changes.

    Raises UsageError for a gate that the version does not know.
    """
    known, notices = gates_of(version), []
    gates = {name: gate.default for name, gate in known.items()}
    for name, value in changed.items():
        if name in OTHERS and MINORS.index(OTHERS[name]) <= MINORS.index(version):
            told = f"{name} is known but not simulated: the result is for its default"
            notices.append(Notice("gate-not-simulated", told))
            continue
        if name not in known:
            raise UsageError(f"unknown feature gate {name!r} in {version}{_meant(name, version)}")
        gate = known[name]
        if gate.locked and value != gate.default:
            told = f"{name} is locked to {str(gate.default).lower()} in {version}; the lock is ignored"
            notices.append(Notice("gate-locked", told))
        gates[name] = bool(value)
        why = not_simulated(name, version) if value else ""
        if why:
            notices.append(
                Notice("gate-not-simulated", (f"{name} is not simulated: {why}; the result is for the gate off"))
            )
        why = not_recorded(name, version) if value else ""
        if why:
            notices.append(Notice("gate-not-recorded", f"{name} was not recorded in {version}: {why}"))
    for name in sorted(NEEDS.keys() & gates.keys()):
        off = [needed for needed in NEEDS[name] if not gates.get(needed, True)]
        if gates[name] and off and changed.keys() & {name, *off}:
            told = (
                f"{name} has no effect without {', '.join(off)}, and servers do not start with "
                "this combination: disable it too"
            )
            notices.append(Notice("gate-needs", told))
    return gates, notices


# -- features switched by gates ----------------------------------------------------------------------------------------


class Features(Struct, frozen=True, kw_only=True):
    """Optional behaviour that is enabled by feature gates."""

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
        """Return a copy of the features without pod groups, so that every pod is scheduled separately."""
        return replace(
            self,
            pod_groups=False,
            gang_scheduling=False,
            topology_placement=False,
            group_preemption=False,
            group_claims=False,
        )


def features_of(gates: Mapping[str, bool]) -> Features:
    """Return the features that these gates enable. Gates that are not listed are disabled."""
    on = gates.get
    taints = bool(on("DRADeviceTaints"))
    groups = bool(on("GenericWorkload"))
    gangs = groups and bool(on("GangScheduling"))
    return Features(
        admin_access=bool(on("DRAAdminAccess")),
        prioritized_list=bool(on("DRAPrioritizedList")),
        partitionable_devices=bool(on("DRAPartitionableDevices")),
        device_taints=taints,
        # 1.34 has no separate gate for the rules: they come with the taints
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
