"""The edits of an object's text that make up a fix."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from dra_plan.api.meta import FieldPath
from dra_plan.manifests.json_reader import JsonError, plain
from dra_plan.manifests.places import DocumentText, Extent, Form
from dra_plan.manifests.yaml_builder import YamlError

from .rule import Problem
from .subject import Subject


class CharEdit(NamedTuple):
    """An edit that replaces the characters from `begin` up to, but not including, `end` with `text`."""

    begin: int
    end: int
    text: str


def applied(text: str, edits: Iterable[CharEdit]) -> str:
    """Return the text after all edits. The edits must not overlap."""
    parts, at = [], 0
    for edit in sorted(edits):
        parts += [text[at : edit.begin], edit.text]
        at = edit.end
    return "".join([*parts, text[at:]])


class ObjectText:
    """The text of an object, which is a whole document or an item of a List."""

    def __init__(self, document: DocumentText, prefix: FieldPath) -> None:
        self.text = document.lines.text
        self._document, self._prefix = document, prefix

    @property
    def line_end(self) -> str:
        """The line ending that the text uses."""
        return "\r\n" if "\r\n" in self.text else "\n"

    def extent(self, path: FieldPath) -> Extent | None:
        """Return the extent of a field in the text, or None if the text does not contain the field."""
        return self._document.extents.get((*self._prefix, *path))

    @property
    def whole(self) -> Extent | None:
        """The extent of the whole object in the text."""
        return self.extent(())

    def keys(self, path: FieldPath) -> list[str]:
        """Return the keys of a map in the object, in the order of the text."""
        return self._document.keys.get((*self._prefix, *path), [])

    def column(self, position: int) -> int:
        """Return the number of characters before the position in its line."""
        return position - self.line_start(position)

    def line_start(self, position: int) -> int:
        """Return the position at which the line with the given position starts."""
        return self.text.rfind("\n", 0, position) + 1

    def line_stop(self, position: int) -> int:
        """Return the position at which the line with the given position ends, before the line ending."""
        end = self.text.find("\n", position)
        end = len(self.text) if end < 0 else end
        return end - 1 if end > position and self.text[end - 1] == "\r" else end

    def key(self, name: str, like: Extent) -> str:
        """Return the key as it is written to the text. It is quoted if the neighbouring key `like` is quoted."""
        return f'"{name}"' if self.text[like.key_begin] == '"' else name

    def inner_lines(self, begin: int, end: int) -> list[int]:
        """Return the positions at which non-blank lines start between the two positions."""
        starts, at = [], self.text.find("\n", begin, end)
        while at >= 0:
            if at + 1 < end and self.text[at + 1 : self.line_stop(at + 1)].strip():
                starts.append(at + 1)
            at = self.text.find("\n", at + 1, end)
        return starts

    def is_flow(self, path: FieldPath) -> bool:
        """Return whether a map is written in YAML's flow style, with braces."""
        extent = self.extent(path)
        return extent is not None and extent.form is Form.FLOW


# -- fixes -------------------------------------------------------------------------------------------------------------
# The edited text is read again, and must have the value that the fix promises.


@dataclass(frozen=True, slots=True)
class Correction:
    """Edits to an object's text, and the resulting value of the field at `path`."""

    edits: list[CharEdit]
    path: FieldPath
    to: Any


@dataclass(frozen=True, slots=True)
class Mending:
    """A problem to fix, and the object that has it."""

    subject: Subject
    problem: Problem
    text: ObjectText
    newest: str
    """The minor version of Kubernetes to validate against."""
    gates: dict[str, bool]

    @property
    def path(self) -> FieldPath:
        """The path of the problem in the manifest."""
        return self.problem.path if self.problem.written else self.subject.as_written(self.problem.path)


def changed(value: Any, path: FieldPath, to: Any) -> Any:
    """Return a copy of a plain value with the value at an existing path replaced."""
    if not path:
        return to
    step: Any = path[0]
    if isinstance(value, list):
        return [changed(item, path[1:], to) if index == step else item for index, item in enumerate(value)]
    return {key: changed(item, path[1:], to) if key == step else item for key, item in value.items()}


def gives(text: ObjectText, value: dict[str, Any], correction: Correction) -> bool:
    """Return whether the edited text, parsed again, has exactly the corrected value."""
    whole = text.whole
    if whole is None:
        return False
    begin = text.line_start(whole.begin) if whole.form is Form.NESTED else whole.begin
    edited = applied(
        text.text[begin : whole.end],
        [CharEdit(edit.begin - begin, edit.end - begin, edit.text) for edit in correction.edits],
    )
    if whole.form is Form.NESTED:
        # Replace the text before the object in its first line, such as a list's dash, with spaces.
        edited = " " * (whole.begin - begin) + edited[whole.begin - begin :]
    return bool(_read(edited) == changed(value, correction.path, correction.to))


def _read(text: str) -> Any:
    if text.startswith("{"):
        try:
            return plain(text.encode())
        except JsonError:
            pass  # YAML in brackets
    from dra_plan.manifests.yaml_builder import Builder

    builder = Builder(text, 1)
    try:
        return builder.value if builder.next_document() else None
    except YamlError:
        return None


# -- moving fields one level down or up --------------------------------------------------------------------------------
# For example, `exactly:` is put around a request's fields, or `basic:` is removed from a device. In indented YAML, the
# lines are indented again; in brackets, only brackets and indentation change. The functions return None for an
# unsupported layout.

STEP = 2
"""The number of columns by which each level is indented."""
_REST = re.compile(r"[ \t]*,?[ \t]*(#[^\r\n]*)?(?=\r?\n|\Z)")
"""The text that may follow a value on its line."""
_COMMENT = re.compile(r"#[^\r\n]*")


def down(text: ObjectText, path: FieldPath, name: str, kept: str) -> list[CharEdit] | None:
    """Return edits that move the fields of the map at `path`, except for `kept`, into a new field `name` of the map."""
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
    """Merge insertions at one position, in order; deleted text is not indented."""
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
    """Move a field that is between other fields before the first of these."""
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
    """Put the lines from the first field to the last under a new key."""
    indent = " " * (text.column(first.key_begin) + STEP)
    head = CharEdit(first.key_begin, first.key_begin, f"{text.key(name, first)}:{text.line_end}{indent}")
    return [head, *_indented(text, first.key_begin, last.end)]


def _opened_in_flow(text: ObjectText, name: str, first: Extent, last: Extent) -> list[CharEdit]:
    key = text.key(name, first)
    indent, end = text.text[text.line_start(first.key_begin) : first.key_begin], last.end
    rest = _REST.match(text.text, end)
    if "\n" not in text.text[first.key_begin : end] or indent.strip() or rest is None:
        # The brackets go on existing lines; fields do not get lines of their own.
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
    """Return edits that move the fields of the map at `path` into the outer map and remove the inner map."""
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
    """Turn fields in brackets into lines of the indented map that contains the brackets."""
    edges = [outer.key_end, *(position for field in fields for position in (field.key_begin, field.end)), outer.end]
    gaps = zip(edges[::2], edges[1::2], strict=True)
    if any("#" in text.text[begin:end] for begin, end in gaps):
        return None
    line = f"{text.line_end}{' ' * text.column(outer.key_begin)}"
    written = line.join(text.text[field.key_begin : field.end] for field in fields)
    return [CharEdit(outer.key_begin, outer.end, written)]
