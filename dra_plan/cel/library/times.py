"""Instants and durations: Go's text formats, and the accessors getFullYear, getHours and so on.

Conversions between these and other types are in `conversions`.
"""

from __future__ import annotations

import datetime
import functools
import re

from dra_plan.cel.library.base import overload
from dra_plan.cel.values import MAX_INT64, Duration, EvaluationError, Timestamp

_SECOND = 10**9
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_TIME = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{1,2}):([0-9]{2}):([0-9]{2})([.,][0-9]+)?(Z|([+-])([0-9]{2}):([0-9]{2}))",
    re.ASCII,
)
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


def parse_timestamp(text: str) -> int | None:
    """Nanoseconds since 1970, or None for text that Go's RFC 3339 layout refuses."""
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = map(int, match.groups()[:6])
    fraction = (match[7] or ".")[1:10].ljust(9, "0")
    try:
        moment = datetime.datetime(max(year, 1), month, day, hour, minute, second, tzinfo=datetime.UTC)
    except ValueError:
        return None
    offset = 0
    if match[9]:
        hours, minutes = int(match[10]), int(match[11])
        if hours > 24 or minutes > 60:
            return None
        offset = (hours * 3600 + minutes * 60) * (-1 if match[9] == "-" else 1)
    if year == 0:
        offset += 366 * 86400  # before the first year that can be held: out of range for the caller
    delta = moment - _EPOCH
    return (delta.days * 86400 + delta.seconds - offset) * _SECOND + int(fraction)


def format_timestamp(nanos: int) -> str:
    """RFC 3339 in UTC with the fraction's trailing zeros left out."""
    seconds, fraction = divmod(nanos, _SECOND)
    moment = _EPOCH + datetime.timedelta(seconds=seconds)
    text = f"{moment.year:04d}-{moment.month:02d}-{moment.day:02d}T{moment:%H:%M:%S}"
    return text + (f".{fraction:09d}".rstrip("0") if fraction else "") + "Z"


def parse_duration(text: str) -> int | None:
    """Nanoseconds, or None for text that Go's ParseDuration refuses."""
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
        # Go adds up in an unsigned 64-bit number, so that only the smallest duration can be written negatively.
        if total > MAX_INT64 + 1:
            return None
        position = match.end()
    if negative:
        return -total
    return total if total <= MAX_INT64 else None


def _amount(whole: str, fraction: str, unit: int) -> int:
    if len(whole.lstrip("0")) > 19:
        return MAX_INT64 * 2
    # Go reads as many digits of the fraction as fit into an int64 and multiplies in floating point.
    digits = ""
    for digit in fraction:
        if int(digits + digit) > MAX_INT64:
            break
        digits += digit
    part = int(float(int(digits)) * (float(unit) / 10.0 ** len(digits))) if digits else 0
    return int(whole or "0") * unit + part


@functools.lru_cache(maxsize=64)
def _zone(name: str) -> datetime.tzinfo | None:
    """The time zone, None when there is none with this name; Go's "Local" is UTC where control planes run."""
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


@overload("timestamp_to_year", "timestamp")
@overload("timestamp_to_year_with_tz", "timestamp", "string")
def full_year(instant: Timestamp, zone: str = "") -> int:
    """The year."""
    return _moment(instant, zone).year


@overload("timestamp_to_month", "timestamp")
@overload("timestamp_to_month_with_tz", "timestamp", "string")
def month(instant: Timestamp, zone: str = "") -> int:
    """The month, from 0."""
    return _moment(instant, zone).month - 1


@overload("timestamp_to_day_of_year", "timestamp")
@overload("timestamp_to_day_of_year_with_tz", "timestamp", "string")
def day_of_year(instant: Timestamp, zone: str = "") -> int:
    """The day of the year, from 0."""
    return _moment(instant, zone).timetuple().tm_yday - 1


@overload("timestamp_to_day_of_month", "timestamp")
@overload("timestamp_to_day_of_month_with_tz", "timestamp", "string")
def day_of_month(instant: Timestamp, zone: str = "") -> int:
    """The day of the month, from 0."""
    return _moment(instant, zone).day - 1


@overload("timestamp_to_day_of_month_1_based", "timestamp")
@overload("timestamp_to_day_of_month_1_based_with_tz", "timestamp", "string")
def date(instant: Timestamp, zone: str = "") -> int:
    """The day of the month, from 1."""
    return _moment(instant, zone).day


@overload("timestamp_to_day_of_week", "timestamp")
@overload("timestamp_to_day_of_week_with_tz", "timestamp", "string")
def day_of_week(instant: Timestamp, zone: str = "") -> int:
    """The day of the week, 0 on Sunday."""
    return _moment(instant, zone).isoweekday() % 7


@overload("timestamp_to_hours", "timestamp")
@overload("timestamp_to_hours_with_tz", "timestamp", "string")
def hours(instant: Timestamp, zone: str = "") -> int:
    """The hour."""
    return _moment(instant, zone).hour


@overload("timestamp_to_minutes", "timestamp")
@overload("timestamp_to_minutes_with_tz", "timestamp", "string")
def minutes(instant: Timestamp, zone: str = "") -> int:
    """The minute."""
    return _moment(instant, zone).minute


@overload("timestamp_to_seconds", "timestamp")
@overload("timestamp_to_seconds_tz", "timestamp", "string")
@overload("timestamp_to_seconds_with_tz", "timestamp", "string")
def seconds(instant: Timestamp, zone: str = "") -> int:
    """The second."""
    return _moment(instant, zone).second


@overload("timestamp_to_milliseconds", "timestamp")
@overload("timestamp_to_milliseconds_with_tz", "timestamp", "string")
def milliseconds(instant: Timestamp, zone: str = "") -> int:
    """The milliseconds of the second."""
    _moment(instant, zone)
    return instant.nanos % _SECOND // 10**6


def _whole(span: Duration, unit: int) -> int:
    return span.nanos // unit if span.nanos >= 0 else -(-span.nanos // unit)


@overload("duration_to_hours", "duration")
def duration_hours(span: Duration) -> int:
    """Whole hours."""
    return _whole(span, 3600 * _SECOND)


@overload("duration_to_minutes", "duration")
def duration_minutes(span: Duration) -> int:
    """Whole minutes."""
    return _whole(span, 60 * _SECOND)


@overload("duration_to_seconds", "duration")
def duration_seconds(span: Duration) -> int:
    """Whole seconds."""
    return _whole(span, _SECOND)


@overload("duration_to_milliseconds", "duration")
def duration_milliseconds(span: Duration) -> int:
    """Whole milliseconds."""
    return _whole(span, 10**6)
