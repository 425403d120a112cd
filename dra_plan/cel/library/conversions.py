"""bool, bytes, double, duration, dyn, int, string, timestamp, type and uint: conversions with Go's formats and limits.

Accessors of instants and durations are in `times`.
"""

from __future__ import annotations

import math
import re

from dra_plan.api.go_text import parse_timestamp
from dra_plan.cel.ranges import MOST, STRING_FACTOR, Interval
from dra_plan.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    STRING,
    TIMESTAMP,
    UINT,
    Type,
    parameter,
    type_of,
)
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
    check_timestamp,
    check_uint,
    type_name,
    unsigned_overflow,
)

from . import times
from .overload import UNIT, CallEstimate, Function, Overload, Price, plain
from .prices import Operands, first, size

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


def same(value: Value) -> Value:
    """The value itself."""
    return value


def type_value(value: Value) -> TypeValue:
    """The type of the value."""
    return TypeValue(type_name(value))


def string_to_bool(text: str) -> bool:
    """The texts that Go's ParseBool knows."""
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise _refused("bool")


def string_to_bytes(text: str) -> bytes:
    """UTF-8."""
    return text.encode("utf-8", "surrogatepass")


def bytes_to_string(data: bytes) -> str:
    """UTF-8; raises EvaluationError for anything else."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise EvaluationError("invalid UTF-8 in bytes, cannot convert to string") from None


def double_to_int(number: float) -> int:
    """Cut towards zero."""
    if math.isfinite(number) and MIN_INT64 < number < MAX_INT64:
        return int(number)
    raise EvaluationError("integer overflow")


def string_to_int(text: str) -> int:
    """A decimal number."""
    digits = text.lstrip("+-0")
    if _INT.fullmatch(text) and len(digits) <= 19:  # however many zeros are before them
        number = int(digits or 0) * (-1 if text.startswith("-") else 1)
        if MIN_INT64 <= number <= MAX_INT64:
            return number
    raise _refused("int")


def timestamp_to_int(instant: Timestamp) -> int:
    """Seconds since 1970, rounded down."""
    return instant.nanos // 10**9


def duration_to_int(span: Duration) -> int:
    """Nanoseconds."""
    return span.nanos


def uint_to_int(number: Uint) -> int:
    """The same number; raises EvaluationError beyond an int64."""
    return check_int(int(number))


def int_to_uint(number: int) -> Uint:
    """The same number; raises EvaluationError when negative."""
    return check_uint(number)


def double_to_uint(number: float) -> Uint:
    """Cut towards zero."""
    if math.isfinite(number) and 0 <= number < MAX_UINT64:
        return Uint(int(number))
    raise unsigned_overflow()


def string_to_uint(text: str) -> Uint:
    """A decimal number without sign."""
    digits = text.lstrip("+0")
    if _UINT.fullmatch(text) and len(digits) <= 20 and int(digits or 0) <= MAX_UINT64:
        return Uint(int(digits or 0))
    raise _refused("uint")


def int_to_double(number: int) -> float:
    """The nearest double."""
    return float(number)


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


def bool_to_string(value: bool) -> str:
    """`true` or `false`."""
    return "true" if value else "false"


def int_to_string(number: int) -> str:
    """Decimal digits."""
    return str(int(number))


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


def timestamp_to_string(instant: Timestamp) -> str:
    """RFC 3339 in UTC, with as many digits of the second as needed."""
    return times.format_timestamp(instant.nanos)


def duration_to_string(span: Duration) -> str:
    """Seconds, such as `1.5s`."""
    whole, rest = divmod(abs(span.nanos), 10**9)
    return ("-" if span.nanos < 0 else "") + _plain(*_shortest(whole + rest / 1e9)) + "s"


def string_to_timestamp(text: str) -> Timestamp:
    """RFC 3339, as lenient as Go."""
    nanos = parse_timestamp(text)
    if nanos is None:
        raise _refused(TIMESTAMP.name)
    return check_timestamp(nanos)


def int_to_timestamp(seconds: int) -> Timestamp:
    """Seconds since 1970."""
    return check_timestamp(seconds * 10**9)


def string_to_duration(text: str) -> Duration:
    """Go's duration syntax, such as `1h30m`."""
    nanos = times.parse_duration(text)
    if nanos is None:
        raise _refused(DURATION.name)
    return Duration(nanos)


def int_to_duration(nanos: int) -> Duration:
    """Nanoseconds."""
    return Duration(nanos)


# -- the table ---------------------------------------------------------------------------------------------------


def _to_bytes(operands: Operands) -> CallEstimate:
    text = size(operands[0])
    return CallEstimate(text.scaled(STRING_FACTOR), Interval(text.least, text.most * 4 % (MOST + 1)))


def _from_bytes(operands: Operands) -> CallEstimate:
    data = size(operands[0])
    return CallEstimate(data.scaled(STRING_FACTOR), Interval(data.least // 4, data.most))


_NAMES = {BOOL: "bool", BYTES: "bytes", DOUBLE: "double", DURATION: "duration", INT: "int64", STRING: "string"}
_NAMES |= {TIMESTAMP: "timestamp", UINT: "uint64"}


def _to(result: Type, sources: dict[Type, Function], prices: dict[Type, Price]) -> tuple[Overload, ...]:
    """Return the overloads named SOURCE_to_RESULT."""
    return tuple(
        plain(f"{_NAMES[of]}_to_{_NAMES[result]}", (of,), result, function, prices.get(of, UNIT), planned=True)
        for of, function in sources.items()
    )


_A = parameter("A")

CONVERSIONS = {
    "type": (plain("type", (_A,), type_of(_A), type_value, planned=True),),
    "dyn": (plain("to_dyn", (_A,), DYN, same, planned=True),),
    "bool": _to(BOOL, {BOOL: same, STRING: string_to_bool}, {}),
    "bytes": _to(BYTES, {BYTES: same, STRING: string_to_bytes}, {STRING: Price(first, _to_bytes)}),
    "double": _to(DOUBLE, {DOUBLE: same, INT: int_to_double, STRING: string_to_double, UINT: int_to_double}, {}),
    "duration": _to(DURATION, {DURATION: same, INT: int_to_duration, STRING: string_to_duration}, {}),
    "int": _to(
        INT,
        {
            INT: same,
            DOUBLE: double_to_int,
            DURATION: duration_to_int,
            STRING: string_to_int,
            TIMESTAMP: timestamp_to_int,
            UINT: uint_to_int,
        },
        {},
    ),
    "string": _to(
        STRING,
        {
            STRING: same,
            BOOL: bool_to_string,
            BYTES: bytes_to_string,
            DOUBLE: double_to_string,
            DURATION: duration_to_string,
            INT: int_to_string,
            TIMESTAMP: timestamp_to_string,
            UINT: int_to_string,
        },
        {BYTES: Price(first, _from_bytes)},
    ),
    "timestamp": _to(TIMESTAMP, {TIMESTAMP: same, INT: int_to_timestamp, STRING: string_to_timestamp}, {}),
    "uint": _to(UINT, {UINT: same, DOUBLE: double_to_uint, INT: int_to_uint, STRING: string_to_uint}, {}),
}
"""The standard library's conversions."""
