"""JSON Lines files, which have one object per line. Blank lines are ignored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from dra_plan.errors import InputError
from dra_plan.manifests.diagnose import expected

MOST_BYTES = 256 * 2**20
"""The maximum size of a file in bytes."""


class JsonLine(dict[str, Any]):
    """An object on one line of a file. `origin` is its file and line."""

    origin: str = ""


def read_lines(path: str) -> list[JsonLine]:
    """Return the objects in the file, one per line.

    Raises InputError, with file and line, for a line that is not a valid JSON object.
    """
    file = Path(path)
    try:
        if file.stat().st_size > MOST_BYTES:
            raise InputError(f"{path}: larger than {MOST_BYTES:,} bytes")
        data = file.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    found = []
    for number, line in enumerate(data.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            value = msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InputError(f"{path}:{number}: {error}") from None
        if not isinstance(value, dict):
            raise InputError(f"{path}:{number}: {expected('an object', value)}")
        made = JsonLine(value)
        made.origin = f"{path}:{number}"
        found.append(made)
    return found
