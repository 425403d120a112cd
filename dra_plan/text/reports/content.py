"""What a report says, before any format: what was checked, what failed, where, and its fingerprint."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from dra_plan.api.inventory import Notice
from dra_plan.text.gate import Gate


class Level(StrEnum):
    """How bad an entry is."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Replacement(NamedTuple):
    """Characters of the entry's file and what they become."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


class Entry(NamedTuple):
    """One thing to report, with its place. Lines and columns count from 1; 0 and empty texts mean unknown.

    `end_column` is the one after the last character; `object` is KIND NAMESPACE/NAME; `path` the field in it; `details`
    more lines, for readers with room for them.
    """

    level: Level
    code: str
    message: str
    source: str = ""
    line: int = 0
    column: int = 0
    object: str = ""
    path: str = ""
    details: str = ""
    end_line: int = 0
    end_column: int = 0
    fix: str = ""
    """What the edits do."""
    edits: tuple[Replacement, ...] = ()
    """What to write instead, if that is certain."""

    @property
    def place(self) -> str:
        """`SOURCE:LINE:COLUMN` as far as known."""
        numbers = [str(number) for number in (self.line, self.column if self.line else 0) if number]
        return ":".join([self.source, *numbers]) if self.source else ""


class Result(StrEnum):
    """How a check ended: it held, it did not, or it could not be judged."""

    PASSED = "passed"
    FAILED = "failed"
    BROKEN = "broken"


class ReportCase(NamedTuple):
    """One thing that was checked: a claim set, a pod, a file. What did not pass has its entry."""

    name: str
    result: Result = Result.PASSED
    entry: Entry | None = None


SEARCH_ENDED = "The search was cut short"
"""The title of what stayed undecided."""


class RuleText(NamedTuple):
    """What a code stands for, and what to do about it."""

    title: str
    help: str


@dataclass(frozen=True, slots=True)
class Content:
    """One report: of which command, about which input.

    `notes` are the entries that make nothing fail. `anchor` is the input that an entry without a place is shown at,
    in formats that ask for a place. `aborted` says that there is no answer, for the input or the question was wrong.
    """

    command: str
    checks: tuple[ReportCase, ...] = ()
    notes: tuple[Entry, ...] = ()
    rules: dict[str, RuleText] = field(default_factory=dict)
    anchor: str = ""
    aborted: bool = False

    def entries(self) -> Iterator[Entry]:
        """All entries: those of the checks, then the notes."""
        yield from (check.entry for check in self.checks if check.entry is not None)
        yield from self.notes


STDIN = "-"


STDIN_NAME = "stdin"
"""What a report calls standard input, which has no file."""


def file_of(entry: Entry, content: Content) -> str:
    """The file to show the entry at: its own, or else the first input of the run; `.` if there was none."""
    return relative(entry.source or content.anchor or ".")


def relative(source: str) -> str:
    """The path from the folder of the run, without `./`; as it is if it lies outside."""
    if source == STDIN:
        return STDIN_NAME
    path, here = Path(os.path.normpath(source)), Path.cwd()
    return (path.relative_to(here) if path.is_relative_to(here) else path).as_posix()


def uri(path: str) -> str:
    """A path from `relative` as a URI reference."""
    return Path(path).as_uri() if Path(path).is_absolute() else quote(path, errors="surrogateescape")


def fingerprints(content: Content) -> list[tuple[Entry, str]]:
    """Each entry with its fingerprint, unique in the report: what is told twice of one object is counted.

    Of code, file, object, field and message; not of the line, so that an insertion above leaves it as it was.
    """
    seen: Counter[str] = Counter()
    found = []
    for entry in content.entries():
        text = "\0".join((entry.code, file_of(entry, content), entry.object, entry.path, entry.message))
        seen[text] += 1
        found.append((entry, hashlib.sha256(f"{text}\0{seen[text]}".encode("utf-8", "backslashreplace")).hexdigest()))
    return found


def of_warnings(warnings: Iterable[Notice], gate: Gate) -> tuple[list[ReportCase], list[Entry]]:
    """Failed checks, if the gate counts warnings, or else notes."""
    if not gate.no_warnings:
        return [], of_plain_warnings(warnings)
    told = list(warnings)
    failed = of_plain_warnings(one for one in told if not one.is_note)
    notes = of_plain_warnings(one for one in told if one.is_note)
    return [ReportCase(_name(entry), Result.FAILED, entry) for entry in failed], notes


def of_plain_warnings(warnings: Iterable[Notice]) -> list[Entry]:
    """The warnings, whatever a gate makes of them."""
    return [_entry(warning) for warning in warnings]


def _name(entry: Entry) -> str:
    return f"{entry.code}: {entry.object}" if entry.object else entry.code


def _entry(warning: Notice) -> Entry:
    source, line = split(warning.source)
    return Entry(Level.WARNING, warning.code, warning.message, source, line, object=warning.object)


def split(source: str) -> tuple[str, int]:
    """File and line of `FILE:LINE`; line 0 if there is none."""
    file, colon, line = source.rpartition(":")
    return (file, int(line)) if colon and line.isdecimal() else (source, 0)
