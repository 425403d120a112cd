"""Process-wide settings: the recursion limit and garbage collection.

Only this module changes them. Each user increases the recursion limit by the frames that it needs and later decreases
it again, so users in several threads do not disturb each other.
"""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_lock = Lock()


@contextmanager
def more_frames(frames: int) -> Iterator[None]:
    """Within the block, allow this many additional nested calls of Python functions.

    This is safe only for functions written in Python, because since Python 3.11 their frames use no C stack.
    """
    _shift(frames)
    try:
        yield
    finally:
        _shift(-frames)


def _shift(frames: int) -> None:
    with _lock:
        sys.setrecursionlimit(sys.getrecursionlimit() + frames)


# -- garbage collection ------------------------------------------------------------------------------------------------


@contextmanager
def uncollected() -> Iterator[None]:
    """Disable garbage collection within the block. Use this for code that creates many objects and drops few."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
