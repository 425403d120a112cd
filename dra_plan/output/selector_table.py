"""`cel -o table` and `-o wide`."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import UNSET

from dra_plan import shown
from dra_plan.documents.selectors import PartValue, SelectorDocument, SelectorRead

from . import text
from .columns import Part, Screen, Table
from .formats import Formats

INDENT = "  "


def table(document: SelectorDocument, _screen: Screen | None) -> list[Part]:
    """What the expression is; below, the devices with what it gives; below, the values of its parts on one device."""
    parts = [_about(document), _devices(document), _values(document)]
    return [*(part for part in parts if part.rows), text.target(document)]


def _about(document: SelectorDocument) -> Table:
    made = Table(("TYPE", "ESTIMATED COST", "LIMIT", "READS"), flexible=(3,))
    made.add(document.result_type, str(document.max_cost), str(document.cost_limit), _reads(document.reads))
    return made


def _reads(reads: list[SelectorRead] | None) -> str:
    if reads is None:
        return "everything"
    return ", ".join(_read(read) for read in reads) or "nothing"


def _read(read: SelectorRead) -> str:
    return f"{read.kind} {read.domain}/{read.id}" if read.id else read.kind


def _devices(document: SelectorDocument) -> Table:
    made = Table(("DRIVER", "POOL", "DEVICE", "MATCH", "COST", "ERROR"), grouped=2, flexible=(1, 2, 5))
    for device in document.devices:
        match = "error" if device.error is not None else "yes" if device.match else "no"
        made.add(
            device.driver,
            device.pool,
            device.device,
            match,
            "" if device.cost is None else str(device.cost),
            device.error or "",
        )
    return made


def _values(document: SelectorDocument) -> Table:
    made = Table(("VALUE", "EXPRESSION"), flexible=(0, 1))
    if document.explanation is not UNSET:
        for depth, part in _flat(document.explanation, 0):
            value = "not evaluated" if part.value is None else part.value
            made.add(value if part.error is None else f"error: {part.error}", INDENT * depth + part.expression)
    return made


def _flat(part: PartValue, depth: int) -> Iterator[tuple[int, PartValue]]:
    """The parts of an expression, each before its own parts, with how deep it lies."""
    yield depth, part
    for inner in part.parts:
        yield from _flat(inner, depth + 1)


def names(document: SelectorDocument) -> str:
    """`DRIVER/POOL/DEVICE` for every device that matches."""
    return "".join(f"{shown.line(text.device_name(device))}\n" for device in document.devices if device.match)


FORMATS = Formats(table=table, wide=table, name=names)
