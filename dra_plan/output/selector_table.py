"""`cel -o table` and `-o wide`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import text
from .columns import Screen, Table
from .formats import Formats

INDENT = "  "


def table(document: dict[str, Any], _screen: Screen | None) -> list[Table | str]:
    """What the expression is; below, the devices with what it gives; below, the values of its parts on one device."""
    parts = [_about(document), _devices(document), _values(document)]
    return [*(part for part in parts if part.rows), text.target(document)]


def _about(document: dict[str, Any]) -> Table:
    made = Table(("TYPE", "ESTIMATED COST", "LIMIT", "READS"), flexible=(3,))
    made.add(document["resultType"], str(document["maxCost"]), str(document["costLimit"]), _reads(document["reads"]))
    return made


def _reads(reads: list[dict[str, str]] | None) -> str:
    if reads is None:
        return "everything"
    return ", ".join(_read(read) for read in reads) or "nothing"


def _read(read: dict[str, str]) -> str:
    if "id" not in read:
        return read["kind"]
    return f"{read['kind']} {read['domain']}/{read['id']}"


def _devices(document: dict[str, Any]) -> Table:
    made = Table(("DRIVER", "POOL", "DEVICE", "MATCH", "COST", "ERROR"), grouped=2, flexible=(1, 2, 5))
    for device in document["devices"]:
        match = "error" if "error" in device else "yes" if device["match"] else "no"
        made.add(
            device["driver"],
            device["pool"],
            device["device"],
            match,
            str(device.get("cost", "")),
            device.get("error", ""),
        )
    return made


def _values(document: dict[str, Any]) -> Table:
    made = Table(("VALUE", "EXPRESSION"), flexible=(0, 1))
    if "explanation" in document:
        for depth, part in _flat(document["explanation"], 0):
            value = f"error: {part['error']}" if "error" in part else part.get("value", "not evaluated")
            made.add(value, INDENT * depth + part["expression"])
    return made


def _flat(part: dict[str, Any], depth: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """The parts of an expression, each before its own parts, with how deep it lies."""
    yield depth, part
    for inner in part["parts"]:
        yield from _flat(inner, depth + 1)


def names(document: dict[str, Any]) -> str:
    """`DRIVER/POOL/DEVICE` for every device that matches."""
    return "".join(f"{text.device_name(device)}\n" for device in document["devices"] if device.get("match"))


FORMATS = Formats(table=table, wide=table, name=names)
