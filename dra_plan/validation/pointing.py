"""Which characters of a manifest a problem is about: the value, the key, or the nearest field that is there."""

from __future__ import annotations

from typing import NamedTuple

from dra_plan.api.meta import FieldPath
from dra_plan.manifests.paths import value_at
from dra_plan.manifests.places import DocumentText, Extent, Form, LinedText, positions

from .rule import Problem

MOST_SHOWN = 240
"""Characters of a line that an excerpt has; of a longer line it is the part around the place."""
_BEFORE = 80
"""Characters before the place that the part of a long line has at most."""


class MarkedText(NamedTuple):
    """Characters in a source, and the line in which they begin. Lines and columns count from 1, ends not included."""

    line: int
    column: int
    end_line: int
    end_column: int
    field_line: int
    """The line of the field with its key, which is another one where the value begins below it."""
    excerpt: str
    """The line, or a part of it if it is long."""
    excerpt_column: int
    """The column at which the excerpt begins."""


def mark(document: DocumentText, prefix: FieldPath, path: FieldPath, problem: Problem, root: object) -> MarkedText:
    """What to show of a problem with the field at `path` of the object at `prefix`; `root` is the object."""
    text, lines = document.lines.text, document.lines
    nearest = document.nearest((*prefix, *path))
    if nearest is None:
        return _marked(lines, 0, 0, 0)
    there, extent = nearest
    given = None
    if len(there) == len(prefix) + len(path) and not problem.of_key:
        given = _inside(text, extent, value_at(root, path), problem.offset)
        given = given or _value(lines, extent)
    begin, end = given or _heading(lines, extent)
    return _marked(lines, begin, end, extent.start)


def _inside(text: str, extent: Extent, value: object, offset: int | None) -> tuple[int, int] | None:
    """The place inside a text, such as an expression, if there is one and it is known."""
    if offset is None or not isinstance(value, str):
        return None
    found = positions(text, extent, value)
    if found is None or offset >= len(found) - 1:
        return None
    return found[offset], max(found[offset] + 1, found[_word_end(value, offset)])


def _word_end(value: str, offset: int) -> int:
    """The end of the name, number or sign that begins there."""
    end = offset
    while end < len(value) and (value[end].isalnum() or value[end] == "_"):
        end += 1
    if end == offset:
        end += 1
        while end < len(value) and value[offset] in "<>=!&|" and value[end] in "=&|":
            end += 1
    return end


def _value(lines: LinedText, extent: Extent) -> tuple[int, int] | None:
    """The value, unless it is better told by its key: what is empty, or spread over lines."""
    if extent.begin == extent.end:
        return None
    if extent.form is Form.BLOCK:
        begin = lines.line_of(extent.begin)[1]
        while begin < extent.end and lines.text[begin].isspace():
            begin += 1
        return (begin, lines.line_of(begin)[1]) if begin < extent.end else None
    many_lines = extent.end > lines.line_of(extent.begin)[1]
    if extent.form is Form.NESTED or (extent.form is Form.FLOW and many_lines):
        return None
    return extent.begin, extent.end


def _heading(lines: LinedText, extent: Extent) -> tuple[int, int]:
    """The key, or of what has none the first line."""
    if extent.key_begin >= 0:
        return extent.key_begin, extent.key_end
    end = min(extent.end, lines.line_of(extent.begin)[1])
    shown = lines.text[extent.begin : end].partition(" #")[0].rstrip()
    return extent.begin, extent.begin + len(shown)


def _marked(lines: LinedText, begin: int, end: int, start: int) -> MarkedText:
    first, last = lines.line_of(begin)
    at = lines.place(begin)
    if last - first > MOST_SHOWN:
        first = max(first, min(begin - _BEFORE, last - MOST_SHOWN))
        last = min(last, first + MOST_SHOWN)
    excerpt = lines.text[first:last]
    return MarkedText(*at, *lines.place(max(begin, end)), lines.place(start)[0], excerpt, lines.place(first)[1])
