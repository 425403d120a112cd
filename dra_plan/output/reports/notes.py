"""The warnings of a document as a report has them."""

from __future__ import annotations

from collections.abc import Iterable

from dra_plan.api.inventory import Notice
from dra_plan.output.gate import Gate

from .content import Entry, Level, ReportCase, Result


def of_warnings(warnings: Iterable[Notice], gate: Gate) -> tuple[list[ReportCase], list[Entry]]:
    """Failed checks, if the gate counts warnings, or else notes."""
    entries = of_plain_warnings(warnings)
    if not gate.no_warnings:
        return [], entries
    return [ReportCase(_name(entry), Result.FAILED, entry) for entry in entries], []


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
