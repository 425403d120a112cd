"""The table of pools that drivers publish differently in two states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dra_plan.documents.devices import ChangedPool
from dra_plan.text.columns import Table
from dra_plan.text.words import counted, listed

MOST_VALUES = 4
"""The maximum number of a pool's changed values that are shown."""


def changed_pools(pools: Sequence[ChangedPool]) -> Table:
    """Return a table of changed pools. A driver's pools with the same changes share a row."""
    made = Table(("DRIVER", "POOL", "CHANGE", "WHAT"), grouped=1, flexible=(1, 3))
    alike: dict[tuple[str, str, str], list[str]] = {}
    for pool in pools:
        alike.setdefault((pool.driver, pool.change, "; ".join(_what(pool))), []).append(pool.pool)
    for (driver, change, what), names in alike.items():
        made.add(driver, listed(names), change, f"each: {what}" if len(names) > 1 and what else what)
    return made


def _what(pool: ChangedPool) -> Iterator[str]:
    for word, names in (("gone", pool.devices_gone), ("new", pool.devices_new)):
        if names:
            yield f"{counted(len(names), 'device')} {word}: {listed(names)}"
    for value in pool.values[:MOST_VALUES]:
        before, after = ("none" if each is None else each for each in (value.before, value.after))
        yield f"{value.field} of {counted(value.devices, 'device')}: {before} -> {after}"
    if len(pool.values) > MOST_VALUES:
        yield f"{counted(len(pool.values) - MOST_VALUES, 'other value')}"
