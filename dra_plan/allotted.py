"""The time that a whole answer may take, and who hears how far it is: for questions that have no answer in part.

A question that can say what it knows by then has a deadline of its own (`Question.deadline`). What takes long calls
`check`, which costs next to nothing where no time was set.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from dra_plan.errors import DraPlanError

T = TypeVar("T")

_ends: ContextVar[tuple[float, float] | None] = ContextVar("_ends", default=None)
"""When the time is over, by `time.monotonic`, and how many seconds were given."""
_hears: ContextVar[Callable[[int, int], None] | None] = ContextVar("_hears", default=None)


class OutOfTimeError(DraPlanError, TimeoutError):
    """The time that an answer was given is over, and nothing is known in part."""


@contextmanager
def allotted(seconds: float | None, progress: Callable[[int, int], None] | None = None) -> Iterator[None]:
    """Within the block `check` raises OutOfTimeError after this time, in this thread; `progress` hears of `steps`."""
    ends, hears = _ends.get(), _hears.get()
    if seconds is not None and (ends is None or time.monotonic() + seconds < ends[0]):
        ends = (time.monotonic() + seconds, seconds)
    kept = _ends.set(ends), _hears.set(progress or hears)
    try:
        yield
    finally:
        _ends.reset(kept[0])
        _hears.reset(kept[1])


def is_timed() -> bool:
    """Whether some time was set."""
    return _ends.get() is not None


def check() -> None:
    """Raise OutOfTimeError if the time is over."""
    ends = _ends.get()
    if ends is not None and time.monotonic() > ends[0]:
        raise OutOfTimeError(f"no answer within {ends[1]:g} seconds")


def steps(of: Iterable[T], total: int) -> Iterator[T]:
    """The items, each of which is reported once it is there."""
    hears = _hears.get()
    for done, one in enumerate(of, 1):
        check()
        if hears is not None:
            hears(done, total)
        yield one
