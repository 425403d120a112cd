"""Edits of a text, and the part of a document that they are made in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from dra_plan.api.meta import FieldPath
from dra_plan.manifests.places import DocumentText, Extent, Form


class CharEdit(NamedTuple):
    """Characters from `begin` to before `end` that become `text`."""

    begin: int
    end: int
    text: str


def applied(text: str, edits: Iterable[CharEdit]) -> str:
    """The text with all edits made; they must not overlap."""
    parts, at = [], 0
    for edit in sorted(edits):
        parts += [text[at : edit.begin], edit.text]
        at = edit.end
    return "".join([*parts, text[at:]])


class ObjectText:
    """The text of one object: a document, or an item of a List."""

    def __init__(self, document: DocumentText, prefix: FieldPath) -> None:
        self.text = document.lines.text
        self._document, self._prefix = document, prefix

    @property
    def line_end(self) -> str:
        """How lines end here."""
        return "\r\n" if "\r\n" in self.text else "\n"

    def extent(self, path: FieldPath) -> Extent | None:
        """Where a field of the object stands."""
        return self._document.extents.get((*self._prefix, *path))

    @property
    def whole(self) -> Extent | None:
        """Where the object stands."""
        return self.extent(())

    def keys(self, path: FieldPath) -> list[str]:
        """The keys of a map of the object, as they stand."""
        return self._document.keys.get((*self._prefix, *path), [])

    def column(self, position: int) -> int:
        """How many characters stand before the position in its line."""
        return position - self.line_start(position)

    def line_start(self, position: int) -> int:
        """Where the line of a position begins."""
        return self.text.rfind("\n", 0, position) + 1

    def line_stop(self, position: int) -> int:
        """Where the line of a position ends, before its line end."""
        end = self.text.find("\n", position)
        end = len(self.text) if end < 0 else end
        return end - 1 if end > position and self.text[end - 1] == "\r" else end

    def key(self, name: str, like: Extent) -> str:
        """A key, in quotes if the key beside it is."""
        return f'"{name}"' if self.text[like.key_begin] == '"' else name

    def inner_lines(self, begin: int, end: int) -> list[int]:
        """Where the lines that begin between two positions begin, without blank ones."""
        starts, at = [], self.text.find("\n", begin, end)
        while at >= 0:
            if at + 1 < end and self.text[at + 1 : self.line_stop(at + 1)].strip():
                starts.append(at + 1)
            at = self.text.find("\n", at + 1, end)
        return starts

    def is_flow(self, path: FieldPath) -> bool:
        """Whether a map stands in brackets."""
        extent = self.extent(path)
        return extent is not None and extent.form is Form.FLOW
