"""Simulated time, which advances only when the simulation says so. Nothing ever sleeps."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache

START = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
"""The time at which the clock starts if no object has a time."""


def parse_time(text: str | None) -> float | None:
    """Return an RFC 3339 time as seconds since the epoch, or None if the time is missing or malformed."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def format_time(seconds: float) -> str:
    """Return the time in RFC 3339 in UTC with whole seconds, as in metav1.Time."""
    return _written(math.floor(seconds))


@lru_cache(maxsize=64)  # consecutive pods are often bound within the same second
def _written(seconds: int) -> str:
    year, month, day, hour, minute, second = time.gmtime(seconds)[:6]  # datetime takes several times as long
    return f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"


def known_time(moment: float, start: float) -> str:
    """Return the time in RFC 3339, or "" if the simulation started at START because the input has no times."""
    return "" if start == START else format_time(moment)


class Clock:
    """The time in the simulation, in seconds since the epoch."""

    __slots__ = ("now",)

    def __init__(self, now: float = START) -> None:
        self.now = now

    def advance_to(self, moment: float) -> None:
        """Advance the clock. It never runs backwards."""
        self.now = max(self.now, moment)


def latest(times: Iterable[str | None]) -> float:
    """Return the latest of the times, at which a simulation starts, or START if none can be parsed."""
    known = [moment for moment in map(parse_time, set(times)) if moment is not None]
    return max(known, default=START)
