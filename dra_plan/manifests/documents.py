"""From the text of a source to its documents: JSON or YAML, each with its place. Knows nothing of kinds."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import msgspec

from dra_plan.api.meta import FieldPath

from . import json_extents, json_reader, lines
from .collect import Collector
from .extents import DocumentText, LinedText
from .faults import TEMPLATE, Fault, set_twice
from .json_reader import JsonError
from .lines import Line, Lines
from .places import Place
from .sources import Source

_MAX_CHECKED = 1 << 20
"""Bytes of JSON up to which keys set twice are looked for; longer texts are dumps by programs, which have none."""
_JSON_SPACE = b" \t\r\n"


class Document(msgspec.Struct, frozen=True, eq=False):
    """One document: a plain value, or JSON text that is well-formed but not decoded yet."""

    place: Place
    value: Any = None
    data: bytes | None = None
    begin: int = 0
    end: int = 0
    envelope: json_reader.Envelope | None = None

    def hand_to(self, collector: Collector) -> None:
        """Gives the document to the collector."""
        if self.data is None:
            collector.add(self.value, self.place)
        else:
            collector.add_json(self.data, self.begin, self.end, self.place, self.envelope)

    def plain(self) -> Any:
        """The document as plain value. Raises `JsonError`."""
        if self.data is None:
            return self.value
        return json_reader.plain(memoryview(self.data)[self.begin : self.end])

    def place_of_fields(self) -> Place:
        """The place, able to find the lines of fields in JSON too."""
        if self.data is None:
            return self.place
        text = _JsonText(self.data, self.begin, self.end, self.place.line)
        return self.place._replace(find_lines=text.lines, find_text=text)


def read_documents(source: Source, faults: list[Fault]) -> list[Document]:
    """All documents of the source that can be read; the others become faults."""
    head = source.data[:4096].lstrip(_JSON_SPACE)[:1]
    if head not in (b"{", b"["):
        return list(_yaml(source, faults))
    documents: list[Document] = []
    try:
        for number, span in enumerate(json_reader.spans(source.data), 1):
            documents.extend(_json(source, number, span, faults))
    except JsonError as error:
        return _yaml_instead(source, error, documents, faults)
    return documents


# JSON


def _json(source: Source, number: int, span: json_reader.JsonExtent, faults: list[Fault]) -> Iterator[Document]:
    line = _line_at(source.data, span.begin) if source.has_lines else 0
    if span.end - span.begin <= _MAX_CHECKED and json_reader.has_repeated_keys(source.data[span.begin : span.end]):
        text = _JsonText(source.data, span.begin, span.end, line)
        for path, at in text.repeated:
            faults.append(Fault(source.name, set_twice(str(path[-1])), at, number))
    else:
        yield Document(Place(source.name, number, line), None, source.data, *span)


def _line_at(data: bytes, position: int) -> int:
    return data.count(b"\n", 0, position) + 1


def _yaml_instead(source: Source, error: JsonError, read: list[Document], faults: list[Fault]) -> list[Document]:
    """What starts like JSON may be flow-style YAML (KYAML); if it is neither, the reader that got further is right."""
    line = _line_at(source.data, error.position)
    hint = TEMPLATE if source.data.lstrip(_JSON_SPACE).startswith(b"{{") else ""
    as_json = Fault(source.name, f"JSON: {error.message}", line, len(read) + 1, hint=hint)
    if source.name.endswith(".json"):
        faults.append(as_json)
        return read
    yaml_faults: list[Fault] = []
    documents = list(_yaml(source, yaml_faults))
    if not yaml_faults:
        return documents
    if yaml_faults[0].line > line:
        faults.extend(yaml_faults)
        return documents
    faults.append(as_json)
    return read


# YAML


def _yaml(source: Source, faults: list[Fault]) -> Iterator[Document]:
    from . import yaml_reader

    for document in yaml_reader.read_documents(source.data.decode()):
        if document.fault is not None:
            fault = document.fault
            faults.append(Fault(source.name, fault.message, fault.line, document.number, hint=fault.hint))
            continue
        text = _YamlText(document.text, document.first_line, document.line)
        line = document.starts.get(id(document.value), document.line)
        place = Place(source.name, document.number, line, (), text.lines, document.starts.get, text)
        yield Document(place, document.value)


class _DocumentText:
    """Finds where the fields of one document stand, reading it a second time when first asked."""

    def __call__(self) -> DocumentText:
        """The text of the document."""
        return self._read

    def lines(self, paths: list[FieldPath]) -> list[int]:
        """The lines of the fields, or of the nearest outer ones; 0 where unknown."""
        return [lines.find(self._lines, path) for path in paths]

    @functools.cached_property
    def _read(self) -> DocumentText:
        raise NotImplementedError

    @functools.cached_property
    def _lines(self) -> Lines:
        return lines.of_extents(self._read.extents, self._read.lines)


class _YamlText(_DocumentText):
    def __init__(self, text: str, first_line: int, document_line: int) -> None:
        self._where = (text, first_line, document_line)

    @functools.cached_property
    def _read(self) -> DocumentText:
        from .yaml_extents import of_yaml

        text, first_line, document_line = self._where
        return DocumentText(LinedText(text, first_line), of_yaml(text, document_line - first_line))


class _JsonText(_DocumentText):
    """`line` is the one in which the value begins, which may not be the first in it."""

    def __init__(self, data: bytes, begin: int, end: int, line: int) -> None:
        self._where = (data, begin, end, line)

    @functools.cached_property
    def _read(self) -> DocumentText:
        return self._extents(None)

    @property
    def repeated(self) -> list[tuple[FieldPath, Line]]:
        """Keys that are set again in the same map, with their places."""
        found: list[tuple[FieldPath, int]] = []
        text = self._extents(found).lines
        return [(path, Line.at(*text.place(position))) for path, position in found]

    def _extents(self, repeated: list[tuple[FieldPath, int]] | None) -> DocumentText:
        data, begin, end, line = self._where
        first = data.rfind(b"\n", 0, begin) + 1
        last = data.find(b"\n", end)
        text = data[first : len(data) if last < 0 else last].decode()
        start = len(data[first:begin].decode())
        stop = start + len(data[begin:end].decode())
        return DocumentText(LinedText(text, line), json_extents.of_json(text, start, stop, repeated))
