"""GitHub annotations: workflow commands in the log of a step, which GitHub shows beside the changed lines."""

from __future__ import annotations

from dra_plan import shown

from .content import Content, Entry, Level
from .places import STDIN, relative

COMMANDS = {Level.ERROR: "error", Level.WARNING: "warning", Level.INFO: "notice"}


def render(content: Content) -> str:
    """One command a line; nothing if there is nothing to report.

    The worst come first: of each level, GitHub shows the first ten of a step beside the lines, the others in the log.
    """
    ranked = sorted(content.entries(), key=lambda entry: list(COMMANDS).index(entry.level))
    return "".join(f"{_command(entry)}\n" for entry in ranked)


def _command(entry: Entry) -> str:
    about = f"{entry.object}: " if entry.object else ""
    details = f"\n{entry.details}" if entry.details else ""
    return f"::{COMMANDS[entry.level]} {_properties(entry)}::{_data(f'{about}{entry.message}{details}')}"


def _properties(entry: Entry) -> str:
    given: dict[str, str | int] = {}
    if entry.source and entry.source != STDIN:
        given["file"] = relative(entry.source)
        if entry.line:
            given["line"] = entry.line
        if entry.line and entry.column:
            given["col"] = entry.column
    given["title"] = f"dra-plan {entry.code}"
    return ",".join(f"{name}={_property(str(value))}" for name, value in given.items())


def _data(text: str) -> str:
    """The runner undoes these escapes, and no others, in a command's text."""
    return shown.lines(text).replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    """In a property's value also those characters that end it."""
    return shown.line(text.replace("%", "%25").replace(":", "%3A").replace(",", "%2C"))
