"""Semantic versions (semver.org 2.0.0), as Kubernetes reads them in device attributes and selectors.

The rules and error messages are those of blang/semver v4 and of Kubernetes' CEL library.
"""

from __future__ import annotations

import functools
import re

import msgspec

from dra_plan.errors import DraPlanError

from .go_text import go_quote

_DIGITS = re.compile(r"[0-9]*", re.ASCII)
_IDENTIFIER = re.compile(r"[0-9A-Za-z-]*", re.ASCII)
_MAX_UINT64 = 2**64 - 1

_Key = tuple[int, int, int, bool, tuple[tuple[bool, int, str], ...]]


class SemverError(DraPlanError, ValueError):
    """Raised for text that is not a semantic version."""


class Semver(msgspec.Struct, frozen=True, eq=False, gc=False):
    """A semantic version. Equality, order and hash ignore build metadata.

    Prerelease identifiers are ints or strings.
    """

    major: int
    minor: int
    patch: int
    prerelease: tuple[int | str, ...] = ()
    build: tuple[str, ...] = ()
    key: _Key = (0, 0, 0, True, ())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Semver) and self.key == other.key

    def __ne__(self, other: object) -> bool:
        return not self.__eq__(other)  # a Struct without `eq` would compare identities

    def __hash__(self) -> int:
        return hash(self.key)

    def __lt__(self, other: Semver) -> bool:
        return self.key < other.key

    def __le__(self, other: Semver) -> bool:
        return self.key <= other.key

    def __gt__(self, other: Semver) -> bool:
        return self.key > other.key

    def __ge__(self, other: Semver) -> bool:
        return self.key >= other.key

    def __str__(self) -> str:
        text = f"{self.major}.{self.minor}.{self.patch}"
        if self.prerelease:
            text += "-" + ".".join(map(str, self.prerelease))
        return text + ("+" + ".".join(self.build) if self.build else "")


def compare(left: Semver, right: Semver) -> int:
    """Return -1, 0 or 1 if the left version is earlier than, equal to, or later than the right one."""
    return (left.key > right.key) - (left.key < right.key)


@functools.lru_cache(maxsize=16384)
def parse(text: str) -> Semver:
    """Return the version, which must have all three numbers and no leading zeros. Raises SemverError."""
    if not text:
        raise SemverError("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise SemverError("No Major.Minor.Patch elements found")
    major, minor = _number(parts[0], "major", "Major"), _number(parts[1], "minor", "Minor")
    rest, plus, metadata = parts[2].partition("+")
    rest, dash, identifiers = rest.partition("-")
    patch = _number(rest, "patch", "Patch")
    prerelease = tuple(map(_prerelease, identifiers.split("."))) if dash else ()
    build = tuple(map(_build, metadata.split("."))) if plus else ()
    # A release comes after its prereleases; numeric identifiers come before others.
    order = tuple(
        (isinstance(part, str), 0, part) if isinstance(part, str) else (False, part, "") for part in prerelease
    )
    return Semver(major, minor, patch, prerelease, build, (major, minor, patch, not prerelease, order))


def normalize(text: str) -> str:
    """Return the version without a leading `v` or leading zeros, with 0 for a missing minor or patch number.

    Raises SemverError for a short version with a prerelease or build metadata.
    """
    parts = text.removeprefix("v").split(".", 2)
    parts = [_without_zeros(part) for part in parts]
    if len(parts) < 3 and ("+" in parts[-1] or "-" in parts[-1]):
        raise SemverError("short version cannot contain PreRelease/Build meta data")
    return ".".join(parts + ["0"] * (3 - len(parts)))


def _without_zeros(part: str) -> str:
    if len(part.encode()) <= 1:
        return part
    stripped = part.lstrip("0")
    return stripped if stripped[:1] in tuple("0123456789") else "0" + stripped


def _number(text: str, name: str, title: str) -> int:
    if not _DIGITS.fullmatch(text):
        raise SemverError(f"Invalid character(s) found in {name} number {go_quote(text)}")
    if len(text) > 1 and text[0] == "0":
        raise SemverError(f"{title} number must not contain leading zeroes {go_quote(text)}")
    return _uint64(text)


def _uint64(text: str) -> int:
    if not text:
        raise SemverError('strconv.ParseUint: parsing "": invalid syntax')
    if len(text) > 20 or int(text) > _MAX_UINT64:
        raise SemverError(f"strconv.ParseUint: parsing {go_quote(text)}: value out of range")
    return int(text)


def _prerelease(text: str) -> int | str:
    if not text:
        raise SemverError("Prerelease is empty")
    if _DIGITS.fullmatch(text):
        if len(text) > 1 and text[0] == "0":
            raise SemverError(f"Numeric PreRelease version must not contain leading zeroes {go_quote(text)}")
        return _uint64(text)
    if not _IDENTIFIER.fullmatch(text):
        raise SemverError(f"Invalid character(s) found in prerelease {go_quote(text)}")
    return text


def _build(text: str) -> str:
    if not text:
        raise SemverError("Build meta data is empty")
    if not _IDENTIFIER.fullmatch(text):
        raise SemverError(f"Invalid character(s) found in build meta data {go_quote(text)}")
    return text
