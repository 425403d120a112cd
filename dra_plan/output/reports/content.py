"""What a report says, before any format: what was checked, what failed, and where. Knows no format and no document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple


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


SEARCH_ENDED = "The search ended before the answer"
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
