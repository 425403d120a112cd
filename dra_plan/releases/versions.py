"""The recorded releases, the release used for a version named by the user, and each release's coverage.

The coverage is the basis of a release's results, and the features that are not simulated. These are facts about our
knowledge, not about Kubernetes; `docs/releases.md` lists them for readers.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple

from dra_plan.errors import UsageError

RECORDED = ("1.34.9", "1.35.6", "1.36.2", "1.36.3", "1.37.0")
"""The patch releases whose outcomes were recorded, oldest first."""

NEWEST = "1.36"
"""The newest minor version that was recorded completely, which is the default target."""

MINORS = tuple(dict.fromkeys(release.rpartition(".")[0] for release in RECORDED))
"""The minor versions that were recorded, oldest first."""

_VERSION = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?(?:[-+].*)?\Z", re.ASCII)
_DIGITS = 9
_MANY = 1_000_000_000


class FoundRelease(NamedTuple):
    """The recorded release that is used for a version.

    `asked` is the requested version without a vendor suffix. `known` is false if exactly this version was not recorded.
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
        """The warning that the requested version has no recorded outcomes."""
        return f"{self.asked} has no recorded outcomes; the result is for {self.release}"


def newest_patch(minor: str) -> str:
    """Return the newest recorded patch release of this minor version."""
    return [release for release in RECORDED if release.rpartition(".")[0] == minor][-1]


def find_release(text: str) -> FoundRelease:
    """Return the recorded release for a version such as `1.36`, `v1.36.3` or `1.36.2-eks-1`.

    For a minor version, the result is the newest recorded patch release. If a patch release was not recorded, the
    nearest recorded patch release of the same minor version is used; if two are equally near, the newer one is used. If
    no release of a minor version was recorded, the newest patch release of the nearest recorded minor version is used;
    if two minor versions are equally near, the older one is used. Raises UsageError for text that is not a version.
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
    """A part of the scheduler. The values are the names that messages use for the parts."""

    POD_ORDER = "the order of pods"
    NODE_CHOICE = "the choice between nodes"
    MESSAGES = "the messages of FailedScheduling"
    PREEMPTION = "preemption"
    SPREADING = "topology spread and pod affinity"
    VOLUMES = "volumes"
    BINDING_CONDITIONS = "binding conditions"


class Coverage(NamedTuple):
    """Which parts of a release's behaviour were recorded.

    `basis` says what the allocator's results are based on if the release itself was not recorded; otherwise, `basis` is
    empty. `scheduler` is the release whose scheduler is used instead, if the scheduler of this release was not
    recorded; otherwise, `scheduler` is empty. `changed` contains the parts of the scheduler that are known to be
    different in this release. `validation` is the release whose API server is used instead of the API server of this
    release.
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
    """Return the basis of results with this gate on in a minor version, or "" if such results were recorded."""
    return _NOT_RECORDED.get(gate, {}).get(version, "")


def not_simulated(gate: str, version: str) -> str:
    """Return the reason why a minor version's feature for this gate is not simulated, or "" if it is simulated."""
    reasons = _NOT_SIMULATED.get(gate, {})
    return reasons.get(version, reasons.get("", ""))
