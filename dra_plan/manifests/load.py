"""Files, directories and standard input to typed objects, with every fault found in one run."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, BinaryIO, NamedTuple

from dra_plan import shown
from dra_plan.api.inventory import Inventory
from dra_plan.errors import UsageError
from dra_plan.interpreter import uncollected

from .collect import Collector
from .documents import Document, read_documents
from .faults import Fault, ManifestErrors, nothing_found
from .json_reader import JsonError
from .places import Item
from .report import Report
from .sources import STDIN, Source, read_sources
from .unwrap import unwrap

PathLike = str | os.PathLike[str]


def load(
    paths: Sequence[PathLike],
    *,
    recursive: bool = False,
    stdin: BinaryIO | None = None,
    namespace: str = "default",
    before: Sequence[Source] = (),
) -> Inventory:
    """The objects of files, directories and `-` (standard input), in the order of reading; those of `before` first.

    Raises `ManifestErrors` with every fault: unreadable files, malformed documents, wrong types, unknown versions,
    objects without a name, objects given twice, or no object at all. Objects without a namespace get `namespace`.
    """
    with uncollected():
        sources = chain(map(_read_source, before), read(paths, recursive=recursive, stdin=stdin))
        return collect(sources, paths, namespace=namespace, strict=True)


def load_items(paths: Sequence[PathLike], *, recursive: bool = False, stdin: BinaryIO | None = None) -> list[Item]:
    """The objects as plain dicts, of all kinds and versions, each with its place, which finds the lines of its fields.

    Raises `ManifestErrors` for what can't be read as objects; what the objects say is not looked at.
    """
    with uncollected():
        return items(read(paths, recursive=recursive, stdin=stdin), paths)


def _name(path: Any) -> str:
    if not isinstance(path, str | os.PathLike):
        raise UsageError(f"paths: wanted paths, got {shown.value(path)}")
    return os.fspath(path)


class SourceRead(NamedTuple):
    """What one source holds: its documents, and the faults of those that can't be read."""

    documents: list[Document]
    faults: list[Fault]


def read(paths: Sequence[PathLike], *, recursive: bool, stdin: BinaryIO | None) -> Iterator[SourceRead]:
    """The sources under the paths, in order."""
    if not isinstance(paths, Iterable):
        raise UsageError(f"paths: wanted paths, got {shown.value(paths)}")
    names = [_name(path) for path in paths]
    if stdin is None and STDIN in names:
        stdin = sys.stdin.buffer
    unread: list[Fault] = []
    for source in read_sources(names, unread, recursive=recursive, stdin=stdin):
        faults, unread[:] = list(unread), []
        yield SourceRead(read_documents(source, faults), faults)
    if unread:
        yield SourceRead([], unread)


def _read_source(source: Source) -> SourceRead:
    faults: list[Fault] = []
    return SourceRead(read_documents(source, faults), faults)


def collect(sources: Iterable[SourceRead], paths: Sequence[PathLike], *, namespace: str, strict: bool) -> Inventory:
    """The typed objects of the sources. Raises `ManifestErrors` as `load` does, without `strict` as `from_dicts`."""
    collector = Collector(namespace=namespace, strict=strict)
    faults = collector.report.faults
    for source in sources:
        before = len(faults)
        faults.extend(source.faults)
        for document in source.documents:
            document.hand_to(collector)
        faults[before:] = sorted(faults[before:], key=_line)
    if not faults and not collector.has_objects:
        faults.append(_nothing(paths))
    return collector.finish()


def items(sources: Iterable[SourceRead], paths: Sequence[PathLike]) -> list[Item]:
    """The objects of the sources as they were read. Raises `ManifestErrors` as `load_items` does."""
    faults: list[Fault] = []
    found: list[Item] = []
    for source in sources:
        mine = list(source.faults)
        for document in source.documents:
            found.extend(_items(document, mine))
        faults += sorted(mine, key=_line)
    if not faults and not found:
        faults.append(_nothing(paths))
    if faults:
        raise ManifestErrors(faults)
    return found


def _items(document: Document, faults: list[Fault]) -> Iterator[Item]:
    report = Report()
    try:
        value = document.plain()
    except JsonError as error:
        faults.append(Fault(document.place.source, f"JSON: {error.message}", document.place.line))
        return
    yield from unwrap(value, document.place_of_fields(), report)
    faults.extend(report.faults)


def _line(fault: Fault) -> int:
    """For the order of faults in one source: syntax is read first, but told where it stands."""
    return fault.line


def _nothing(paths: Sequence[PathLike]) -> Fault:
    given = ("standard input" if os.fspath(path) == STDIN else os.fspath(path) for path in paths)
    names = list(dict.fromkeys(given))
    return Fault("", nothing_found(names) if names else "nothing to read: no path was given")
