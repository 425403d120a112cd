"""Read files, directories and standard input into typed objects, and report all faults at once.

Contents: the functions for the command line, and those for Python programs, which return plain dicts.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator, MutableSequence, Sequence
from itertools import chain
from typing import Any, BinaryIO, NamedTuple, overload

from dra_plan import shown
from dra_plan.api.inventory import Inventory
from dra_plan.errors import UsageError
from dra_plan.interpreter import uncollected

from .collect import Collector
from .decode import from_dicts
from .diagnose import Report
from .faults import Fault, ManifestErrors, nothing_found
from .json_reader import JsonError
from .places import Item
from .sources import STDIN, Document, Source, read_documents, read_sources
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
    """Return the objects in files, directories and `-` (standard input), in reading order, after those in `before`.

    Objects without a namespace are put into `namespace`. Raises `ManifestErrors` with every fault: unreadable files,
    malformed documents, wrong types, unknown versions, objects without a name, repeated objects, or no objects at all.
    """
    with uncollected():
        sources = chain(map(_read_source, before), read(paths, recursive=recursive, stdin=stdin))
        return collect(sources, paths, namespace=namespace, strict=True)


def load_items(paths: Sequence[PathLike], *, recursive: bool = False, stdin: BinaryIO | None = None) -> list[Item]:
    """Return the objects of all kinds and versions as plain dicts, each with its place.

    Raises `ManifestErrors` if anything in the files cannot be read as an object. The content of the objects is not
    checked.
    """
    with uncollected():
        return items(read(paths, recursive=recursive, stdin=stdin), paths)


def _name(path: Any) -> str:
    if not isinstance(path, str | os.PathLike):
        raise UsageError(f"paths: expected paths, got {shown.value(path)}")
    return os.fspath(path)


class SourceRead(NamedTuple):
    """The documents in one source, and the faults of documents that cannot be read."""

    documents: list[Document]
    faults: list[Fault]
    empty: str = ""
    """The name of the source if it is empty, for example after a failed `kubectl get > FILE`."""


def read(paths: Sequence[PathLike], *, recursive: bool, stdin: BinaryIO | None) -> Iterator[SourceRead]:
    """Yield the documents and faults of each source in the paths, in order."""
    if not isinstance(paths, Iterable):
        raise UsageError(f"paths: expected paths, got {shown.value(paths)}")
    names = [_name(path) for path in paths]
    if stdin is None and STDIN in names:
        stdin = sys.stdin.buffer
    unread: list[Fault] = []
    for source in read_sources(names, unread, recursive=recursive, stdin=stdin):
        faults, unread[:] = list(unread), []
        yield _documents(source, faults)
    if unread:
        yield SourceRead([], unread)


def _read_source(source: Source) -> SourceRead:
    return _documents(source, [])


def _documents(source: Source, faults: list[Fault]) -> SourceRead:
    return SourceRead(read_documents(source, faults), faults, "" if source.data.strip() else source.name)


def collect(sources: Iterable[SourceRead], paths: Sequence[PathLike], *, namespace: str, strict: bool) -> Inventory:
    """Return the typed objects in the sources.

    Raises `ManifestErrors` in the same cases as `load` or, if `strict` is not set, as `from_dicts`.
    """
    collector = Collector(namespace=namespace, strict=strict)
    faults = collector.report.faults
    for source in sources:
        before = len(faults)
        faults.extend(source.faults)
        if source.empty:
            collector.report.empty_file(source.empty)
        for document in source.documents:
            document.hand_to(collector)
        faults[before:] = sorted(faults[before:], key=_line)
    if not faults and not collector.has_objects:
        faults.append(_nothing(paths))
    return collector.finish()


def items(sources: Iterable[SourceRead], paths: Sequence[PathLike]) -> list[Item]:
    """Return the objects in the sources as plain dicts. Raises `ManifestErrors`, as `load_items` does."""
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
    """Return the sort key for the faults in one source; syntax faults are found first, but reported in line order."""
    return fault.line


def _nothing(paths: Sequence[PathLike]) -> Fault:
    given = ("standard input" if os.fspath(path) == STDIN else os.fspath(path) for path in paths)
    names = list(dict.fromkeys(given))
    return Fault("", nothing_found(names) if names else "nothing to read: no path was given")


# -- objects for Python programs ---------------------------------------------------------------------------------------
# Programs that only plan with the objects get them straight from the text, with the places where they were read.


def load_objects(
    paths: PathLike | Sequence[PathLike], *, recursive: bool = False, stdin: BinaryIO | None = None
) -> LoadedObjects:
    """Return all objects in these files and directories as they are written, including the objects in Lists.

    A dict is created only when it is accessed. Raises `ManifestErrors` if anything in the files cannot be read as an
    object. The content of the objects is not checked.
    """
    if isinstance(paths, str | os.PathLike):
        paths = [paths]
    with uncollected():
        return LoadedObjects(list(read(paths, recursive=recursive, stdin=stdin)), paths)


class LoadedObjects(MutableSequence[dict[str, Any]]):
    """The objects of an input as plain dicts, in reading order. Callers may change the dicts."""

    def __init__(self, sources: Sequence[SourceRead], paths: Sequence[PathLike]) -> None:
        self._sources, self._paths = sources, paths
        self._inventory: Inventory | None = None
        self._dicts: list[dict[str, Any]] | None = None
        self._handed_out = False
        with contextlib.suppress(ManifestErrors):
            self._inventory = self._collected()
        if self._inventory is None:
            self._made()  # rejects input without objects; callers check the contents

    @property
    def inventory(self) -> Inventory:
        """The decoded objects.

        If an object is listed several times, all its versions are kept. Raises `ManifestErrors` if an object cannot be
        decoded.
        """
        if self._handed_out:
            return from_dicts(self._made())
        if self._inventory is None:
            self._inventory = self._collected()
        return self._inventory

    def _collected(self) -> Inventory:
        return collect(self._sources, self._paths, namespace="default", strict=False)

    def _made(self) -> list[dict[str, Any]]:
        if self._dicts is None:
            self._dicts = [_with_header(item) for item in items(self._sources, self._paths)]
        return self._dicts

    def _opened(self) -> list[dict[str, Any]]:
        """Return the dicts, for a caller that may change them."""
        dicts = self._made()
        self._handed_out, self._inventory, self._sources = True, None, ()
        return dicts

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, index: slice) -> list[dict[str, Any]]: ...

    def __getitem__(self, index: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        return self._opened()[index]

    @overload
    def __setitem__(self, index: int, value: dict[str, Any]) -> None: ...

    @overload
    def __setitem__(self, index: slice, value: Iterable[dict[str, Any]]) -> None: ...

    def __setitem__(self, index: Any, value: Any) -> None:
        self._opened()[index] = value

    def __delitem__(self, index: int | slice) -> None:
        del self._opened()[index]

    def insert(self, index: int, value: dict[str, Any]) -> None:
        """Insert an object into the list before this index."""
        self._opened().insert(index, value)

    def __len__(self) -> int:
        return len(self._made())

    def __add__(self, other: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        return [*self, *other]

    def __radd__(self, other: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        return [*other, *self]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._made() == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{len(self)} objects of {', '.join(map(str, self._paths))}>"


def _with_header(item: Item) -> dict[str, Any]:
    """Return the object, with its List's header."""
    inherited = {"apiVersion": item.header.api_version, "kind": item.header.kind}
    missing = {key: value for key, value in inherited.items() if key not in item.value and value is not None}
    return {**missing, **item.value} if missing else item.value


def inventory_of(objects: dict[str, Any] | Iterable[dict[str, Any]], *, argument: str = "objects") -> Inventory:
    """Return the typed objects for one or more plain dicts.

    Objects from `load_objects` are not decoded again unless their dicts have been accessed. Raises UsageError, which
    names `argument`, for text or a path. Raises InputError (`ManifestErrors`) for values that cannot be decoded.
    """
    if isinstance(objects, LoadedObjects):
        return objects.inventory
    if isinstance(objects, str | bytes | os.PathLike):
        raise UsageError(f"{argument}: expected Kubernetes objects, got {objects!r}: dra_plan.load reads files")
    return from_dicts([objects] if isinstance(objects, dict) else objects)
