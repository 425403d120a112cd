"""DRA135: request policies of shared capacities (KEP-5075)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dra_plan.api.meta import FieldPath, QuantityText
from dra_plan.api.quantity import MAX_INT64, Quantity, QuantityError, parse
from dra_plan.api.resource import CapacityRequestPolicy, CapacityRequestPolicyRange, DeviceCapacity

from .limits import VALID_VALUES, Limits, at_most
from .rule import Problem, refused, warning

POLICY = refused(
    "DRA135",
    "request policy that contradicts itself",
    "The policy says how requests on a shared capacity are rounded and limited; the API server refuses one that "
    "can't be kept. It compares values and counts steps in whole units, fractions rounded up, from 1.37 on in "
    "thousandths.",
    "Make default, values and range agree with each other and with the capacity.",
)
USELESS_POLICY = warning(
    "DRA156",
    "request policy that the API server takes and no request can use",
    "A default above the capacity makes every request that names no amount fail on the device; a step that is not "
    "more than 0 rounds nothing.",
    "Make the default an amount that the device has, and the step more than 0.",
)
RULES = (POLICY, USELESS_POLICY)


def check(path: FieldPath, capacity: DeviceCapacity, limits: Limits, *, shared: bool) -> Iterator[Problem]:
    """The policy of one capacity; `shared` says whether the device allows multiple allocations."""
    policy = capacity.request_policy
    if policy is None:
        return
    path = (*path, "requestPolicy")
    if not shared:
        yield POLICY.at(path, "only devices with allowMultipleAllocations: true may have a request policy")
    total = parse(capacity.value)
    both = policy.valid_values and policy.valid_range is not None
    if both:
        yield POLICY.at(path, "validValues and validRange exclude each other")
    if policy.default is None:
        if policy.valid_values or policy.valid_range is not None:
            yield POLICY.at((*path, "default"), "missing; validValues and validRange need it")
        return
    default = parse(policy.default)
    if default > total:
        yield USELESS_POLICY.at((*path, "default"), f"{policy.default} is more than the capacity, {capacity.value}")
    if both:
        return
    if policy.valid_values:
        yield from _values((*path, "validValues"), policy, policy.valid_values, default, capacity.value)
    if policy.valid_range is not None:
        yield from _range((*path, "validRange"), policy.valid_range, policy.default, capacity.value, limits)


def _values(
    path: FieldPath,
    policy: CapacityRequestPolicy,
    values: Sequence[QuantityText],
    default: Quantity,
    capacity: QuantityText,
) -> Iterator[Problem]:
    yield from at_most(path, values, VALID_VALUES, "value")
    parsed = [parse(value) for value in values]
    if default not in parsed:
        yield POLICY.at(path, f"the default, {policy.default}, is not among the values")
    first: dict[int, QuantityText] = {}
    for index, value in enumerate(parsed):
        at = (*path, index)
        if value > parse(capacity):
            yield POLICY.at(at, f"{values[index]} is more than the capacity, {capacity}")
        if index and value < parsed[index - 1]:
            yield POLICY.at(at, f"{values[index]} after {values[index - 1]}: values must ascend")
        other = first.get(value.units)
        if other is None:
            first[value.units] = values[index]
        elif value == parse(other):
            yield POLICY.at(at, f"{values[index]} is there already")
        else:
            yield POLICY.at(at, f"{values[index]} and {other} are the same, as both count as {value.units} whole units")


def _range(
    path: FieldPath, wanted: CapacityRequestPolicyRange, default: QuantityText, capacity: QuantityText, limits: Limits
) -> Iterator[Problem]:
    if limits.checks_amounts:
        yield from _amounts(path, wanted)
    if wanted.min is None:
        yield POLICY.at((*path, "min"), "missing; a range needs it")
        return
    least, most, total, usual = parse(wanted.min), parse(wanted.max or capacity), parse(capacity), parse(default)
    if least > total:
        yield POLICY.at((*path, "min"), f"{wanted.min} is more than the capacity, {capacity}")
    if usual < least:
        yield POLICY.at((*path, "min"), f"{wanted.min} is more than the default, {default}")
    if wanted.max is not None:
        yield from _maximum((*path, "max"), wanted, default, capacity)
    if wanted.step is not None:
        at = (*path, "step")
        yield from _step(at, wanted, least, most if wanted.max is not None else None, usual, total, limits)


def _amounts(path: FieldPath, wanted: CapacityRequestPolicyRange) -> Iterator[Problem]:
    """Amounts that the release does not count with; steps of 0 are told where steps are."""
    for name in ("min", "max", "step"):
        written = getattr(wanted, name)
        amount = parse(written if written is not None else 0)
        if amount.sign < 0:
            yield POLICY.at((*path, name), f"{written} is negative")
        elif amount.nano > MAX_INT64 * 10**9:
            yield POLICY.at((*path, name), f"{written} is more than an int64 holds")


def _maximum(
    path: FieldPath, wanted: CapacityRequestPolicyRange, default: QuantityText, capacity: QuantityText
) -> Iterator[Problem]:
    most = parse(wanted.max or "0")
    if most < parse(wanted.min or "0"):
        yield POLICY.at(path, f"{wanted.max} is less than min, {wanted.min}")
    if most > parse(capacity):
        yield POLICY.at(path, f"{wanted.max} is more than the capacity, {capacity}")
    if parse(default) > most:
        yield POLICY.at(path, f"{wanted.max} is less than the default, {default}")


def _step(
    path: FieldPath,
    wanted: CapacityRequestPolicyRange,
    least: Quantity,
    most: Quantity | None,
    usual: Quantity,
    total: Quantity,
    limits: Limits,
) -> Iterator[Problem]:
    """Steps are counted in whole numbers, fractions rounded up, as upstream does; or in thousandths."""
    step = parse(wanted.step or "0")
    if limits.checks_amounts and step.is_zero:
        yield POLICY.at(path, f"{wanted.step} is not more than 0")
        return
    if not step.units:
        yield POLICY.at(path, f"{wanted.step} counts as 0 whole units, by which the API server divides and fails")
        return
    if step.sign <= 0 and not limits.checks_amounts:
        yield USELESS_POLICY.at(path, f"{wanted.step} is not more than 0")
    in_thousandths = limits.thousandths and any(q is not None and _has_fraction(q) for q in (least, most, step))
    counted = (step.milli if in_thousandths else step.units) or 1
    if _sum_exceeds(least, step, total):
        yield POLICY.at(path, f"min {wanted.min} and one step {wanted.step} are more than the capacity")
    if _distance(least, usual, in_thousandths) % counted:
        yield POLICY.at(path, f"the default is no whole number of steps of {wanted.step} above min {wanted.min}")
    if most is not None and _distance(least, most, in_thousandths) % counted:
        yield POLICY.at(path, f"max {wanted.max} is no whole number of steps of {wanted.step} above min {wanted.min}")


def _has_fraction(amount: Quantity) -> bool:
    return amount.nano % 10**9 != 0


def _distance(least: Quantity, other: Quantity, in_thousandths: bool) -> int:
    """How many whole units, or thousandths, lie between, as 64-bit integers have it, which wrap."""
    between = other.milli - least.milli if in_thousandths else other.units - least.units
    return (between + 2**63) % 2**64 - 2**63


def _sum_exceeds(least: Quantity, step: Quantity, total: Quantity) -> bool:
    try:
        return least + step > total
    except QuantityError:  # of two amounts so far apart only the larger one counts
        return max(least, step) > total
