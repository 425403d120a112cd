"""What generated code calls: look-ups in the decoded device, and operations that give up where the answer needs care.

Giving up (`GiveUpError`) hands the evaluation to the accounting evaluator, which decides what an error becomes.
"""

from __future__ import annotations

from dra_plan.api.quantity import Quantity
from dra_plan.api.resource import DeviceAttribute, DeviceCapacity
from dra_plan.api.semver import parse as parse_version
from dra_plan.cel.library.operators import contained
from dra_plan.cel.library.overload import matching

from .device import attribute_value, capacity_value
from .library import Overload
from .values import EvaluationError, Value, equal, map_key


class GiveUpError(EvaluationError):
    """The quick evaluation can't tell the outcome."""


def attribute(attributes: dict[str, DeviceAttribute], driver: str, full: str, domain: str, short: str) -> Value:
    """The value of an attribute, which is named in full or, in the driver's own domain, by its id alone."""
    found = attributes.get(full)
    if found is None:
        if driver != domain:
            raise GiveUpError
        found = attributes.get(short)
        if found is None:
            raise GiveUpError
    if found.int_value is not None:
        return found.int_value
    if found.bool_value is not None:
        return found.bool_value
    if found.string_value is not None:
        return found.string_value
    if found.version_value is not None:
        return parse_version(found.version_value)
    return attribute_value(found, lists=True)


def capacity(capacities: dict[str, DeviceCapacity], driver: str, full: str, domain: str, short: str) -> Quantity:
    """The value of a capacity, named as an attribute."""
    found = capacities.get(full)
    if found is None:
        if driver != domain:
            raise GiveUpError
        found = capacities.get(short)
        if found is None:
            raise GiveUpError
    return capacity_value(found.value)


def present(names: dict[str, Value], driver: str, full: str, domain: str, short: str) -> bool:
    """Whether there is such an attribute or capacity."""
    return full in names or (driver == domain and short in names)


def truth(value: Value) -> bool:
    """The value, which must be a bool."""
    if value is True or value is False:
        return bool(value)
    raise GiveUpError


def same(left: Value, right: Value) -> bool:
    """`==` of values whose types are not known."""
    if type(left) is str and type(right) is str:
        return bool(left == right)
    result = equal(left, right)
    if type(result) is EvaluationError:
        raise GiveUpError
    return bool(result)


def different(left: Value, right: Value) -> bool:
    """`!=` of values whose types are not known."""
    return equal(left, right) is not True


def member(value: Value, keys: frozenset[Value], values: list[Value]) -> bool:
    """`value in [constants]`."""
    return map_key(value) in keys or (type(value) is not str and contained(value, values))


def dispatch(overloads: tuple[Overload, ...], *arguments: Value) -> Value:
    """The call of the first overload that takes these values."""
    function = matching(overloads, arguments)
    if function is None:
        raise GiveUpError
    return function(*arguments)


def give_up() -> None:
    """End the evaluation."""
    raise GiveUpError
