"""Cells that list names, with a short form for narrow terminals."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from dra_plan.text.columns import Folded

_NUMBERED = re.compile(r"(.*?)(0|[1-9][0-9]{0,8})$")


FEWEST = 3
"""The minimum number of consecutively numbered names that are shown as a range."""


def device_cell(devices: Iterable[str], node: str = "") -> Folded:
    """Return a cell with devices as DRIVER/POOL/DEVICE.

    The short form of the cell is that of `by_pool`. `node` is the node that the row names.
    """
    devices = list(devices)
    return Folded(", ".join(devices), by_pool(devices, node))


def by_pool(devices: Iterable[str], node: str = "") -> str:
    """Return the devices of each pool as text, such as `DRIVER/POOL: gpu-0..gpu-7 (8)`.

    The name of the pool is left out if it is the name of `node`.
    """
    pools: dict[str, list[str]] = {}
    for device in devices:
        pool, _, name = device.rpartition("/")
        driver, _, own = pool.partition("/")
        pools.setdefault(driver if node and own == node else pool, []).append(name)
    return "; ".join(f"{pool}: {', '.join(ranges(names))}" for pool, names in pools.items())


def ranges(names: Sequence[str]) -> list[str]:
    """Return the names in order, with consecutively numbered names merged, as in `gpu-0..gpu-7 (8)`."""
    made: list[str] = []
    start = 0
    while start < len(names):
        end = _end_of_run(names, start)
        if end - start >= FEWEST:
            made.append(f"{names[start]}..{names[end - 1]} ({end - start})")
        else:
            made += names[start:end]
        start = end
    return made


def _end_of_run(names: Sequence[str], start: int) -> int:
    """Return the end of the run of numbers that begins at `start`."""
    first = _NUMBERED.match(names[start])
    end = start + 1
    while first is not None and end < len(names) and names[end] == f"{first[1]}{int(first[2]) + end - start}":
        end += 1
    return end
