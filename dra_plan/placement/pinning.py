"""Pinning: test whether requests can get particular devices.

The allocator takes the first devices that fit. To test particular devices, it is shown only those devices, each with a
mark, and each request requires its mark. Requests for all devices are left unchanged, and so are the devices that they
would take.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec.structs import replace

from dra_plan.allocator import AllocatedState, DeviceID, SelectorError
from dra_plan.allocator.pools import PoolDevice, PoolSlice
from dra_plan.allocator.requests import Want
from dra_plan.api.resource import AllocationResult, DeviceRequest, ResourceClaim, ResourceSlice

from .node_kinds import asking, attributes_with, selector_of

Marks = Mapping[DeviceID, Collection[str]]
"""The marks of each device."""


def marks_of(allocations: Iterable[AllocationResult]) -> Marks:
    """Return the marks of each device in the allocations. Each request has its own mark."""
    found: dict[DeviceID, dict[str, None]] = {}
    for claim, allocation in enumerate(allocations):
        for each in allocation.devices.results:
            name = _mark(claim, each.request)
            found.setdefault(DeviceID(each.driver, each.pool, each.device), {})[name] = None
    return found


def _mark(claim: int, request: str) -> str:
    return f"c{claim}_{request.replace('/', '__').replace('-', '_').replace('.', '_')}"


def pinned(claims: Sequence[ResourceClaim], allocations: Sequence[AllocationResult]) -> list[ResourceClaim]:
    """Return the claims with each request changed to require its mark.

    A request with alternatives keeps only the allocated one.
    """
    return [_pinned(index, *each) for index, each in enumerate(zip(claims, allocations, strict=True))]


def _pinned(index: int, claim: ResourceClaim, allocation: AllocationResult) -> ResourceClaim:
    meant = {each.request for each in allocation.devices.results}
    return asking(claim, lambda request: _request(index, request, meant))


def _request(claim: int, request: DeviceRequest, meant: Collection[str]) -> DeviceRequest:
    if request.exactly is not None:
        if request.exactly.allocation_mode == "All":
            return request
        selectors = [*request.exactly.selectors, selector_of(_mark(claim, request.name))]
        return replace(request, exactly=replace(request.exactly, selectors=selectors))
    options = [
        option
        if option.allocation_mode == "All"
        else replace(option, selectors=[*option.selectors, selector_of(_mark(claim, f"{request.name}/{option.name}"))])
        for option in request.first_available
        if f"{request.name}/{option.name}" in meant
    ]
    return replace(request, first_available=options) if options else request


def marked(slice_: PoolSlice, marks: Marks, state: AllocatedState, greedy: Collection[Want]) -> ResourceSlice:
    """Return the slice with only the devices that are marked, in use, or needed by a request for all devices.

    Devices in use are kept because they consume counters.
    """
    left = []
    for device in slice_.devices:
        names = marks.get(device.id)
        if names:
            left.append(replace(device.device, attributes=attributes_with(device.device, names)))
        elif device.id in state.dedicated or device.id in state.shared or any(_takes(w, device) for w in greedy):
            left.append(device.device)
    return replace(slice_.object, spec=replace(slice_.object.spec, devices=left))


def _takes(want: Want, device: PoolDevice) -> bool:
    """Return whether the request's selectors are true for the device, or can't be evaluated."""
    try:
        return want.selector_refusal(device) is None
    except SelectorError:
        return True
