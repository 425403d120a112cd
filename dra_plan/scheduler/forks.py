"""Forks of a running simulation, whose changes can be reverted or committed.

A fork copies the fields of every part, and a revert restores them. Nodes, devices in use and records of pods are many,
but few of them change, so each is saved only when it changes (`cluster/nodes.py`, Journal; `allocator/ledger.py`,
AllocatedState; `attempts.py`, PodRecords). Cached results stay valid, because the journal names the nodes that a revert
changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol


class Forked(Protocol):
    """An object whose state a fork saves."""

    def parts(self) -> Iterable[object]:
        """Return the parts that have a state of their own. A part may have parts as well.

        Fields named in `not_kept` are not saved. Fields named in `counters` never return to an earlier number, because
        other objects compare them. If a part has the methods `forked`, `reverted` or `committed`, they are called after
        the operation.
        """


class Forks:
    """The open forks of a simulation, each inside the previous one. Only a simulation at rest can be forked."""

    def __init__(self, root: Forked) -> None:
        self._root = root
        self._open: list[list[_Kept]] = []

    def fork(self) -> None:
        """Save the current state."""
        kept = [_Kept(part) for part in _parts_of(self._root)]
        self._open.append(kept)
        _tell(kept, "forked")

    def revert(self) -> None:
        """Restore the state at the last fork, and close the fork."""
        kept = self._open.pop()
        for each in kept:
            each.put_back()
        _tell(kept, "reverted")

    def commit(self) -> None:
        """Close the last fork, and keep the changes since its start."""
        _tell(self._open.pop(), "committed")

    @contextmanager
    def trial(self) -> Iterator[None]:
        """Return a context in which the simulation is forked. All changes are reverted when it ends."""
        self.fork()
        try:
            yield
        finally:
            self.revert()


def _parts_of(root: object) -> list[object]:
    found = {id(root): root}
    order = [root]
    for part in order:
        for inner in getattr(part, "parts", tuple)():
            if id(inner) not in found:
                found[id(inner)] = inner
                order.append(inner)
    return order


def _tell(kept: Iterable[_Kept], what: str) -> None:
    for each in kept:
        getattr(each.part, what, lambda: None)()


class _Kept:
    """The fields of a part at one moment."""

    __slots__ = ("_fields", "part")

    def __init__(self, part: object) -> None:
        self.part = part
        self._fields = {name: (value, _copied(value)) for name, value in _fields(part)}

    def put_back(self) -> None:
        """Restore the part's fields: the same containers as before, with the same contents as before."""
        part, counters = self.part, getattr(self.part, "counters", ())
        for name in [name for name, _ in _fields(part) if name not in self._fields]:
            delattr(part, name)
        for name, (value, contents) in self._fields.items():
            if name in counters:
                now = getattr(part, name)
                setattr(part, name, now if now == value else now + 1)
                continue
            if value is not contents:
                _refill(value, contents)
            setattr(part, name, value)


def _fields(part: object) -> Iterator[tuple[str, Any]]:
    left_out = getattr(part, "not_kept", ())
    names = [*getattr(part, "__dict__", ()), *(name for kind in type(part).__mro__ for name in _slots(kind))]
    return ((name, getattr(part, name)) for name in names if name not in left_out and hasattr(part, name))


def _slots(kind: type) -> Iterable[str]:
    return (name for name in kind.__dict__.get("__slots__", ()) if name not in ("__dict__", "__weakref__"))


def _copied(value: Any) -> Any:
    """Return a copy of a container and of the containers in it, and anything else as it is."""
    if not isinstance(value, dict | list | set):
        return value
    first = next(iter(value.values() if isinstance(value, dict) else value), None)
    if not isinstance(first, dict | list | set):
        return value.copy()
    if isinstance(value, dict):
        made = value.copy()
        made.update((key, _copied(each)) for key, each in value.items())
        return made
    return [_copied(each) for each in value]


def _refill(container: Any, contents: Any) -> None:
    container.clear()
    container.extend(contents) if isinstance(container, list) else container.update(contents)
