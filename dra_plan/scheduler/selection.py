"""Which nodes are looked at, and which of the best is taken."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import overload

from .nodeinfo import NodeInfo

LEAST_FEASIBLE = 100
_LEAST_PERCENTAGE = 5


def nodes_to_find(total: int, percentage: int) -> int:
    """How many feasible nodes are enough: all of up to 99, otherwise a percentage (0: the default), at least 100."""
    if total < LEAST_FEASIBLE:
        return total
    if percentage == 0:
        percentage = max(50 - total // 125, _LEAST_PERCENTAGE)
    if percentage >= 100:
        return total
    return max(total * percentage // 100, LEAST_FEASIBLE)


def best_of(scores: Sequence[int]) -> list[int]:
    """The indices of the highest score."""
    best = max(scores)
    return [index for index, score in enumerate(scores) if score == best]


class BestNodes(Sequence[str]):
    """Names of the nodes with the highest score; read when they are asked for, as most pods have hundreds of them."""

    __slots__ = ("_best", "_nodes")

    def __init__(self, nodes: Sequence[NodeInfo], best: Sequence[int]) -> None:
        self._nodes, self._best = nodes, array("I", best)  # kept for every pod: a quarter of a list of numbers

    def __len__(self) -> int:
        return len(self._best)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self._nodes[at].name for at in self._best[index]]
        return self._nodes[self._best[index]].name

    def __iter__(self) -> Iterator[str]:
        return (self._nodes[at].name for at in self._best)


def winner(best: Sequence[int]) -> int:
    """Which of several best ones is taken, by their indices: the one that ends up as the root of a binary heap.

    Go's container/heap builds the heap from below. An element gives way only to a strictly greater one, and the left
    of two equal children moves up; so the root is the best one that comes first when the tree of indices is walked
    from the root, left before right. The binary digits of index + 1 after the first spell its way from the root.
    """
    return best[0] if best[0] == 0 else min(best, key=lambda index: f"{index + 1:b}"[1:])
