"""Objects of a JSON document decoded straight from its bytes; most objects never become dicts."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from dra_plan.api.base import Object

from . import kinds, lines
from .kinds import Kind
from .objects import NOT_DECODED
from .paths import FieldPath
from .places import NO_HEADER, Header, Place
from .unwrap import header_of_items, is_list


class _Envelope(msgspec.Struct, rename="camel"):
    api_version: str | None = None
    kind: str | None = None
    items: list[msgspec.Raw] | msgspec.UnsetType = msgspec.UNSET


class _Peek(msgspec.Struct, rename="camel"):
    api_version: str | None = None
    kind: str | None = None


_ENVELOPE = msgspec.json.Decoder(_Envelope)
_ARRAY = msgspec.json.Decoder(list[msgspec.Raw])
_PEEK = msgspec.json.Decoder(_Peek)


@functools.cache
def _decoder(kind: type[Object]) -> msgspec.json.Decoder[Object]:
    return msgspec.json.Decoder(kind)


class Typed(NamedTuple):
    """A decoded object, not yet defaulted."""

    value: Object
    kind: Kind
    version: str


class JsonObject(NamedTuple):
    """The text of one object, or of a whole document that has to be looked at more closely."""

    text: Any
    inherited: Header
    place: Place

    def typed(self) -> Typed | None:
        """The object, if it is of a known kind and needs neither conversion nor repair."""
        try:
            peek = _PEEK.decode(self.text)
            api_version, name = peek.api_version or self.inherited.api_version, peek.kind or self.inherited.kind
            kind = kinds.find(api_version, name) if api_version and name else None
            if kind is None:
                return None
            version = kinds.split_version(api_version)[1]
            if kind.versions.get(version, kind) is not None:
                return None  # unknown, or to be converted
            return Typed(_decoder(kind.type).decode(self.text), kind, version)
        except NOT_DECODED:
            return None

    def plain(self) -> Any:
        """The text as plain value."""
        return msgspec.json.decode(self.text)


class JsonObjects:
    """The objects of one document, which is a well-formed JSON value."""

    def __init__(self, data: bytes, begin: int, end: int, place: Place) -> None:
        self._data = data
        self._begin = begin
        self._text = memoryview(data)[begin:end]
        self._place = place

    def __iter__(self) -> Iterator[JsonObject]:
        steps: FieldPath = ()
        inherited = NO_HEADER
        try:
            if self._data[self._begin : self._begin + 1] == b"[":
                items = _ARRAY.decode(self._text)
            else:
                envelope = _ENVELOPE.decode(self._text)
                header = Header(envelope.api_version, envelope.kind)
                if isinstance(envelope.items, msgspec.UnsetType) or not is_list(envelope.kind, has_items=True):
                    yield self._whole()
                    return
                items, steps, inherited = envelope.items, ("items",), header_of_items(header)
        except NOT_DECODED:
            yield self._whole()
            return
        yield from self._each(items, steps, inherited)

    def _whole(self) -> JsonObject:
        finder = _JsonLines(self._text, self._place.line, 0)
        return JsonObject(self._text, NO_HEADER, self._place._replace(find_lines=finder))

    def _each(self, items: list[msgspec.Raw], steps: FieldPath, inherited: Header) -> Iterator[JsonObject]:
        position, line = self._begin, self._place.line
        for index, item in enumerate(items):
            # Items come in the order of the text, so each is found right after the one before it.
            start = self._data.find(item, position)
            line += self._data.count(b"\n", position, start)
            position = start
            prefix = (*self._place.prefix, *steps, index)
            finder = _JsonLines(item, line, len(prefix))
            yield JsonObject(item, inherited, self._place._replace(prefix=prefix, line=line, find_lines=finder))


class _JsonLines:
    """Finds lines in the text of one object, reading it a second time when first asked."""

    __slots__ = ("_depth", "_first_line", "_lines", "_text")

    def __init__(self, text: Any, first_line: int, depth: int) -> None:
        self._text = text
        self._first_line = first_line
        self._depth = depth
        self._lines: lines.Lines | None = None

    def __call__(self, paths: list[FieldPath]) -> list[int]:
        if self._lines is None:
            self._lines = lines.of_json(bytes(self._text).decode(), self._first_line)
        return [lines.find(self._lines, path[self._depth :]) for path in paths]
