"""The semver library, version 1 (with normalization)."""

from __future__ import annotations

from dra_plan.api import semver as api
from dra_plan.api.semver import Semver, SemverError
from dra_plan.cel.library.base import overload
from dra_plan.cel.values import MAX_INT64, EvaluationError


@overload("string_to_semver", "string")
@overload("string_bool_to_semver", "string", "bool")
def to_semver(text: str, normalize: bool = False) -> Semver:
    """The version written so."""
    try:
        return api.parse(api.normalize(text) if normalize else text)
    except SemverError as error:
        raise EvaluationError(str(error)) from None


@overload("is_semver_string", "string")
@overload("is_semver_string_bool", "string", "bool")
def is_semver(text: str, normalize: bool = False) -> bool:
    """Whether the text is a version."""
    try:
        to_semver(text, normalize)
    except EvaluationError:
        return False
    return True


def _int64(number: int) -> int:
    return number if number <= MAX_INT64 else number - 2**64


@overload("semver_major", "semver")
def major(version: Semver) -> int:
    """The major number."""
    return _int64(version.major)


@overload("semver_minor", "semver")
def minor(version: Semver) -> int:
    """The minor number."""
    return _int64(version.minor)


@overload("semver_patch", "semver")
def patch(version: Semver) -> int:
    """The patch number."""
    return _int64(version.patch)


@overload("semver_is_greater_than", "semver", "semver")
def is_greater_than(left: Semver, right: Semver) -> bool:
    """Whether the left version is later."""
    return left.key > right.key


@overload("semver_is_less_than", "semver", "semver")
def is_less_than(left: Semver, right: Semver) -> bool:
    """Whether the left version is earlier."""
    return left.key < right.key


@overload("semver_compare_to", "semver", "semver")
def compare_to(left: Semver, right: Semver) -> int:
    """-1, 0 or 1."""
    return api.compare(left, right)
