"""Split JSON text into its values (a file may contain several), and the values into objects.

Contents: values, whose syntax is checked without decoding them; repeated keys; the lines of fields; and objects. Most
objects are decoded straight from their bytes, without an intermediate dict.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from dra_plan.api.meta import FieldPath, Object

from . import kinds, places
from .kinds import Kind
from .objects import NOT_DECODED
from .places import NO_HEADER, Extents, Header, LinedText, Place
from .sharing import SharedParts
from .unwrap import header_of_items, is_list, is_no_objects

_TRAILING = re.compile(r"JSON is malformed: trailing characters \(byte (\d+)\)")
_AT_BYTE = re.compile(r"JSON is malformed: (.*) \(byte (\d+)\)")
_HALF_PAIR = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u....)\\u[dD][c-fC-F]")
_SPACE = re.compile(rb"[ \t\r\n]*")


class JsonError(Exception):
    """The error raised for text that is not JSON, with the byte position of the fault."""

    def __init__(self, message: str, position: int) -> None:
        self.message = message
        self.position = position
        super().__init__(message)


class ListMeta(msgspec.Struct):
    """The metadata of a List."""

    continue_: str | None = msgspec.field(default=None, name="continue")


class Envelope(msgspec.Struct, rename="camel"):
    """A value that may be a List, with its items undecoded."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ListMeta | None = None
    items: list[msgspec.Raw] | msgspec.UnsetType = msgspec.UNSET


_ENVELOPE = msgspec.json.Decoder(Envelope)


def read_envelope(text: bytes | memoryview) -> Envelope:
    """Return the value without decoding its items. Raises msgspec's errors for text that is not such a value."""
    return _ENVELOPE.decode(text)


class JsonExtent(NamedTuple):
    """The extent of one value in a text, as byte positions.

    `read_envelope` is set if the value is the only one in the text and may be a List.
    """

    begin: int
    end: int
    read_envelope: Envelope | None = None


def spans(data: bytes) -> Iterator[JsonExtent]:
    """Yield the extents of the values in the text, in order. Raises `JsonError` if the syntax is wrong."""
    view = memoryview(data)
    begin = _skip_space(data, 0)
    if (whole := _sole_list(view, begin)) is not None:
        yield JsonExtent(begin, len(data), whole)
        return
    while begin < len(data):
        end = _end_of_value(view, begin)
        yield JsonExtent(begin, end)
        begin = _skip_space(data, end)


def _sole_list(view: memoryview, begin: int) -> Envelope | None:
    """Return the envelope of the only value in a string, the usual case; its syntax is also checked."""
    try:
        return read_envelope(view[begin:])
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return None


def _skip_space(data: bytes, position: int) -> int:
    match = _SPACE.match(data, position)
    return match.end() if match else position


def _end_of_value(view: memoryview, begin: int) -> int:
    """Return the end of a value; the decoder checks everything.

    The position that it reports as trailing is the start of the next value, counted from 1.
    """
    try:
        try:
            msgspec.json.decode(view[begin:], type=msgspec.Raw)
        except msgspec.DecodeError as error:
            trailing = _TRAILING.match(str(error))
            if trailing is None:
                raise
            end = begin + int(trailing[1]) - 1
            msgspec.json.decode(view[begin:end], type=msgspec.Raw)
            return end
        return len(view)
    except RecursionError:
        raise JsonError("nested too deeply", begin) from None
    except msgspec.DecodeError as error:
        raise _json_error(error, view, begin) from None


def _json_error(error: msgspec.DecodeError, view: memoryview, begin: int) -> JsonError:
    match, end = _AT_BYTE.match(str(error)), len(view)
    half = _HALF_PAIR.search(view, begin)
    if half is not None and (match is None or "escape" in match[1]):
        return JsonError("half of a surrogate pair", half.start())
    if match is None:
        return JsonError("the text ends inside a value", end)
    return JsonError(match[1], begin + int(match[2]))


def plain(text: bytes | memoryview | msgspec.Raw) -> Any:
    """Return well-formed JSON text as a plain value.

    Raises `JsonError` for numbers that are too large for a float, such as 1e999.
    """
    try:
        return msgspec.json.decode(text)
    except RecursionError:
        raise JsonError("nested too deeply", 0) from None
    except (msgspec.MsgspecError, UnicodeError) as error:
        message = str(error).partition(" - at ")[0]
        raise JsonError(message[:1].lower() + message[1:], 0) from None


def has_repeated_keys(text: bytes) -> bool:
    """Return whether any map in the well-formed JSON text repeats a key."""
    found = False

    def look(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal found
        fields = dict(pairs)
        found = found or len(fields) < len(pairs)
        return fields

    try:
        # Numbers remain text, because only keys are checked, and numbers may be longer than Python converts.
        json.loads(text, object_pairs_hook=look, parse_int=str, parse_float=str)
    except RecursionError:
        return False  # decoding reports this
    return found


# -- lines of fields ---------------------------------------------------------------------------------------------------
# Lines are found only when a message needs them, because this reads the text a second time.

Lines = dict[FieldPath, int]
"""The line of each field by its path. Lines are numbered from 1."""


class Line(int):
    """A line number with a column. Columns are numbered from 1; 0 means unknown."""

    column: int = 0

    @classmethod
    def at(cls, line: int, column: int) -> Line:
        """Return the line number with the column."""
        made = cls(line)
        made.column = column
        return made


def of_extents(extents: Extents, text: LinedText) -> Lines:
    """Return the line on which each field begins. A field with a key begins at its key."""
    return {path: Line.at(*text.place(extent.start)) for path, extent in extents.items()}


def of_json(text: str, first_line: int) -> Lines:
    """Return the line of each field in a well-formed JSON value. `first_line` is the line on which the value begins."""
    lines = of_extents(places.of_json(text), LinedText(text, first_line))
    # The text before the value in its first line is unknown here.
    return {path: Line.at(line, 0) if line == first_line else line for path, line in lines.items()}


def find(lines: Lines, path: FieldPath) -> int:
    """Return the line of the field or, if it does not exist, of the nearest field around it; 0 if there is none."""
    for length in range(len(path), -1, -1):
        if line := lines.get(path[:length]):
            return line
    return 0


class JsonLines:
    """The lines of the fields in a JSON value. The text is read again when they are first needed.

    `depth` is the length of the path to the value.
    """

    __slots__ = ("_depth", "_first_line", "_lines", "_text")

    def __init__(self, text: bytes | memoryview, first_line: int, depth: int = 0) -> None:
        self._text, self._first_line, self._depth = text, first_line, depth
        self._lines: Lines | None = None

    def __call__(self, paths: list[FieldPath]) -> list[int]:
        """Return the line of each field or, if it does not exist, of the nearest field around it; 0 if unknown."""
        if self._lines is None:
            self._lines = of_json(bytes(self._text).decode(), self._first_line)
        return [find(self._lines, path[self._depth :]) for path in paths]


# -- objects -----------------------------------------------------------------------------------------------------------


class _Peek(msgspec.Struct, rename="camel"):
    api_version: str | None = None
    kind: str | None = None


_ARRAY = msgspec.json.Decoder(list[msgspec.Raw])
_PEEK = msgspec.json.Decoder(_Peek)
_USUAL_START = re.compile(
    rb'\{[ \t\r\n]*"apiVersion"[ \t\r\n]*:[ \t\r\n]*("[a-z0-9./]+")[ \t\r\n]*,'
    rb'[ \t\r\n]*"kind"[ \t\r\n]*:[ \t\r\n]*("[A-Za-z]+")[ \t\r\n]*[,}]'
)
"""The usual start of objects from any client, which avoids searching the whole object for the two fields."""
_GAP = re.compile(rb"[ \t\r\n]*,?[ \t\r\n]*")
_AFTER_BRACKET = re.compile(rb"\[[ \t\r\n]*\Z")
_LONGEST_GAP = 256


class Typed(NamedTuple):
    """A decoded object. If `is_settled` is set, it is valid and its defaults are set."""

    value: Object
    kind: Kind
    version: str
    is_settled: bool = False


class _Target(NamedTuple):
    """The decoding target for objects of one header."""

    kind: Kind
    version: str
    api_version: str
    decoder: msgspec.json.Decoder[Object]


@functools.cache
def _target(api_version: str | None, name: str | None) -> _Target | None:
    """Return the target, or None for kinds that are unknown, skipped, or to be converted first."""
    kind = kinds.find(api_version, name) if api_version and name else None
    if kind is None or api_version is None:
        return None
    version = kinds.split_version(api_version)[1]
    if kind.versions.get(version, kind) is not None:
        return None
    return _Target(kind, version, api_version, msgspec.json.Decoder(kind.type))


@functools.lru_cache(maxsize=256)
def _usual_target(api_version: bytes, name: bytes) -> _Target | None:
    """Return the target for the quoted API version and kind."""
    return _target(api_version[1:-1].decode(), name[1:-1].decode())


class JsonObject:
    """The text of one object, or of a whole document that needs a closer check."""

    __slots__ = ("_document", "_line", "_steps", "_text", "inherited")

    def __init__(self, text: Any, document: Place, line: int, steps: FieldPath, inherited: Header) -> None:
        self._text = text
        self._document = document
        self._line = line
        self._steps = steps
        self.inherited = inherited

    def typed(self, parts: SharedParts) -> Typed | None:
        """Return the decoded object, or None if its kind is unknown or it needs conversion or repair.

        The object may share parts with other objects.
        """
        try:
            start = _USUAL_START.match(self._text)
            target = _usual_target(*start.groups()) if start is not None else None
            if target is not None:
                kind = target.kind
                shared: Any = parts.read(kind.type, self._text)
                value: Any = target.decoder.decode(self._text) if shared is None else shared
                # A key set twice may have a different value further on.
                if value.kind == kind.name and value.api_version == target.api_version:
                    return Typed(value, kind, target.version, shared is not None)
            peek = _PEEK.decode(self._text)
            target = _target(peek.api_version or self.inherited.api_version, peek.kind or self.inherited.kind)
            return target and Typed(target.decoder.decode(self._text), target.kind, target.version)
        except NOT_DECODED:
            return None

    def plain(self) -> Any:
        """Return the object as a plain value. Raises `JsonError`."""
        return plain(self._text)

    @property
    def text(self) -> bytes:
        """A copy of the object's text."""
        return bytes(memoryview(self._text))

    @property
    def origin_place(self) -> Place:
        """The place where the object begins. The lines of fields cannot be found from it."""
        if self._line == self._document.line:
            return self._document  # all objects in a one-line document have the document's place
        return Place(self._document.source, self._document.document, self._line)

    @property
    def place(self) -> Place:
        """The place of the object, from which the lines of its fields can be found."""
        finder = JsonLines(self._text, self._line, len(self._steps))
        return self.origin_place._replace(prefix=self._steps, find_lines=finder)


class JsonObjects:
    """The objects in a document that is a well-formed JSON value."""

    def __init__(self, data: bytes, begin: int, end: int, place: Place, envelope: Envelope | None = None) -> None:
        self._data = data
        self._envelope = envelope
        self._begin = begin
        self._text = memoryview(data)[begin:end]
        self._place = Place(place.source, place.document, place.line)
        self.list_kind: str | None = None
        """The kind of the document's List, or None if it has further pages. It is set once the objects have been read.
        """

    def __iter__(self) -> Iterator[JsonObject]:
        steps: FieldPath = ()
        inherited = NO_HEADER
        try:
            if self._data[self._begin : self._begin + 1] == b"[":
                items = _ARRAY.decode(self._text)
            else:
                envelope = self._envelope or read_envelope(self._text)
                header = Header(envelope.api_version, envelope.kind)
                no_list = is_no_objects(*header) or not is_list(envelope.kind, has_items=True)
                if isinstance(envelope.items, msgspec.UnsetType) or no_list:
                    yield self._whole()
                    return
                if envelope.metadata is not None and envelope.metadata.continue_:
                    yield self._whole()
                    return
                items, steps, inherited = envelope.items, ("items",), header_of_items(header)
                self.list_kind = envelope.kind
        except NOT_DECODED:
            yield self._whole()
            return
        yield from self._each(items, steps, inherited)

    def _whole(self) -> JsonObject:
        return JsonObject(self._text, self._place, self._place.line, (), NO_HEADER)

    def _each(self, items: list[msgspec.Raw], steps: FieldPath, inherited: Header) -> Iterator[JsonObject]:
        position, line = self._begin, self._place.line
        if self._data.find(b"\n", self._begin, self._begin + len(self._text)) < 0:
            # Everything is on one line, so the position in it does not matter.
            for index, item in enumerate(items):
                yield JsonObject(item, self._place, line, (*steps, index), inherited)
            return
        start = self._start_of_first(items)
        for index, item in enumerate(items):
            line += self._data.count(b"\n", position, start)
            position = start
            yield JsonObject(item, self._place, line, (*steps, index), inherited)
            gap = _GAP.match(self._data, start + len(memoryview(item)))
            start = gap.end() if gap else start

    def _start_of_first(self, items: list[msgspec.Raw]) -> int:
        """Return the start of the first item, which is the first such text after a bracket.

        Raw values do not contain their position.
        """
        start = self._begin
        while items and (start := self._data.find(items[0], start + 1)) > 0:
            if _AFTER_BRACKET.search(self._data, max(self._begin, start - _LONGEST_GAP), start):
                return start
        return self._begin
