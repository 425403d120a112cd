"""Arithmetic that several scores share. All divisions are integer divisions, as in Go."""

from __future__ import annotations

from .framework import MAX_NODE_SCORE


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
