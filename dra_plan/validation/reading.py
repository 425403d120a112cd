"""Reading of manifests for validation. Text that is not a document is rejected; the contents are validated later."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, BinaryIO, NamedTuple

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from dra_plan.api.core import Node
from dra_plan.api.inventory import API_VERSION, KIND, ClusterInfo, Inventory, WrittenText
from dra_plan.api.meta import FieldPath, Object
from dra_plan.documents.findings import SourceExcerpt
from dra_plan.interpreter import uncollected
from dra_plan.manifests import defaults, json_reader, kinds
from dra_plan.manifests.diagnose import Report, diagnose
from dra_plan.manifests.faults import Fault, ManifestErrors, nothing_found
from dra_plan.manifests.fitting import fits
from dra_plan.manifests.json_reader import JsonError
from dra_plan.manifests.kinds import Kind
from dra_plan.manifests.objects import NOT_DECODED, typed
from dra_plan.manifests.opaque import TOO_DEEP, is_too_deep
from dra_plan.manifests.places import Header, Item, Place, label, label_of
from dra_plan.manifests.quantities import are_readable
from dra_plan.manifests.sources import STDIN, Source, read_documents, read_sources
from dra_plan.manifests.unwrap import unwrap

from . import claims, schema
from .rule import Finding, Problem
from .subject import MOST_SHOWN, Subject


class Reading(Struct):
    """What was read: the objects in input order, their texts with comments, and all sources."""

    subjects: list[Subject] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    sources: list[Source] = field(default_factory=list)
    unread: list[tuple[Subject, Problem, Finding]] = field(default_factory=list)
    """The documents that cannot be read."""
    faults: list[Fault] = field(default_factory=list)
    """The reasons why documents cannot be read."""

    def whole(self) -> Reading:
        """Return this reading. Raises `ManifestErrors` if a document could not be read."""
        if self.faults:
            raise ManifestErrors(self.faults)
        return self

    def cluster(self) -> Inventory:
        """Return an inventory of the ClusterInfo and Node objects, which show the cluster's release."""
        nodes = {one.name: one.obj for one in self.subjects if isinstance(one.obj, Node)}
        return Inventory(nodes=list(nodes.values()), cluster_info=self._cluster_info())

    def _cluster_info(self) -> ClusterInfo | None:
        found = None
        for one in self.subjects:
            if one.value.get("kind") == KIND and one.value.get("apiVersion") == API_VERSION:
                with contextlib.suppress(msgspec.ValidationError):
                    found = msgspec.convert(one.value, ClusterInfo)
        return found


def read(
    paths: Sequence[str | os.PathLike[str]],
    *,
    recursive: bool = False,
    stdin: BinaryIO | None = None,
    namespace: str = "default",
    before: Sequence[Source] = (),
) -> Reading:
    """Return all objects in the sources `before`, and then in the paths.

    Documents that cannot be read are listed in `unread`. Raises `ManifestErrors` if a file cannot be read, or if there
    is nothing to read.
    """
    names = [os.fspath(path) for path in paths]
    if stdin is None and STDIN in names:
        stdin = sys.stdin.buffer
    report = Report()
    reading = Reading()
    with uncollected():
        for source in before:
            _read_source(source, reading, report, namespace)
        for source in read_sources(names, report.faults, recursive=recursive, stdin=stdin):
            _read_source(source, reading, report, namespace)
    if report.faults or not reading.subjects:
        raise ManifestErrors([*reading.faults, *report.faults] or [Fault("", nothing_found(names))])
    return reading


def _read_source(source: Source, reading: Reading, report: Report, namespace: str) -> None:
    reading.sources.append(source)
    if b"dra-plan:" in source.data:
        reading.texts[source.name] = source.data.decode()
    own = Report()
    for document in read_documents(source, own.faults):
        try:
            plain = document.plain()
        except JsonError as error:
            own.faults.append(Fault(source.name, f"JSON: {error.message}", document.place.line))
            continue
        items = unwrap(plain, document.place_of_fields(), own)
        reading.subjects.extend(_subject(item, namespace) for item in items)
    placed = [fault for fault in own.faults if fault.line]
    reading.faults += placed
    reading.unread += [_unread(fault, source) for fault in placed]
    report.faults += [fault for fault in own.faults if not fault.line]


def _unread(fault: Fault, source: Source) -> tuple[Subject, Problem, Finding]:
    """Return a finding that marks the line in a document that cannot be read."""
    message = f"{fault.message} ({fault.hint})" if fault.hint else fault.message
    problem = schema.UNREADABLE.at((), message)
    subject = Subject(
        {}, Place(source.name, fault.document, fault.line), fault.object or f"document {fault.document or 1}"
    )
    lines = source.data.decode().split("\n")
    number = min(int(fault.line), len(lines))
    while number > 1 and not lines[number - 1].strip():
        number -= 1  # an unclosed string is noticed at the end of the text
    line = lines[number - 1].rstrip()
    begin = len(line) - len(line.lstrip())
    excerpt = SourceExcerpt(text=line[begin : begin + MOST_SHOWN], column=begin + 1)
    end = begin + 1 + len(excerpt.text)
    finding = replace(
        subject.finding(problem),
        line=number,
        column=begin + 1,
        end_line=number,
        end_column=end,
        field_line=number,
        excerpt=excerpt,
    )
    return subject, problem, finding


def of_text(text: str, name: str, *, namespace: str = "default") -> Reading:
    """Return all objects in a text. Findings refer to the text as `name`.

    Documents that cannot be read are listed in `unread`.
    """
    report, reading = Report(), Reading()
    _read_source(Source(name, text.encode()), reading, report, namespace)
    if report.faults:
        raise ManifestErrors(report.faults)
    return reading


def of_objects(values: Iterable[Mapping[str, Any]], *, namespace: str = "default") -> list[Subject]:
    """Return subjects for plain objects that are not in a file. Raises `ManifestErrors` for a malformed List."""
    report = Report()
    subjects = [_subject(item, namespace) for value in values for item in unwrap(dict(value), Place(""), report)]
    if report.faults:
        raise ManifestErrors(report.faults)
    return subjects


def of_written(written: WrittenText, place: Place, namespace: str) -> Subject | None:
    """Return a subject for the text of an object in an inventory, or None if the inventory does not have the text.

    The place of the subject is only the position at which the object begins.
    """
    if not written.data:
        return None
    value = json_reader.plain(memoryview(written.data))
    return _subject(Item(value, Header(written.api_version, written.kind), place), namespace)


def _subject(item: Item, namespace: str) -> Subject:
    header = item.header
    shown = label_of(header.kind, item.value.get("metadata"))
    problems = tuple(schema.header_problems(header))
    kind = None if problems else kinds.find(header.api_version, header.kind)
    if kind is None:
        problems = problems or tuple(schema.no_such_kind(header.api_version, header.kind))
        return Subject(item.value, item.place, shown, problems=problems)
    version = kinds.split_version(header.api_version)[1]
    metadata = item.value.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    space = _text(metadata.get("namespace")) or namespace if kind.namespaced else ""
    name = _text(metadata.get("name")) or _text(metadata.get("generateName"))
    found = (
        _Decoded((schema.unknown_version(header.api_version, kind),))
        if version not in kind.versions
        else _decoded(item.value, kind, version)
    )
    shown = label(kind.name, space, name)
    return Subject(
        item.value,
        item.place,
        shown,
        kind,
        version,
        space,
        name,
        found.obj,
        found.problems,
        found.faults,
        found.lost,
    )


def _typed(value: dict[str, Any], kind: Kind, version: str) -> Object | None:
    """Return the object with its defaults, or None if it needs a closer check."""
    try:
        obj = typed(value, kind, version)
    except NOT_DECODED:
        return None
    return defaults.apply(obj) if are_readable(obj) and not is_too_deep(obj) else None


class _Decoded(NamedTuple):
    problems: tuple[Problem, ...]
    obj: Object | None = None
    faults: tuple[FieldPath, ...] = ()
    lost: bool = False


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _decoded(value: dict[str, Any], kind: Kind, version: str) -> _Decoded:
    """Return the object as the API server would store it, as far as it can be decoded, and the schema problems."""
    if fits(value, kind, version):
        obj = _typed(value, kind, version)
        if obj is not None:
            return _Decoded((), obj)
    written, (value, flat) = value, claims.lifted(value, kind, version)

    def as_written(path: FieldPath) -> FieldPath:
        return claims.flattened(kind, path) if flat and claims.is_flat(written, kind, path) else path

    decoded = diagnose(value, kind, version)
    told = schema.problems(value, decoded, kind, version)
    problems = (*flat, *(replace(problem, path=as_written(problem.path)) for problem in told))
    faults, lost = tuple(as_written(path) for path, _, _ in decoded.wrong), bool(decoded.lost)
    lifted, sources = schema.without_sources(value, kind)
    try:
        decoded = diagnose(lifted, kind, version) if sources else decoded
        obj = typed(decoded.value, kind, version)
        if not are_readable(obj) or is_too_deep(obj):
            raise RecursionError(TOO_DEEP)
    except NOT_DECODED as failure:
        # A wrong field has already been reported.
        more = () if faults else (schema.undecodable(str(failure)),)
        return _Decoded((*problems, *sources, *more), None, faults, lost=True)
    return _Decoded((*problems, *sources), defaults.apply(obj), faults, lost)
