"""Sources compressed with gzip: what they hold, within bounds."""

from __future__ import annotations

import gzip
import io
import zlib

MAGIC = b"\x1f\x8b"
SUFFIX = ".gz"

_ALWAYS, _TIMES = 64 << 20, 200
"""Bytes that any source may hold, and how much more of it there may be than there is compressed: dumps shrink to a
thirtieth, bombs to a thousandth."""


def most(compressed: int, limit: int) -> int:
    """How many bytes may come out of so many."""
    return min(limit, _ALWAYS + _TIMES * compressed)


def unpacked(data: bytes, limit: int) -> bytes | None:
    """The content, or None if there is more than `limit` of it. Raises ValueError for what gzip can't read."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            content = file.read(limit + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(str(error)) from error
    return content if len(content) <= limit else None
