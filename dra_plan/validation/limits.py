"""The API server's size limits in each release, and the rules that check them (DRA110, DRA111)."""

from __future__ import annotations

from collections.abc import Iterator, Sized

from msgspec import Struct
from msgspec.structs import replace

from dra_plan.api.meta import FieldPath

from .formats import count
from .rule import Problem, refused

TOO_MANY = refused(
    "DRA110",
    "more entries than the API server accepts",
    "The API server rejects the object, because a list or map is longer than the API allows.",
    "Split the object. A pool can have many slices, and a pod can have many claims.",
)
TOO_LONG = refused(
    "DRA111",
    "string longer than the API server accepts",
    "The API server rejects the object, because a string is longer than the API allows.",
    "Shorten the string.",
)
RULES = (TOO_MANY, TOO_LONG)


class Limits(Struct, frozen=True, kw_only=True):
    """A release's limits on the size of objects."""

    devices: int = 128
    costly_devices: int = 64
    """The maximum number of devices in a slice if any of them has taints or list attributes, or consumes counters."""
    counter_sets: int = 8
    counters_per_set: int = 32
    counters_per_slice: int | None = None
    consumptions_per_device: int = 2
    counters_per_consumption: int = 32
    names_per_device: int = 32
    values_per_device: int = 48
    taints: int = 16
    counters_share_slice: bool = False
    """Whether a slice may contain both counter sets and devices."""
    checks_amounts: bool = False
    """Whether ranges with negative amounts, with amounts beyond int64, or with a step of 0 are rejected."""
    thousandths: bool = False
    """Whether steps are counted in thousandths if a range has fractions. Otherwise, they are counted in whole units."""


REQUESTS = 32
SELECTORS = 32
CONSTRAINTS = 32
CONFIGS = 32
SUBREQUESTS = 8
ALLOCATION_CONFIGS = 64
RESERVED_FOR = 256
BINDING_CONDITIONS = 4
CONDITIONS = 8
COMPATIBILITY_GROUPS = 2
REASON_BYTES = 1024
MESSAGE_BYTES = 32 * 1024
IPS = 16
INTERFACE_BYTES = 256
HARDWARE_BYTES = 128
VALID_VALUES = 10
ATTRIBUTE_BYTES = 64
OPAQUE_BYTES = 10 * 1024
ANNOTATIONS_BYTES = 256 * 1024
MANAGER_BYTES = 128
SUBRESOURCE_BYTES = 256

_NEWEST = Limits()
_OLD_COUNTERS = replace(_NEWEST, counters_per_slice=32, consumptions_per_device=32, counters_share_slice=True, taints=4)
_BY_VERSION = {"1.34": _OLD_COUNTERS, "1.35": _NEWEST, "1.36": _NEWEST, "1.37": replace(_NEWEST, checks_amounts=True)}


def limits_of(version: str, *, fractional: bool = False) -> Limits:
    """Return the limits of a minor version such as "1.36".

    `fractional` says whether the feature gate DRAFractionalCapacityRange is on.
    """
    return replace(_BY_VERSION[version], thousandths=True) if fractional else _BY_VERSION[version]


def at_most(path: FieldPath, entries: Sized, most: int, noun: str) -> Iterator[Problem]:
    """Yield a problem if there are more than `most` entries."""
    if len(entries) > most:
        yield TOO_MANY.at(path, f"{count(len(entries), noun)}; at most {most} are allowed")


def at_most_bytes(path: FieldPath, text: str, most: int, noun: str) -> Iterator[Problem]:
    """Yield a problem if the text has more than `most` bytes in UTF-8."""
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > most:
        yield TOO_LONG.at(path, f"{noun} of {size} bytes; at most {most} are allowed")
