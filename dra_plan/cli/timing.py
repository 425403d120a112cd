"""`--timeout` for answers of which no part can be told: the command ends when the time is over.

Searches that can tell what they know by then have a deadline of their own (`Timed` in `dra_plan/options.py`).
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
"""Seconds: a timer that is set to 0 would never ring."""


class TimeIsOverError(BaseException):
    """The time that a command has is over. No Exception: what handles those goes on."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


@contextmanager
def ended_after(seconds: float | None) -> Iterator[None]:
    """A context that ends with TimeIsOverError after so many seconds by the clock; None: it never does.

    Nothing is ended outside of the main thread, where no signal is handled. A timer that rang before, or that was set
    outside, goes on afterwards.
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
    """Where the system has no timers: another thread interrupts this one, which it hears between two instructions."""
    over = threading.Event()

    def ring(number: int, frame: FrameType | None) -> None:
        if over.is_set():
            raise TimeIsOverError(seconds)
        if callable(before):
            before(number, frame)

    def interrupt() -> None:
        over.set()
        _thread.interrupt_main()

    before = signal.signal(signal.SIGINT, ring)  # where it is ignored, as in the background, nothing would interrupt
    timer = threading.Timer(max(SOONEST, seconds), interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
