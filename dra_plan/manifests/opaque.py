"""Parameters that only drivers understand: kept as they are, so only their depth is looked at."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from dra_plan.api.base import Object
from dra_plan.api.resource import DeviceClass, OpaqueDeviceConfiguration, ResourceClaim, ResourceClaimTemplate

MAX_DEPTH = 200
"""Nesting levels; what is deeper could not be printed again."""


def is_too_deep(obj: Object) -> bool:
    """Whether opaque data of the object is nested too deeply to be handled safely."""
    return any(_depth_exceeds(value) for value in _opaque_values(obj))


def _opaque_values(obj: Object) -> Iterator[object]:
    configurations: list[OpaqueDeviceConfiguration | None] = []
    if isinstance(obj, DeviceClass):
        configurations = [entry.opaque for entry in obj.spec.config]
    elif isinstance(obj, ResourceClaimTemplate):
        configurations = [entry.opaque for entry in obj.spec.spec.devices.config]
    elif isinstance(obj, ResourceClaim):
        configurations = [entry.opaque for entry in obj.spec.devices.config]
        if obj.status is not None:
            if obj.status.allocation is not None:
                configurations += [entry.opaque for entry in obj.status.allocation.devices.config]
            yield from chain.from_iterable((device.data, device.network_data) for device in obj.status.devices)
    yield from (opaque.parameters for opaque in configurations if opaque is not None)


def _depth_exceeds(value: object) -> bool:
    level: list[object] = [value]
    for _ in range(MAX_DEPTH):
        level = [inner for outer in level for inner in _inner(outer)]
        if not level:
            return False
    return True


def _inner(value: object) -> Iterator[object]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value
