"""bool, bytes, double, duration, dyn, int, string, timestamp, type and uint: conversions with Go's formats and limits.

Accessors of instants and durations are in `times`.
"""

from __future__ import annotations

import math
import re

from dra_plan.cel.library import times
from dra_plan.cel.library.base import overload
from dra_plan.cel.library.operators import check_timestamp
from dra_plan.cel.values import (
    MAX_INT64,
    MAX_UINT64,
    MIN_INT64,
    Duration,
    EvaluationError,
    Timestamp,
    TypeValue,
    Uint,
    Value,
    check_int,
    check_uint,
    type_name,
)

CONVERSIONS = frozenset(
    ("bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"),
)
"""Functions that upstream applies to constants when it plans, so that they cost nothing and may fail there."""

_INT = re.compile(r"[+-]?[0-9]+", re.ASCII)
_UINT = re.compile(r"[0-9]+", re.ASCII)
_DECIMAL = re.compile(r"[+-]?([0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)([eE][+-]?[0-9][0-9_]*)?", re.ASCII)
_HEXADECIMAL = re.compile(r"[+-]?0[xX][0-9a-fA-F_]*\.?[0-9a-fA-F_]*[pP][+-]?[0-9][0-9_]*", re.ASCII)
_BAD_UNDERSCORE = re.compile(r"__|_$|^[+-]?_|_[^0-9a-fA-F]|[^0-9a-fA-FxX]_")
_SPECIAL = re.compile(r"(?i:[+-]?inf(inity)?|nan)")

_TRUE = frozenset(("1", "t", "T", "TRUE", "true", "True"))
_FALSE = frozenset(("0", "f", "F", "FALSE", "false", "False"))


def _refused(target: str, source: str = "string") -> EvaluationError:
    return EvaluationError(f"type conversion error from '{source}' to '{target}'")


@overload("bool_to_bool", "bool")
@overload("bytes_to_bytes", "bytes")
@overload("double_to_double", "double")
@overload("duration_to_duration", "duration")
@overload("int64_to_int64", "int")
@overload("string_to_string", "string")
@overload("timestamp_to_timestamp", "timestamp")
@overload("uint64_to_uint64", "uint")
@overload("to_dyn", "any")
def same(value: Value) -> Value:
    """The value itself."""
    return value


@overload("type", "any")
def type_of(value: Value) -> TypeValue:
    """The type of the value."""
    return TypeValue(type_name(value))


@overload("string_to_bool", "string")
def string_to_bool(text: str) -> bool:
    """The texts that Go's ParseBool knows."""
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise _refused("bool")


@overload("string_to_bytes", "string")
def string_to_bytes(text: str) -> bytes:
    """UTF-8."""
    return text.encode("utf-8", "surrogatepass")


@overload("bytes_to_string", "bytes")
def bytes_to_string(data: bytes) -> str:
    """UTF-8; raises EvaluationError for anything else."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise EvaluationError("invalid UTF-8 in bytes, cannot convert to string") from None


@overload("double_to_int64", "double")
def double_to_int(number: float) -> int:
    """Cut towards zero."""
    if math.isfinite(number) and MIN_INT64 < number < MAX_INT64:
        return int(number)
    raise EvaluationError("integer overflow")


@overload("string_to_int64", "string")
def string_to_int(text: str) -> int:
    """A decimal number."""
    if _INT.fullmatch(text) and len(text.lstrip("+-0")) <= 19 and MIN_INT64 <= int(text) <= MAX_INT64:
        return int(text)
    raise _refused("int")


@overload("timestamp_to_int64", "timestamp")
def timestamp_to_int(instant: Timestamp) -> int:
    """Seconds since 1970, rounded down."""
    return instant.nanos // 10**9


@overload("duration_to_int64", "duration")
def duration_to_int(span: Duration) -> int:
    """Nanoseconds."""
    return span.nanos


@overload("uint64_to_int64", "uint")
def uint_to_int(number: Uint) -> int:
    """The same number; raises EvaluationError beyond an int64."""
    return check_int(int(number))


@overload("int64_to_uint64", "int")
def int_to_uint(number: int) -> Uint:
    """The same number; raises EvaluationError when negative."""
    return check_uint(number)


@overload("double_to_uint64", "double")
def double_to_uint(number: float) -> Uint:
    """Cut towards zero."""
    if math.isfinite(number) and 0 <= number < MAX_UINT64:
        return Uint(int(number))
    raise EvaluationError("unsigned integer overflow")


@overload("string_to_uint64", "string")
def string_to_uint(text: str) -> Uint:
    """A decimal number without sign."""
    if _UINT.fullmatch(text) and len(text.lstrip("0")) <= 20 and int(text) <= MAX_UINT64:
        return Uint(int(text))
    raise _refused("uint")


@overload("int64_to_double", "int")
@overload("uint64_to_double", "uint")
def int_to_double(number: int) -> float:
    """The nearest double."""
    return float(number)


@overload("string_to_double", "string")
def string_to_double(text: str) -> float:
    """A number as Go's ParseFloat reads it: decimal or hexadecimal, inf, nan, underscores between digits."""
    if _SPECIAL.fullmatch(text):
        return float(text)
    if _BAD_UNDERSCORE.search(text) is None:
        plain = text.replace("_", "")
        number = _parse_float(plain)
        if number is not None and math.isfinite(number):
            return number
    raise _refused("double")


def _parse_float(text: str) -> float | None:
    try:
        if _DECIMAL.fullmatch(text):
            return float(text)
        if _HEXADECIMAL.fullmatch(text):
            return float.fromhex(text)
    except (ValueError, OverflowError):
        return None
    return None


@overload("bool_to_string", "bool")
def bool_to_string(value: bool) -> str:
    """`true` or `false`."""
    return "true" if value else "false"


@overload("int64_to_string", "int")
@overload("uint64_to_string", "uint")
def int_to_string(number: int) -> str:
    """Decimal digits."""
    return str(int(number))


@overload("double_to_string", "double")
def double_to_string(number: float) -> str:
    """Go's `%g`: the shortest digits, with an exponent below 1e-4 and from 1e6 on."""
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "+Inf" if number > 0 else "-Inf"
    digits, power = _shortest(number)
    sign = "-" if math.copysign(1, number) < 0 else ""
    if -4 <= power < 6:
        return sign + _plain(digits, power)
    tail = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{tail}e{'-' if power < 0 else '+'}{abs(power):02d}"


def _shortest(number: float) -> tuple[str, int]:
    """The fewest digits that tell the number from all others, and the decimal power of the first."""
    mantissa, _, exponent = f"{abs(number)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return "0", 0
    power = int(exponent or "0") + len(whole) - (len(whole + fraction) - len(digits)) - 1
    return digits.rstrip("0"), power


def _plain(digits: str, power: int) -> str:
    if power < 0:
        return "0." + "0" * (-power - 1) + digits
    if len(digits) <= power + 1:
        return digits + "0" * (power + 1 - len(digits))
    return f"{digits[: power + 1]}.{digits[power + 1 :]}"


@overload("timestamp_to_string", "timestamp")
def timestamp_to_string(instant: Timestamp) -> str:
    """RFC 3339 in UTC, with as many digits of the second as needed."""
    return times.format_timestamp(instant.nanos)


@overload("duration_to_string", "duration")
def duration_to_string(span: Duration) -> str:
    """Seconds, such as `1.5s`."""
    whole, rest = divmod(abs(span.nanos), 10**9)
    return ("-" if span.nanos < 0 else "") + _plain(*_shortest(whole + rest / 1e9)) + "s"


@overload("string_to_timestamp", "string")
def string_to_timestamp(text: str) -> Timestamp:
    """RFC 3339, as lenient as Go."""
    nanos = times.parse_timestamp(text)
    if nanos is None:
        raise _refused("google.protobuf.Timestamp")
    return check_timestamp(nanos)


@overload("int64_to_timestamp", "int")
def int_to_timestamp(seconds: int) -> Timestamp:
    """Seconds since 1970."""
    return check_timestamp(seconds * 10**9)


@overload("string_to_duration", "string")
def string_to_duration(text: str) -> Duration:
    """Go's duration syntax, such as `1h30m`."""
    nanos = times.parse_duration(text)
    if nanos is None:
        raise _refused("google.protobuf.Duration")
    return Duration(nanos)


@overload("int64_to_duration", "int")
def int_to_duration(nanos: int) -> Duration:
    """Nanoseconds."""
    return Duration(nanos)
