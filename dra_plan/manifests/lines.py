"""Lines of fields, looked up only when something must be said about them: the text is read a second time for it."""

from __future__ import annotations

from dra_plan.api.meta import FieldPath

from . import json_extents
from .extents import Extents, LinedText

Lines = dict[FieldPath, int]
"""Line of each field, from 1, by its path."""


class Line(int):
    """A line number that also knows the column in it, from 1; 0 if unknown."""

    column: int = 0

    @classmethod
    def at(cls, line: int, column: int) -> Line:
        """The place of a field."""
        made = cls(line)
        made.column = column
        return made


def of_extents(extents: Extents, text: LinedText) -> Lines:
    """The lines in which fields begin, with their keys if they have any."""
    return {path: Line.at(*text.place(extent.start)) for path, extent in extents.items()}


def of_json(text: str, first_line: int) -> Lines:
    """The lines of everything in one well-formed JSON value, which starts in `first_line`."""
    lines = of_extents(json_extents.of_json(text), LinedText(text, first_line))
    # What stands before the text in its first line is not known here.
    return {path: Line.at(line, 0) if line == first_line else line for path, line in lines.items()}


def find(lines: Lines, path: FieldPath) -> int:
    """The line of the field, or of the nearest outer field that is there; 0 if not even the root is."""
    for length in range(len(path), -1, -1):
        if line := lines.get(path[:length]):
            return line
    return 0


class JsonLines:
    """Finds the lines of fields in the text of one JSON value, which is read a second time when first asked.

    `depth` is how many steps of the paths lead to the value.
    """

    __slots__ = ("_depth", "_first_line", "_lines", "_text")

    def __init__(self, text: bytes | memoryview, first_line: int, depth: int = 0) -> None:
        self._text, self._first_line, self._depth = text, first_line, depth
        self._lines: Lines | None = None

    def __call__(self, paths: list[FieldPath]) -> list[int]:
        """The lines of the fields, or of the nearest outer ones; 0 where unknown."""
        if self._lines is None:
            self._lines = of_json(bytes(self._text).decode(), self._first_line)
        return [find(self._lines, path[self._depth :]) for path in paths]
