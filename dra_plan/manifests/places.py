"""Where values were read, what they say they are, and how objects are named in messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from msgspec import Struct

from dra_plan.api.inventory import Origin
from dra_plan.api.meta import FieldPath

from .extents import DocumentText, TextFinder
from .kinds import Kind

LineFinder = Callable[[list[FieldPath]], list[int]]
"""Gives the lines of fields of one document, 0 where unknown."""


def _no_lines(paths: list[FieldPath]) -> list[int]:
    return [0] * len(paths)


def _no_text() -> DocumentText | None:
    return None


def _no_start(_identity: int) -> int | None:
    return None


class Place(NamedTuple):
    """Where a value was read: the source, the document in it, and the path inside that document."""

    source: str
    document: int = 0
    line: int = 0
    prefix: FieldPath = ()
    find_lines: LineFinder = _no_lines
    start_of: Callable[[int], int | None] = _no_start
    """The line of a map of the document by its `id`, if the reader has noted it."""
    find_text: TextFinder = _no_text
    """The text of the document; only for those who read manifests to judge them."""

    def lines(self, paths: list[FieldPath]) -> list[int]:
        """The lines of fields below this place; the place's own line where a field's is unknown."""
        return [line or self.line for line in self.find_lines([(*self.prefix, *path) for path in paths])]

    @property
    def origin(self) -> Origin:
        """The place as inventories and notices keep it."""
        return Origin(self.source, self.line)


class Header(NamedTuple):
    """What says of which kind an object is; None where it doesn't."""

    api_version: Any = None
    kind: Any = None


NO_HEADER = Header()


class Item(Struct, frozen=True):
    """One object of a document, with the header that it has or inherits from a typed List."""

    value: dict[str, Any]
    header: Header
    place: Place


def label_of(kind: object, metadata: object, known: Kind | None = None, namespace: str = "") -> str:
    """`KIND NAMESPACE/NAME` of an undecoded object, as far as it can be told."""
    metadata = metadata if isinstance(metadata, dict) else {}
    space, name = metadata.get("namespace"), metadata.get("name")
    if known is not None:
        space = (space or namespace) if known.namespaced else ""
    shown = kind if isinstance(kind, str) and kind else "object"
    return label(shown, space if isinstance(space, str) else "", name if isinstance(name, str) else "")


def label(kind: str, namespace: str, name: str) -> str:
    """`KIND NAMESPACE/NAME`, or less when there is less."""
    if not name:
        return kind
    return f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"
