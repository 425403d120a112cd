"""Objects of a JSON document decoded straight from its bytes; most objects never become dicts."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from dra_plan.api.meta import FieldPath, Object

from . import json_reader, kinds, lines
from .answers import is_no_objects
from .kinds import Kind
from .objects import NOT_DECODED
from .places import NO_HEADER, Header, Place
from .sharing import SharedParts
from .unwrap import header_of_items, is_list


class _Peek(msgspec.Struct, rename="camel"):
    api_version: str | None = None
    kind: str | None = None


_ARRAY = msgspec.json.Decoder(list[msgspec.Raw])
_PEEK = msgspec.json.Decoder(_Peek)
_USUAL_START = re.compile(
    rb'\{[ \t\r\n]*"apiVersion"[ \t\r\n]*:[ \t\r\n]*("[a-z0-9./]+")[ \t\r\n]*,'
    rb'[ \t\r\n]*"kind"[ \t\r\n]*:[ \t\r\n]*("[A-Za-z]+")[ \t\r\n]*[,}]'
)
"""How every client writes objects: saves looking through the whole object for the two fields."""
_GAP = re.compile(rb"[ \t\r\n]*,?[ \t\r\n]*")
_AFTER_BRACKET = re.compile(rb"\[[ \t\r\n]*\Z")
_LONGEST_GAP = 256


class Typed(NamedTuple):
    """A decoded object, not yet defaulted unless it `is_settled`, which says that it is sound, too."""

    value: Object
    kind: Kind
    version: str
    is_settled: bool = False


class _Target(NamedTuple):
    """What objects of one header are decoded into."""

    kind: Kind
    version: str
    api_version: str
    decoder: msgspec.json.Decoder[Object]


@functools.cache
def _target(api_version: str | None, name: str | None) -> _Target | None:
    """None for what is unknown, skipped, or to be converted first."""
    kind = kinds.find(api_version, name) if api_version and name else None
    if kind is None or api_version is None:
        return None
    version = kinds.split_version(api_version)[1]
    if kind.versions.get(version, kind) is not None:
        return None
    return _Target(kind, version, api_version, msgspec.json.Decoder(kind.type))


@functools.lru_cache(maxsize=256)
def _usual_target(api_version: bytes, name: bytes) -> _Target | None:
    """The same for the quoted texts of both."""
    return _target(api_version[1:-1].decode(), name[1:-1].decode())


class JsonObject:
    """The text of one object, or of a whole document that has to be looked at more closely."""

    __slots__ = ("_document", "_line", "_steps", "_text", "inherited")

    def __init__(self, text: Any, document: Place, line: int, steps: FieldPath, inherited: Header) -> None:
        self._text = text
        self._document = document
        self._line = line
        self._steps = steps
        self.inherited = inherited

    def typed(self, parts: SharedParts) -> Typed | None:
        """The object, if it is of a known kind and needs neither conversion nor repair; with parts of others."""
        try:
            start = _USUAL_START.match(self._text)
            target = _usual_target(*start.groups()) if start is not None else None
            if target is not None:
                kind = target.kind
                shared: Any = parts.read(kind.type, self._text)
                value: Any = target.decoder.decode(self._text) if shared is None else shared
                # A key set twice may say something else further on.
                if value.kind == kind.name and value.api_version == target.api_version:
                    return Typed(value, kind, target.version, shared is not None)
            peek = _PEEK.decode(self._text)
            target = _target(peek.api_version or self.inherited.api_version, peek.kind or self.inherited.kind)
            return target and Typed(target.decoder.decode(self._text), target.kind, target.version)
        except NOT_DECODED:
            return None

    def plain(self) -> Any:
        """The text as plain value. Raises `JsonError`."""
        return json_reader.plain(self._text)

    @property
    def origin_place(self) -> Place:
        """Where the object starts; knows no other lines."""
        if self._line == self._document.line:
            return self._document  # of a document in one line all objects have its place
        return Place(self._document.source, self._document.document, self._line)

    @property
    def place(self) -> Place:
        """The place of the object, with the lines of all its fields."""
        finder = lines.JsonLines(self._text, self._line, len(self._steps))
        return self.origin_place._replace(prefix=self._steps, find_lines=finder)


class JsonObjects:
    """The objects of one document, which is a well-formed JSON value."""

    def __init__(
        self, data: bytes, begin: int, end: int, place: Place, envelope: json_reader.Envelope | None = None
    ) -> None:
        self._data = data
        self._envelope = envelope
        self._begin = begin
        self._text = memoryview(data)[begin:end]
        self._place = Place(place.source, place.document, place.line)
        self.list_kind: str | None = None
        """The kind of the list that the document is, once its objects were gone through, unless it goes on."""

    def __iter__(self) -> Iterator[JsonObject]:
        steps: FieldPath = ()
        inherited = NO_HEADER
        try:
            if self._data[self._begin : self._begin + 1] == b"[":
                items = _ARRAY.decode(self._text)
            else:
                envelope = self._envelope or json_reader.envelope(self._text)
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
            # Everything is in one line: no need to know where in it.
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
        """Where the first item lies: raw values don't tell, but it is the first such text after a bracket."""
        start = self._begin
        while items and (start := self._data.find(items[0], start + 1)) > 0:
            if _AFTER_BRACKET.search(self._data, max(self._begin, start - _LONGEST_GAP), start):
                return start
        return self._begin
