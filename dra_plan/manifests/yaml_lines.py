"""Lines of the fields of one YAML document that is known to be readable."""

from __future__ import annotations

from typing import Any

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

from .lines import Line, Lines
from .yaml_scalars import key_text, resolve


def of_yaml(text: str, first_line: int, document_line: int) -> Lines:
    """The lines of everything in the document that starts in `document_line` of a text that starts in `first_line`.

    What stands only in an anchor's value or a merged map has no entry of its own.
    """
    finder = _LineFinder(first_line)
    parser: Any = CParser(text)
    inside = False
    while parser.check_event():
        event: Any = parser.get_event()
        if isinstance(event, DocumentStartEvent):
            start: Any = event.start_mark
            inside = first_line + start.line == document_line
        elif isinstance(event, DocumentEndEvent) and inside:
            break
        elif inside:
            finder.see(event)
    return finder.lines


class _LineFinder:
    """Follows the events with the path they are at."""

    def __init__(self, first_line: int) -> None:
        self.lines: Lines = {}
        self._first_line = first_line
        self._path: list[str | int] = []
        self._is_map: list[bool] = []
        self._has_key: list[bool] = []

    def see(self, event: Any) -> None:
        start: Any = event.start_mark
        line = Line.at(self._first_line + start.line, start.column + 1)
        if isinstance(event, MappingStartEvent | SequenceStartEvent):
            is_map = isinstance(event, MappingStartEvent)
            self._note(line)
            self._path.append("" if is_map else 0)
            self._is_map.append(is_map)
            self._has_key.append(False)
        elif isinstance(event, MappingEndEvent | SequenceEndEvent):
            self._path.pop()
            self._is_map.pop()
            self._has_key.pop()
            self._next()
        elif isinstance(event, ScalarEvent | AliasEvent):
            if self._is_map and self._is_map[-1] and not self._has_key[-1]:
                self._path[-1] = _key(event)
                self._has_key[-1] = True
                self._note(line)
            else:
                self._note(line)
                self._next()

    def _note(self, line: int) -> None:
        self.lines.setdefault(tuple(self._path), line)

    def _next(self) -> None:
        """A value is complete."""
        if not self._is_map:
            return
        if self._is_map[-1]:
            self._has_key[-1] = False
        else:
            self._path[-1] = int(self._path[-1]) + 1


def _key(event: Any) -> str:
    if isinstance(event, AliasEvent):
        return f"*{event.anchor}"
    if event.implicit[0]:
        return key_text(resolve(event.value)) or ""
    return str(event.value)
