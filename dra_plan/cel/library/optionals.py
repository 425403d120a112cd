"""Optional values, and the maps that comprehensions build.

`or` and `orValue` are planned, because their right side is only evaluated when needed.
"""

from __future__ import annotations

from dra_plan.api.quantity import Quantity
from dra_plan.api.semver import Semver
from dra_plan.cel.library.base import overload
from dra_plan.cel.values import NONE, EvaluationError, NamedFormat, Optional, Url, Value, map_key, spend


@overload("optional_of", "any")
def of(value: Value) -> Optional:
    """The value as optional."""
    return Optional(value)


@overload("optional_ofNonZeroValue", "any")
def of_non_zero(value: Value) -> Optional:
    """The value as optional, none for false, 0, empty text, empty containers and null."""
    if value is None or (type(value) is not Optional and _is_zero(value)):
        return NONE
    return Optional(value)


def _is_zero(value: Value) -> bool:
    if isinstance(value, (Quantity, Semver, Url, NamedFormat)):
        return False
    nanos = getattr(value, "nanos", None)
    return nanos == 0 if nanos is not None else not value


@overload("optional_none")
def none() -> Optional:
    """No value."""
    return NONE


@overload("optional_hasValue", "optional")
def has_value(option: Optional) -> bool:
    """Whether there is a value."""
    return option is not NONE


@overload("optional_value", "optional")
def value_of(option: Optional) -> Value:
    """The value; raises EvaluationError when there is none."""
    if option is NONE:
        raise EvaluationError("optional.none() dereference")
    return option.value


@overload("list_first", "list")
def first(values: list[Value]) -> Optional:
    """The first element, if there is one."""
    return Optional(values[0]) if values else NONE


@overload("list_last", "list")
def last(values: list[Value]) -> Optional:
    """The last element, if there is one."""
    return Optional(values[-1]) if values else NONE


@overload("optional_unwrap", "list")
@overload("optional_unwrapOpt", "list")
def unwrap(options: list[Value]) -> list[Value]:
    """The values of those that have one."""
    for option in options:
        if type(option) is not Optional:
            raise EvaluationError("value is not an optional")
    return [option.value for option in options if option is not NONE]


@overload("@mapInsert_map_key_value", "map", "any", "any")
def map_insert(mapping: dict[Value, Value], key: Value, value: Value) -> dict[Value, Value]:
    """The map with one more entry."""
    place = map_key(key)
    if place in mapping:
        raise EvaluationError(f"insert failed: key {key} already exists")
    spend(len(mapping))
    return {**mapping, place: value}


@overload("@mapInsert_map_map", "map", "map")
def map_merge(mapping: dict[Value, Value], other: dict[Value, Value]) -> dict[Value, Value]:
    """The map with the entries of another."""
    for place in other:
        if place in mapping:
            raise EvaluationError("insert failed: key already exists")
    spend(len(mapping) + len(other))
    return {**mapping, **other}
