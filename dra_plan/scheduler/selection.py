"""Which nodes are looked at, and which of the best is taken."""

from __future__ import annotations

from collections.abc import Sequence

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


def winner(scores: Sequence[int]) -> int:
    """The index of the chosen node: the root of a binary heap of the scores, greatest first.

    With a single best node that is the best one. Which of several equals becomes the root follows from Go's
    container/heap: children move up only past strictly smaller ones, and the left child wins against an equal right.
    """
    best = max(scores)
    if scores.count(best) == 1:
        return scores.index(best)
    heap = list(range(len(scores)))
    for start in range(len(heap) // 2 - 1, -1, -1):
        _sink(heap, scores, start)
    return heap[0]


def _sink(heap: list[int], scores: Sequence[int], at: int) -> None:
    size = len(heap)
    while (child := 2 * at + 1) < size:
        if child + 1 < size and scores[heap[child + 1]] > scores[heap[child]]:
            child += 1
        if scores[heap[child]] <= scores[heap[at]]:
            return
        heap[at], heap[child] = heap[child], heap[at]
        at = child


def best_of(names: Sequence[str], scores: Sequence[int]) -> list[str]:
    """All nodes with the highest score."""
    best = max(scores)
    return [name for name, score in zip(names, scores, strict=True) if score == best]
