"""Where fields stand in the text of one JSON value that is known to be well-formed."""

from __future__ import annotations

import re
from functools import partial
from typing import NamedTuple

from dra_plan.api.meta import FieldPath

from .extents import Extent, Extents, Form

_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_TOKEN = re.compile(rf'[\s,]*(?:({_STRING})(\s*:)?|([{{\[])|([}}\]])|([^\s{{}}\[\],:"]+))', re.DOTALL)
_TEXT, _KEY, _OPENING, _CLOSING = 1, 2, 3, 4
"""The last group of `_TOKEN` that a token has."""
_NO_KEY = (-1, -1)
_extent = partial(tuple.__new__, Extent)
"""An extent of a tuple; a third of the time of a call by the fields, of which large files need many."""


class _Outer(NamedTuple):
    """What goes on after a bracket is closed: where it was opened, its key and path, and those of the value around."""

    begin: int
    key: tuple[int, int]
    path: FieldPath
    around: FieldPath
    item: int | None


def of_json(
    text: str, begin: int = 0, end: int | None = None, repeated: list[tuple[FieldPath, int]] | None = None
) -> Extents:
    """The fields of the value between two positions of a text.

    Keys set again in the same map are added to `repeated`, with their positions; the field is where it is set first.
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
            # The order of the paths is that of the text; the end is filled in when it is known.
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
