"""Kubernetes' functions of lists: isSorted, sum, min, max, indexOf, lastIndexOf; and `includes` of DRA."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable

from dra_plan.cel.ranges import Interval
from dra_plan.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    STRING,
    TIMESTAMP,
    UINT,
    Type,
    list_of,
    parameter,
)
from dra_plan.cel.values import (
    Duration,
    EvaluationError,
    Uint,
    Value,
    compare,
    equal,
    is_comparable,
    no_such_overload,
    spend_on,
)

from .operators import add
from .overload import CallEstimate, Function, Library, Overload, member
from .prices import SEARCHED, estimated

COMPARABLE = (INT, UINT, DOUBLE, BOOL, DURATION, TIMESTAMP, STRING, BYTES)
"""The element types that lists can be ordered by."""

MOST_LIST_VALUES = 48
"""The most values that a list attribute has (k8s.io/api/resource/v1)."""


def order(left: Value, right: Value) -> int | None:
    """The order of two elements; None where upstream's comparison is an error, which its loops ignore."""
    order = compare(left, right)
    return None if type(order) is EvaluationError else order


def is_sorted(values: list[Value]) -> bool:
    """Whether no element is greater than the next."""
    spend_on(values)
    for value in values:
        if not is_comparable(value):
            raise no_such_overload()
    return all(order(a, b) != 1 for a, b in itertools.pairwise(values))


def _sum(zero: Value) -> Callable[[list[Value]], Value]:
    def total(values: list[Value]) -> Value:
        spend_on(values)
        return functools.reduce(add, values, zero)

    return total


def _best(values: list[Value], name: str, replaced_when: int) -> Value:
    if not values:
        raise EvaluationError(f"{name} called on empty list")
    spend_on(values)
    best = values[0]
    for value in values:
        if not is_comparable(value):
            raise no_such_overload()
        if order(best, value) == replaced_when:
            best = value
    return best


def smallest(values: list[Value]) -> Value:
    """The first of the smallest elements."""
    return _best(values, "min", 1)


def largest(values: list[Value]) -> Value:
    """The first of the largest elements."""
    return _best(values, "max", -1)


def index_of(values: list[Value], item: Value) -> int:
    """Where an equal element is first, or -1."""
    spend_on(values)
    return next((index for index, value in enumerate(values) if equal(value, item) is True), -1)


def last_index_of(values: list[Value], item: Value) -> int:
    """Where an equal element is last, or -1."""
    spend_on(values)
    return next((index for index in range(len(values) - 1, -1, -1) if equal(values[index], item) is True), -1)


def includes(target: Value, item: Value) -> bool:
    """Whether a list has an equal element, or a single value is equal."""
    if type(target) is list:
        if len(target) > MOST_LIST_VALUES:
            raise EvaluationError(
                f"'includes' function cannot be applied to lists longer than {MOST_LIST_VALUES} values"
            )
        return any(equal(value, item) is True for value in target)
    return equal(target, item) is True


# -- the tables --------------------------------------------------------------------------------------------------


def _name(of: Type) -> str:
    """Return the name that Kubernetes uses in overload ids (cel-go's own libraries use the runtime name)."""
    return {DURATION: "duration", TIMESTAMP: "timestamp"}.get(of, of.name)


def _each(pattern: str, function: Function, result: Type | None = None) -> tuple[Overload, ...]:
    """Return one overload for each element type; the result is the element where none is given."""
    return tuple(
        member(pattern.format(_name(of)), (list_of(of),), result or of, function, SEARCHED) for of in COMPARABLE
    )


_A = parameter("A")
_ZEROS = {INT: 0, UINT: Uint(0), DOUBLE: 0.0, DURATION: Duration(0)}

LISTS = Library(
    name="kubernetes lists",
    since=(1, 0),
    functions={
        "isSorted": _each("list_{0}_is_sorted_bool", is_sorted, BOOL),
        "sum": tuple(
            member(f"list_{_name(of)}_sum_{_name(of)}", (list_of(of),), of, _sum(zero), SEARCHED)
            for of, zero in _ZEROS.items()
        ),
        "max": _each("list_{0}_max_{0}", largest),
        "min": _each("list_{0}_min_{0}", smallest),
        "indexOf": (member("list_a_index_of_int", (list_of(_A), _A), INT, index_of, SEARCHED),),
        "lastIndexOf": (member("list_a_last_index_of_int", (list_of(_A), _A), INT, last_index_of, SEARCHED),),
    },
)

INCLUDES = Library(
    name="includes",
    since=(1, 36),
    known_since=(1, 36),
    gate="DRAListTypeAttributes",
    functions={
        "includes": (
            member(
                "dra_includes_dyn_dyn", (DYN, DYN), BOOL, includes,
                estimated(lambda _operands: CallEstimate(Interval(0, MOST_LIST_VALUES))),
            ),
        )
    },
)  # fmt: skip
