"""Instants and durations: Go's text formats, and the accessors getFullYear, getHours and so on.

Conversions between these and other types are in `conversions`.
"""

from __future__ import annotations

import datetime
import functools
import re

from dra_plan.cel.types import DURATION, INT, STRING, TIMESTAMP
from dra_plan.cel.values import MAX_INT64, Duration, EvaluationError, Timestamp

from .overload import Function, Overload, member

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
    whole = whole.lstrip("0")
    if len(whole) > 19:
        return MAX_INT64 * 2
    # Go reads as many digits of the fraction as fit into an int64 and multiplies in floating point.
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


def full_year(instant: Timestamp, zone: str = "") -> int:
    """The year."""
    return _moment(instant, zone).year


def month(instant: Timestamp, zone: str = "") -> int:
    """The month, from 0."""
    return _moment(instant, zone).month - 1


def day_of_year(instant: Timestamp, zone: str = "") -> int:
    """The day of the year, from 0."""
    return _moment(instant, zone).timetuple().tm_yday - 1


def day_of_month(instant: Timestamp, zone: str = "") -> int:
    """The day of the month, from 0."""
    return _moment(instant, zone).day - 1


def date(instant: Timestamp, zone: str = "") -> int:
    """The day of the month, from 1."""
    return _moment(instant, zone).day


def day_of_week(instant: Timestamp, zone: str = "") -> int:
    """The day of the week, 0 on Sunday."""
    return _moment(instant, zone).isoweekday() % 7


def hours(instant: Timestamp, zone: str = "") -> int:
    """The hour."""
    return _moment(instant, zone).hour


def minutes(instant: Timestamp, zone: str = "") -> int:
    """The minute."""
    return _moment(instant, zone).minute


def seconds(instant: Timestamp, zone: str = "") -> int:
    """The second."""
    return _moment(instant, zone).second


def milliseconds(instant: Timestamp, zone: str = "") -> int:
    """The milliseconds of the second."""
    _moment(instant, zone)
    return instant.nanos % _SECOND // 10**6


def _whole(span: Duration, unit: int) -> int:
    return span.nanos // unit if span.nanos >= 0 else -(-span.nanos // unit)


def duration_hours(span: Duration) -> int:
    """Whole hours."""
    return _whole(span, 3600 * _SECOND)


def duration_minutes(span: Duration) -> int:
    """Whole minutes."""
    return _whole(span, 60 * _SECOND)


def duration_seconds(span: Duration) -> int:
    """Whole seconds."""
    return _whole(span, _SECOND)


def duration_milliseconds(span: Duration) -> int:
    """Whole milliseconds."""
    return _whole(span, 10**6)


# -- the table ---------------------------------------------------------------------------------------------------


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
"""The standard library's accessors of instants and durations."""
