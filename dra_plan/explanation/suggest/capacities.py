"""Changes to the capacities of a request: another name, a smaller amount, or a part of a device instead of all."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from dra_plan.allocator.reasons import CapacityMissing, CapacityShort, PolicyViolated
from dra_plan.allocator.requests import Want
from dra_plan.api import quantity
from dra_plan.api.resource import CapacityRequestPolicy
from dra_plan.documents.claim_changes import CapacityChanged
from dra_plan.explanation import edits
from dra_plan.explanation.funnel import Checks, Removal
from dra_plan.explanation.names import request_name
from dra_plan.explanation.reasons import amount
from dra_plan.near import nearest

from .patches import Change, edit_want


def of_missing(want: Want, missing: CapacityMissing, removal: Removal) -> Iterator[Change]:
    """Yield changes for a requested capacity that the devices do not have.

    One change drops the capacity from the request. The others request a capacity that was probably meant.
    """
    asked = (want.capacity or {}).get(missing.name)
    told = CapacityChanged(code="drop-capacity", **request_name(want), capacity=missing.name)
    published = dict.fromkeys(name for device in removal.devices for name in device.device.capacity)
    identifier = missing.name.rpartition("/")[2]
    meant = next((name for name in published if name.rpartition("/")[2] == identifier), None)
    meant = meant or nearest(missing.name, published)
    if meant is not None and asked is not None:
        edit = edits.rename_capacity(missing.name, meant)
        yield Change(replace(told, code="rename-capacity", to=meant), edit_want(want, edit))
    yield Change(told, edit_want(want, edits.rename_capacity(missing.name, None)))


def of_short(want: Want, short: CapacityShort, removal: Removal, checks: Checks) -> Iterator[Change]:
    """Yield a change that requests only as much of the capacity as is left and as the first device's policy allows.

    A request that states no amount is for the whole device, so too little of any capacity may be left.
    """
    most = _allowed(removal.devices[0].device.capacity[short.name].request_policy, short.left)
    if most <= 0:
        return
    name = asked_name(want, short.name)
    if name is not None:
        yield _lowered(want, name, amount(most), most)
        return
    others: dict[str, str] = {}
    for other in checks.shortages(want, removal.devices[0]):
        if other.name != short.name and asked_name(want, other.name) is None:
            left = _allowed(removal.devices[0].device.capacity[other.name].request_policy, other.left)
            if left <= 0:
                return
            others[other.name] = amount(left)
    told = CapacityChanged(
        code="request-capacity",
        **request_name(want),
        capacity=short.name,
        from_=amount(short.need),
        to=amount(most),
        also=others,
    )
    yield Change(told, edit_want(want, edits.set_capacities({short.name: amount(most), **others})), most)


def _allowed(policy: CapacityRequestPolicy | None, left: int) -> int:
    """Return the largest amount up to `left` that the policy accepts as it is, in nano-units; 0 for none."""
    if policy is None:
        return left
    if policy.valid_values:
        values = (quantity.parse(value).nano for value in policy.valid_values)
        return max((value for value in values if value <= left), default=0)
    ends = policy.valid_range
    if ends is None:
        return left
    least = quantity.parse(ends.min).nano if ends.min is not None else 0
    left = left if ends.max is None else min(left, quantity.parse(ends.max).nano)
    if left < least:
        return 0
    step = quantity.parse(ends.step).nano if ends.step is not None else 0
    return left - (left - least) % step if step > 0 else left


def of_policy(want: Want, refusal: PolicyViolated, removal: Removal) -> Iterator[Change]:
    """Yield a change that lowers the requested amount to the largest amount that the devices' policies allow.

    Nothing is yielded if this amount is not lower.
    """
    name = asked_name(want, refusal.name)
    if name is None:
        return
    asked = quantity.parse((want.capacity or {})[name])
    for device in removal.devices:
        policy = device.device.capacity[refusal.name].request_policy
        most = quantity.parse(largest) if (largest := _largest(policy)) is not None else None
        if most is not None and most.nano < asked.nano:
            yield _lowered(want, name, most.text, most.nano)


def _largest(policy: CapacityRequestPolicy | None) -> str | None:
    """Return the largest amount that a policy allows; None if it sets no bound."""
    if policy is None:
        return None
    if policy.valid_range is not None:
        return None if policy.valid_range.max is None else str(policy.valid_range.max)
    values = list(map(str, policy.valid_values or ()))
    return max(values, key=lambda value: quantity.parse(value).nano, default=None)


def _lowered(want: Want, name: str, to: str, nano: int) -> Change:
    asked = str((want.capacity or {})[name])
    told = CapacityChanged(code="lower-capacity", **request_name(want), capacity=name, from_=asked, to=to)
    return Change(told, edit_want(want, edits.set_capacities({name: to})), nano)


def asked_name(want: Want, name: str) -> str | None:
    """Return the capacity's name as written in the request, with or without a domain.

    Return None if the request does not name the capacity.
    """
    identifier = name.rpartition("/")[2]
    return next((key for key in want.capacity or () if key.rpartition("/")[2] == identifier), None)
