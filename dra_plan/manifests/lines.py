"""Lines of fields, looked up only when something must be said about them: the text is read a second time for it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .paths import FieldPath

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


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
_KEY_ESCAPE = re.compile(r"\\")


def of_json(text: str, first_line: int, repeated: list[tuple[FieldPath, int]] | None = None) -> Lines:
    """The lines of everything in one well-formed JSON value, which starts in `first_line`.

    Keys set again in the same map are added to `repeated`.
    """
    lines: Lines = {}
    path: list[str | int] = []
    open_maps: list[bool] = []
    expects_key = False
    for token, line in _tokens(text, first_line):
        match token:
            case "{" | "[":
                lines.setdefault(tuple(path), line)
                open_maps.append(token == "{")
                expects_key = token == "{"
                path.append("" if expects_key else 0)
            case "}" | "]":
                open_maps.pop()
                path.pop()
                expects_key = False
            case ",":
                if open_maps[-1]:
                    expects_key = True
                else:
                    path[-1] = int(path[-1]) + 1
            case ":":
                expects_key = False
            case _ if expects_key:
                path[-1] = _unquoted(token)
                if repeated is not None and tuple(path) in lines:
                    repeated.append((tuple(path), line))
                lines.setdefault(tuple(path), line)
            case _:
                lines.setdefault(tuple(path), line)
    return lines


def _tokens(text: str, line: int) -> Iterator[tuple[str, int]]:
    first, position = line, 0
    for match in _TOKEN.finditer(text):
        start = match.start()
        line += text.count("\n", position, start)
        position = start
        # What stands before the text in its first line is not known here.
        yield match[0], Line.at(line, 0 if line == first else start - text.rfind("\n", 0, start))


def _unquoted(token: str) -> str:
    if not _KEY_ESCAPE.search(token):
        return token[1:-1]
    import json

    return str(json.loads(token))


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
