"""The recorded releases: which one is used for a requested version, and which of its behaviour was recorded.

These are facts about this project, not about Kubernetes; `docs/releases.md` lists them for users.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple

from dra_plan.errors import UsageError

RECORDED = ("1.34.9", "1.35.6", "1.36.2", "1.36.3", "1.37.0")
"""The patch releases whose outcomes were recorded, oldest first."""

NEWEST = "1.36"
"""The default target: the newest minor version whose behaviour was recorded completely."""

MINORS = tuple(dict.fromkeys(release.rpartition(".")[0] for release in RECORDED))
"""The recorded minor versions, oldest first."""

_VERSION = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?(?:[-+].*)?\Z", re.ASCII)
_DIGITS = 9
_MANY = 1_000_000_000


class FoundRelease(NamedTuple):
    """The recorded release that is used for a requested version.

    `asked` is the requested version without a vendor suffix. `known` is false if that version was not recorded.
    """

    asked: str
    release: str
    known: bool

    @property
    def minor(self) -> str:
        """The minor version of the release."""
        return self.release.rpartition(".")[0]

    @property
    def told(self) -> str:
        """A warning that no outcomes were recorded for the requested version."""
        return f"{self.asked} has no recorded outcomes; the result is for {self.release}"


def newest_patch(minor: str) -> str:
    """Return the newest recorded patch release of this minor version."""
    return [release for release in RECORDED if release.rpartition(".")[0] == minor][-1]


def find_release(text: str) -> FoundRelease:
    """Return the recorded release for a version such as `1.36`, `v1.36.3` or `1.36.2-eks-1`.

    For a minor version, the newest recorded patch release is used. If the version was not recorded, the nearest
    recorded patch release of the same minor version is used (the newer of two equally near ones) or, if there is none,
    the newest patch release of the nearest recorded minor version (the older of two equally near ones). Raises
    UsageError for text that is not a version.
    """
    match = _VERSION.match(text.strip())
    if match is None or max(map(len, match.groups(""))) > _DIGITS:
        raise UsageError(
            f"{text!r} is not a Kubernetes version such as 1.36 or v1.36.3; known are {', '.join(RECORDED)}"
        )
    numbers = tuple(int(part) for part in match.groups() if part is not None)
    minor, asked = f"{numbers[0]}.{numbers[1]}", ".".join(map(str, numbers))
    if minor not in MINORS:
        nearest = min(MINORS, key=lambda known: _distance(known, numbers[:2]))
        return FoundRelease(asked, newest_patch(nearest), known=False)
    if len(numbers) == 2:
        return FoundRelease(asked, newest_patch(minor), known=True)
    patches = [release for release in reversed(RECORDED) if release.rpartition(".")[0] == minor]
    found = min(patches, key=lambda known: abs(_numbers(known)[2] - numbers[2]))
    return FoundRelease(asked, found, known=found == asked)


def _distance(minor: str, asked: tuple[int, ...]) -> int:
    """Return the distance between two minor versions; a different major version is further away than any."""
    major, number = _numbers(minor)
    return abs((major - asked[0]) * _MANY + number - asked[1])


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


# -- the coverage of each release --------------------------------------------------------------------------------------


class SchedulerPart(StrEnum):
    """A part of the scheduler, by the name that messages use."""

    POD_ORDER = "the order of pods"
    NODE_CHOICE = "the choice between nodes"
    MESSAGES = "the messages of FailedScheduling"
    PREEMPTION = "preemption"
    SPREADING = "topology spread and pod affinity"
    VOLUMES = "volumes"
    BINDING_CONDITIONS = "binding conditions"


class Coverage(NamedTuple):
    """Which parts of a release's behaviour were recorded, and what is used for the rest.

    - `basis`: what the allocator's results are based on, if the release was not recorded
    - `scheduler`: the release whose scheduler is used instead, if the scheduler was not recorded
    - `changed`: the parts of the scheduler that are known to behave differently in this release
    - `validation`: the release whose API server is used instead
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
        basis="pre-release code",
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
    "DRAPartitionableDevicesType": {"1.37": "it only affects reports of ResourcePoolStatusRequests"},
    "DRAResourcePoolStatus": {"": "it only affects reports of ResourcePoolStatusRequests"},
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
        "1.37": "with it kube-scheduler uses its experimental allocator; the result follows KEP-5491 instead",
    },
    "DRADeviceCompatibilityGroups": {
        "1.37": "groups are not compared, so all devices count as compatible",
    },
}
"""Gate -> minor version -> what part of it is simulated from other sources than a recording."""


def not_recorded(gate: str, version: str) -> str:
    """Return what results with this gate are based on, or "" if the minor version was recorded with it."""
    return _NOT_RECORDED.get(gate, {}).get(version, "")


def not_simulated(gate: str, version: str) -> str:
    """Return why this gate's feature is not simulated in the minor version, or "" if it is simulated."""
    reasons = _NOT_SIMULATED.get(gate, {})
    return reasons.get(version, reasons.get("", ""))
