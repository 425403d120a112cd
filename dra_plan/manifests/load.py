"""Files, directories and standard input to typed objects, with every fault found in one run."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

from dra_plan.api.inventory import Inventory

from .collect import Collector
from .documents import Document, read_documents
from .faults import Fault, ManifestErrors
from .json_reader import JsonError
from .places import Item
from .report import Report
from .sources import STDIN, Source, read_sources
from .unwrap import unwrap

PathLike = str | os.PathLike[str]


def load(
    paths: Sequence[PathLike], *, recursive: bool = False, stdin: BinaryIO | None = None, namespace: str = "default"
) -> Inventory:
    """The objects of files, directories and `-` (standard input), in the order of reading.

    Raises `ManifestErrors` with every fault: unreadable files, malformed documents, wrong types, unknown versions,
    objects without a name, objects given twice, or no object at all. Objects without a namespace get `namespace`.
    """
    collector = Collector(namespace=namespace, strict=True)
    with _without_gc(freeze=True):
        for source in _sources(paths, collector.report.faults, recursive=recursive, stdin=stdin):
            before = len(collector.report.faults)
            for document in read_documents(source, collector.report.faults):
                document.hand_to(collector)
            collector.report.faults[before:] = sorted(collector.report.faults[before:], key=_line)
    if not collector.report.faults and not collector.has_objects:
        collector.report.faults.append(_nothing(paths))
    return collector.finish()


def load_dicts(
    paths: Sequence[PathLike], *, recursive: bool = False, stdin: BinaryIO | None = None
) -> list[dict[str, Any]]:
    """The objects as plain dicts as they were read, Lists unwrapped, of all kinds and versions.

    Raises `ManifestErrors` for what can't be read as objects; what the objects say is not looked at.
    """
    return [_with_header(item) for item in load_items(paths, recursive=recursive, stdin=stdin)]


def load_items(paths: Sequence[PathLike], *, recursive: bool = False, stdin: BinaryIO | None = None) -> list[Item]:
    """As `load_dicts`, each object with its place, which finds the lines of its fields."""
    faults: list[Fault] = []
    items: list[Item] = []
    with _without_gc():
        for source in _sources(paths, faults, recursive=recursive, stdin=stdin):
            before = len(faults)
            for document in read_documents(source, faults):
                items.extend(_items(document, faults))
            faults[before:] = sorted(faults[before:], key=_line)
    if not faults and not items:
        faults.append(_nothing(paths))
    if faults:
        raise ManifestErrors(faults)
    return items


def _with_header(item: Item) -> dict[str, Any]:
    """The object, with what its List says of it."""
    inherited = {"apiVersion": item.header.api_version, "kind": item.header.kind}
    missing = {key: value for key, value in inherited.items() if key not in item.value and value is not None}
    return {**missing, **item.value} if missing else item.value


def _items(document: Document, faults: list[Fault]) -> Iterator[Item]:
    report = Report()
    try:
        value = document.plain()
    except JsonError as error:
        faults.append(Fault(document.place.source, f"JSON: {error.message}", document.place.line))
        return
    yield from unwrap(value, document.place_of_fields(), report)
    faults.extend(report.faults)


def _sources(
    paths: Sequence[PathLike], faults: list[Fault], *, recursive: bool, stdin: BinaryIO | None
) -> Iterator[Source]:
    names = [os.fspath(path) for path in paths]
    if stdin is None and STDIN in names:
        stdin = sys.stdin.buffer
    return read_sources(names, faults, recursive=recursive, stdin=stdin)


def _line(fault: Fault) -> int:
    """For the order of faults in one source: syntax is read first, but told where it stands."""
    return fault.line


def _nothing(paths: Sequence[PathLike]) -> Fault:
    given = ("standard input" if os.fspath(path) == STDIN else os.fspath(path) for path in paths)
    names = ", ".join(dict.fromkeys(given))
    return Fault("", f"no Kubernetes object found in {names}" if names else "nothing to read: no path was given")


@contextlib.contextmanager
def _without_gc(*, freeze: bool = False) -> Iterator[None]:
    """Loading makes many objects and drops few, so collecting garbage meanwhile only costs time.

    With `freeze`, later collections leave out what is there by then: the cluster stays until the process ends.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if freeze:
            gc.freeze()
        if enabled:
            gc.enable()
