"""Where fields stand in the text of one JSON value that is known to be well-formed."""

from __future__ import annotations

import re

from .extents import Extent, Extents, Form
from .paths import FieldPath

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
_NO_KEY = (-1, -1)


def of_json(
    text: str, begin: int = 0, end: int | None = None, repeated: list[tuple[FieldPath, int]] | None = None
) -> Extents:
    """The fields of the value between two positions of a text.

    Keys set again in the same map are added to `repeated`, with their positions; the field is where it is set first.
    """
    found: Extents = {}
    path: list[str | int] = []
    opened: list[tuple[int, tuple[int, int], bool]] = []
    key = _NO_KEY
    expects_key = False
    for match in _TOKEN.finditer(text, begin, len(text) if end is None else end):
        token = match[0]
        match token:
            case "{" | "[":
                expects_key = token == "{"
                opened.append((match.start(), key, expects_key))
                # The order of the paths is that of the text; the end is filled in when it is known.
                found.setdefault(tuple(path), Extent(match.start(), match.end(), *key, Form.FLOW))
                path.append("" if expects_key else 0)
                key = _NO_KEY
            case "}" | "]":
                start, own_key, _ = opened.pop()
                path.pop()
                if found[tuple(path)].begin == start:
                    found[tuple(path)] = Extent(start, match.end(), *own_key, Form.FLOW)
                expects_key = False
            case ",":
                expects_key = opened[-1][2]
                key = _NO_KEY
                if not expects_key:
                    path[-1] = int(path[-1]) + 1
            case ":":
                expects_key = False
            case _ if expects_key:
                path[-1] = _unquoted(token)
                key = match.span()
                if repeated is not None and tuple(path) in found:
                    repeated.append((tuple(path), match.start()))
            case _:
                form = Form.DOUBLE if token[0] == '"' else Form.PLAIN
                found.setdefault(tuple(path), Extent(*match.span(), *key, form))
    return found


def _unquoted(token: str) -> str:
    if "\\" not in token:
        return token[1:-1]
    import json

    return str(json.loads(token))
