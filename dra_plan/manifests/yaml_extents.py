"""Where fields stand in one YAML document that is known to be readable."""

from __future__ import annotations

from typing import Any, NamedTuple

from yaml.cyaml import CParser  # type: ignore[attr-defined] # the stubs forget it
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from .extents import Extent, Extents, Form
from .yaml_scalars import key_text, resolve

_FORMS = {"'": Form.SINGLE, '"': Form.DOUBLE, "|": Form.BLOCK, ">": Form.BLOCK}
_NO_KEY = (-1, -1)


def of_yaml(text: str, start_line: int) -> Extents:
    """The fields of the document that starts in that line of the text, from 0."""
    finder = _ExtentFinder()
    parser: Any = CParser(text)
    inside = False
    while parser.check_event():
        event: Any = parser.get_event()
        if isinstance(event, DocumentStartEvent):
            start: Any = event.start_mark
            inside = start.line == start_line
        elif isinstance(event, DocumentEndEvent) and inside:
            break
        elif inside:
            finder.see(event)
    return finder.found


class _Opened(NamedTuple):
    """A map or list that is not complete."""

    begin: int
    key: tuple[int, int]
    form: Form
    is_map: bool


class _ExtentFinder:
    """Follows the events with the path they are at."""

    def __init__(self) -> None:
        self.found: Extents = {}
        self._path: list[str | int] = []
        self._opened: list[_Opened] = []
        self._key = _NO_KEY
        self._expects_key = False
        self._end = 0
        """Where the last value ended."""

    def see(self, event: Any) -> None:
        begin, end = event.start_mark.index, event.end_mark.index
        if isinstance(event, MappingStartEvent | SequenceStartEvent):
            self._open(begin, Form.FLOW if event.flow_style else Form.NESTED, isinstance(event, MappingStartEvent))
        elif isinstance(event, MappingEndEvent | SequenceEndEvent):
            self._close(end)
        elif isinstance(event, ScalarEvent | AliasEvent):
            if self._expects_key:
                self._path[-1] = _key(event)
                self._key, self._expects_key = (begin, end), False
            else:
                form = Form.ALIAS if isinstance(event, AliasEvent) else _FORMS.get(event.style or "", Form.PLAIN)
                self._end = end
                self.found.setdefault(tuple(self._path), Extent(begin, end, *self._key, form))
                self._next()

    def _open(self, begin: int, form: Form, is_map: bool) -> None:
        self._opened.append(_Opened(begin, self._key, form, is_map))
        # The order of the paths is that of the text; the end is filled in when it is known.
        self.found.setdefault(tuple(self._path), Extent(begin, begin, *self._key, form))
        self._path.append("" if is_map else 0)
        self._key, self._expects_key = _NO_KEY, is_map

    def _close(self, end: int) -> None:
        opened = self._opened.pop()
        self._path.pop()
        self._end = end if opened.form is Form.FLOW else self._end
        if self.found[tuple(self._path)].begin == opened.begin:
            self.found[tuple(self._path)] = Extent(opened.begin, self._end, *opened.key, opened.form)
        self._next()

    def _next(self) -> None:
        """A value is complete."""
        self._key = _NO_KEY
        self._expects_key = bool(self._opened) and self._opened[-1].is_map
        if self._opened and not self._expects_key:
            self._path[-1] = int(self._path[-1]) + 1


def _key(event: Any) -> str:
    if isinstance(event, AliasEvent):
        return f"*{event.anchor}"
    if event.implicit[0]:
        return key_text(resolve(event.value)) or ""
    return str(event.value)
