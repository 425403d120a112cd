"""Writing a file as a whole: readers find what was there before, or all of the new text."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write(file: str, text: str | bytes) -> None:
    """Puts `text` in `file`, in UTF-8 if it is no bytes. OSError if that can't be done; then the file is as it was.

    A device or a pipe, which can't be replaced, is written to.
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
    """The process's mask; the system has no way to read it without setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
