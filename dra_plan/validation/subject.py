"""An object to validate, and the text in the manifest that a finding marks."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from dra_plan.api.meta import FieldPath, Object
from dra_plan.documents.findings import SourceExcerpt
from dra_plan.manifests.convert import FLAT_VERSIONS
from dra_plan.manifests.kinds import Kind
from dra_plan.manifests.paths import render, value_at
from dra_plan.manifests.places import DocumentText, Extent, Form, LinedText, Place, positions

from .claims import flattened, is_flat
from .rule import Finding, Problem

# -- the text to show for a problem ------------------------------------------------------------------------------------
# This is the value, the key, or the nearest existing field.

MOST_SHOWN = 240
"""The maximum number of characters in an excerpt. Of a longer line, only the part around the marked text is shown."""
_BEFORE = 80
"""The maximum number of characters before the place in the excerpt of a long line."""


class MarkedText(NamedTuple):
    """The text that a finding marks in a source, and the excerpt around it.

    Lines and columns are numbered from 1, and ends are exclusive.
    """

    line: int
    column: int
    end_line: int
    end_column: int
    field_line: int
    """The line of the field's key. The value may begin on a later line."""
    excerpt: str
    """The line, or a part of it if the line is long."""
    excerpt_column: int
    """The column at which the excerpt begins."""


def mark(document: DocumentText, prefix: FieldPath, path: FieldPath, problem: Problem, root: object) -> MarkedText:
    """Return the text to mark for a problem with the field at `path` of the object `root`.

    `prefix` is the path of the object in the document.
    """
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
    """Return the place inside a string, such as an expression, if there is one and it is known."""
    if offset is None or not isinstance(value, str):
        return None
    found = positions(text, extent, value)
    if found is None or offset >= len(found) - 1:
        return None
    return found[offset], max(found[offset] + 1, found[_word_end(value, offset)])


def _word_end(value: str, offset: int) -> int:
    """Return the end of the name, number, quoted text or operator that begins there."""
    if value[offset] in "\"'" and (close := value.find(value[offset], offset + 1)) > 0:
        return close + 1
    end = offset
    while end < len(value) and (value[end].isalnum() or value[end] == "_"):
        end += 1
    if end == offset:
        end += 1
        while end < len(value) and value[offset] in "<>=!&|" and value[end] in "=&|":
            end += 1
    return end


def _value(lines: LinedText, extent: Extent) -> tuple[int, int] | None:
    """Return the value, or None if its key is better to show because the value is empty or spans several lines."""
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
    """Return the key, or the first line of a value without one."""
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


# -- the object --------------------------------------------------------------------------------------------------------


class Subject(msgspec.Struct, frozen=True, eq=False):
    """An object and its place in the input. `obj` is None if the object cannot be decoded.

    `kind` is None if dra-plan does not use objects of this kind.
    """

    value: dict[str, Any]
    place: Place
    label: str
    kind: Kind | None = None
    version: str = ""
    namespace: str = ""
    name: str = ""
    obj: Object | None = None
    problems: tuple[Problem, ...] = ()
    """The problems found while reading the object."""
    faults: tuple[FieldPath, ...] = ()
    """The paths of fields in the manifest that cannot be decoded. `obj` contains their probable values."""
    lost: bool = False
    """Whether any of these fields has no probable value."""

    @property
    def key(self) -> tuple[str, str, str]:
        """The kind, namespace and name of the object."""
        return self.kind.name if self.kind else "", self.namespace, self.name

    @property
    def is_flat(self) -> bool:
        """Whether this API version has no `exactly` in requests, but has `basic` in devices."""
        return self.version in FLAT_VERSIONS

    def follows_from_fault(self, problem: Problem) -> bool:
        """Return whether the problem is only a consequence of a field that cannot be decoded.

        This is the case if the problem concerns the field, a part of it, or its parent.
        """
        if not self.faults or problem in self.problems:
            return False
        path = problem.path if problem.written else self.as_written(problem.path)
        return any(path[: len(fault)] == fault or path == fault[:-1] for fault in self.faults)

    def as_written(self, path: FieldPath) -> FieldPath:
        """Return the path that a v1 field has in the object as it is written."""
        if self.kind is None or not self.is_flat:
            if self.kind is not None and is_flat(self.value, self.kind, path):
                return flattened(self.kind, path)
            return self._with_source(path)
        if self.kind.name == "ResourceSlice":
            return self._wrapped(path)
        return flattened(self.kind, path)

    def _wrapped(self, path: FieldPath) -> FieldPath:
        if path[:2] != ("spec", "devices") or len(path) < 4 or path[3] == "name":
            return path
        inner = path[3:]
        if self.version == "v1alpha3" and inner[0] == "capacity" and inner[2:] == ("value",):
            inner = inner[:2]
        return (*path[:3], "basic", *inner)

    def _with_source(self, path: FieldPath) -> FieldPath:
        """Return the path in the form before 1.31, where pod claims had their references in `source`."""
        if path[-1:] not in (("resourceClaimName",), ("resourceClaimTemplateName",)):
            return path
        entry = value_at(self.value, path[:-1])
        if isinstance(entry, dict) and isinstance(entry.get("source"), dict):
            return (*path[:-1], "source", path[-1])
        return path

    def finding(self, problem: Problem) -> Finding:
        """Return the problem as a finding, with its place in the input."""
        path = problem.path if problem.written else self.as_written(problem.path)
        document = self.place.find_text()
        found = Finding(
            rule=problem.rule,
            message=problem.message,
            file=self.place.source,
            object=self.label,
            field=problem.field or render(path),
            suggestion=problem.suggestion,
        )
        if document is None:
            return found
        marked = mark(document, self.place.prefix, path, problem, self.value)
        return replace(
            found,
            line=marked.line,
            column=marked.column,
            end_line=marked.end_line,
            end_column=marked.end_column,
            field_line=marked.field_line,
            excerpt=SourceExcerpt(text=marked.excerpt, column=marked.excerpt_column),
        )
