"""Answers about nodes, remembered until the node changes.

What makes the cost of a simulation grow with the number of node states instead of pods times nodes: pods of the same
shape get the same answer from a node whose version has not changed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

Answer = TypeVar("Answer")

_MOST_SHAPES = 512


class Memo(Generic[Answer]):
    """Per shape (key), a table of node name to (node version, answer). The least recently used shapes are dropped."""

    def __init__(self, most: int = _MOST_SHAPES) -> None:
        self._tables: OrderedDict[Hashable, dict[str, tuple[int, Answer]]] = OrderedDict()
        self._most = most

    def table(self, key: Hashable) -> dict[str, tuple[int, Answer]]:
        """The table of a shape, to be read and written directly."""
        found = self._tables.get(key)
        if found is None:
            found = self._tables[key] = {}
            if len(self._tables) > self._most:
                self._tables.popitem(last=False)
        else:
            self._tables.move_to_end(key)
        return found
