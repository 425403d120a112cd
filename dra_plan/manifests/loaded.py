"""Objects that were read, for programs: a list of plain dicts that are made when somebody looks at them.

Whoever only plans them gets typed objects straight from the text, with the places where they were read.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, MutableSequence, Sequence
from typing import Any, BinaryIO, overload

from dra_plan.api.inventory import Inventory
from dra_plan.errors import UsageError
from dra_plan.interpreter import uncollected

from .decode import from_dicts
from .faults import ManifestErrors
from .load import PathLike, SourceRead, collect, items, read
from .places import Item


def load_objects(
    paths: PathLike | Sequence[PathLike], *, recursive: bool = False, stdin: BinaryIO | None = None
) -> LoadedObjects:
    """The objects of one path or several as they were read, Lists unwrapped, of all kinds and versions.

    They are plain dicts once they are looked at; until then the typed objects are there without them. Raises
    `ManifestErrors` for what can't be read as objects; what the objects say is not looked at.
    """
    if isinstance(paths, str | os.PathLike):
        paths = [paths]
    with uncollected():
        return LoadedObjects(list(read(paths, recursive=recursive, stdin=stdin)), paths)


class LoadedObjects(MutableSequence[dict[str, Any]]):
    """The objects of an input as plain dicts, in the order of reading.

    A dict that was handed out may have been changed, and what it then says counts: from that time on the objects are
    decoded from the dicts.
    """

    def __init__(self, sources: Sequence[SourceRead], paths: Sequence[PathLike]) -> None:
        self._sources, self._paths = sources, paths
        self._inventory: Inventory | None = None
        self._dicts: list[dict[str, Any]] | None = None
        self._handed_out = False
        with contextlib.suppress(ManifestErrors):
            self._inventory = self._collected()
        if self._inventory is None:
            self._made()  # refuses what holds no objects; what they say is for those to judge who ask

    @property
    def inventory(self) -> Inventory:
        """The typed objects. Raises `ManifestErrors` for what can't be decoded; repeated objects are kept."""
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
        """The dicts, for somebody who may change them."""
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
        """As for lists."""
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
    """The object, with what its List says of it."""
    inherited = {"apiVersion": item.header.api_version, "kind": item.header.kind}
    missing = {key: value for key, value in inherited.items() if key not in item.value and value is not None}
    return {**missing, **item.value} if missing else item.value


def inventory_of(objects: dict[str, Any] | Iterable[dict[str, Any]], *, argument: str = "objects") -> Inventory:
    """The typed objects of plain dicts, or of one; what was loaded and not looked at is not decoded again.

    Raises UsageError, naming the argument, for a string or path, InputError (`ManifestErrors`) for what can't be
    decoded.
    """
    if isinstance(objects, LoadedObjects):
        return objects.inventory
    if isinstance(objects, str | bytes | os.PathLike):
        raise UsageError(f"{argument}: wanted Kubernetes objects, got {objects!r}: dra_plan.load reads files")
    return from_dicts([objects] if isinstance(objects, dict) else objects)
