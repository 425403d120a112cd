"""Lists and arrays taken apart into objects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dra_plan.api.meta import FieldPath

from .answers import explained, is_no_objects
from .diagnose import describe
from .places import NO_HEADER, Header, Item, Place, label_of
from .report import Report

MAX_DEPTH = 20
"""Steps into Lists: two for each List."""
_NO_STEPS: FieldPath = ()


def unwrap(value: object, place: Place, report: Report, inherited: Header = NO_HEADER) -> Iterator[Item]:
    """The objects of a document, those in Lists and arrays included; what is none is noted as a fault."""
    pending: list[tuple[object, Place, Header]] = [(value, place, inherited)]
    while pending:
        value, place, inherited = pending.pop()
        header = inherited
        if len(place.prefix) > MAX_DEPTH:
            report.fault(place._replace(prefix=()), f"Lists nested more than {MAX_DEPTH // 2} levels deep")
            continue
        if isinstance(value, list) and not place.prefix:
            items, steps = value, _NO_STEPS
        elif isinstance(value, dict):
            line = place.start_of(id(value)) or place.line
            place = place if line == place.line else place._replace(line=line)
            header = Header(value.get("apiVersion", inherited.api_version), value.get("kind", inherited.kind))
            if is_no_objects(*header):
                report.fault(place, explained(value, header))
                continue
            if not is_list(header.kind, "items" in value):
                yield Item(value, header, place)
                continue
            items, steps = _items(value, header, place, report), ("items",)
            report.list_read(header.kind, goes_on=_goes_on(value), origin=place.origin)
            header = header_of_items(header)
        else:
            report.fault(place, f"expected a Kubernetes object, got {describe(value)}", line=_line_of_item(place))
            continue
        below = [(item, place._replace(prefix=(*place.prefix, *steps, i)), header) for i, item in enumerate(items)]
        pending.extend(reversed(below))


def is_list(kind: object, has_items: bool) -> bool:
    """Whether an object is a List, of anything or of one kind."""
    return kind == "List" or (isinstance(kind, str) and kind.endswith("List") and has_items)


def header_of_items(header: Header) -> Header:
    """What the items of a List are when they don't say it themselves, as in raw API responses."""
    if header.kind == "List" or not isinstance(header.kind, str):
        return NO_HEADER
    return Header(header.api_version, header.kind.removesuffix("List"))


def _items(value: dict[str, Any], header: Header, place: Place, report: Report) -> list[Any]:
    label = label_of(header.kind, value.get("metadata"))
    if "items" not in value:
        report.fault(place, "missing; a List needs it", label=label, path=("items",))
        return []
    items = value["items"]
    if items is None:
        return []
    if not isinstance(items, list):
        report.fault(place, f"expected a list, got {describe(items)}", label=label, path=("items",))
        return []
    return items


def _goes_on(value: dict[str, Any]) -> bool:
    metadata = value.get("metadata")
    return isinstance(metadata, dict) and bool(metadata.get("continue"))


def _line_of_item(place: Place) -> int:
    return place.lines([()])[0]
