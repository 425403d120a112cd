"""A snapshot under pseudonyms, which gives the same answers: for a bug report that shows nobody's names.

Drivers, the names of attributes and capacities, and amounts stay; so do times, versions and gates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import msgspec

from dra_plan.api.resource import Device
from dra_plan.cel import Selector, compile_selector
from dra_plan.errors import DraPlanError

from .literals import renamed
from .pseudonyms import Pseudonymizing, drivers
from .snapshot import Snapshot

_UNREADABLE = (DraPlanError, msgspec.MsgspecError)


class Anonymized(NamedTuple):
    """A snapshot under pseudonyms; `values_stay` if it shows what drivers publish as texts of attributes."""

    snapshot: Snapshot
    values_stay: bool


def anonymized(snapshot: Snapshot) -> Anonymized:
    """The snapshot with other names, in the same order.

    Texts that drivers publish as attributes become others, too, unless a selector looks into them (`startsWith`,
    `matches`): then they all stay, and so do the constants of selectors.
    """
    objects = [msgspec.json.decode(text) for text in snapshot.objects]
    kept = drivers(objects)
    values = True
    names = _table(objects, kept, values=True)
    if not _selects_the_same(objects, names, kept):
        values = False
        names = _table(objects, kept, values=False)
    renaming = Pseudonymizing(lambda text: names.get(text, text), kept, values=values)
    told = [msgspec.structs.replace(entry, message="") for entry in snapshot.info.not_listed]
    info = msgspec.structs.replace(snapshot.info, anonymized=True, not_listed=told)
    texts = [msgspec.json.encode(renaming.object(value)) for value in objects]
    return Anonymized(replace(snapshot, info=info, objects=texts), not values)


def _table(objects: list[dict[str, Any]], kept: set[str], *, values: bool) -> dict[str, str]:
    """A pseudonym for each name, all equally long, in the names' order."""
    found: set[str] = set()

    def note(text: str) -> str:
        found.add(text)
        return text

    renaming = Pseudonymizing(note, kept, values=values)
    for value in objects:
        renaming.object(value)
    width = len(str(len(found)))
    return {name: f"x{number:0{width}}" for number, name in enumerate(sorted(found), 1)}


def _selects_the_same(objects: list[dict[str, Any]], names: dict[str, str], kept: set[str]) -> bool:
    """Whether every selector says of every device what it said before."""
    devices = _different_devices(objects)
    renaming = Pseudonymizing(lambda text: names.get(text, text), kept, values=True)
    new = [renaming.object({"devices": [device]})["devices"][0] for _, device in devices]
    for expression in sorted(set(_expressions(objects))):
        before, after = _compiled(expression), _compiled(renamed(expression, lambda text: names.get(text, text)))
        if before is None or after is None:
            if before is not after:
                return False
            continue
        for (driver, old), other in zip(devices, new, strict=True):
            if _verdict(before, old, driver) != _verdict(after, other, driver):
                return False
    return True


def _different_devices(objects: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """Devices with their drivers, one of those that are equal to selectors."""
    found: dict[bytes, tuple[str, dict[str, Any]]] = {}
    for value in objects:
        spec = value.get("spec") if value.get("kind") == "ResourceSlice" else None
        for device in (spec or {}).get("devices") or ():
            seen = {key: device[key] for key in ("attributes", "capacity", "allowMultipleAllocations") if key in device}
            driver = str((spec or {}).get("driver"))
            found.setdefault(msgspec.json.encode([driver, seen]), (driver, seen))
    return list(found.values())


def _expressions(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _expressions(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key == "expression" and isinstance(item, str):
                yield item
            else:
                yield from _expressions(item)


def _compiled(expression: str) -> Selector | None:
    try:
        return compile_selector(expression, feature_gates={"DRAListTypeAttributes": True})
    except _UNREADABLE:
        return None


def _verdict(selector: Selector, device: dict[str, Any], driver: str) -> object:
    """What the selector says of a device, or of which kind its error is."""
    return _said(lambda: selector.matches(msgspec.convert(device, Device), driver))


def _said(asked: Callable[[], bool]) -> object:
    try:
        return asked()
    except _UNREADABLE as error:
        return type(error).__name__
