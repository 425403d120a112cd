"""Atomic file writing: readers see either the old content or the complete new content."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write(file: str, text: str | bytes) -> None:
    """Write `text` to `file`, in UTF-8 unless it is bytes.

    Raises OSError on failure, and leaves the file unchanged. Devices and pipes, which cannot be replaced, are written
    directly.
    """
    path = Path(file)
    data = text.encode() if isinstance(text, str) else text
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    target = path.resolve()
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    made = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        made.chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
        made.replace(target)
    except BaseException:
        made.unlink(missing_ok=True)
        raise


def _umask() -> int:
    """Return the umask of the process; the system cannot read it without setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
