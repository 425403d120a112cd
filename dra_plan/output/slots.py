"""Counters that stand for places on a device, as one line: `memory-slice 0-7: . X . . . . . .`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_NUMBERED = re.compile(r"(.*?)[-_.]?(\d+)$")

LEAST = 2
"""Places that make a line."""


def rows(total: Mapping[str, str]) -> dict[str, dict[int, str]]:
    """The counters of total 1 that are numbered one after the other: by what comes before the number, by number."""
    found: dict[str, dict[int, str]] = {}
    for name, amount in total.items():
        numbered = _NUMBERED.match(name)
        if numbered is not None and numbered[1] and amount == "1":
            found.setdefault(numbered[1], {})[int(numbered[2])] = name
    return {
        prefix: dict(sorted(names.items()))
        for prefix, names in found.items()
        if len(names) >= LEAST and max(names) - min(names) == len(names) - 1
    }


def lines(total: Mapping[str, str], left: Mapping[str, str]) -> Iterator[str]:
    """A line for each row of places: a dot for a free one, an X for one that is used."""
    for prefix, names in rows(total).items():
        marks = " ".join("." if left[name] == total[name] else "X" for name in names.values())
        yield f"{prefix} {min(names)}-{max(names)}: {marks}"
