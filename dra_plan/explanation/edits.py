"""Edits to claims, classes, nodes and slices. Each edit returns a new placement.

Claims from one template are edited together, because they cannot be changed separately.
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
    """Return the placement with a request edited. An alternative is named `REQUEST/ALTERNATIVE`."""
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
    """Return the placement without the constraint at this position in a claim."""

    def edit(old: ResourceClaim) -> ResourceClaim:
        kept = [c for at, c in enumerate(old.spec.devices.constraints) if at != position]
        return with_parts(old, old.spec.devices.requests, kept)

    return _edit_claim(placement, claim, edit)


def drop_request(placement: Placement, claim: int, name: str) -> Placement:
    """Return the placement without this request of a claim."""

    def edit(old: ResourceClaim) -> ResourceClaim:
        kept = [request for request in old.spec.devices.requests if request.name != name]
        return with_parts(old, kept, old.spec.devices.constraints)

    return _edit_claim(placement, claim, edit)


def tolerate(toleration: DeviceToleration) -> Edit:
    """Return an edit that adds a toleration to a request."""
    return lambda asked: replace(asked, tolerations=[*asked.tolerations, toleration])


def set_count(count: int) -> Edit:
    """Return an edit that requests exactly `count` devices."""
    return lambda asked: replace(asked, allocation_mode="ExactCount", count=count)


def set_class(name: str) -> Edit:
    """Return an edit that requests devices of another class."""
    return lambda asked: replace(asked, device_class_name=name)


def add_alternative(placement: Placement, claim: int, name: str, class_name: str, count: int) -> Placement:
    """Return the placement with an alternative for this class at the end of a firstAvailable request."""

    def edited(request: DeviceRequest) -> DeviceRequest:
        if request.name != name:
            return request
        sub = DeviceSubRequest(
            name=alternative_name(class_name), device_class_name=class_name, allocation_mode="ExactCount", count=count
        )
        return replace(request, first_available=[*request.first_available, sub])

    return _edit_claim(placement, claim, lambda old: _with_requests(old, edited))


def alternative_name(class_name: str) -> str:
    """Return a name for an alternative: the name of its class, changed to a valid DNS label."""
    return class_name.replace(".", "-")[:63].strip("-")


def set_selector(position: int, expression: str | None) -> Edit:
    """Return an edit that replaces the selector at this position, or removes it if the expression is None."""

    def edit(asked: ExactDeviceRequest | DeviceSubRequest) -> ExactDeviceRequest | DeviceSubRequest:
        return replace(asked, selectors=_selectors(asked.selectors, position, expression))

    return edit


def set_class_selector(placement: Placement, class_name: str, position: int, expression: str | None) -> Placement:
    """Return the placement after replacing a selector of a class, or removing it if the expression is None."""
    old = placement.view.classes[class_name]
    selectors = _selectors(old.spec.selectors, position, expression)
    changed = replace(old, spec=replace(old.spec, selectors=selectors))
    return placement.with_classes({**placement.view.classes, class_name: changed})


def replace_selector(
    placement: Placement, want: Want, class_name: str | None, position: int, expression: str | None
) -> Placement:
    """Return the placement after replacing a selector, or removing it if the expression is None.

    The selector belongs to the class or, if `class_name` is None, to the request.
    """
    if class_name is not None:
        return set_class_selector(placement, class_name, position, expression)
    return edit_request(placement, want.claim_index, want.full_name, set_selector(position, expression))


def _selectors(old: list[DeviceSelector], position: int, expression: str | None) -> list[DeviceSelector]:
    new = [] if expression is None else [DeviceSelector(cel=CELDeviceSelector(expression=expression))]
    return [*old[:position], *new, *old[position + 1 :]]


def set_capacities(amounts: Mapping[str, str]) -> Edit:
    """Return an edit that requests these amounts, given by the name of the capacity."""

    def edit(asked: ExactDeviceRequest | DeviceSubRequest) -> ExactDeviceRequest | DeviceSubRequest:
        wanted = asked.capacity or CapacityRequirements()
        return replace(asked, capacity=replace(wanted, requests={**wanted.requests, **amounts}))

    return edit


def rename_capacity(name: str, to: str | None) -> Edit:
    """Return an edit that requests the capacity `to` instead of the capacity `name`.

    If `to` is None, the edit only removes the capacity `name` from the request.
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
    """Return the placement with these labels added to the node."""
    metadata = placement.node.metadata
    return placement.with_node(
        replace(placement.node, metadata=replace(metadata, labels={**(metadata.labels or {}), **labels}))
    )


def complete_pool(placement: Placement, pool: PoolID, generation: int, seen: int) -> Placement:
    """Return the placement in which the pool has no missing slices.

    `generation` is the pool's newest generation, and `seen` is the number of its slices in the input.
    """

    def completed(slice_: ResourceSlice) -> ResourceSlice:
        spec = slice_.spec
        if PoolID(spec.driver, spec.pool.name) != pool or spec.pool.generation != generation:
            return slice_
        return replace(slice_, spec=replace(spec, pool=replace(spec.pool, resource_slice_count=seen)))

    return placement.with_slices([completed(slice_) for slice_ in placement.slices()])
