"""`cel -o table` and `-o wide`."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import UNSET

from dra_plan import shown
from dra_plan.explanation.hints import marked
from dra_plan.questions.cel.document import PartValue, SelectorDocument, SelectorRead
from dra_plan.text import formats
from dra_plan.text.columns import Paragraph, Part, Screen, Table, Verbatim
from dra_plan.text.folding import ranges
from dra_plan.text.formats import Format, Formats
from dra_plan.text.naming import device_name, target
from dra_plan.text.selectors import ends_attempt
from dra_plan.text.words import capital, counted

INDENT = "  "


def table(document: SelectorDocument, screen: Screen | None) -> list[Part]:
    """Return what the expression reads and costs, its results on devices, and the values of its sub-expressions.

    Sub-expressions have values only if one device was selected. On a terminal, devices of a pool that have the same
    result share a row.
    """
    return _parts(document, together=screen is not None)


def wide(document: SelectorDocument, _screen: Screen | None) -> list[Part]:
    """Return the same content as `table`, with a row for every device."""
    return _parts(document, together=False)


def _parts(document: SelectorDocument, *, together: bool) -> list[Part]:
    devices = _devices(document, together=together)
    made: list[Part] = [_about(document)]
    if devices.rows:
        made += [devices, _total(document), *_hint(document)]
    values = _values(document)
    return [*made, *([values] if values.rows else []), target(document)]


_MEANT = "This is true for a device:"
_MENDED = "This expression does not fail on any device:"


def _hint(document: SelectorDocument) -> Iterator[Part]:
    """Yield the values that the devices have, and the probably intended expression."""
    hint = document.hint
    if hint is not UNSET:
        ends = ("" if said.endswith("?") else "." for said in hint.said)
        names = [read.id for read in document.reads or ()]
        said = (capital(one, next((name for name in names if one.startswith(f"{name} ")), "")) for one in hint.said)
        lines = [f"{one}{end}" for one, end in zip(said, ends, strict=True)]
        lines += [Verbatim(f"  {line}") for line in marked(document.expression, hint.offset)]
        if hint.expression:
            lines += [_MENDED if any(device.match for device in document.devices) else _MEANT]
            lines += [Verbatim(f"  {hint.expression}")]
        yield Paragraph(lines)


def _total(document: SelectorDocument) -> str:
    """Return the extent to which the expression is true: `4,100 of 12,000 devices match, on 510 nodes.`.

    Devices that are not on a single node are identified by their pools.
    """
    matching = [device for device in document.devices if device.match]
    errors = sum(device.error is not None for device in document.devices)
    nodes = len({device.node_name for device in matching if device.node_name})
    pools = len({(device.driver, device.pool) for device in matching if not device.node_name})
    places = [f"on {counted(nodes, 'node')}"] if nodes else []
    places += [f"in {counted(pools, 'pool')} that nodes share"] if pools else []
    found = f", {' and '.join(places)}" if places else ""
    failing = f"; the expression fails on {counted(errors, 'device')}: {ends_attempt(errors)}" if errors else ""
    what = "device" if len(document.devices) == 1 else "devices"
    verb = "matches" if len(matching) == 1 else "match"
    return f"{len(matching):,} of {len(document.devices):,} {what} {verb}{found}{failing}."


_TYPES = {"google.protobuf.Any": "that of the attribute", "dyn": "any"}


def _about(document: SelectorDocument) -> Table:
    made = Table(("TYPE", "ESTIMATED COST", "LIMIT", "READS"), flexible=(3,))
    kind = _TYPES.get(document.result_type, document.result_type)
    made.add(kind, str(document.max_cost), str(document.cost_limit), _reads(document.reads))
    return made


def _reads(reads: list[SelectorRead] | None) -> str:
    if reads is None:
        return "everything"
    return ", ".join(_read(read) for read in reads) or "nothing"


def _read(read: SelectorRead) -> str:
    return f"{read.kind} {read.domain}/{read.id}" if read.id else read.kind


def _devices(document: SelectorDocument, *, together: bool) -> Table:
    """Return a row per device; with `together`, one row for the devices of a pool with equal results."""
    made = Table(("DRIVER", "POOL", "DEVICE", "MATCH", "COST", "ERROR"), grouped=2, flexible=(1, 2, 5))
    alike: dict[tuple[str, ...], list[str]] = {}
    for device in document.devices:
        match = "error" if device.error is not None else "yes" if device.match else "no"
        cost = "" if device.cost is None else str(device.cost)
        own = "" if together else device.device
        key = (device.driver, device.pool, match, cost, device.error or "", own)
        alike.setdefault(key, []).append(device.device)
    for (driver, pool, *cells, _), names in alike.items():
        made.add(driver, pool, ", ".join(ranges(names)) if together else names[0], *cells)
    return made


def _values(document: SelectorDocument) -> Table:
    made = Table(("VALUE", "EXPRESSION"), flexible=(0, 1))
    if document.explanation is not UNSET:
        for depth, part in _flat(document.explanation, 0):
            value = "not evaluated" if part.value is None else part.value
            made.add(value if part.error is None else f"error: {part.error}", INDENT * depth + part.expression)
    return made


def _flat(part: PartValue, depth: int) -> Iterator[tuple[int, PartValue]]:
    """Yield the parts of an expression, each before its own parts, with its depth."""
    yield depth, part
    for inner in part.parts:
        yield from _flat(inner, depth + 1)


def names(document: SelectorDocument) -> str:
    """Return a line of the form `DRIVER/POOL/DEVICE` for each matching device."""
    return "".join(f"{shown.line(device_name(device))}\n" for device in document.devices if device.match)


FORMATS = Formats(table=table, wide=wide, name=names)


def parse(option: str) -> Format[SelectorDocument]:
    """Return the format for `-o OPTION`. Raises UsageError for an unknown format or a malformed template."""
    return formats.parse(option, FORMATS)
