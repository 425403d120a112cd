"""JSON text cut into its values (a file may hold several), without decoding them; and keys set twice."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

_TRAILING = re.compile(r"JSON is malformed: trailing characters \(byte (\d+)\)")
_AT_BYTE = re.compile(r"JSON is malformed: (.*) \(byte (\d+)\)")
_HALF_PAIR = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u....)\\u[dD][c-fC-F]")
_SPACE = re.compile(rb"[ \t\r\n]*")


class JsonError(Exception):
    """Text that is not JSON, with the byte where that shows."""

    def __init__(self, message: str, position: int) -> None:
        self.message = message
        self.position = position
        super().__init__(message)


class ListMeta(msgspec.Struct):
    """What a list says of itself."""

    continue_: str | None = msgspec.field(default=None, name="continue")


class Envelope(msgspec.Struct, rename="camel"):
    """A value that may be a list of objects, whose items are not decoded."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ListMeta | None = None
    items: list[msgspec.Raw] | msgspec.UnsetType = msgspec.UNSET


_ENVELOPE = msgspec.json.Decoder(Envelope)


def envelope(text: bytes | memoryview) -> Envelope:
    """The value with its items apart. Raises msgspec's errors for what is malformed or no map of such fields."""
    return _ENVELOPE.decode(text)


class JsonExtent(NamedTuple):
    """Where one value lies in the text, and the value as envelope if it is the only one and may be a list."""

    begin: int
    end: int
    envelope: Envelope | None = None


def spans(data: bytes) -> Iterator[JsonExtent]:
    """The values of the text, one after the other, checked for syntax. Raises `JsonError`."""
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
    """The envelope of the one value of a text, as most texts are: tells that its syntax is right, too."""
    try:
        return envelope(view[begin:])
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return None


def _skip_space(data: bytes, position: int) -> int:
    match = _SPACE.match(data, position)
    return match.end() if match else position


def _end_of_value(view: memoryview, begin: int) -> int:
    """Lets the decoder check everything. What it calls trailing is the start of the next value, counted from 1."""
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
    """The plain value of well-formed JSON. Raises `JsonError` for what no plain value can hold, such as 1e999."""
    try:
        return msgspec.json.decode(text)
    except RecursionError:
        raise JsonError("nested too deeply", 0) from None
    except (msgspec.MsgspecError, UnicodeError) as error:
        message = str(error).partition(" - at ")[0]
        raise JsonError(message[:1].lower() + message[1:], 0) from None


def has_repeated_keys(text: bytes) -> bool:
    """Whether some map of a well-formed JSON value sets a key twice."""
    found = False

    def look(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal found
        fields = dict(pairs)
        found = found or len(fields) < len(pairs)
        return fields

    try:
        # Numbers stay text: only keys are looked at, and numbers may be longer than Python converts.
        json.loads(text, object_pairs_hook=look, parse_int=str, parse_float=str)
    except RecursionError:
        return False  # decoding will say so
    return found
