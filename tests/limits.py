"""Limits in processor time: nothing fails because the machine has other work. Wall clock ends only what hangs."""

from __future__ import annotations

import contextlib
import resource
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

CHILD_SECONDS = 60
"""Processor time of a process that a test starts."""
HANGING = 1200
"""Seconds after which a process that neither works nor ends is ended."""


@contextlib.contextmanager
def at_most(seconds: float, what: str = "") -> Iterator[None]:
    """Fail unless the block takes less processor time than that."""
    started = time.process_time()
    yield
    spent = time.process_time() - started
    assert spent < seconds, f"{spent:.1f} s of processor time, {seconds} s allowed {what}"


@contextlib.contextmanager
def ended_after(seconds: float) -> Iterator[None]:
    """As `at_most`, but a block that goes on for ever is ended with a TimeoutError."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"not done in {seconds} s of processor time")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def run(command: Sequence[str], *, check: bool = False, **options: Any) -> subprocess.CompletedProcess[str]:
    """A process that has ended, its output as text; fails if it took more than `CHILD_SECONDS`."""
    before = _of_children()
    done = subprocess.run(command, text=True, encoding="utf-8", timeout=HANGING, check=check, **options)
    spent = _of_children() - before
    assert spent < CHILD_SECONDS, f"{spent:.1f} s of processor time: {command}"
    return done


def _of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
