"""What every run has to keep, whatever it reads: an exit status that means something, time, memory, the log rule."""

from __future__ import annotations

import re
import resource
import time
from functools import cache
from typing import NamedTuple
from unittest.mock import patch

from typer.main import get_command

from tests.cli import hostile
from tests.limits import ended_after

from .inputs import run_of
from .staging import staged

SECONDS = 20
"""Processor time of one input."""
IN_TIME = 4
"""The same of one that is ended after a second, with reading its input and printing the answer."""
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
        with ended_after(2 * SECONDS), patch("typer.main.get_command", COMMAND), staged(run) as ask:
            ran = ask(run.arguments)
            other = ask(run.alike) if run.alike is not None else ran
    except Exception as ended:  # what the program's own guard did not meet; a fault, and not the end of the process
        return Judged(seed, -1, time.process_time() - started, f"{type(ended).__name__}: {ended}")
    seconds = time.process_time() - started
    grown = _peak() - before  # what the process needed earlier was not for this input
    fault = _fault(ran.status, seconds, grown, ran.out, ran.err, run.arguments)
    if not fault and (ran.status, _sorted(ran.out)) != (other.status, _sorted(other.out)):
        fault = "another answer for another order of files"
    return Judged(seed, ran.status, seconds, fault)


def _sorted(text: str) -> list[str]:
    """What is said, in whatever order: the order of what is told may follow that of the input."""
    return sorted(re.findall(r"[^\s,]+", _PLACES.sub("", text)))


_PLACES = re.compile(r"\d+\.json:\d+")
"""Files and lines, which an answer may name."""


def _peak() -> int:
    """Bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _fault(status: int, seconds: float, grown: int, out: str, err: str, arguments: list[str]) -> str:
    if status not in STATUSES:
        return f"exit status {status}: {' | '.join(err.splitlines()[-12:])}"
    if "Traceback" in err:
        return "a traceback"
    if "--timeout" in arguments and seconds > IN_TIME:
        return f"{seconds:.1f} s of processor time with --timeout {arguments[arguments.index('--timeout') + 1]}"
    if seconds > SECONDS:
        return f"{seconds:.1f} s of processor time"
    if grown > BYTES:
        return f"{grown >> 20} MiB more"
    if status == 2 and not err:
        return "exit status 2 and not a word"
    acting = hostile.faults(out, wrapped=True) + hostile.faults(err, wrapped=True)
    return f"text that acts on a log: {acting[0]!r}" if acting and "jsonpath" not in arguments[3] else ""
