"""A progress bar for long runs, and a line while much is read."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dra_plan import shown

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID
    from rich.status import Status

SHOWN_AFTER = 1.0
"""Seconds before the bar appears: a short run shows none."""

_NAMED = 3

Advance = Callable[[int, int], None]
"""Called with how much is done, and of how much."""


@contextmanager
def progress_bar(*, wanted: bool) -> Iterator[Advance | None]:
    """A function that moves the bar, or None if standard error is no terminal; the bar is gone at the end."""
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    bar = _Bar()
    try:
        yield bar.advance
    finally:
        bar.close()


@contextmanager
def reading(names: Sequence[str], *, wanted: bool = True) -> Iterator[Callable[[str], None]]:
    """Says on standard error, if that is a terminal, what is being read; the line is gone at the end.

    What it gives changes what is said.
    """
    if not wanted or not sys.stderr.isatty():
        yield lambda _text: None
        return
    line = _Reading(f"reading {', '.join(names[:_NAMED])}{' ...' if len(names) > _NAMED else ''}")
    timer = threading.Timer(SHOWN_AFTER, line.open)
    timer.daemon = True
    timer.start()
    try:
        yield line.say
    finally:
        timer.cancel()
        line.close()


class _Reading:
    """Drawn by a thread, as reading is one long piece of work."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lock = threading.Lock()
        self._drawn: Status | None = None
        self._closed = False

    def say(self, text: str) -> None:
        from rich.text import Text

        with self._lock:
            self._text = text
            if self._drawn is not None:
                self._drawn.update(Text(shown.line(text)))

    def open(self) -> None:
        from rich.console import Console
        from rich.text import Text

        with self._lock:
            if not self._closed:
                self._drawn = Console(stderr=True).status(Text(shown.line(self._text)))
                self._drawn.start()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._drawn is not None:
                self._drawn.stop()


class _Bar:
    """Draws with rich, which is imported only when a run turns out to be long."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._drawn: Progress | None = None
        self._task: TaskID | None = None

    def advance(self, done: int, total: int) -> None:
        if self._drawn is None:
            if time.monotonic() - self._started < SHOWN_AFTER:
                return
            self._drawn = self._open()
            self._task = self._drawn.add_task("planning")
        if self._task is not None:
            self._drawn.update(self._task, completed=done, total=total)

    @staticmethod
    def _open() -> Progress:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("planning"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("node checks"),
            TimeRemainingColumn(),
        )
        progress = Progress(*columns, console=Console(stderr=True), transient=True)
        progress.start()
        return progress

    def close(self) -> None:
        if self._drawn is not None:
            self._drawn.stop()
