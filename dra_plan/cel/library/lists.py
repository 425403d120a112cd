"""Functions of lists: Kubernetes' own (sum, min, ...), cel-go's lists library (version 3) and sets library."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable

from dra_plan.cel.library.base import overload
from dra_plan.cel.library.operators import add
from dra_plan.cel.values import (
    Duration,
    EvaluationError,
    Uint,
    Value,
    check_text,
    compare,
    cost_exceeded,
    equal,
    is_comparable,
    no_such_overload,
    spend,
    spend_on,
    type_name,
)

_MAX_INCLUDES = 48
_MAX_RANGE = 1_000_000
_COMPARABLE = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
_SORTABLE = (
    "int",
    "uint",
    "double",
    "bool",
    "google.protobuf.Duration",
    "google.protobuf.Timestamp",
    "string",
    "bytes",
)


def _each(kinds: tuple[str, ...], pattern: str) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    """Register a function of a list once per element kind; `*` in the pattern stands for the kind."""

    def register(function: Callable[..., Value]) -> Callable[..., Value]:
        for kind in kinds:
            guard = kind.rpartition(".")[2].lower()
            overload(pattern.replace("*", kind), f"list({guard})")(function)
        return function

    return register


def _order(left: Value, right: Value) -> int | None:
    """The order of two elements; None where upstream's comparison is an error, which its loops ignore."""
    order = compare(left, right)
    return None if type(order) is EvaluationError else order


@_each(_COMPARABLE, "list_*_is_sorted_bool")
def is_sorted(values: list[Value]) -> bool:
    """Whether no element is greater than the next."""
    spend_on(values)
    for value in values:
        if not is_comparable(value):
            raise no_such_overload()
    return all(_order(a, b) != 1 for a, b in itertools.pairwise(values))


def _sum(zero: Value) -> Callable[[list[Value]], Value]:
    def total(values: list[Value]) -> Value:
        spend_on(values)
        return functools.reduce(add, values, zero)

    return total


for _kind, _zero in (("int", 0), ("uint", Uint(0)), ("double", 0.0), ("duration", Duration(0))):
    overload(f"list_{_kind}_sum_{_kind}", f"list({_kind})")(_sum(_zero))


def _best(values: list[Value], name: str, replaced_when: int) -> Value:
    if not values:
        raise EvaluationError(f"{name} called on empty list")
    spend_on(values)
    best = values[0]
    for value in values:
        if not is_comparable(value):
            raise no_such_overload()
        if _order(best, value) == replaced_when:
            best = value
    return best


@_each(_COMPARABLE, "list_*_min_*")
def smallest(values: list[Value]) -> Value:
    """The first of the smallest elements."""
    return _best(values, "min", 1)


@_each(_COMPARABLE, "list_*_max_*")
def largest(values: list[Value]) -> Value:
    """The first of the largest elements."""
    return _best(values, "max", -1)


@overload("list_a_index_of_int", "list", "any")
def index_of(values: list[Value], item: Value) -> int:
    """Where an equal element is first, or -1."""
    spend_on(values)
    return next((index for index, value in enumerate(values) if equal(value, item) is True), -1)


@overload("list_a_last_index_of_int", "list", "any")
def last_index_of(values: list[Value], item: Value) -> int:
    """Where an equal element is last, or -1."""
    spend_on(values)
    return next((index for index in range(len(values) - 1, -1, -1) if equal(values[index], item) is True), -1)


@overload("dra_includes_dyn_dyn", "any", "any")
def includes(target: Value, item: Value) -> bool:
    """Whether a list has an equal element, or a single value is equal."""
    if type(target) is list:
        if len(target) > _MAX_INCLUDES:
            raise EvaluationError(f"'includes' function cannot be applied to lists longer than {_MAX_INCLUDES} values")
        return any(equal(value, item) is True for value in target)
    return equal(target, item) is True


@overload("list_slice", "list", "int", "int")
def cut(values: list[Value], start: int, end: int) -> list[Value]:
    """The elements from one index up to another."""
    if start < 0 or end < 0:
        raise EvaluationError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise EvaluationError(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if len(values) < end:
        raise EvaluationError(f"cannot slice({start}, {end}), list is length {len(values)}")
    return values[start:end]


@overload("list_flatten", "any")
def flatten(values: Value) -> list[Value]:
    """The elements of the lists inside, one level deep."""
    return flatten_to(values, 1)


@overload("list_flatten_int", "any", "int")
def flatten_to(values: Value, depth: int) -> list[Value]:
    """The elements of the lists inside, that many levels deep."""
    if type(values) is not list:
        raise EvaluationError(f"no such overload: {type_name(values)}.flatten()")
    if depth < 0:
        raise EvaluationError("level must be non-negative")
    flat: list[Value] = []
    stack = [(iter(values), depth)]
    while stack:
        iterator, levels = stack[-1]
        for value in iterator:
            if type(value) is list and levels > 0:
                stack.append((iter(value), levels - 1))
                break
            flat.append(value)
        else:
            stack.pop()
        spend(1)
        check_text(len(flat))
    return flat


@_each(_SORTABLE, "list_*_sort")
def sort(values: list[Value]) -> list[Value]:
    """The elements in order."""
    return sort_by(values, values)


def sort_by(values: list[Value], keys: list[Value]) -> list[Value]:
    """The elements in the order of their keys."""
    if len(values) != len(keys):
        raise EvaluationError("@sortByAssociatedKeys() expected a list of the same size as the associated keys list")
    if not values:
        return values
    if not is_comparable(keys[0]):
        raise EvaluationError("list elements must be comparable")
    if any(type(key) is not type(keys[0]) for key in keys):
        raise EvaluationError("list elements must have the same type")
    if len(keys) > 1000:
        # Upstream charges more than the limit of an evaluation for sorting this many.
        raise cost_exceeded()
    spend(20 * len(keys))

    def compare_keys(left: int, right: int) -> int:
        return _order(keys[left], keys[right]) or 0

    by_key = functools.cmp_to_key(compare_keys)
    return [values[index] for index in sorted(range(len(keys)), key=by_key)]


for _kind in _SORTABLE:
    _guard = _kind.rpartition(".")[2].lower()
    overload(f"list_{_kind}_sortByAssociatedKeys", "list", f"list({_guard})")(sort_by)


@overload("lists_range", "int")
def numbers_below(count: int) -> list[int]:
    """The integers from 0 up to `count`; more than an evaluation may cost ends it."""
    if count > _MAX_RANGE:
        raise cost_exceeded()
    return list(range(count))


@overload("list_reverse", "list")
def reverse(values: list[Value]) -> list[Value]:
    """The elements from last to first."""
    spend_on(values)
    return values[::-1]


@overload("list_distinct", "list")
def distinct(values: list[Value]) -> list[Value]:
    """The first of each group of equal elements."""
    if len(values) > 1000:
        # Upstream charges more than the limit of an evaluation for comparing this many.
        raise cost_exceeded()
    spend(len(values) ** 2)
    unique: list[Value] = []
    for value in values:
        if not any(equal(value, other) is True for other in unique):
            unique.append(value)
    return unique


def _check_product(left: list[Value], right: list[Value]) -> None:
    spend(len(left) * len(right))
    if len(left) * len(right) > _MAX_RANGE:
        raise cost_exceeded()


@overload("list_sets_contains_list", "list", "list")
def set_contains(values: list[Value], wanted: list[Value]) -> bool:
    """Whether every wanted element has an equal one."""
    _check_product(values, wanted)
    return all(any(equal(item, value) is True for value in values) for item in wanted)


@overload("list_sets_equivalent_list", "list", "list")
def set_equivalent(left: list[Value], right: list[Value]) -> bool:
    """Whether each list has all elements of the other."""
    return set_contains(left, right) and set_contains(right, left)


@overload("list_sets_intersects_list", "list", "list")
def set_intersects(left: list[Value], right: list[Value]) -> bool:
    """Whether some element is in both lists."""
    _check_product(left, right)
    return any(any(equal(item, value) is True for value in right) for item in left)
