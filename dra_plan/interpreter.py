"""Settings of the whole Python process: the recursion limit and garbage collection.

No other module changes the recursion limit or stops the collector. The limit belongs to the whole process, so each user
adds the frames that it needs and removes them again. This works for any initial limit, and when users in other threads
start and end in between.
"""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_lock = Lock()


@contextmanager
def more_frames(frames: int) -> Iterator[None]:
    """Within the block, allow this many more nested calls of Python functions. The old limit is restored afterwards.

    This is safe only for functions in Python, because since Python 3.11 their frames use no C stack.
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
