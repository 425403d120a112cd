"""Numbers or percentages (apimachinery util/intstr)."""

from __future__ import annotations

import re

_PERCENTAGE = re.compile(r"([0-9]{1,10})%", re.ASCII)


def scaled(value: int | str, whole: int, *, up: bool) -> int:
    """Return a number as it is, or a percentage of `whole`, rounded up or down.

    Any other text counts as 0.
    """
    if isinstance(value, int):
        return value
    found = _PERCENTAGE.fullmatch(value)
    if found is None:
        return 0
    number = int(found[1]) * whole
    return -(-number // 100) if up else number // 100
