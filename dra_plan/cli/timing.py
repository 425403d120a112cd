"""`--timeout` for commands without partial results, which end when the time is over.

Searches with partial results use the deadline in `Timed` (`dra_plan/options.py`) instead.
"""

from __future__ import annotations

import _thread
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SOONEST = 0.001
"""The minimum time limit, in seconds. A timer that is set to 0 would never fire."""


class TimeIsOverError(BaseException):
    """The exception raised when the time is over. As a BaseException, it is not caught by `except Exception`."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


@contextmanager
def ended_after(seconds: float | None) -> Iterator[None]:
    """Raise TimeIsOverError in the block after this number of seconds, or never if `seconds` is None.

    Works only in the main thread, because only the main thread handles signals. Other timers that were set before
    continue after the block.
    """
    if seconds is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    with _alarm(seconds) if hasattr(signal, "setitimer") else _watch(seconds):
        yield


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    def ring(_number: int, _frame: FrameType | None) -> None:
        raise TimeIsOverError(seconds)

    handler, began = signal.signal(signal.SIGALRM, ring), time.monotonic()
    left, _ = signal.setitimer(signal.ITIMER_REAL, max(SOONEST, seconds))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if left:
            signal.setitimer(signal.ITIMER_REAL, max(SOONEST, left - (time.monotonic() - began)))


@contextmanager
def _watch(seconds: float) -> Iterator[None]:
    """Interrupt this thread from another one, for systems without timers; Python reacts between two instructions."""
    over = threading.Event()

    def ring(number: int, frame: FrameType | None) -> None:
        if over.is_set():
            raise TimeIsOverError(seconds)
        if callable(before):
            before(number, frame)

    def interrupt() -> None:
        over.set()
        _thread.interrupt_main()

    before = signal.signal(signal.SIGINT, ring)  # if it is ignored, as in the background, nothing would interrupt
    timer = threading.Timer(max(SOONEST, seconds), interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
