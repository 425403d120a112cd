"""Fields that move one level down or up: `exactly:` put around those of a request, `basic:` taken off a device.

In indented YAML their lines are indented anew, in brackets nothing but brackets and indentation changes. None where
the text is laid out in a way that is not followed here.
"""

from __future__ import annotations

import re

from dra_plan.api.meta import FieldPath
from dra_plan.manifests.places import Extent, Form

from .edits import CharEdit, ObjectText

STEP = 2
"""Columns that are added for a level."""
_REST = re.compile(r"[ \t]*,?[ \t]*(#[^\r\n]*)?(?=\r?\n|\Z)")
"""What may stand behind a value in its line."""
_COMMENT = re.compile(r"#[^\r\n]*")


def down(text: ObjectText, path: FieldPath, name: str, kept: str) -> list[CharEdit] | None:
    """The fields of the map at `path`, all but `kept`, into a new field `name` of it."""
    keys = text.keys(path)
    extents = [extent for key in keys if (extent := text.extent((*path, key))) is not None]
    if len(extents) < len(keys) or not any(key != kept for key in keys):
        return None
    if any(extent.form is Form.ALIAS for extent in extents):
        return None
    moved = [index for index, key in enumerate(keys) if key != kept]
    edits: list[CharEdit] = []
    flow = text.is_flow(path)
    first = extents[moved[0]]
    if moved[-1] - moved[0] >= len(moved):
        at = keys.index(kept)
        front = _to_front(text, extents[at], extents[at + 1], first, flow=flow)
        if front is None:
            return None
        edits += front
    opening = _opened_in_flow if flow else _opened
    made = opening(text, name, first, extents[moved[-1]])
    return None if made is None else _joined([*edits, *made])


def _joined(edits: list[CharEdit]) -> list[CharEdit]:
    """Insertions at one position become one, in their order; what is deleted is not indented."""
    deleted = [edit for edit in edits if edit.end > edit.begin]
    made: dict[int, CharEdit] = {}
    for edit in edits:
        if edit.end > edit.begin:
            continue
        if any(gone.begin <= edit.begin < gone.end for gone in deleted):
            continue
        before = made.get(edit.begin)
        made[edit.begin] = CharEdit(edit.begin, edit.end, (before.text if before else "") + edit.text)
    return [*deleted, *made.values()]


def _to_front(text: ObjectText, field: Extent, after: Extent, first: Extent, *, flow: bool) -> list[CharEdit] | None:
    """The field, which stands between others, before the first of these."""
    if flow:
        written = text.text[field.key_begin : after.key_begin]
        if "#" in written:
            return None
        return [CharEdit(first.key_begin, first.key_begin, written), CharEdit(field.key_begin, after.key_begin, "")]
    stop = text.line_stop(field.key_begin)
    if field.end > stop:
        return None
    start = text.line_start(field.key_begin)
    line_end = text.text.find("\n", stop) + 1
    written = text.text[field.key_begin : stop] + text.line_end + " " * text.column(first.key_begin)
    return [CharEdit(first.key_begin, first.key_begin, written), CharEdit(start, line_end, "")]


def _opened(text: ObjectText, name: str, first: Extent, last: Extent) -> list[CharEdit]:
    """The lines from the first field to the last, under a key of their own."""
    indent = " " * (text.column(first.key_begin) + STEP)
    head = CharEdit(first.key_begin, first.key_begin, f"{text.key(name, first)}:{text.line_end}{indent}")
    return [head, *_indented(text, first.key_begin, last.end)]


def _opened_in_flow(text: ObjectText, name: str, first: Extent, last: Extent) -> list[CharEdit]:
    key = text.key(name, first)
    indent, end = text.text[text.line_start(first.key_begin) : first.key_begin], last.end
    rest = _REST.match(text.text, end)
    if "\n" not in text.text[first.key_begin : end] or indent.strip() or rest is None:
        # Not a line for each field: the brackets go where there is room.
        return [CharEdit(first.key_begin, first.key_begin, f"{key}: {{"), CharEdit(end, end, "}")]
    closing = CharEdit(end, end, f"{text.line_end}{indent}}}")
    if rest[1]:
        comma = "," if "," in rest[0].partition("#")[0] else ""
        closing = CharEdit(rest.end(), rest.end(), f"{text.line_end}{indent}}}{comma}")
    head = CharEdit(first.key_begin, first.key_begin, f"{key}: {{{text.line_end}{indent}{' ' * STEP}")
    return [head, *_indented(text, first.key_begin, end), closing]


def _indented(text: ObjectText, begin: int, end: int) -> list[CharEdit]:
    return [CharEdit(start, start, " " * STEP) for start in text.inner_lines(begin, end)]


def up(text: ObjectText, path: FieldPath) -> list[CharEdit] | None:
    """The fields of the map at `path` into the map that has it, in its place."""
    outer = text.extent(path)
    inner = [text.extent((*path, key)) for key in text.keys(path)]
    fields = [extent for extent in inner if extent is not None]
    if outer is None or not fields or len(fields) < len(inner):
        return None
    if outer.form is Form.NESTED:
        return _lines_up(text, outer, fields)
    if outer.form is not Form.FLOW:
        return None
    if text.is_flow(path[:-1]):
        return _brackets_off(text, outer, fields)
    return _into_lines(text, outer, fields)


def _lines_up(text: ObjectText, outer: Extent, fields: list[Extent]) -> list[CharEdit] | None:
    begin, first = outer.key_begin, fields[0].key_begin
    between = text.text[outer.key_end : first]
    if not between.lstrip().startswith(":") or between.replace(" ", "")[1:2] in "&!":
        return None  # an anchor or a tag
    column = text.column(begin)
    by = text.column(first) - column
    if by <= 0:
        return None
    comments = "".join(f"{comment}{text.line_end}{' ' * column}" for comment in _COMMENT.findall(between))
    return [CharEdit(begin, first, comments), *_outdented(text, first, outer.end, by)]


def _outdented(text: ObjectText, begin: int, end: int, by: int) -> list[CharEdit]:
    edits = []
    for start in text.inner_lines(begin, end):
        blank = 0
        while blank < by and text.text[start + blank] == " ":
            blank += 1
        if blank:
            edits.append(CharEdit(start, start + blank, ""))
    return edits


def _brackets_off(text: ObjectText, outer: Extent, fields: list[Extent]) -> list[CharEdit] | None:
    head, tail = text.text[outer.key_end : fields[0].key_begin], text.text[fields[-1].end : outer.end]
    if "#" in head or "#" in tail:
        return None
    by = text.column(fields[0].key_begin) - text.column(outer.key_begin)
    inner = _outdented(text, fields[0].key_begin, fields[-1].end, by) if by > 0 and "\n" in head else []
    return [CharEdit(outer.key_begin, fields[0].key_begin, ""), *inner, CharEdit(fields[-1].end, outer.end, "")]


def _into_lines(text: ObjectText, outer: Extent, fields: list[Extent]) -> list[CharEdit] | None:
    """Fields in brackets become lines of the indented map that has the brackets."""
    edges = [outer.key_end, *(position for field in fields for position in (field.key_begin, field.end)), outer.end]
    gaps = zip(edges[::2], edges[1::2], strict=True)
    if any("#" in text.text[begin:end] for begin, end in gaps):
        return None
    line = f"{text.line_end}{' ' * text.column(outer.key_begin)}"
    written = line.join(text.text[field.key_begin : field.end] for field in fields)
    return [CharEdit(outer.key_begin, outer.end, written)]
