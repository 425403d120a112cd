"""`pools -o table` and `-o wide`."""

from __future__ import annotations

from typing import Any

from . import names, text
from .columns import Screen, Table
from .formats import Formats


def table(document: dict[str, Any], screen: Screen | None) -> list[Table | str]:
    """One row per pool; below, what is wrong with pools, and what is left of counters and of devices in shares."""
    parts = [_pools(document, screen), _invalid(document), _counter_sets(document), _shared(document)]
    return [*(part for part in parts if part.rows), text.target(document)]


def wide(document: dict[str, Any], screen: Screen | None) -> list[Table | str]:
    """One row per pool; below, every counter and every device."""
    parts = [_pools(document, screen), _invalid(document), _counters(document), _devices(document)]
    return [*(part for part in parts if part.rows), text.target(document)]


def _pools(document: dict[str, Any], screen: Screen | None) -> Table:
    headers = ("DRIVER", "POOL", "STATE", "SLICES", "DEVICES", "AVAIL", "ALLOC", "TAINTED", "NODES")
    made = Table(headers, grouped=1, flexible=(1, 8))
    for pool in document["pools"]:
        made.add(
            pool["driver"],
            pool["poolName"],
            pool["state"],
            f"{pool['observedResourceSliceCount']}/{pool['resourceSliceCount']}",
            *(str(pool[f"{which}Devices"]) for which in ("total", "available", "allocated", "tainted")),
            text.node_list(pool["nodes"], screen),
        )
    return made


def _invalid(document: dict[str, Any]) -> Table:
    made = Table(("DRIVER", "POOL", "STATE", "REASON"), flexible=(1, 3))
    for pool in document["pools"]:
        if pool.get("validationError"):
            made.add(pool["driver"], pool["poolName"], pool["state"], pool["validationError"])
    return made


def _counter_sets(document: dict[str, Any]) -> Table:
    """One row per counter set: the counters that devices have taken from."""
    made = Table(("DRIVER", "POOL", "COUNTER SET", "LEFT"), grouped=2, flexible=(2, 3))
    for pool in document["pools"]:
        for counter_set in pool["counterSets"]:
            total, left = counter_set["total"], counter_set["left"]
            touched = [f"{name} {left[name]} of {total[name]}" for name in total if left[name] != total[name]]
            if touched and len(touched) < len(total):
                touched.append("all else")
            made.add(pool["driver"], pool["poolName"], counter_set["name"], ", ".join(touched) or "all")
    return made


def _counters(document: dict[str, Any]) -> Table:
    made = Table(("DRIVER", "POOL", "COUNTER SET", "COUNTER", "LEFT", "TOTAL"), grouped=3, flexible=(3, 4, 5))
    for pool in document["pools"]:
        for counter_set in pool["counterSets"]:
            for name, total in counter_set["total"].items():
                left = counter_set["left"][name]
                made.add(pool["driver"], pool["poolName"], counter_set["name"], name, left, total)
    return made


def _shared(document: dict[str, Any]) -> Table:
    """Devices that shares are taken from."""
    made = Table(("DRIVER", "POOL", "DEVICE", "STATE", "CAPACITY LEFT"), grouped=2, flexible=(2, 4))
    for pool in document["pools"]:
        for device in pool["devices"]:
            if "capacity" in device and device["state"] != "Available":
                made.add(pool["driver"], pool["poolName"], device["name"], device["state"], _capacity(device))
    return made


def _devices(document: dict[str, Any]) -> Table:
    headers = ("DRIVER", "POOL", "GENERATION", "DEVICE", "STATE", "CAPACITY LEFT", "TAINTS", "NODES", "REASON")
    made = Table(headers, grouped=3, flexible=(3, 5, 6, 7, 8))
    for pool in document["pools"]:
        for device in pool["devices"]:
            made.add(
                pool["driver"],
                pool["poolName"],
                str(pool["generation"]),
                device["name"],
                device["state"],
                _capacity(device),
                ", ".join(_taint(taint) for taint in device.get("taints", ())),
                ", ".join(device.get("nodes", ())),
                device.get("reason", ""),
            )
    return made


def _capacity(device: dict[str, Any]) -> str:
    return ", ".join(f"{name}={amount}" for name, amount in device.get("capacity", {}).items())


def _taint(taint: dict[str, Any]) -> str:
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint['key']}{value}:{taint['effect']}"


FORMATS = Formats(table=table, wide=wide, name=names.pools)
