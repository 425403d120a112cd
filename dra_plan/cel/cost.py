"""What a call costs at run time: cel-go's cost tracker with the Kubernetes estimator, in units of the cost limit.

Costs of everything that is no call are in `interpret` and `qualify`; the estimate before evaluation is in `estimate`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from dra_plan.api.quantity import Quantity
from dra_plan.api.semver import Semver
from dra_plan.cel.values import (
    Cidr,
    Ip,
    NamedFormat,
    QuantityCell,
    Url,
    Value,
    entries_of,
    size_of,
    spend,
)

LIMIT = 1_000_000
"""An evaluation that costs more ends in an error."""

LIST_COST, MAP_COST, MESSAGE_COST = 10, 30, 40

_PER_CHARACTER = 0.1
_PER_PATTERN_CHARACTER = 0.25

Cost = Callable[[list[Value], Value], int]
"""The cost of one call by arguments and result; an EvaluationError among them has size 1."""

_UNIT_EQUALITY = frozenset((Quantity, QuantityCell, Ip, Cidr, NamedFormat, Url, Semver))


def traversal(size: int, factor: float = _PER_CHARACTER) -> int:
    """The cost of going through a text of this size."""
    return math.ceil(size * factor)


def equality(left: Value, right: Value) -> int:
    """The cost of `==`."""
    if type(left) is str and type(right) is str:
        return traversal(min(len(left), len(right)))
    return 1 if type(left) in _UNIT_EQUALITY else inequality(left, right)


def inequality(left: Value, right: Value) -> int:
    """The cost of `!=`, and of ordering texts."""
    return traversal(min(size_of(left), size_of(right)))


def one(_arguments: list[Value], _result: Value) -> int:
    """The cost of most calls."""
    return 1


def _first(arguments: list[Value], _result: Value) -> int:
    return traversal(size_of(arguments[0]))


def _first_twice(arguments: list[Value], _result: Value) -> int:
    return traversal(size_of(arguments[0]), 2 * _PER_CHARACTER)


def _result_twice(_arguments: list[Value], result: Value) -> int:
    return traversal(size_of(result), 2 * _PER_CHARACTER)


def _smaller(arguments: list[Value], _result: Value) -> int:
    return inequality(arguments[0], arguments[1])


def _both(arguments: list[Value], _result: Value) -> int:
    return traversal(size_of(arguments[0]) + size_of(arguments[1]))


def _product(arguments: list[Value], _result: Value) -> int:
    return traversal(size_of(arguments[0])) * traversal(size_of(arguments[1]))


def _pattern(arguments: list[Value], _result: Value) -> int:
    return pattern_cost(size_of(arguments[0]), size_of(arguments[1]))


def pattern_cost(text: int, pattern: int) -> int:
    """The cost of looking for a pattern, by the sizes of both."""
    return math.ceil((1.0 + text) * _PER_CHARACTER) * math.ceil(pattern * _PER_PATTERN_CHARACTER)


def _searched_list(arguments: list[Value], _result: Value) -> int:
    return size_of(arguments[1])


def _everything(arguments: list[Value], _result: Value) -> int:
    return _whole(arguments[0])


def _whole(value: Value) -> int:
    """The cost of going through a value and all that it contains."""
    if type(value) is str:
        return int(len(value.encode("utf-8", "surrogatepass")) * _PER_CHARACTER)
    if type(value) is bytes:
        return int(len(value) * _PER_CHARACTER)
    if type(value) is list:
        spend(len(value) + 1)
        return sum(map(_whole, value))
    if isinstance(value, dict):
        spend(len(value) + 1)
        return sum(_whole(key) + _whole(held) for key, held in entries_of(value))
    return 1


def _contains_ip(arguments: list[Value], _result: Value) -> int:
    return traversal(2 * size_of(arguments[0]))


def _contains_ip_text(arguments: list[Value], result: Value) -> int:
    return _contains_ip(arguments, result) + traversal(size_of(arguments[1]))


def _contains_cidr(arguments: list[Value], _result: Value) -> int:
    size = size_of(arguments[0])
    return traversal(2 * size) + traversal(size) + 1


def _contains_cidr_text(arguments: list[Value], result: Value) -> int:
    return _contains_cidr(arguments, result) + traversal(size_of(arguments[1]))


def _validate(arguments: list[Value], _result: Value) -> int:
    if type(arguments[0]) is not NamedFormat:
        return 1
    return pattern_cost(size_of(arguments[1]), arguments[0].regex_size)


def _sets(factor: int) -> Cost:
    return lambda arguments, _result: 1 + size_of(arguments[0]) * size_of(arguments[1]) * factor


def _new_list(_arguments: list[Value], result: Value) -> int:
    return size_of(result) + 1 + LIST_COST


def _flatten(arguments: list[Value], _result: Value) -> int:
    depth = arguments[1] if len(arguments) == 2 and type(arguments[1]) is int else 1
    return max(int(size_of(arguments[0]) * float(depth)), 0) + 1 + LIST_COST


def _compare_all(position: int) -> Cost:
    def cost(arguments: list[Value], _result: Value) -> int:
        values = arguments[position]
        if type(values) is not list:
            return 1
        factor = 2.0 + (_PER_CHARACTER if values and type(values[0]) in (str, bytes) else 0.0)
        return int(len(values) ** 2 * factor) + 1 + LIST_COST

    return cost


_BY_FUNCTION: dict[str, Cost] = {
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _everything),
    **dict.fromkeys(("url", "lowerAscii", "upperAscii", "substring", "trim"), _first),
    **dict.fromkeys(("replace", "split", "ip.isCanonical"), _first_twice),
    "join": _result_twice,
    **dict.fromkeys(("find", "findAll"), _pattern),
    **dict.fromkeys(("cidr", "isIP", "isCIDR", "ip", "quantity", "isQuantity", "semver", "isSemver"), _first),
    "containsIP": _contains_ip,
    "containsCIDR": _contains_cidr,
    "validate": _validate,
}

_BY_OVERLOAD: dict[str, Cost] = {
    "cidr_ip": one,
    "cidr_contains_ip_string": _contains_ip_text,
    "cidr_contains_cidr_string": _contains_cidr_text,
    "list_sets_contains_list": _sets(1),
    "list_sets_intersects_list": _sets(1),
    "list_sets_equivalent_list": _sets(2),
    **dict.fromkeys(("list_slice", "lists_range", "list_reverse"), _new_list),
    **dict.fromkeys(("list_flatten", "list_flatten_int"), _flatten),
    "list_distinct": _compare_all(0),
}

_STANDARD: dict[str, Cost] = {
    **dict.fromkeys(
        ("starts_with_string", "ends_with_string", "string_to_bytes", "bytes_to_string", "strings_quote"), _first
    ),
    "string_format": _first,
    "in_list": _searched_list,
    **dict.fromkeys(
        (
            "less_string", "greater_string", "less_equals_string", "greater_equals_string",
            "less_bytes", "greater_bytes", "less_equals_bytes", "greater_equals_bytes",
        ),
        _smaller,
    ),
    **dict.fromkeys(("add_string", "add_bytes"), _both),
    "matches_string": _pattern,
    "contains_string": _product,
}  # fmt: skip


def call_cost(function: str, overload: str) -> Cost:
    """How to charge calls of a function.

    `overload` is the id that the check settled on, empty where several are left. As upstream, costs by overload come
    before costs by function, and those before the standard library's.
    """
    if overload in _BY_OVERLOAD:
        return _BY_OVERLOAD[overload]
    if overload.endswith("_sort"):
        return _compare_all(0)
    if overload.endswith("_sortByAssociatedKeys"):
        return _compare_all(1)
    return _BY_FUNCTION.get(function) or _STANDARD.get(overload, one)
