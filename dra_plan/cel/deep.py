"""Runs recursive functions over deeply nested expressions; the only place that touches the interpreter's limit."""

import sys
from collections.abc import Callable
from threading import Lock
from typing import TypeVar

_T = TypeVar("_T")
_FRAMES = 40_000
"""Enough for cel-go's 250 levels, a dozen frames each, and the levels that macros add."""
_lock = Lock()


def with_room(function: Callable[[], _T]) -> _T:
    """Return what the function returns; one that needs more frames than Python allows runs again with more allowed.

    Nearly all expressions are shallow, so the limit is only raised for those that hit it, and set back afterwards.
    The function must not have effects that a second run would repeat.
    """
    try:
        return function()
    except RecursionError:
        pass
    with _lock:
        usual = sys.getrecursionlimit()
        sys.setrecursionlimit(max(usual, _FRAMES))
        try:
            return function()
        finally:
            sys.setrecursionlimit(usual)
