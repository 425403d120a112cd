"""The kinds of devices: those that share their parts in memory have the numbers that equal copies have."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import pytest
from msgspec.structs import replace

from dra_plan import releases
from dra_plan.allocator import View, kinds
from dra_plan.api.inventory import Inventory
from dra_plan.api.resource import ResourceSlice
from dra_plan.manifests.decode import from_dicts
from tests.build import Object, claim, device, device_class, request, slice_, taint

SELECTORS = (
    'device.attributes["gpu.example.com"].model == "A"',
    'device.attributes["gpu.example.com"].index > 1 && device.driver == "gpu.example.com"',
    'device.capacity["gpu.example.com"].memory.isGreaterThan(quantity("1Gi"))',
)


def some_device(r: random.Random, at: int) -> Object:
    attributes: dict[str, Any] = {"model": r.choice("AB"), "uuid": f"u-{r.random()}", "index": r.randrange(3)}
    attributes |= r.choice(({}, {"gpu.example.com/model": "C"}, {"v": {"version": r.choice(("1.2.3", "v1"))}}))
    if r.random() < 0.1:
        attributes["model"] = {"strings": ["A"]}
    taints = [taint("k", r.choice("xy"))] if r.random() < 0.2 else None
    capacity = r.choice(({}, {"memory": "1Gi"}, {"memory": "1024Mi"}, {"memory": {"value": "2Gi"}}))
    shared = True if r.random() < 0.2 else None
    return device(f"d-{at}", capacity=capacity, taints=taints, allowMultipleAllocations=shared, **attributes)


def numbers(inventory: Inventory) -> list[tuple[int | None, ...]]:
    view = View.of(inventory, releases.target())
    found = view.device_kinds.of(view.requests(inventory.claims))
    assert found is not None
    return [found.of(each) for slices in view.gatherer.slices.values() for each in slices]


def mixed(slice_: ResourceSlice, r: random.Random) -> ResourceSlice:
    """The slice with devices that have parts of two of its own in common."""
    devices = list(slice_.spec.devices)
    for at in range(6):
        one, other = r.sample(devices, 2)
        part = r.choice(("capacity", "taints", "allow_multiple_allocations", "attributes"))
        devices.append(replace(one, name=f"mixed-{at}", **{part: getattr(other, part)}))
    return replace(slice_, spec=replace(slice_.spec, devices=devices))


@pytest.mark.parametrize("seed", range(20))
def test_shared_parts_are_recognized_and_copies_are_equal(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    r = random.Random(seed)
    slices = [slice_(f"n{at}", *(some_device(r, each) for each in range(5))) for at in range(4)]
    wanted = claim("c", *(request(f"r{at}", each) for at, each in enumerate(r.sample(SELECTORS, 2))))
    given = from_dicts([device_class(), *slices, wanted])
    given = dataclasses.replace(given, slices=[mixed(each, r) for each in given.slices])
    shared = numbers(given)
    monkeypatch.setattr(kinds, "_MOST_PARTS", 0)
    assert numbers(given) == shared
