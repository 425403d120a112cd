"""Consumable capacity: what a request takes of each capacity of a device, and whether it is left (KEP-5075).

What a request demands of a device does not depend on the search and is computed once; amounts are nano-units.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from dra_plan.api import quantity
from dra_plan.api.base import QuantityText
from dra_plan.api.quantity import Quantity
from dra_plan.api.resource import CapacityRequestPolicy, CapacityRequestPolicyRange, DeviceCapacity
from dra_plan.releases import Quirk, Quirks

from .identity import DeviceID
from .pools import PoolDevice
from .reasons import CapacityMissing, CapacityShort, PolicyViolated

_NANO_PER_UNIT = 10**9


class Portion(NamedTuple):
    """What is taken of one capacity: the amount, the device's total, and the amount as text for the result."""

    name: str
    amount: int
    total: int
    text: str


class Demand(NamedTuple):
    """What a request takes of a device, by capacity, or why the device can't serve it. Quirks that mattered besides."""

    portions: tuple[Portion, ...]
    refusal: CapacityMissing | PolicyViolated | None = None
    sighted: tuple[Quirk, ...] = ()


def demand(requests: Mapping[str, QuantityText] | None, device: PoolDevice, quirks: Quirks) -> Demand:
    """What a request with these capacity requests takes of the device: every capacity, requested or not."""
    capacities = device.device.capacity
    wanted: dict[str, QuantityText] = {}
    sighted: list[Quirk] = []
    for name, written in (requests or {}).items():
        found = name if name in capacities else _qualified(name, device.id, capacities)
        if found is not None and found != name and quirks.literal_capacity_names:
            return Demand((), CapacityMissing(name), ("literal_capacity_names",))
        if found is None:
            return Demand((), CapacityMissing(name))
        wanted[found] = written
    portions = []
    for name, capacity in capacities.items():
        amount = consumed(wanted.get(name), capacity, quirks, sighted)
        if violates(amount, capacity.request_policy, quirks, sighted):
            return Demand((), PolicyViolated(name, amount.text), tuple(sighted))
        portions.append(Portion(name, amount.nano, quantity.parse(capacity.value).nano, amount.text))
    return Demand(tuple(portions), None, tuple(sighted))


def short(
    portions: tuple[Portion, ...], persisted: Mapping[str, int] | None, taken: Mapping[str, int] | None
) -> CapacityShort | None:
    """The first capacity of which too little is left beside persisted shares and those of this search, or None."""
    for name, amount, total, _ in portions:
        used = (persisted.get(name, 0) if persisted else 0) + (taken.get(name, 0) if taken else 0)
        if used + amount > total:
            return CapacityShort(name, amount, total - used)
    return None


def _qualified(name: str, device: DeviceID, capacities: Mapping[str, DeviceCapacity]) -> str | None:
    """The same capacity spelt with, or without, the driver's domain; upstream knows only the literal name (Q18)."""
    domain, slash, identifier = name.partition("/")
    other = (identifier if domain == device.driver else None) if slash else f"{device.driver}/{name}"
    return other if other in capacities else None


def consumed(
    requested: QuantityText | None, capacity: DeviceCapacity, quirks: Quirks, sighted: list[Quirk]
) -> Quantity:
    """What a request consumes of a capacity after the policy's rounding; without a request, the default or all."""
    policy = capacity.request_policy
    if requested is None:
        default = policy.default if policy is not None else None
        return quantity.parse(capacity.value if default is None else default)
    amount = quantity.parse(requested)
    if policy is None:
        return amount
    if policy.valid_range is not None and policy.valid_range.min is not None:
        return _rounded_to_range(amount, policy.valid_range, quirks, sighted)
    if policy.valid_values:
        allowed = (quantity.parse(value) for value in policy.valid_values)
        return next((value for value in allowed if value >= amount), amount)
    return amount


def _rounded_to_range(
    amount: Quantity, valid: CapacityRequestPolicyRange, quirks: Quirks, sighted: list[Quirk]
) -> Quantity:
    """The least allowed amount that is enough; upstream steps in whole units and prints them in binary form (Q23)."""
    least = quantity.parse(valid.min if valid.min is not None else 0)
    if amount < least:
        return least
    step = quantity.parse(valid.step) if valid.step is not None else None
    if step is None or step.nano <= 0:
        return amount
    exact = least.nano + -((least.nano - amount.nano) // step.nano) * step.nano
    whole = least.units + -((least.units - amount.units) // step.units) * step.units
    if exact != whole * _NANO_PER_UNIT:
        if not quirks.whole_steps:
            return quantity.make(exact, -9, amount.format)
        sighted.append("whole_steps")
    return quantity.make(whole, 0, "BinarySI")


def violates(amount: Quantity, policy: CapacityRequestPolicy | None, quirks: Quirks, sighted: list[Quirk]) -> bool:
    """Whether the amount is neither the default nor what the range or the values allow."""
    if policy is None:
        return False
    if policy.default is not None:
        default = quantity.parse(policy.default)
        if amount.is_identical(default):
            return False
        if amount == default:
            if not quirks.default_compared_by_form:
                return False
            sighted.append("default_compared_by_form")
    if policy.valid_range is not None:
        return _outside(amount, policy.valid_range, quirks)
    if policy.valid_values:
        return all(amount != quantity.parse(value) for value in policy.valid_values)
    return False


def _outside(amount: Quantity, valid: CapacityRequestPolicyRange, quirks: Quirks) -> bool:
    if valid.max is not None and amount > quantity.parse(valid.max):
        return True
    if valid.step is None:
        return False
    step, least = quantity.parse(valid.step), quantity.parse(valid.min if valid.min is not None else 0)
    if step.nano <= 0:
        return False
    if quirks.whole_steps:
        return (amount.units - least.units) % step.units != 0
    return (amount.nano - least.nano) % step.nano != 0
