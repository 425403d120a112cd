"""What is set for the whole Python process: room for deep recursion, and when garbage is collected.

Nothing else touches the recursion limit or stops the collector. As the limit belongs to the whole process, each user
adds the frames that it needs and takes them off again, however users in other threads begin and end in between, and
whatever the limit was.
"""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_lock = Lock()


@contextmanager
def more_frames(frames: int) -> Iterator[None]:
    """Within the block Python functions may be nested this much deeper than before; afterwards the limit is as it was.

    Only for functions in Python: their frames take no C stack from Python 3.11 on.
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
    """No garbage is collected within the block: for code that makes many objects and drops few."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
