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


def best_of(scores: Sequence[int]) -> list[int]:
    """The indices of the highest score."""
    best = max(scores)
    return [index for index, score in enumerate(scores) if score == best]


def winner(best: Sequence[int]) -> int:
    """Which of several best ones is taken, by their indices: the one that ends up as the root of a binary heap.

    Go's container/heap builds the heap from below. An element gives way only to a strictly greater one, and the left
    of two equal children moves up; so the root is the best one that comes first when the tree of indices is walked
    from the root, left before right. The binary digits of index + 1 after the first spell its way from the root.
    """
    return best[0] if best[0] == 0 else min(best, key=lambda index: f"{index + 1:b}"[1:])
