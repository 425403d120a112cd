"""Rows of pools, with those that are alike in one: a fleet has hundreds of pools that differ in nothing but names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence

from dra_plan.documents.pools import ListedPool

from .explain_words import counted
from .text import NAMES

Cells = tuple[str, ...]


def alike(pools: Sequence[ListedPool], key: Callable[[ListedPool], Hashable]) -> list[list[ListedPool]]:
    """The pools of one driver that have the same key, in the order of the first; few of them stay apart."""
    groups: dict[Hashable, list[ListedPool]] = {}
    for pool in pools:
        groups.setdefault((pool.driver, key(pool)), []).append(pool)
    together = {key: group for key, group in groups.items() if len(group) > NAMES + 1}
    rows = []
    for pool in pools:
        group = together.get((pool.driver, key(pool)), [pool])
        if group[0] is pool:
            rows.append(group)
    return rows


def label(group: Sequence[ListedPool]) -> str:
    """How the pools of a row are called; what stands in the row holds for each of them."""
    first = group[0].pool_name
    return f"{first} and {len(group) - 1} like it" if len(group) > 1 else first


def nodes(group: Sequence[ListedPool]) -> str:
    """How many nodes see the pools of a row; which they are is told of each pool by itself."""
    return counted(len({name for pool in group for name in pool.nodes}), "node")


def models(pool: ListedPool) -> list[str]:
    """What the devices are, as far as the driver says so."""
    return sorted({device.model for device in pool.devices} - {""})


def contents(pool: ListedPool) -> Hashable:
    """How many devices there are of each model, and how many nodes see them."""
    return frozenset(Counter(device.model for device in pool.devices).items()), len(pool.nodes)


def rows(pools: Sequence[ListedPool], cells: Callable[[ListedPool], list[Cells]]) -> list[Cells]:
    """Driver, pools, and the cells that tell something of a pool: once for all pools of which the same is told."""
    told = {id(pool): cells(pool) for pool in pools}
    groups = alike([pool for pool in pools if told[id(pool)]], lambda pool: tuple(told[id(pool)]))
    return [(group[0].driver, label(group), *row) for group in groups for row in told[id(group[0])]]
