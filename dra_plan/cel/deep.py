"""Runs recursive functions over deeply nested expressions."""

from collections.abc import Callable
from typing import TypeVar

from dra_plan.interpreter import more_frames

_T = TypeVar("_T")
_FRAMES = 40_000
"""Enough for cel-go's 250 levels, a dozen frames each, and the levels that macros add."""


def with_room(function: Callable[[], _T]) -> _T:
    """Return what the function returns; one that needs more frames than Python allows runs again with more allowed.

    Nearly all expressions are shallow, so the limit is only raised for those that hit it, and set back afterwards.
    The function must not have effects that a second run would repeat.
    """
    try:
        return function()
    except RecursionError:
        pass
    with more_frames(_FRAMES):
        return function()
