"""Names of files as CI systems want them: relative to the folder of the run, with slashes."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

from .content import Content, Entry

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
