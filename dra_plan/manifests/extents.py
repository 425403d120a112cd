"""Where fields stand in the text of a document, to the character. Found only when something must be said about them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from enum import Enum
from functools import cached_property
from typing import NamedTuple

from dra_plan.api.meta import FieldPath


class Form(Enum):
    """How a value is written."""

    PLAIN = "plain"
    """A scalar without quotes, of YAML or JSON."""
    SINGLE = "single"
    DOUBLE = "double"
    BLOCK = "block"
    """A scalar after `|` or `>`."""
    FLOW = "flow"
    """A map or list in brackets, of YAML or JSON."""
    NESTED = "nested"
    """A map or list that YAML tells by its indentation."""
    ALIAS = "alias"


class Extent(NamedTuple):
    """Where a field stands: positions of characters in the text, ends not included.

    `key_begin` is -1 for what has no key: the root, and items of lists.
    """

    begin: int
    end: int
    key_begin: int
    key_end: int
    form: Form

    @property
    def start(self) -> int:
        """Where the field begins, with its key if it has one."""
        return self.begin if self.key_begin < 0 else self.key_begin


_LINE_END = re.compile(r"\r\n?|\n")

Extents = dict[FieldPath, Extent]
"""Of every field of a document by its path. What stands only in an anchor's value or a merged map is not there."""


class LinedText:
    """Whole lines of a source. Lines and columns count from 1."""

    def __init__(self, text: str, first_line: int) -> None:
        self.text, self.first_line = text, first_line

    @cached_property
    def _line_ends(self) -> list[tuple[int, int]]:
        return [match.span() for match in _LINE_END.finditer(self.text)]

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(end for _, end in self._line_ends)]

    def place(self, position: int) -> tuple[int, int]:
        """The line and the column of a position."""
        index = bisect_right(self._starts, position) - 1
        return self.first_line + index, position - self._starts[index] + 1

    def line_of(self, position: int) -> tuple[int, int]:
        """Where the line of a position begins and ends, without its line end."""
        index = bisect_right(self._starts, position) - 1
        end = self._line_ends[index][0] if index < len(self._line_ends) else len(self.text)
        return self._starts[index], max(end, position)


class DocumentText:
    """The lines that hold a document, and where in them its fields stand."""

    def __init__(self, lines: LinedText, extents: Extents) -> None:
        self.lines, self.extents = lines, extents

    @cached_property
    def keys(self) -> dict[FieldPath, list[str]]:
        """The keys of every map, as they stand."""
        found: dict[FieldPath, list[str]] = {}
        for path in self.extents:
            if path and isinstance(path[-1], str):
                found.setdefault(path[:-1], []).append(path[-1])
        return found

    def nearest(self, path: FieldPath) -> tuple[FieldPath, Extent] | None:
        """The field, or the nearest outer one that is there; None if not even the root is."""
        for length in range(len(path), -1, -1):
            if extent := self.extents.get(path[:length]):
                return path[:length], extent
        return None


TextFinder = Callable[[], DocumentText | None]
"""Gives the text of one document; it is read a second time for it, when first asked."""
