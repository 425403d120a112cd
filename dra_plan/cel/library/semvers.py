"""Version 1 of the semver library, with normalization."""

from __future__ import annotations

from dra_plan.api import semver as api
from dra_plan.api.semver import Semver, SemverError
from dra_plan.cel.types import BOOL, INT, SEMVER, STRING
from dra_plan.cel.values import MAX_INT64, EvaluationError

from .overload import Library, member, plain
from .prices import PARSED


def to_semver(text: str, normalize: bool = False) -> Semver:
    """Return the version in the text. Raises EvaluationError if the text is not a version."""
    try:
        return api.parse(api.normalize(text) if normalize else text)
    except SemverError as error:
        raise EvaluationError(str(error)) from None


def is_semver(text: str, normalize: bool = False) -> bool:
    """Return whether the text is a semantic version."""
    try:
        to_semver(text, normalize)
    except EvaluationError:
        return False
    return True


def _int64(number: int) -> int:
    return number if number <= MAX_INT64 else number - 2**64


def major(version: Semver) -> int:
    """Return the major version number."""
    return _int64(version.major)


def minor(version: Semver) -> int:
    """Return the minor version number."""
    return _int64(version.minor)


def patch(version: Semver) -> int:
    """Return the patch version number."""
    return _int64(version.patch)


def is_greater_than(left: Semver, right: Semver) -> bool:
    """Return whether the left version is later than the right one."""
    return left.key > right.key


def is_less_than(left: Semver, right: Semver) -> bool:
    """Return whether the left version is earlier than the right one."""
    return left.key < right.key


def compare_to(left: Semver, right: Semver) -> int:
    """Return -1, 0 or 1 if the left version is earlier than, equal to, or later than the right one."""
    return api.compare(left, right)


_TWO = (SEMVER, SEMVER)

SEMVERS = Library(
    name="kubernetes semver version 1",
    since=(1, 33),
    functions={
        "semver": (
            plain("string_to_semver", (STRING,), SEMVER, to_semver, PARSED, once=True),
            plain("string_bool_to_semver", (STRING, BOOL), SEMVER, to_semver, PARSED, once=True),
        ),
        "isSemver": (
            plain("is_semver_string", (STRING,), BOOL, is_semver, PARSED, once=True),
            plain("is_semver_string_bool", (STRING, BOOL), BOOL, is_semver, PARSED, once=True),
        ),
        "isGreaterThan": (member("semver_is_greater_than", _TWO, BOOL, is_greater_than),),
        "isLessThan": (member("semver_is_less_than", _TWO, BOOL, is_less_than),),
        "compareTo": (member("semver_compare_to", _TWO, INT, compare_to),),
        "major": (member("semver_major", (SEMVER,), INT, major),),
        "minor": (member("semver_minor", (SEMVER,), INT, minor),),
        "patch": (member("semver_patch", (SEMVER,), INT, patch),),
    },
)
