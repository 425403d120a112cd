"""What slices look like of which no device is in use, for observers that see the same nodes again and again.

What a device's row tells belongs to `appearance`; here rows are only kept, and those of devices in use left out.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Set
from typing import Any, Generic, NamedTuple, TypeVar

from .pools import PoolSlice

_Row = TypeVar("_Row", bound=Hashable)

Rows = list[tuple[_Row, int]]
"""The rows of a slice's devices, with their indices in the slice."""


class _Unused(NamedTuple):
    rows: tuple[Any, ...]
    indices: tuple[int, ...]
    names: tuple[str, ...]


class UnusedRows(Generic[_Row]):
    """The rows of slices none of whose devices is shared. Slices that are alike have the parts in common."""

    def __init__(self, look: Callable[[PoolSlice, Set[str]], Rows[_Row] | None]) -> None:
        """`look` finds the rows of a slice, those of the devices in use left out; None where it can't judge one."""
        self._look = look
        self._found: dict[PoolSlice, _Unused | None] = {}
        self._parts: dict[tuple[Any, ...], tuple[Any, ...]] = {}

    def left(self, slice_: PoolSlice, used: Set[str]) -> Rows[_Row] | None:
        """As `look`."""
        if slice_ not in self._found:
            rows = self._look(slice_, frozenset())
            self._found[slice_] = None if rows is None else self._kept(slice_, rows)
        found = self._found[slice_]
        if found is None:  # the device that can't be judged may be in use
            return self._look(slice_, used) if used else None
        if not used:
            return list(zip(found.rows, found.indices, strict=True))
        every = zip(found.rows, found.indices, found.names, strict=True)
        return [(row, index) for row, index, name in every if name not in used]

    def _kept(self, slice_: PoolSlice, rows: Rows[_Row]) -> _Unused:
        devices = slice_.object.spec.devices
        parts = (
            tuple(row for row, _ in rows),
            tuple(index for _, index in rows),
            tuple(devices[index].name for _, index in rows),
        )
        return _Unused(*(self._parts.setdefault(part, part) for part in parts))
