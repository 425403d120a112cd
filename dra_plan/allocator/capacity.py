"""Consumable capacity: what a request takes of each capacity of a device, and whether it is left (KEP-5075).

What a request demands of a device does not depend on the search and is computed once; amounts are nano-units.
Ranges and their steps are `ranges`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from dra_plan.api import quantity
from dra_plan.api.meta import QuantityText
from dra_plan.api.quantity import Quantity
from dra_plan.api.resource import CapacityRequestPolicy, DeviceCapacity
from dra_plan.releases import Quirk, Quirks

from .identity import DeviceID
from .pools import PoolDevice
from .ranges import Steps, UncountableError
from .reasons import CapacityMissing, CapacityShort, PolicyViolated


class Portion(NamedTuple):
    """What is taken of one capacity: the amount, the device's total, and the amount as text for the result."""

    name: str
    amount: int
    total: int
    text: str


class Demand(NamedTuple):
    """What a request takes of a device, by capacity, or why the device can't serve it. Quirks that mattered besides.

    A `problem`, in upstream's words, ends the allocation of the pod, so that the refusal does not come to matter.
    """

    portions: tuple[Portion, ...]
    refusal: CapacityMissing | PolicyViolated | None = None
    sighted: tuple[Quirk, ...] = ()
    problem: str = ""


def demand(requests: Mapping[str, QuantityText] | None, device: PoolDevice, steps: Steps, quirks: Quirks) -> Demand:
    """What a request with these capacity requests takes of the device: every capacity, requested or not."""
    capacities = device.device.capacity
    wanted: dict[str, QuantityText] = {}
    for name, written in (requests or {}).items():
        found = name if name in capacities else _qualified(name, device.id, capacities)
        if found is not None and found != name and quirks.literal_capacity_names:
            return Demand((), CapacityMissing(name), ("literal_capacity_names",))
        if found is None:
            return Demand((), CapacityMissing(name))
        wanted[found] = written
    sighted: list[Quirk] = []
    amounts: dict[str, Quantity] = {}
    for name, capacity in capacities.items():
        try:
            amounts[name] = consumed(wanted.get(name), capacity, steps, sighted)
        except UncountableError as error:
            return Demand((), PolicyViolated(name, str(wanted[name])), (), f'capacity "{name}": {error}')
        if amounts[name].sign < 0 and steps.checks_amounts:
            refusal = PolicyViolated(name, amounts[name].text)
            return Demand((), refusal, (), f'capacity "{name}": capacity value is negative')
    portions = []
    for name, amount in amounts.items():
        if violates(amount, capacities[name].request_policy, steps, quirks, sighted):
            return Demand((), PolicyViolated(name, amount.text), tuple(sighted))
        portions.append(Portion(name, amount.nano, quantity.parse(capacities[name].value).nano, amount.text))
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


def consumed(requested: QuantityText | None, capacity: DeviceCapacity, steps: Steps, sighted: list[Quirk]) -> Quantity:
    """What a request consumes of a capacity after the policy's rounding; without a request, the default or all.

    Raises UncountableError.
    """
    policy = capacity.request_policy
    if requested is None:
        default = policy.default if policy is not None else None
        return quantity.parse(capacity.value if default is None else default)
    amount = quantity.parse(requested)
    if policy is None:
        return amount
    if policy.valid_range is not None and policy.valid_range.min is not None:
        return steps.rounded(amount, policy.valid_range, sighted)
    if policy.valid_values:
        allowed = (quantity.parse(value) for value in policy.valid_values)
        return next((value for value in allowed if value >= amount), amount)
    return amount


def violates(
    amount: Quantity, policy: CapacityRequestPolicy | None, steps: Steps, quirks: Quirks, sighted: list[Quirk]
) -> bool:
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
        return steps.outside(amount, policy.valid_range)
    if policy.valid_values:
        return all(amount != quantity.parse(value) for value in policy.valid_values)
    return False
