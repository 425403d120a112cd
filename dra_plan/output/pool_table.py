"""`pools -o table` and `-o wide`."""

from __future__ import annotations

from typing import Any

from . import names, text
from .columns import Screen, Table
from .formats import Formats


def table(document: dict[str, Any], screen: Screen | None) -> list[Table | str]:
    """One row per pool; counters below, for the pools that have them."""
    headers = ("DRIVER", "POOL", "STATE", "SLICES", "DEVICES", "AVAIL", "ALLOC", "TAINTED", "NODES")
    pools = Table(headers, grouped=1, flexible=(1, 8))
    counters = Table(("DRIVER", "POOL", "COUNTER SET", "COUNTER", "LEFT", "TOTAL"), grouped=3, flexible=(3, 4, 5))
    for pool in document["pools"]:
        pools.add(
            pool["driver"],
            pool["poolName"],
            pool["state"],
            f"{pool['observedResourceSliceCount']}/{pool['resourceSliceCount']}",
            *(str(pool[f"{which}Devices"]) for which in ("total", "available", "allocated", "tainted")),
            text.node_list(pool["nodes"], screen),
        )
        for counter_set in pool["counterSets"]:
            for name, total in counter_set["total"].items():
                left = counter_set["left"][name]
                counters.add(pool["driver"], pool["poolName"], counter_set["name"], name, left, total)
    parts: list[Table | str] = [part for part in (pools, counters, _invalid(document)) if part.rows]
    return [*parts, text.target(document)]


def _invalid(document: dict[str, Any]) -> Table:
    made = Table(("DRIVER", "POOL", "STATE", "REASON"), flexible=(3,))
    for pool in document["pools"]:
        if pool.get("validationError"):
            made.add(pool["driver"], pool["poolName"], pool["state"], pool["validationError"])
    return made


def wide(document: dict[str, Any], screen: Screen | None) -> list[Table | str]:
    """As `table`, and then every device."""
    devices = Table(
        ("DRIVER", "POOL", "GENERATION", "DEVICE", "STATE", "CAPACITY LEFT", "TAINTS", "REASON"),
        grouped=3,
        flexible=(3, 5, 6, 7),
    )
    for pool in document["pools"]:
        for device in pool["devices"]:
            taints = (
                f"{taint['key']}={taint.get('value', '')}:{taint['effect']}" for taint in device.get("taints", ())
            )
            devices.add(
                pool["driver"],
                pool["poolName"],
                str(pool["generation"]),
                device["name"],
                device["state"],
                ", ".join(f"{name}={amount}" for name, amount in device.get("capacity", {}).items()),
                ", ".join(taints),
                device.get("reason", ""),
            )
    *parts, about = table(document, screen)
    return [*parts, *([devices] if devices.rows else []), about]


FORMATS = Formats(table=table, wide=wide, name=names.pools)
