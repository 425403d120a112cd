"""cel-go's lists library, version 3: slice, flatten, sort, ranges, reverse, distinct."""

from __future__ import annotations

import functools

from dra_plan.cel import macros
from dra_plan.cel.cost import LIST_COST
from dra_plan.cel.ranges import MOST, STRING_FACTOR, fixed
from dra_plan.cel.types import BYTES, DYN, INT, STRING, list_of, parameter
from dra_plan.cel.values import (
    EvaluationError,
    Value,
    check_text,
    cost_exceeded,
    equal,
    is_comparable,
    no_such_overload,
    size_of,
    spend,
    spend_on,
    type_name,
)

from .lists import COMPARABLE, order
from .overload import CallEstimate, Cost, Library, Price, PricedOperand, member, plain
from .prices import Operands, allocating, literal, new_list, size

_MOST_IN_RANGE = 1_000_000


def cut(values: list[Value], start: int, end: int) -> list[Value]:
    """The elements from one index up to another."""
    if start < 0 or end < 0:
        raise EvaluationError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise EvaluationError(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if len(values) < end:
        raise EvaluationError(f"cannot slice({start}, {end}), list is length {len(values)}")
    return values[start:end]


def flatten(values: Value) -> list[Value]:
    """The elements of the lists inside, one level deep."""
    return flatten_to(values, 1)


def flatten_to(values: Value, depth: int) -> list[Value]:
    """The elements of the lists inside, that many levels deep."""
    if type(depth) is not int:
        raise no_such_overload()
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
        return order(keys[left], keys[right]) or 0

    by_key = functools.cmp_to_key(compare_keys)
    return [values[index] for index in sorted(range(len(keys)), key=by_key)]


def numbers_below(count: int) -> list[int]:
    """The integers from 0 up to `count`; more than an evaluation may cost ends it."""
    if count > _MOST_IN_RANGE:
        raise cost_exceeded()
    return list(range(count))


def reverse(values: list[Value]) -> list[Value]:
    """The elements from last to first."""
    spend_on(values)
    return values[::-1]


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


# -- prices ------------------------------------------------------------------------------------------------------


def _flattened(arguments: list[Value], _result: Value) -> int:
    depth = arguments[1] if len(arguments) == 2 and type(arguments[1]) is int else 1
    return max(int(size_of(arguments[0]) * float(depth)), 0) + 1 + LIST_COST


def _estimate_flattened(operands: Operands) -> CallEstimate:
    return allocating(float(literal(operands[1], MOST)) if len(operands) > 1 else 1.0, size(operands[0]))


def _estimate_slice(operands: Operands) -> CallEstimate:
    length = literal(operands[2], size(operands[0]).most) - literal(operands[1], 0)
    return allocating(1, fixed(length % (MOST + 1)))  # wraps around when the end is before the start, as upstream


def _compared(position: int) -> Cost:
    """Compare all elements of the argument with each other."""

    def cost(arguments: list[Value], _result: Value) -> int:
        values = arguments[position]
        if type(values) is not list:
            return 1
        factor = 2.0 + (STRING_FACTOR if values and type(values[0]) in (str, bytes) else 0.0)
        return int(len(values) ** 2 * factor) + 1 + LIST_COST

    return cost


def _estimate_compared(operand: PricedOperand, factor: float) -> CallEstimate:
    return allocating(factor, size(operand).times(size(operand)))


def _sorting(position: int, factor: float) -> Price:
    return Price(_compared(position), lambda operands: _estimate_compared(operands[position], factor))


_FLATTENED = Price(_flattened, _estimate_flattened)
_FACTORS = {of: 2.0 + STRING_FACTOR if of in (STRING, BYTES) else 2.0 for of in COMPARABLE}

# -- the table ---------------------------------------------------------------------------------------------------

_T = parameter("T")
_LIST = list_of(_T)

SEQUENCES = Library(
    name="lists version 3",
    since=(1, 34),
    macros=macros.LISTS,
    functions={
        "slice": (member("list_slice", (_LIST, INT, INT), _LIST, cut, Price(new_list, _estimate_slice)),),
        "flatten": (
            member("list_flatten", (list_of(_LIST),), _LIST, flatten, _FLATTENED, guarded=False),
            member("list_flatten_int", (list_of(DYN), INT), list_of(DYN), flatten_to, _FLATTENED, guarded=False),
        ),
        "sort": tuple(
            member(f"list_{of}_sort", (list_of(of),), list_of(of), sort, _sorting(0, factor))
            for of, factor in _FACTORS.items()
        ),
        macros.SORT_BY_KEYS: tuple(
            member(f"list_{of}_sortByAssociatedKeys", (_LIST, list_of(of)), _LIST, sort_by, _sorting(1, factor))
            for of, factor in _FACTORS.items()
        ),
        "lists.range": (
            plain(
                "lists_range", (INT,), list_of(INT), numbers_below,
                Price(new_list, lambda operands: allocating(1, fixed(literal(operands[0], MOST)))),
            ),
        ),
        "reverse": (
            member(
                "list_reverse", (_LIST,), _LIST, reverse,
                Price(new_list, lambda operands: allocating(1, size(operands[0]))),
            ),
        ),
        "distinct": (member("list_distinct", (_LIST,), _LIST, distinct, _sorting(0, 2.0)),),
    },
)  # fmt: skip
