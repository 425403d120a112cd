"""Ctrl-C for a search with partial results, where the first ends the search and the second the program; and SIGTERM."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def stoppable() -> Iterator[Callable[[], bool]]:
    """Yield a function that returns whether Ctrl-C has been pressed since the block began.

    Code in the block must call it regularly.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    pressed = threading.Event()

    def note(number: int, frame: FrameType | None) -> None:
        if pressed.is_set():
            signal.default_int_handler(number, frame)
        pressed.set()

    before = signal.signal(signal.SIGINT, note)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)


TERMINATED = 128 + signal.SIGTERM
"""The exit status of a program ended by SIGTERM, as in shells."""


@contextmanager
def tidied() -> Iterator[None]:
    """Turn SIGTERM into an exception while the block runs, so that whatever the block started ends before the program.

    If SIGTERM is ignored or has another handler, nothing changes.
    """
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    ):
        yield
        return

    def end(_number: int, _frame: FrameType | None) -> None:
        raise SystemExit(TERMINATED)

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
