"""The smallest cluster of an allocation: driver `a.example.com` and class `a`, pool `p`, node `n1`, claim `c`."""

from __future__ import annotations

from typing import Any

from tests import build
from tests.build import Object

DRIVER = "a.example.com"


def device_class(name: str = "a", driver: str = DRIVER) -> Object:
    return build.device_class(name, driver=driver)


def pool(*devices: Object, counters: dict[str, str] | None = None, name: str = "p", **spec: Any) -> list[Object]:
    """The slices of one pool: its devices, and the counter set `s` where counters are given."""
    where = {} if "nodeSelector" in spec else {"nodeName": "n1"}
    spec = {"driver": DRIVER, **where, **spec}
    slices = [build.slice_(name, *devices, name=f"{name}-0", of=2 if counters else 1, **spec)]
    if counters:
        spec.pop("perDeviceNodeSelection", None)
        slices.append(build.counters(name, {"s": counters}, name=f"{name}-1", **spec))
    return slices


def device(name: str, *, consumes: dict[str, str] | None = None, **fields: Any) -> Object:
    """A device that takes from the counter set `s`."""
    return build.device(name, consumes={"s": consumes} if consumes else None, **fields)


def exactly(name: str, count: int = 1, **fields: Any) -> Object:
    return {"name": name, "exactly": option(count=count, **fields)}


def every(name: str, **fields: Any) -> Object:
    return build.request(name, of="a", **{"allocationMode": "All", **fields})


def option(*, where: str = "", **fields: Any) -> Object:
    chosen = {"selectors": build.selectors(where)} if where else {}
    return {"deviceClassName": "a", **fields, **chosen}


def claim(*requests: Object, name: str = "c", **devices: Any) -> Object:
    return build.claim(name, *requests, uid=None, **devices)


def is_v(value: int) -> str:
    return f'device.attributes["{DRIVER}"].v == {value}'
