"""Which releases were recorded, and which of them answers for a version that somebody names."""

from __future__ import annotations

import re
from typing import NamedTuple

from dra_plan.errors import UsageError

RECORDED = ("1.34.9", "1.35.6", "1.36.2", "1.36.3", "1.37.0")
"""The patch releases whose outcomes were recorded, oldest first."""

NEWEST = "1.36"
"""The newest minor version that was recorded whole, which is answered for unless another is named."""

MINORS = tuple(dict.fromkeys(release.rpartition(".")[0] for release in RECORDED))
"""The minor versions that were recorded, oldest first."""

_VERSION = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?(?:[-+].*)?\Z", re.ASCII)
_DIGITS = 9
_MANY = 1_000_000_000


class FoundRelease(NamedTuple):
    """The recorded release that answers for a version: `known` unless outcomes of that very version are missing.

    `asked` is the version as it was named, without what a vendor added; `minor` that of the release.
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
        """What to say where the version is not known."""
        return f"{self.asked} has no recorded outcomes; the answer is for {self.release}"


def newest_patch(minor: str) -> str:
    """The newest recorded patch release of a recorded minor version."""
    return [release for release in RECORDED if release.rpartition(".")[0] == minor][-1]


def find_release(text: str) -> FoundRelease:
    """The release for a version such as `1.36`, `v1.36.3` or `1.36.2-eks-1`: itself, or else the nearest recorded one.

    A minor version means its newest recorded patch. Of a patch that was not recorded the nearest of its minor version
    answers, the newer of two as near; of a minor version the newest patch of the nearest one, the older of two.
    Raises UsageError for a text that is no version.
    """
    match = _VERSION.match(text.strip())
    if match is None or max(map(len, match.groups(""))) > _DIGITS:
        raise UsageError(f"{text!r} is no Kubernetes version: 1.36 and v1.36.3 are; known are {', '.join(RECORDED)}")
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
    """How far a recorded minor version is from another; one of another major version is further than any."""
    major, number = _numbers(minor)
    return abs((major - asked[0]) * _MANY + number - asked[1])


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
