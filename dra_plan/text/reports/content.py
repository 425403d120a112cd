"""The content of a report, regardless of its format: checks, failures, positions and fingerprints."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from dra_plan.api.inventory import NOTES, Notice
from dra_plan.text.gate import Gate


class Level(StrEnum):
    """The severity of an entry in a report."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Replacement(NamedTuple):
    """A range of characters in a file, and its replacement."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


class Entry(NamedTuple):
    """A reported problem and its position. Lines and columns are numbered from 1; 0 and "" mean unknown.

    `end_column` is the column after the last character. `object` is KIND NAMESPACE/NAME, and `path` is one of its
    fields. `details` contains more lines, for formats with enough space.
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
    """A description of the edits."""
    edits: tuple[Replacement, ...] = ()
    """The edits, if the fix is certain."""
    like: str = ""
    """The object of an earlier entry that has the same explanation."""

    @property
    def place(self) -> str:
        """The place of the entry as `SOURCE:LINE:COLUMN`, without unknown parts."""
        numbers = [str(number) for number in (self.line, self.column if self.line else 0) if number]
        return ":".join([self.source, *numbers]) if self.source else ""


class Result(StrEnum):
    """The result of a check. A check is broken if it is undecided, or if the input cannot be read."""

    PASSED = "passed"
    FAILED = "failed"
    BROKEN = "broken"


class ReportCase(NamedTuple):
    """The check of a claim set, a pod or a file. It has an entry unless it passed."""

    name: str
    result: Result = Result.PASSED
    entry: Entry | None = None


SEARCH_ENDED = "The search was cut short"
"""The title of undecided checks."""


class RuleText(NamedTuple):
    """What a code means, and how to fix the problem."""

    title: str
    help: str


@dataclass(frozen=True, slots=True)
class Content:
    """The content of the report on a command.

    `notes` are entries that do not make the command fail. In formats that require a file, entries without a position
    are shown at `anchor`, which is a part of the input. `aborted` means that there is no result because the input or
    the query was invalid.
    """

    command: str
    checks: tuple[ReportCase, ...] = ()
    notes: tuple[Entry, ...] = ()
    rules: dict[str, RuleText] = field(default_factory=dict)
    anchor: str = ""
    aborted: bool = False

    def entries(self) -> Iterator[Entry]:
        """Yield the entries of the checks, followed by the notes."""
        yield from (check.entry for check in self.checks if check.entry is not None)
        yield from self.notes

    def without_facts(self) -> Content:
        """Return the content without facts about the release, which `-q` hides."""
        return replace(self, notes=tuple(note for note in self.notes if note.code not in NOTES))


STDIN = "-"


CLUSTER = "cluster"
"""The file name that reports use for a cluster that was read with kubectl."""


STDIN_NAME = "stdin"
"""The file name that reports use for standard input."""


def file_of(entry: Entry, content: Content) -> str:
    """Return the entry's file, or the first file of the run if the entry has none."""
    return relative(entry.source or content.anchor or CLUSTER)


def relative(source: str) -> str:
    """Return the path relative to the working directory, or the same path if it is outside."""
    if source == STDIN:
        return STDIN_NAME
    path, here = Path(os.path.normpath(source)), Path.cwd()
    return (path.relative_to(here) if path.is_relative_to(here) else path).as_posix()


def uri(path: str) -> str:
    """Return a path, as returned by `relative`, as a URI reference."""
    return Path(path).as_uri() if Path(path).is_absolute() else quote(path, errors="surrogateescape")


def fingerprints(content: Content) -> list[tuple[Entry, str]]:
    """Return the entries with their fingerprints, which are unique within a report.

    A fingerprint depends on the code, file, object, field and message. It does not depend on the line, so inserting
    lines above does not change it.
    """
    seen: Counter[str] = Counter()
    found = []
    for entry in content.entries():
        text = "\0".join((entry.code, file_of(entry, content), entry.object, entry.path, entry.message))
        seen[text] += 1
        found.append((entry, hashlib.sha256(f"{text}\0{seen[text]}".encode("utf-8", "backslashreplace")).hexdigest()))
    return found


def of_warnings(warnings: Iterable[Notice], gate: Gate) -> tuple[list[ReportCase], list[Entry]]:
    """Return the warnings: those that make the gate fail as failed checks, and the others as notes."""
    told = list(warnings)
    failed = of_plain_warnings(one for one in told if gate.counts(one))
    notes = of_plain_warnings(one for one in told if not gate.counts(one))
    return [ReportCase(_name(entry), Result.FAILED, entry) for entry in failed], notes


def of_plain_warnings(warnings: Iterable[Notice]) -> list[Entry]:
    """Return the warnings as entries, without applying a gate."""
    return [_entry(warning) for warning in warnings]


def _name(entry: Entry) -> str:
    return f"{entry.code}: {entry.object}" if entry.object else entry.code


def _entry(warning: Notice) -> Entry:
    source, line = split(warning.source)
    level = Level.INFO if warning.is_note else Level.WARNING
    return Entry(level, warning.code, warning.message, source, line, object=warning.object)


def split(source: str) -> tuple[str, int]:
    """Return the file and the line in `FILE:LINE`. The line is 0 if it is missing."""
    file, colon, line = source.rpartition(":")
    return (file, int(line)) if colon and line.isdecimal() else (source, 0)
