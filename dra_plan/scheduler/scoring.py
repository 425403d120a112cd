"""Arithmetic that several scores share. All divisions are integer divisions, as in Go."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import add

from .framework import MAX_NODE_SCORE


def is_level(scores: Sequence[int]) -> bool:
    """Whether all of them, and there is one at least, are the same: so they are where a plugin has no preference."""
    return scores[0] == scores[-1] and scores.count(scores[0]) == len(scores)


def add_up(rows: Iterable[Sequence[int]], number: int) -> list[int]:
    """The sum of each of `number` columns, which are one at least; level rows cost next to nothing."""
    base = 0
    totals: Sequence[int] | None = None
    for row in rows:
        if is_level(row):
            base += row[0]
        else:
            totals = row if totals is None else list(map(add, totals, row))
    return [base] * number if totals is None else [base + total for total in totals]


def normalize(scores: list[int], *, reverse: bool = False) -> None:
    """Scale to 0..100 by the largest, in place; reversed, the largest becomes 0. All zero: 0, or 100 if reversed."""
    most = max(scores, default=0)
    if most == 0:
        if reverse:
            scores[:] = [MAX_NODE_SCORE] * len(scores)
        return
    if reverse:
        scores[:] = [MAX_NODE_SCORE - MAX_NODE_SCORE * score // most for score in scores]
    else:
        scores[:] = [MAX_NODE_SCORE * score // most for score in scores]
