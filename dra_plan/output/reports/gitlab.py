"""GitLab's code quality report: a JSON array that the merge request shows as new and mended findings."""

from __future__ import annotations

from typing import Any

from dra_plan import shown
from dra_plan.output import structured

from .content import Content, Entry, Level
from .fingerprints import fingerprints
from .places import file_of

SEVERITIES = {Level.ERROR: "major", Level.WARNING: "minor", Level.INFO: "info"}


def render(content: Content) -> str:
    """The array, empty if there is nothing to report."""
    return structured.json([_issue(entry, mark, content) for entry, mark in fingerprints(content)])


def _issue(entry: Entry, fingerprint: str, content: Content) -> dict[str, Any]:
    about = f"{entry.object}: " if entry.object else ""
    return {
        "description": shown.lines(f"{about}{entry.message}"),
        "check_name": entry.code,
        "fingerprint": fingerprint,
        "severity": SEVERITIES[entry.level],
        "location": {"path": shown.printable(file_of(entry, content)), "lines": {"begin": max(entry.line, 1)}},
    }
