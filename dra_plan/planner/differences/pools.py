"""Pools that drivers publish in another way: devices that came or went, values that changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from dra_plan.allocator import PoolID, View
from dra_plan.api.resource import Device
from dra_plan.documents.diff import ChangedPool, ChangedValue


def changed_pools(before: View, after: View) -> Iterator[ChangedPool]:
    """The pools whose newest generations differ, those of the state before first."""
    if before.slices is after.slices:
        return
    old, new = before.gatherer, after.gatherer
    for pool in dict.fromkeys((*old.slices, *new.slices)):
        if pool not in old.slices or pool not in new.slices:
            yield ChangedPool(driver=pool.driver, pool=pool.pool, change="Gone" if pool in old.slices else "New")
        else:
            yield from _changed(pool, published(before, pool), published(after, pool))


def published(view: View, pool: PoolID) -> dict[str, Device]:
    """The devices of the newest generation of a pool, by name."""
    newest = view.gatherer.newest(pool)
    return {device.name: device for slice_ in newest.slices for device in slice_.object.spec.devices}


def _changed(pool: PoolID, before: Mapping[str, Device], after: Mapping[str, Device]) -> Iterator[ChangedPool]:
    gone = [name for name in before if name not in after]
    new = [name for name in after if name not in before]
    values: dict[str, list[tuple[str | None, str | None]]] = {}
    for name, device in before.items():
        if name in after and device != after[name]:
            for field, change in _values(device, after[name]):
                values.setdefault(field, []).append(change)
    if gone or new or values:
        yield ChangedPool(
            driver=pool.driver,
            pool=pool.pool,
            change="Changed",
            devices_gone=gone,
            devices_new=new,
            values=[
                ChangedValue(field=field, devices=len(changes), before=changes[0][0], after=changes[0][1])
                for field, changes in values.items()
            ],
        )


def _values(before: Device, after: Device) -> Iterator[tuple[str, tuple[str | None, str | None]]]:
    """Fields of a device that differ; attributes and capacities one by one."""
    old, new = _fields(before), _fields(after)
    for field in dict.fromkeys((*old, *new)):
        if old.get(field) != new.get(field):
            yield field, (old.get(field), new.get(field))


def _fields(device: Device) -> dict[str, str]:
    plain: dict[str, Any] = msgspec.to_builtins(device)
    plain.pop("name", None)
    found = {}
    for field, value in plain.items():
        if field in ("attributes", "capacity"):
            found.update({f"{field}.{name}": _text(inner) for name, inner in value.items()})
        elif value not in (None, [], {}):
            found[field] = _text(value)
    return found


def _text(value: Any) -> str:
    """The value as JSON; that of an attribute or a capacity without the name of its type."""
    if isinstance(value, dict):
        value = {name: inner for name, inner in value.items() if inner not in (None, [], {})}
        if len(value) == 1:
            [value] = value.values()
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
