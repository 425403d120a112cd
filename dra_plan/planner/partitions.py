"""Devices that are parts of others: how many physical devices there are, and how many parts of each kind still fit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from dra_plan.allocator.capacity import Counters, summed
from dra_plan.allocator.pools import Pool, PoolDevice
from dra_plan.documents.pools import PartitionProfile

_MODEL = ("model", "productName", "product")
_PROFILE = ("profile", "type")
"""Attributes of the driver's own domain under which drivers publish what a device is."""


def model(device: PoolDevice) -> str:
    """What the device is, as far as the driver says so."""
    return _first(device, _MODEL)


def profile(device: PoolDevice) -> str:
    """What kind of part the device is: as the driver says, or by its name without numbers."""
    return _first(device, _PROFILE) or re.sub(r"[-_.]?\d+", "", device.id.device) or device.id.device


class DeviceKind(NamedTuple):
    """Devices that are told together."""

    driver: str
    model: str
    profile: str
    """Of parts."""


def kind(device: PoolDevice) -> DeviceKind:
    """The driver, what the device is, and of a part what kind of part."""
    return DeviceKind(device.id.driver, model(device), profile(device) if device.consumption else "")


def _first(device: PoolDevice, names: Sequence[str]) -> str:
    attributes = device.device.attributes
    for name in names:
        found = attributes.get(name) or attributes.get(f"{device.id.driver}/{name}")
        if found is not None and found.string_value:
            return found.string_value
    return ""


def physical(devices: Sequence[PoolDevice]) -> int:
    """The counter sets that the devices draw from: each stands for one physical device."""
    return len({counter_set for device in devices for counter_set, _, _ in device.consumption})


def profiles(
    counters: Counters, pool: Pool, devices: Sequence[PoolDevice], available: Sequence[PoolDevice]
) -> list[PartitionProfile]:
    """The kinds of parts: how many there are, and how many still fit if nothing else is taken, one after the other."""
    total = Counter(profile(device) for device in devices if device.consumption)
    fit: Counter[str] = Counter()
    spent: dict[str, dict[tuple[Hashable, str, str], int]] = {}
    for device in available:
        if not device.consumption:
            continue
        name = profile(device)
        taken = spent.setdefault(name, {})
        if counters.short(device, counters.table(device, pool, set()), taken) is None:
            fit[name] += 1
            for counter_set, counter, amount in summed(device.consumption):
                place = (counters.key(device), counter_set, counter)
                taken[place] = taken.get(place, 0) + amount
    return [PartitionProfile(profile=name, devices=total[name], fit=fit[name]) for name in sorted(total)]
