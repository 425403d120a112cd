"""One list, read page by page to its end, or not at all: nothing half-read is taken for the whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import msgspec

from .kubectl import Refusal, RequestError, Requests
from .projection import keeper
from .resources import Listed

PAGE = 500
"""Objects asked for at once."""
READINGS = 3
"""How often a list is read, all in all, whose continue token expires before its end is reached."""

_MOST_PAGES = 10_000
_MOST_EMPTY = 3

Heard = Callable[[int], None]
"""Called with the number of objects of each page."""


class _PageMeta(msgspec.Struct):
    next_: str = msgspec.field(default="", name="continue")


class _Page(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    metadata: _PageMeta | None = None
    items: list[msgspec.Raw] | None = None


_PAGE = msgspec.json.Decoder(_Page)


def read_list(requests: Requests, listed: Listed, heard: Heard) -> list[bytes]:
    """All objects of a list as JSON texts, in the server's order, of each what planning reads.

    Raises RequestError if the list can't be read to its end.
    """
    for reading in range(1, READINGS + 1):
        try:
            return _read_once(requests, listed, heard)
        except RequestError as error:
            if error.refusal is not Refusal.EXPIRED:
                raise
            if reading == READINGS:
                message = f"the list changed faster than it could be read, {READINGS} times: {error.message}"
                raise RequestError(Refusal.FAILED, message) from error
    raise AssertionError


def _read_once(requests: Requests, listed: Listed, heard: Heard) -> list[bytes]:
    keep, header = keeper(listed), {"apiVersion": listed.api_version, "kind": listed.kind.name}
    found: list[bytes] = []
    names: set[tuple[Any, Any]] = set()
    token, empty = "", 0
    seen = {token}
    for _ in range(_MOST_PAGES):
        path = f"{listed.path}?limit={PAGE}" + (f"&continue={quote(token, safe='')}" if token else "")
        page = _decoded(requests.get(path), listed)
        items = page.items or []
        for raw in items:
            value = _object(raw)
            name = _name(value)
            if name in names:
                raise RequestError(Refusal.FAILED, "the answer does not end: objects come again on a later page")
            names.add(name)
            found.append(msgspec.json.encode({**header, **keep(value)}))
        heard(len(items))
        token = page.metadata.next_ if page.metadata is not None else ""
        if not token:
            return found
        empty = 0 if items else empty + 1
        if token in seen or empty >= _MOST_EMPTY:
            break
        seen.add(token)
    raise RequestError(Refusal.FAILED, "the answer does not end: each page says that there is one more")


def _decoded(body: bytes, listed: Listed) -> _Page:
    try:
        page = _PAGE.decode(body)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise RequestError(Refusal.FAILED, f"the answer is no whole JSON document: {error}") from error
    wanted = f"{listed.kind.name}List"
    if page.kind != wanted or page.api_version != listed.api_version:
        got = f"{page.kind} of {page.api_version}" if page.kind else "something else"
        raise RequestError(Refusal.FAILED, f"the answer is {got}, instead of {wanted} of {listed.api_version}")
    return page


def _object(raw: msgspec.Raw) -> dict[str, Any]:
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise RequestError(Refusal.FAILED, f"an object of the list can't be read: {error}") from error
    if not isinstance(value, dict) or not isinstance(value.get("metadata"), dict):
        raise RequestError(Refusal.FAILED, "an object of the list is none: it has no metadata")
    return value


def _name(value: dict[str, Any]) -> tuple[Any, Any]:
    metadata = value["metadata"]
    namespace, name = metadata.get("namespace"), metadata.get("name")
    if not isinstance(name, str) or not isinstance(namespace, str | None):
        raise RequestError(Refusal.FAILED, "an object of the list has no name")
    return namespace, name
