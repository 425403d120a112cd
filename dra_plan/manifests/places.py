"""The place and header of each value read, and the labels of objects in messages.

Contents: exact positions in a text, places and headers, the positions of fields in JSON text, and the positions of
characters in a scalar.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from enum import Enum
from functools import cached_property, partial
from typing import Any, NamedTuple

from msgspec import Struct

from dra_plan.api.inventory import Origin
from dra_plan.api.meta import FieldPath

from .kinds import Kind

# -- fields in a text --------------------------------------------------------------------------------------------------
# Positions are found only when a message needs them.


class Form(Enum):
    """The notation of a value."""

    PLAIN = "plain"
    """A scalar without quotes."""
    SINGLE = "single"
    DOUBLE = "double"
    BLOCK = "block"
    """A YAML scalar after `|` or `>`."""
    FLOW = "flow"
    """A map or list in brackets."""
    NESTED = "nested"
    """A YAML map or list without brackets."""
    ALIAS = "alias"


class Extent(NamedTuple):
    """The extent of a field in a text, as character positions. The ends are exclusive.

    `key_begin` is -1 for a value without a key, such as the root or a list item.
    """

    begin: int
    end: int
    key_begin: int
    key_end: int
    form: Form

    @property
    def start(self) -> int:
        """The position at which the field begins, including its key."""
        return self.begin if self.key_begin < 0 else self.key_begin


_LINE_END = re.compile(r"\r\n?|\n")

Extents = dict[FieldPath, Extent]
"""The extent of each field in a document by its path, except fields that exist only through an alias or a merge."""


class LinedText:
    """A text that consists of whole lines of a source. Lines and columns are numbered from 1."""

    def __init__(self, text: str, first_line: int) -> None:
        self.text, self.first_line = text, first_line

    @cached_property
    def _line_ends(self) -> list[tuple[int, int]]:
        return [match.span() for match in _LINE_END.finditer(self.text)]

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(end for _, end in self._line_ends)]

    def place(self, position: int) -> tuple[int, int]:
        """Return the line and column of a position."""
        index = bisect_right(self._starts, position) - 1
        return self.first_line + index, position - self._starts[index] + 1

    def line_of(self, position: int) -> tuple[int, int]:
        """Return the start and end of the line that contains the position, without the line ending."""
        index = bisect_right(self._starts, position) - 1
        end = self._line_ends[index][0] if index < len(self._line_ends) else len(self.text)
        return self._starts[index], max(end, position)


class DocumentText:
    """The lines that contain a document, and the extents of its fields in these lines."""

    def __init__(self, lines: LinedText, extents: Extents) -> None:
        self.lines, self.extents = lines, extents

    @cached_property
    def keys(self) -> dict[FieldPath, list[str]]:
        """The keys of every map in text order, by the path of the map."""
        found: dict[FieldPath, list[str]] = {}
        for path in self.extents:
            if path and isinstance(path[-1], str):
                found.setdefault(path[:-1], []).append(path[-1])
        return found

    def nearest(self, path: FieldPath) -> tuple[FieldPath, Extent] | None:
        """Return the path and extent of the field or, if it does not exist, of the nearest field around it, or None."""
        for length in range(len(path), -1, -1):
            if extent := self.extents.get(path[:length]):
                return path[:length], extent
        return None


TextFinder = Callable[[], DocumentText | None]
"""A function that returns the text of one document, which is read again when the function is first called."""


# -- places and labels of objects --------------------------------------------------------------------------------------

LineFinder = Callable[[list[FieldPath]], list[int]]
"""A function that returns the lines of fields in one document, or 0 where they are unknown."""


def _no_lines(paths: list[FieldPath]) -> list[int]:
    return [0] * len(paths)


def _no_text() -> DocumentText | None:
    return None


def _no_start(_identity: int) -> int | None:
    return None


class Place(NamedTuple):
    """The place where a value was read: the source, the document in the source, and the path in the document."""

    source: str
    document: int = 0
    line: int = 0
    prefix: FieldPath = ()
    find_lines: LineFinder = _no_lines
    start_of: Callable[[int], int | None] = _no_start
    """A function that returns the line of the map with this `id` in the document, if the reader recorded it."""
    find_text: TextFinder = _no_text
    """A function that returns the text of the document. Only validation uses it."""

    def lines(self, paths: list[FieldPath]) -> list[int]:
        """Return the lines of fields below this place. An unknown line is replaced by the line of the place."""
        return [line or self.line for line in self.find_lines([(*self.prefix, *path) for path in paths])]

    @property
    def origin(self) -> Origin:
        """The place in the form that inventories and notices use."""
        return Origin(self.source, self.line)


class Header(NamedTuple):
    """The apiVersion and kind of an object, or None where they are missing."""

    api_version: Any = None
    kind: Any = None


NO_HEADER = Header()


class Item(Struct, frozen=True):
    """An object in a document. Its header is its own, or comes from the List around it."""

    value: dict[str, Any]
    header: Header
    place: Place


def label_of(kind: object, metadata: object, known: Kind | None = None, namespace: str = "") -> str:
    """Return `KIND NAMESPACE/NAME`, without the unknown parts, for an object that is not decoded."""
    metadata = metadata if isinstance(metadata, dict) else {}
    space, name = metadata.get("namespace"), metadata.get("name")
    if known is not None:
        space = (space or namespace) if known.namespaced else ""
    shown = kind if isinstance(kind, str) and kind else "object"
    return label(shown, space if isinstance(space, str) else "", name if isinstance(name, str) else "")


def label(kind: str, namespace: str, name: str) -> str:
    """Return `KIND NAMESPACE/NAME`, without the empty parts."""
    if not name:
        return kind
    return f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"


# -- fields in JSON text -----------------------------------------------------------------------------------------------
# These functions take one JSON value that is known to be well-formed.

_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_TOKEN = re.compile(rf'[\s,]*(?:({_STRING})(\s*:)?|([{{\[])|([}}\]])|([^\s{{}}\[\],:"]+))', re.DOTALL)
_TEXT, _KEY, _OPENING, _CLOSING = 1, 2, 3, 4
"""The numbers of the last `_TOKEN` group that a token matches."""
_NO_KEY = (-1, -1)
_extent = partial(tuple.__new__, Extent)
"""A function that builds an extent from a tuple, three times as fast as from fields; large files need many extents."""


class _Outer(NamedTuple):
    """The state to restore after a bracket is closed: its start, key and path, and those of the outer value."""

    begin: int
    key: tuple[int, int]
    path: FieldPath
    around: FieldPath
    item: int | None


def of_json(
    text: str, begin: int = 0, end: int | None = None, repeated: list[tuple[FieldPath, int]] | None = None
) -> Extents:
    """Return the extents of the fields in the JSON value between two positions in the text.

    A repeated key is added to `repeated` with its position. The field then has the extent of its first value.
    """
    found: Extents = {}
    opened: list[_Outer] = []
    around: FieldPath = ()
    path: FieldPath = ()
    key = _NO_KEY
    item: int | None = None  # the index of the last value, in a list
    for match in _TOKEN.finditer(text, begin, len(text) if end is None else end):
        token = match.lastindex or 0
        if token == _KEY:
            path, key = (*around, _unquoted(match[1])), match.span(1)
            if repeated is not None and path in found:
                repeated.append((path, key[0]))
            continue
        if token == _CLOSING:
            done = opened.pop()
            if found[done.path].begin == done.begin:
                found[done.path] = _extent((done.begin, match.end(), *done.key, Form.FLOW))
            around, item = done.around, done.item
            continue
        if item is not None:
            item += 1
            path, key = (*around, item), _NO_KEY
        start, stop = match.span(token)
        if token == _OPENING:
            # The paths are in text order; the end is filled in when it is known.
            found.setdefault(path, _extent((start, stop, *key, Form.FLOW)))
            opened.append(_Outer(start, key, path, around, item))
            around, item = path, None if text[start] == "{" else -1
        elif path not in found:
            found[path] = _extent((start, stop, *key, Form.DOUBLE if token == _TEXT else Form.PLAIN))
    return found


def _unquoted(token: str) -> str:
    if "\\" not in token:
        return token[1:-1]
    import json

    return str(json.loads(token))


# -- characters of a scalar --------------------------------------------------------------------------------------------
# With these functions, a place inside an expression can be shown and edited.

_HEX_ESCAPES = {"x": 2, "u": 4, "U": 8}
_LINE_ENDS = "\r\n"
_FOLD = re.compile(r"[ \t]*\r?\n[ \t]*(?![ \t\r\n])")
"""One line ending; an empty line means something else."""


def positions(text: str, extent: Extent, value: str) -> list[int] | None:
    """Return the position of each character of a scalar in the text, and of the scalar's end.

    Return None for unsupported notations, such as some folded texts.
    """
    begin, end = extent.begin, extent.end
    if extent.form in (Form.SINGLE, Form.DOUBLE):
        begin, end = begin + 1, end - 1
    if extent.form is Form.DOUBLE:
        return _double(text, begin, end, value)
    if extent.form is Form.BLOCK:
        begin = _after_line(text, begin)
        return _block(text, begin, end, value) if begin < end else None
    if extent.form not in (Form.PLAIN, Form.SINGLE):
        return None
    return _folded(text, begin, end, value, doubled="'" if extent.form is Form.SINGLE else "")


def _folded(text: str, begin: int, end: int, value: str, *, doubled: str) -> list[int] | None:
    """Return the positions in a scalar with only doubled quotes as escapes, and a space for each folded line ending."""
    found, at = [], begin
    for char in value:
        fold = _FOLD.match(text, at, end) if char == " " else None
        if at >= end or (fold is None and text[at] != char):
            return None
        found.append(at)
        at = fold.end() if fold else at + (2 if char == doubled else 1)
    return [*found, end] if at == end else None


def _double(text: str, begin: int, end: int, value: str) -> list[int] | None:
    found, at = [], begin
    for char in value:
        if at >= end:
            return None
        found.append(at)
        if text[at] != "\\":
            if text[at] != char:
                return None
            at += 1
            continue
        step = 2 + _HEX_ESCAPES.get(text[at + 1], 0)
        if text[at + 1] == "u" and ord(char) > 0xFFFF:
            step *= 2  # JSON writes characters beyond 16 bits as two halves
        at += step
    return [*found, end] if at == end else None


def _block(text: str, begin: int, end: int, value: str) -> list[int] | None:
    """Return the positions in lines after `|`, and after `>` where single line endings became spaces."""
    first = begin
    while first < end and text[first] in " \r\n":
        first += 1
    indent = first - max(text.rfind("\n", 0, first), text.rfind("\r", 0, first)) - 1
    found, at = [], begin
    starts = True
    for char in value:
        if starts:
            at += min(indent, _spaces(text, at, end))
            starts = False
        if at >= end:
            return None
        found.append(at)
        if text[at] in _LINE_ENDS:
            if char not in "\n ":
                return None
            at, starts = _after_line(text, at), True
        elif text[at] == char:
            at += 1
        else:
            return None
    return [*found, at]


def _spaces(text: str, at: int, end: int) -> int:
    count = 0
    while at + count < end and text[at + count] == " ":
        count += 1
    return count


def _after_line(text: str, at: int) -> int:
    """Return the start of the next line."""
    while at < len(text) and text[at] not in _LINE_ENDS:
        at += 1
    return at + (2 if text[at : at + 2] == "\r\n" else 1)
