"""What is known of each recorded release: what its answers rest on, and which of its features are not simulated.

Facts about knowledge, not about Kubernetes; `docs/releases.md` tells them to readers.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class SchedulerPart(StrEnum):
    """The parts of the scheduler, as messages name them."""

    POD_ORDER = "the order of pods"
    NODE_CHOICE = "the choice between nodes"
    MESSAGES = "the words of FailedScheduling"
    PREEMPTION = "preemption"
    SPREADING = "topology spread and pod affinity"
    VOLUMES = "volumes"
    BINDING_CONDITIONS = "binding conditions"


class Coverage(NamedTuple):
    """How much of a release was recorded.

    `basis` says what answers of the allocator rest on, empty where the release itself was run; `scheduler` the release
    whose scheduler stands for this one's, empty where it was recorded, and `changed` which parts of it are known to be
    different in this one. `validation` is the release whose API server stands for this one's.
    """

    basis: str = ""
    scheduler: str = ""
    changed: frozenset[SchedulerPart] = frozenset()
    validation: str = ""


COVERAGE = {
    "1.34.9": Coverage(scheduler="1.36", validation="1.36"),
    "1.35.6": Coverage(scheduler="1.36", validation="1.36"),
    "1.36.2": Coverage(),
    "1.36.3": Coverage(),
    "1.37.0": Coverage(
        basis="as its code was before the tag",
        scheduler="1.36",
        changed=frozenset({SchedulerPart.PREEMPTION, SchedulerPart.VOLUMES}),
        validation="1.36",
    ),
}

_UNKNOWN_ALPHA = "its rules were not recorded"
_GROUPS = dict.fromkeys(("1.35", "1.37"), "pod groups are those of 1.36, whose rules were recorded")
_NOT_SIMULATED: dict[str, dict[str, str]] = {
    "DRADerivedAttributes": {"1.37": _UNKNOWN_ALPHA},
    "DRAOptionalNodeOperations": {"1.37": _UNKNOWN_ALPHA},
    "DRAPartitionableDevicesType": {"1.37": "it only concerns what ResourcePoolStatusRequests report"},
    "DRAResourcePoolStatus": {"": "it only concerns what ResourcePoolStatusRequests report"},
    "DRANodeAllocatableResources": {"1.37": "1.37 has another API for it than 1.36, whose rules were recorded"},
    "GenericWorkload": _GROUPS,
    "GangScheduling": _GROUPS,
    "TopologyAwareWorkloadScheduling": _GROUPS,
    "WorkloadAwarePreemption": _GROUPS,
    "DRAWorkloadResourceClaims": _GROUPS,
    "CompositePodGroup": {"1.37": _UNKNOWN_ALPHA},
    "PodGroupPreemptionPolicy": {"1.37": _UNKNOWN_ALPHA},
    "SchedulerPreQueueingHints": {"1.37": _UNKNOWN_ALPHA},
}
"""Gate -> minor version (empty: all) -> why nothing that the gate switches is simulated there."""

_NOT_RECORDED: dict[str, dict[str, str]] = {
    "DRAListTypeAttributes": {
        "1.37": "with it kube-scheduler uses its experimental allocator; the answer follows KEP-5491 instead",
    },
    "DRADeviceCompatibilityGroups": {
        "1.37": "groups are not compared, all devices count as going together",
    },
}
"""Gate -> minor version -> what of it is simulated by other knowledge than a recording."""


def not_recorded(gate: str, version: str) -> str:
    """What answers with the gate on rest on under a minor version, where that was not recorded; else empty."""
    return _NOT_RECORDED.get(gate, {}).get(version, "")


def not_simulated(gate: str, version: str) -> str:
    """Why what a gate switches on is not simulated under a minor version; empty if it is."""
    reasons = _NOT_SIMULATED.get(gate, {})
    return reasons.get(version, reasons.get("", ""))
