"""Opaque parameters, which only drivers understand. They are kept unchanged; only their depth is checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from dra_plan.api.meta import Object
from dra_plan.api.resource import DeviceClass, ResourceClaim, ResourceClaimSpec, ResourceClaimTemplate

MAX_DEPTH = 200
TOO_DEEP = f"data nested more than {MAX_DEPTH} levels deep"
"""The message for opaque data that is nested too deeply to be printed."""


def is_too_deep(obj: Object) -> bool:
    """Return whether opaque data in the object is nested too deeply."""
    find = _OPAQUE.get(type(obj))
    return find is not None and any(_depth_exceeds(value) for value in find(obj))


def _of_class(device_class: DeviceClass) -> Iterable[object]:
    return [entry.opaque.parameters for entry in device_class.spec.config if entry.opaque is not None]


def _of_template(template: ResourceClaimTemplate) -> Iterable[object]:
    return _of_spec(template.spec.spec)


def _of_claim(claim: ResourceClaim) -> Iterable[object]:
    status = claim.status
    allocation = status.allocation if status is not None else None
    if not (claim.spec.devices.config or (allocation and allocation.devices.config) or (status and status.devices)):
        return ()
    found = _of_spec(claim.spec)
    if allocation is not None:
        found += [entry.opaque.parameters for entry in allocation.devices.config if entry.opaque is not None]
    if status is not None:
        found += chain.from_iterable((device.data, device.network_data) for device in status.devices)
    return found


def _of_spec(spec: ResourceClaimSpec) -> list[object]:
    return [entry.opaque.parameters for entry in spec.devices.config if entry.opaque is not None]


_OPAQUE: dict[type[Object], Callable[[Any], Iterable[object]]] = {
    DeviceClass: _of_class,
    ResourceClaimTemplate: _of_template,
    ResourceClaim: _of_claim,
}


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
