"""Changes to what a request asks of a capacity."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from dra_plan.allocator.reasons import CapacityMissing, CapacityShort, PolicyViolated
from dra_plan.allocator.requests import Want
from dra_plan.api import quantity
from dra_plan.api.resource import CapacityRequestPolicy
from dra_plan.documents.suggestions import CapacityChanged
from dra_plan.explanation import edits
from dra_plan.explanation.funnel import Removal
from dra_plan.explanation.names import request_name
from dra_plan.explanation.reasons import amount
from dra_plan.near import nearest

from .change import Change, edit_want


def of_missing(want: Want, missing: CapacityMissing, removal: Removal) -> Iterator[Change]:
    """A capacity that the devices have and that was perhaps meant; or none."""
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


def of_short(want: Want, short: CapacityShort) -> Iterator[Change]:
    """As much as is left."""
    name = asked_name(want, short.name)
    if name is not None and short.left > 0:
        yield _lowered(want, name, amount(short.left), short.left)


def of_policy(want: Want, refusal: PolicyViolated, removal: Removal) -> Iterator[Change]:
    """The most that the devices' request policies allow of it, if that is less than what is asked."""
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
    """The largest amount that a policy allows; None if it sets no bound."""
    if policy is None:
        return None
    if policy.valid_range is not None:
        return None if policy.valid_range.max is None else str(policy.valid_range.max)
    values = list(map(str, policy.valid_values or ()))
    return max(values, key=lambda value: quantity.parse(value).nano, default=None)


def _lowered(want: Want, name: str, to: str, nano: int) -> Change:
    asked = str((want.capacity or {})[name])
    told = CapacityChanged(code="lower-capacity", **request_name(want), capacity=name, from_=asked, to=to)
    return Change(told, edit_want(want, edits.set_capacity(name, to)), nano)


def asked_name(want: Want, name: str) -> str | None:
    """The capacity as the request spells it, with the domain or without; None if it does not ask for it."""
    identifier = name.rpartition("/")[2]
    return next((key for key in want.capacity or () if key.rpartition("/")[2] == identifier), None)
