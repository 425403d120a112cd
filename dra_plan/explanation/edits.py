"""Edits to claims, classes, nodes and slices, each of which returns a new placement; nothing is changed in place.

Claims created from one template are edited together, because one of them cannot be changed alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from dra_plan.allocator import PoolID
from dra_plan.allocator.requests import Want
from dra_plan.api.resource import (
    CapacityRequirements,
    CELDeviceSelector,
    DeviceRequest,
    DeviceSelector,
    DeviceSubRequest,
    DeviceToleration,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceSlice,
)

from .elements import with_parts
from .placement import Placement

Edit = Callable[[ExactDeviceRequest | DeviceSubRequest], ExactDeviceRequest | DeviceSubRequest]


def edit_request(placement: Placement, claim: int, full_name: str, edit: Edit) -> Placement:
    """Return the placement with one request edited. An alternative of a request is named `REQUEST/ALTERNATIVE`."""
    name, _, alternative = full_name.partition("/")

    def edited(request: DeviceRequest) -> DeviceRequest:
        if request.name != name:
            return request
        if not alternative:
            return replace(request, exactly=edit(request.exactly or ExactDeviceRequest()))
        subs = [edit(sub) if sub.name == alternative else sub for sub in request.first_available]
        return replace(request, first_available=subs)

    return _edit_claim(placement, claim, lambda old: _with_requests(old, edited))


def _with_requests(old: ResourceClaim, edited: Callable[[DeviceRequest], DeviceRequest]) -> ResourceClaim:
    devices = replace(old.spec.devices, requests=[edited(request) for request in old.spec.devices.requests])
    return replace(old, spec=replace(old.spec, devices=devices))


def _edit_claim(placement: Placement, index: int, edit: Callable[[ResourceClaim], ResourceClaim]) -> Placement:
    """Return the placement with this claim, and all other claims from its template, edited."""
    first = placement.first_alike(index)
    return placement.with_claims(
        edit(claim) if placement.first_alike(at) == first else claim for at, claim in enumerate(placement.claims)
    )


def drop_constraint(placement: Placement, claim: int, position: int) -> Placement:
    """Return the placement after one constraint of a claim has been removed."""

    def edit(old: ResourceClaim) -> ResourceClaim:
        kept = [c for at, c in enumerate(old.spec.devices.constraints) if at != position]
        return with_parts(old, old.spec.devices.requests, kept)

    return _edit_claim(placement, claim, edit)


def drop_request(placement: Placement, claim: int, name: str) -> Placement:
    """Return the placement after one request of a claim has been removed."""

    def edit(old: ResourceClaim) -> ResourceClaim:
        kept = [request for request in old.spec.devices.requests if request.name != name]
        return with_parts(old, kept, old.spec.devices.constraints)

    return _edit_claim(placement, claim, edit)


def tolerate(toleration: DeviceToleration) -> Edit:
    """Return an edit that adds a toleration to a request."""
    return lambda asked: replace(asked, tolerations=[*asked.tolerations, toleration])


def set_count(count: int) -> Edit:
    """Return an edit that changes the number of devices of a request to `count`."""
    return lambda asked: replace(asked, allocation_mode="ExactCount", count=count)


def set_class(name: str) -> Edit:
    """Return an edit that changes the device class of a request."""
    return lambda asked: replace(asked, device_class_name=name)


def add_alternative(placement: Placement, claim: int, name: str, class_name: str, count: int) -> Placement:
    """Return the placement with one more alternative at the end of a firstAvailable request.

    The alternative is named after its class.
    """

    def edited(request: DeviceRequest) -> DeviceRequest:
        if request.name != name:
            return request
        sub = DeviceSubRequest(
            name=alternative_name(class_name), device_class_name=class_name, allocation_mode="ExactCount", count=count
        )
        return replace(request, first_available=[*request.first_available, sub])

    return _edit_claim(placement, claim, lambda old: _with_requests(old, edited))


def alternative_name(class_name: str) -> str:
    """Return a name for an alternative. It is the name of the class, changed to a valid DNS label."""
    return class_name.replace(".", "-")[:63].strip("-")


def set_selector(position: int, expression: str | None) -> Edit:
    """Return an edit that replaces a selector. If there is no expression, the selector is removed."""

    def edit(asked: ExactDeviceRequest | DeviceSubRequest) -> ExactDeviceRequest | DeviceSubRequest:
        return replace(asked, selectors=_selectors(asked.selectors, position, expression))

    return edit


def set_class_selector(placement: Placement, class_name: str, position: int, expression: str | None) -> Placement:
    """Return the placement after a selector of a device class has been replaced or, without an expression, removed."""
    old = placement.view.classes[class_name]
    selectors = _selectors(old.spec.selectors, position, expression)
    changed = replace(old, spec=replace(old.spec, selectors=selectors))
    return placement.with_classes({**placement.view.classes, class_name: changed})


def replace_selector(
    placement: Placement, want: Want, class_name: str | None, position: int, expression: str | None
) -> Placement:
    """Return the placement after a selector has been replaced or, without an expression, removed.

    If `class_name` is given, the selector belongs to this class; otherwise, it belongs to the request.
    """
    if class_name is not None:
        return set_class_selector(placement, class_name, position, expression)
    return edit_request(placement, want.claim_index, want.full_name, set_selector(position, expression))


def _selectors(old: list[DeviceSelector], position: int, expression: str | None) -> list[DeviceSelector]:
    new = [] if expression is None else [DeviceSelector(cel=CELDeviceSelector(expression=expression))]
    return [*old[:position], *new, *old[position + 1 :]]


def set_capacities(amounts: Mapping[str, str]) -> Edit:
    """Return an edit that changes the requested amounts. `amounts` has the new amount of each capacity."""

    def edit(asked: ExactDeviceRequest | DeviceSubRequest) -> ExactDeviceRequest | DeviceSubRequest:
        wanted = asked.capacity or CapacityRequirements()
        return replace(asked, capacity=replace(wanted, requests={**wanted.requests, **amounts}))

    return edit


def rename_capacity(name: str, to: str | None) -> Edit:
    """Return an edit that requests the same amount of the capacity `to` instead of the capacity `name`.

    If `to` is None, the edit removes the amount of the capacity `name` from the request.
    """

    def edit(asked: ExactDeviceRequest | DeviceSubRequest) -> ExactDeviceRequest | DeviceSubRequest:
        wanted = asked.capacity
        if wanted is None or name not in wanted.requests:
            return asked
        kept = {key: amount for key, amount in wanted.requests.items() if key != name}
        if to is not None:
            kept[to] = wanted.requests[name]
        return replace(asked, capacity=replace(wanted, requests=kept) if kept else None)

    return edit


def label_node(placement: Placement, labels: Mapping[str, str]) -> Placement:
    """Return the placement after these labels have been added to the node."""
    metadata = placement.node.metadata
    return placement.with_node(
        replace(placement.node, metadata=replace(metadata, labels={**(metadata.labels or {}), **labels}))
    )


def complete_pool(placement: Placement, pool: PoolID, generation: int, seen: int) -> Placement:
    """Return the placement in which the newest generation of the pool has no missing slices.

    `generation` is the newest generation, and `seen` is the number of slices that exist.
    """

    def completed(slice_: ResourceSlice) -> ResourceSlice:
        spec = slice_.spec
        if PoolID(spec.driver, spec.pool.name) != pool or spec.pool.generation != generation:
            return slice_
        return replace(slice_, spec=replace(spec, pool=replace(spec.pool, resource_slice_count=seen)))

    return placement.with_slices([completed(slice_) for slice_ in placement.slices()])
