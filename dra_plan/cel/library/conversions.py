"""Times and conversions, with the formats and limits of Go.

In order: times and durations with their accessors (getFullYear, getHours and so on); and conversions to bool, bytes,
double, duration, dyn, int, string, timestamp, type and uint.
"""

from __future__ import annotations

import datetime
import functools
import math
import re

from dra_plan.api.go_text import parse_timestamp
from dra_plan.cel.cost import MOST, STRING_FACTOR, Interval
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

from .overload import UNIT, CallEstimate, Function, Overload, Price, member, plain
from .prices import Operands, first, size

# -- instants and durations --------------------------------------------------------------------------------------------

_SECOND = 10**9
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_UNITS = {
    "ns": 1,
    "us": 1000,
    "µs": 1000,
    "μs": 1000,
    "ms": 10**6,
    "s": _SECOND,
    "m": 60 * _SECOND,
    "h": 3600 * _SECOND,
}
_PART = re.compile(r"([0-9]*)(?:\.([0-9]*))?([^0-9.]+)", re.ASCII)
_OFFSET = re.compile(r"([+-]?[0-9]+):([+-]?[0-9]+)", re.ASCII)


def format_timestamp(nanos: int) -> str:
    """Return the time in RFC 3339 format, in UTC, without trailing zeros in a fraction."""
    seconds, fraction = divmod(nanos, _SECOND)
    moment = _EPOCH + datetime.timedelta(seconds=seconds)
    text = f"{moment.year:04d}-{moment.month:02d}-{moment.day:02d}T{moment:%H:%M:%S}"
    return text + (f".{fraction:09d}".rstrip("0") if fraction else "") + "Z"


def parse_duration(text: str) -> int | None:
    """Return the duration in nanoseconds, or None if Go's ParseDuration rejects the text."""
    negative, rest = text.startswith("-"), text[1:] if text[:1] in ("-", "+") else text
    if rest == "0":
        return 0
    if not rest:
        return None
    total, position = 0, 0
    while position < len(rest):
        match = _PART.match(rest, position)
        if match is None or not (match[1] or match[2]):
            return None
        unit = _UNITS.get(match[3])
        if unit is None:
            return None
        total += _amount(match[1], match[2] or "", unit)
        # Go computes the sum in an unsigned 64-bit number, so the smallest duration can be written only as a negative
        # number.
        if total > MAX_INT64 + 1:
            return None
        position = match.end()
    if negative:
        return -total
    return total if total <= MAX_INT64 else None


def _amount(whole: str, fraction: str, unit: int) -> int:
    whole = whole.lstrip("0")
    if len(whole) > 19:
        return MAX_INT64 * 2
    # Go reads the digits of the fraction that fit in an int64, and multiplies in floating point.
    number, scale = 0, 1.0
    for digit in fraction:
        if number * 10 + int(digit) > MAX_INT64:
            break
        number = number * 10 + int(digit)
        scale *= 10.0
    part = int(float(number) * (float(unit) / scale))
    return int(whole or "0") * unit + part


@functools.lru_cache(maxsize=64)
def _zone(name: str) -> datetime.tzinfo | None:
    """Return the time zone; None if there is none with this name. Go's "Local" is UTC on control planes."""
    if name in ("", "UTC", "Local"):
        return datetime.UTC
    match = _OFFSET.fullmatch(name)
    try:
        if match is not None:
            hours, minutes = int(match[1]), int(match[2])
            sign = -1 if match[1].startswith("-") else 1
            return datetime.timezone(datetime.timedelta(minutes=sign * (abs(hours) * 60 + minutes)))
        import zoneinfo

        return zoneinfo.ZoneInfo(name)
    except (ValueError, OSError, OverflowError, LookupError):
        return None


def _moment(instant: Timestamp, name: str) -> datetime.datetime:
    moment = _EPOCH + datetime.timedelta(seconds=instant.nanos // _SECOND)
    zone = _zone(name)
    if zone is None:
        raise EvaluationError(f"unknown time zone {name}")
    try:
        return moment.astimezone(zone)
    except OverflowError:
        raise EvaluationError("timestamp overflow") from None


def full_year(instant: Timestamp, zone: str = "") -> int:
    """Return the year in the zone."""
    return _moment(instant, zone).year


def month(instant: Timestamp, zone: str = "") -> int:
    """Return the month, where January is 0."""
    return _moment(instant, zone).month - 1


def day_of_year(instant: Timestamp, zone: str = "") -> int:
    """Return the day of the year, starting at 0."""
    return _moment(instant, zone).timetuple().tm_yday - 1


def day_of_month(instant: Timestamp, zone: str = "") -> int:
    """Return the day of the month, starting at 0."""
    return _moment(instant, zone).day - 1


def date(instant: Timestamp, zone: str = "") -> int:
    """Return the day of the month, starting at 1."""
    return _moment(instant, zone).day


def day_of_week(instant: Timestamp, zone: str = "") -> int:
    """Return the day of the week, where Sunday is 0."""
    return _moment(instant, zone).isoweekday() % 7


def hours(instant: Timestamp, zone: str = "") -> int:
    """Return the hour, from 0 to 23."""
    return _moment(instant, zone).hour


def minutes(instant: Timestamp, zone: str = "") -> int:
    """Return the minute of the hour."""
    return _moment(instant, zone).minute


def seconds(instant: Timestamp, zone: str = "") -> int:
    """Return the second of the minute."""
    return _moment(instant, zone).second


def milliseconds(instant: Timestamp, zone: str = "") -> int:
    """Return the millisecond of the second."""
    _moment(instant, zone)
    return instant.nanos % _SECOND // 10**6


def _whole(span: Duration, unit: int) -> int:
    return span.nanos // unit if span.nanos >= 0 else -(-span.nanos // unit)


def duration_hours(span: Duration) -> int:
    """Return the duration in whole hours."""
    return _whole(span, 3600 * _SECOND)


def duration_minutes(span: Duration) -> int:
    """Return the duration in whole minutes."""
    return _whole(span, 60 * _SECOND)


def duration_seconds(span: Duration) -> int:
    """Return the duration in whole seconds."""
    return _whole(span, _SECOND)


def duration_milliseconds(span: Duration) -> int:
    """Return the duration in whole milliseconds."""
    return _whole(span, 10**6)


# -- the table of accessors --------------------------------------------------------------------------------------------


def _clock(
    suffix: str, function: Function, *, zoned: str | None = None, of_duration: Function | None = None
) -> tuple[Overload, ...]:
    """Return a timestamp accessor, its form with a time zone, and its form for durations."""
    overloads = (
        member(f"timestamp_to_{suffix}", (TIMESTAMP,), INT, function),
        member(zoned or f"timestamp_to_{suffix}_with_tz", (TIMESTAMP, STRING), INT, function),
    )
    if of_duration is None:
        return overloads
    return (*overloads, member(f"duration_to_{suffix}", (DURATION,), INT, of_duration))


ACCESSORS = {
    "getFullYear": _clock("year", full_year),
    "getMonth": _clock("month", month),
    "getDayOfYear": _clock("day_of_year", day_of_year),
    "getDayOfMonth": _clock("day_of_month", day_of_month),
    "getDate": _clock("day_of_month_1_based", date),
    "getDayOfWeek": _clock("day_of_week", day_of_week),
    "getHours": _clock("hours", hours, of_duration=duration_hours),
    "getMinutes": _clock("minutes", minutes, of_duration=duration_minutes),
    "getSeconds": _clock("seconds", seconds, zoned="timestamp_to_seconds_tz", of_duration=duration_seconds),
    "getMilliseconds": _clock("milliseconds", milliseconds, of_duration=duration_milliseconds),
}
"""The accessors for times and durations in the standard library."""


# -- conversions between types -----------------------------------------------------------------------------------------

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
    """Return the value unchanged."""
    return value


def type_value(value: Value) -> TypeValue:
    """Return the type of the value."""
    return TypeValue(type_name(value))


def string_to_bool(text: str) -> bool:
    """Return the bool in the text. Raises EvaluationError if Go's ParseBool rejects it."""
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise _refused("bool")


def string_to_bytes(text: str) -> bytes:
    """Return the text in UTF-8."""
    return text.encode("utf-8", "surrogatepass")


def bytes_to_string(data: bytes) -> str:
    """Return the text of the bytes. Raises EvaluationError if they are not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise EvaluationError("invalid UTF-8 in bytes, cannot convert to string") from None


def double_to_int(number: float) -> int:
    """Return the number as an int, rounded towards zero."""
    if math.isfinite(number) and MIN_INT64 < number < MAX_INT64:
        return int(number)
    raise EvaluationError("integer overflow")


def string_to_int(text: str) -> int:
    """Return the decimal int in the text. Raises EvaluationError for any other text."""
    digits = text.lstrip("+-0")
    if _INT.fullmatch(text) and len(digits) <= 19:  # regardless of the number of zeros before them
        number = int(digits or 0) * (-1 if text.startswith("-") else 1)
        if MIN_INT64 <= number <= MAX_INT64:
            return number
    raise _refused("int")


def timestamp_to_int(instant: Timestamp) -> int:
    """Return the seconds since 1970, rounded down."""
    return instant.nanos // 10**9


def duration_to_int(span: Duration) -> int:
    """Return the duration in nanoseconds."""
    return span.nanos


def uint_to_int(number: Uint) -> int:
    """Return the number as an int. Raises EvaluationError if it does not fit in an int64."""
    return check_int(int(number))


def int_to_uint(number: int) -> Uint:
    """Return the number as a uint. Raises EvaluationError if it is negative."""
    return check_uint(number)


def double_to_uint(number: float) -> Uint:
    """Return the number as a uint, rounded towards zero."""
    if math.isfinite(number) and 0 <= number < MAX_UINT64:
        return Uint(int(number))
    raise unsigned_overflow()


def string_to_uint(text: str) -> Uint:
    """Return the decimal uint in the text. Raises EvaluationError for any other text."""
    digits = text.lstrip("+0")
    if _UINT.fullmatch(text) and len(digits) <= 20 and int(digits or 0) <= MAX_UINT64:
        return Uint(int(digits or 0))
    raise _refused("uint")


def int_to_double(number: int) -> float:
    """Return the nearest double."""
    return float(number)


def string_to_double(text: str) -> float:
    """Return the number in the text, as Go's ParseFloat does.

    It may be decimal or hexadecimal, inf or nan, and have underscores between digits.
    """
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
    """Return `true` or `false`."""
    return "true" if value else "false"


def int_to_string(number: int) -> str:
    """Return the number in decimal."""
    return str(int(number))


def double_to_string(number: float) -> str:
    """Return the number in Go's `%g` format, with as few digits as possible.

    Numbers below 1e-4, and from 1e6 on, have an exponent.
    """
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
    """Return the fewest digits that identify the number, and the decimal power of the first digit."""
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
    """Return the time in RFC 3339 format, in UTC, with as many digits as needed."""
    return format_timestamp(instant.nanos)


def duration_to_string(span: Duration) -> str:
    """Return the duration in seconds, such as `1.5s`."""
    whole, rest = divmod(abs(span.nanos), 10**9)
    return ("-" if span.nanos < 0 else "") + _plain(*_shortest(whole + rest / 1e9)) + "s"


def string_to_timestamp(text: str) -> Timestamp:
    """Return the time in an RFC 3339 text, which is parsed as leniently as in Go."""
    nanos = parse_timestamp(text)
    if nanos is None:
        raise _refused(TIMESTAMP.name)
    return check_timestamp(nanos)


def int_to_timestamp(seconds: int) -> Timestamp:
    """Return the time this many seconds after the beginning of 1970."""
    return check_timestamp(seconds * 10**9)


def string_to_duration(text: str) -> Duration:
    """Return the duration in the text, such as `1h30m`, as Go parses it."""
    nanos = parse_duration(text)
    if nanos is None:
        raise _refused(DURATION.name)
    return Duration(nanos)


def int_to_duration(nanos: int) -> Duration:
    """Return a duration of this many nanoseconds."""
    return Duration(nanos)


# -- the table of conversions ------------------------------------------------------------------------------------------


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
"""The conversions in the standard library."""
