"""What every run has to keep, whatever it reads: an exit status that means something, time, memory, the log rule."""

from __future__ import annotations

import resource
import time
from functools import cache
from typing import NamedTuple
from unittest.mock import patch

from typer.main import get_command

from tests.cli import hostile
from tests.cli.running import in_process
from tests.limits import ended_after

from .inputs import run_of

SECONDS = 20
"""Processor time of one input."""
BYTES = 1 << 30
"""Memory of one input."""
COMMAND = cache(get_command)
"""The parser of the command line, made once: that takes longer than most inputs."""
STATUSES = (0, 1, 2, 3)


class Judged(NamedTuple):
    """How a run went; `fault` is "" where it kept all rules."""

    seed: int
    status: int
    seconds: float
    fault: str


def judge(seed: int) -> Judged:
    """Runs the input of a seed."""
    run = run_of(seed)
    started, before = time.process_time(), _peak()
    try:
        with ended_after(2 * SECONDS), patch("typer.main.get_command", COMMAND):
            ran = in_process(*run.arguments, stdin=run.text)
    except Exception as ended:  # what the program's own guard did not meet; a fault, and not the end of the process
        return Judged(seed, -1, time.process_time() - started, f"{type(ended).__name__}: {ended}")
    seconds = time.process_time() - started
    grown = _peak() - before  # what the process needed earlier was not for this input
    return Judged(seed, ran.status, seconds, _fault(ran.status, seconds, grown, ran.out, ran.err, run.arguments))


def _peak() -> int:
    """Bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _fault(status: int, seconds: float, grown: int, out: str, err: str, arguments: list[str]) -> str:
    if status not in STATUSES:
        return f"exit status {status}: {' | '.join(err.splitlines()[-12:])}"
    if "Traceback" in err:
        return "a traceback"
    if seconds > SECONDS:
        return f"{seconds:.1f} s of processor time"
    if grown > BYTES:
        return f"{grown >> 20} MiB more"
    if status == 2 and not err:
        return "exit status 2 and not a word"
    acting = hostile.faults(out, wrapped=True) + hostile.faults(err, wrapped=True)
    return f"text that acts on a log: {acting[0]!r}" if acting and "jsonpath" not in arguments[3] else ""
