"""The time limit and the progress callback of questions that cannot return a partial result.

Other questions have their own deadline (`Question.deadline`). Long-running code calls `check`, which costs almost
nothing if no limit is set.
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
"""The end of the allotted time, on the clock of `time.monotonic`, and the number of seconds allotted."""
_hears: ContextVar[Callable[[int, int], None] | None] = ContextVar("_hears", default=None)


class OutOfTimeError(DraPlanError, TimeoutError):
    """Raised when the time limit is reached before there is a result."""


@contextmanager
def allotted(seconds: float | None, progress: Callable[[int, int], None] | None = None) -> Iterator[None]:
    """Within the block, limit the time of this thread, and send progress reports to `progress`.

    When the time is up, `check` raises OutOfTimeError. An inner block cannot extend the limit of an outer block.
    """
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
    """Return whether a time limit is set."""
    return _ends.get() is not None


def check() -> None:
    """Raise OutOfTimeError if the time is up."""
    ends = _ends.get()
    if ends is not None and time.monotonic() > ends[0]:
        raise OutOfTimeError(f"no result within {ends[1]:g} seconds")


def step(done: int, total: int) -> None:
    """Report to the progress callback that `done` of `total` items are finished.

    Raises OutOfTimeError if the time is up.
    """
    check()
    hears = _hears.get()
    if hears is not None:
        hears(done, total)


def steps(of: Iterable[T], total: int) -> Iterator[T]:
    """Yield the items, and report each one to the progress callback."""
    for done, one in enumerate(of, 1):
        step(done, total)
        yield one
