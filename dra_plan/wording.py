"""The smallest parts of sentences, for whatever says something: lists of names, and values."""

from __future__ import annotations

from typing import Any

NAMES = 3
"""Names that a sentence lists before it counts the rest."""


def listed(names: list[str], most: int = NAMES) -> str:
    """`a`, `a and b`, `a, b, c and 4 more`; of nothing, nothing."""
    if len(names) > most + 1:
        names = [*names[:most], f"{len(names) - most} more"]
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def value(of: Any) -> str:
    """A value as CEL would write it."""
    if isinstance(of, bool):
        return "true" if of else "false"
    if isinstance(of, list):
        return f"[{', '.join(value(item) for item in of)}]"
    return f'"{of}"' if isinstance(of, str) else str(of)
