"""JSON lines files: one value per line, blank lines left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from dra_plan.errors import InputError

MOST_BYTES = 256 * 2**20
"""A larger file is refused."""


class JsonLine(dict[str, Any]):
    """An object of a file, with its file and line."""

    origin: str = ""


def read_lines(path: str) -> list[Any]:
    """The values of the file. Raises InputError, with file and line, for what can't be read or is not JSON."""
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
        if isinstance(value, dict):
            value = JsonLine(value)
            value.origin = f"{path}:{number}"
        found.append(value)
    return found
