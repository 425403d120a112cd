"""The smallest set of pods that can't be placed: without any one of them the others can, as far as it can be told."""

from __future__ import annotations

from collections.abc import Sequence

from .program import Need
from .seek import PlacementQuestion


def smallest(question: PlacementQuestion, needs: Sequence[Need]) -> list[Need]:
    """Of needs that are excluded, as few pods as are still excluded: pods of low priority are let off first.

    What fits stays so with fewer pods, so each number is found by halving, one need after the other.
    """
    left = list(needs)
    for index in reversed(range(len(left))):
        low, high = 0, left[index].number
        while low < high:
            middle = (low + high) // 2
            trial = [*left[:index], Need(left[index].kinds, middle), *left[index + 1 :]]
            if question.is_excluded(trial):
                high = middle
            else:
                low = middle + 1
        left[index] = Need(left[index].kinds, high)
    return [need for need in left if need.number]
