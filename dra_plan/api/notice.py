"""Notices: what the user should know beside the answer. Values only; `output` prints them."""

from __future__ import annotations

from typing import NamedTuple


class Origin(NamedTuple):
    """Where an object was read: the source's name ("-" for stdin), its first field's line, from 1; 0 if unknown."""

    source: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.source}:{self.line}" if self.line else self.source


class Notice(NamedTuple):
    """A warning with a stable code; `object` is KIND NAMESPACE/NAME or empty, `source` is file:line or empty."""

    code: str
    message: str
    object: str = ""
    source: str = ""
