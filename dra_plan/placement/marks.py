"""Marks on devices, and requests that ask for them: how the allocator is asked about some devices alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec.structs import replace

from dra_plan.api.resource import (
    CELDeviceSelector,
    Device,
    DeviceAttribute,
    DeviceRequest,
    DeviceSelector,
    ResourceClaim,
)

_DOMAIN = "placement.dra-plan"
_MARKED = DeviceAttribute(bool_value=True)


def selector_of(mark: str) -> DeviceSelector:
    """True of devices that carry the mark."""
    return DeviceSelector(cel=CELDeviceSelector(expression=f'"{mark}" in device.attributes["{_DOMAIN}"]'))


def attributes_with(device: Device, marks: Iterable[str]) -> dict[str, DeviceAttribute]:
    """The attributes of the device, and these marks among them."""
    return {**device.attributes, **{f"{_DOMAIN}/{mark}": _MARKED for mark in marks}}


def asking(claim: ResourceClaim, changed: Callable[[DeviceRequest], DeviceRequest]) -> ResourceClaim:
    """The claim with each of its requests changed."""
    requests = [changed(request) for request in claim.spec.devices.requests]
    return replace(claim, spec=replace(claim.spec, devices=replace(claim.spec.devices, requests=requests)))
