"""Functions for lists, and for the maps that comprehensions create.

In order: Kubernetes' isSorted, sum, min, max, indexOf and lastIndexOf, and DRA's `includes`; cel.bind and
comprehensions with two variables; version 3 of cel-go's lists library (slice, flatten, sort, range, reverse, distinct);
and cel-go's sets library.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable

from dra_plan.cel import macros
from dra_plan.cel.cost import LIST_COST, MOST, ONE, STRING_FACTOR, Interval, fixed
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
    map_of,
    parameter,
)
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
    map_key,
    no_such_overload,
    size_of,
    spend,
    spend_on,
    type_name,
)

from .operators import add
from .overload import CallEstimate, Cost, Function, Library, Overload, Price, PricedOperand, member, plain
from .prices import SEARCHED, Operands, allocating, estimated, literal, new_list, size

COMPARABLE = (INT, UINT, DOUBLE, BOOL, DURATION, TIMESTAMP, STRING, BYTES)
"""The types of elements that can be ordered."""

MOST_LIST_VALUES = 48
"""The maximum number of values in an attribute that is a list (k8s.io/api/resource/v1)."""


def order(left: Value, right: Value) -> int | None:
    """Return the order of two elements as -1, 0 or 1, or None if upstream cannot compare them.

    Upstream's loops ignore such an error.
    """
    order = compare(left, right)
    return None if type(order) is EvaluationError else order


def is_sorted(values: list[Value]) -> bool:
    """Return whether no element is greater than the next one."""
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
    """Return the smallest element. If several are equally small, return the first."""
    return _best(values, "min", 1)


def largest(values: list[Value]) -> Value:
    """Return the largest element. If several are equally large, return the first."""
    return _best(values, "max", -1)


def index_of(values: list[Value], item: Value) -> int:
    """Return the index of the first element equal to the item, or -1."""
    spend_on(values)
    return next((index for index, value in enumerate(values) if equal(value, item) is True), -1)


def last_index_of(values: list[Value], item: Value) -> int:
    """Return the index of the last element equal to the item, or -1."""
    spend_on(values)
    return next((index for index in range(len(values) - 1, -1, -1) if equal(values[index], item) is True), -1)


def includes(target: Value, item: Value) -> bool:
    """Return whether a list has an element equal to the item, or whether a single value is equal to it."""
    if type(target) is list:
        if len(target) > MOST_LIST_VALUES:
            raise EvaluationError(
                f"'includes' function cannot be applied to lists longer than {MOST_LIST_VALUES} values"
            )
        return any(equal(value, item) is True for value in target)
    return equal(target, item) is True


# -- the tables of Kubernetes' functions -------------------------------------------------------------------------------


def _name(of: Type) -> str:
    """Return the name that Kubernetes uses in overload IDs (cel-go's own libraries use the runtime name)."""
    return {DURATION: "duration", TIMESTAMP: "timestamp"}.get(of, of.name)


def _each(pattern: str, function: Function, result: Type | None = None) -> tuple[Overload, ...]:
    """Return one overload for each element type; if no result type is given, it is the element type."""
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


# -- cel.bind and comprehensions with two variables --------------------------------------------------------------------


def map_insert(mapping: dict[Value, Value], key: Value, value: Value) -> dict[Value, Value]:
    """Return a copy of the map with one more entry. Raises EvaluationError if the key exists."""
    place = map_key(key)
    if place in mapping:
        raise EvaluationError(f"insert failed: key {key} already exists")
    spend(len(mapping))
    return {**mapping, place: value}


def map_merge(mapping: dict[Value, Value], other: dict[Value, Value]) -> dict[Value, Value]:
    """Return a map with the entries of both maps. Raises EvaluationError if they have a key in common."""
    for place in other:
        if place in mapping:
            raise EvaluationError("insert failed: key already exists")
    spend(len(mapping) + len(other))
    return {**mapping, **other}


_K, _V = parameter("K"), parameter("V")
_MAP = map_of(_K, _V)

BINDINGS = Library(name="bindings version 0", since=(1, 31), macros=macros.BINDINGS)

TWO_VARIABLES = Library(
    name="two-variable comprehensions",
    since=(1, 32),
    macros=macros.TWO_VARIABLES,
    functions={
        "cel.@mapInsert": (
            plain("@mapInsert_map_key_value", (_MAP, _K, _V), _MAP, map_insert),
            plain("@mapInsert_map_map", (_MAP, _MAP), _MAP, map_merge),
        ),
    },
)


# -- cel-go's lists library --------------------------------------------------------------------------------------------

_MOST_IN_RANGE = 1_000_000


def cut(values: list[Value], start: int, end: int) -> list[Value]:
    """Return the elements from index `start` up to but not including `end`."""
    if start < 0 or end < 0:
        raise EvaluationError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise EvaluationError(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if len(values) < end:
        raise EvaluationError(f"cannot slice({start}, {end}), list is length {len(values)}")
    return values[start:end]


def flatten(values: Value) -> list[Value]:
    """Return the list with nested lists replaced by their elements, one level deep."""
    return flatten_to(values, 1)


def flatten_to(values: Value, depth: int) -> list[Value]:
    """Return the list with nested lists replaced by their elements, up to `depth` levels deep."""
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
    """Return the elements in ascending order."""
    return sort_by(values, values)


def sort_by(values: list[Value], keys: list[Value]) -> list[Value]:
    """Return the elements in ascending order of their keys."""
    if len(values) != len(keys):
        raise EvaluationError("@sortByAssociatedKeys() expected a list of the same size as the associated keys list")
    if not values:
        return values
    if not is_comparable(keys[0]):
        raise EvaluationError("list elements must be comparable")
    if any(type(key) is not type(keys[0]) for key in keys):
        raise EvaluationError("list elements must have the same type")
    if len(keys) > 1000:
        # Upstream charges more than an evaluation's limit for sorting this many elements.
        raise cost_exceeded()
    spend(20 * len(keys))

    def compare_keys(left: int, right: int) -> int:
        return order(keys[left], keys[right]) or 0

    by_key = functools.cmp_to_key(compare_keys)
    return [values[index] for index in sorted(range(len(keys)), key=by_key)]


def numbers_below(count: int) -> list[int]:
    """Return the integers from 0 up to but not including `count`. Raises Fatal if this exceeds the cost limit."""
    if count > _MOST_IN_RANGE:
        raise cost_exceeded()
    return list(range(count))


def reverse(values: list[Value]) -> list[Value]:
    """Return the elements in reverse order."""
    spend_on(values)
    return values[::-1]


def distinct(values: list[Value]) -> list[Value]:
    """Return the elements without those equal to an earlier element."""
    if len(values) > 1000:
        # Upstream charges more than an evaluation's limit for comparing this many elements.
        raise cost_exceeded()
    spend(len(values) ** 2)
    unique: list[Value] = []
    for value in values:
        if not any(equal(value, other) is True for other in unique):
            unique.append(value)
    return unique


# -- prices of cel-go's lists library ----------------------------------------------------------------------------------


def _flattened(arguments: list[Value], _result: Value) -> int:
    depth = arguments[1] if len(arguments) == 2 and type(arguments[1]) is int else 1
    return max(int(size_of(arguments[0]) * float(depth)), 0) + 1 + LIST_COST


def _estimate_flattened(operands: Operands) -> CallEstimate:
    return allocating(float(literal(operands[1], MOST)) if len(operands) > 1 else 1.0, size(operands[0]))


def _estimate_slice(operands: Operands) -> CallEstimate:
    length = literal(operands[2], size(operands[0]).most) - literal(operands[1], 0)
    return allocating(1, fixed(length % (MOST + 1)))  # wraps around if the end is before the start, as in upstream


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

# -- the table of cel-go's lists library -------------------------------------------------------------------------------

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


# -- cel-go's sets library ---------------------------------------------------------------------------------------------

_MOST_COMPARED = 1_000_000


def _check_product(left: list[Value], right: list[Value]) -> None:
    spend(len(left) * len(right))
    if len(left) * len(right) > _MOST_COMPARED:
        raise cost_exceeded()


def set_contains(values: list[Value], wanted: list[Value]) -> bool:
    """Return whether each wanted element is equal to an element of the list."""
    _check_product(values, wanted)
    return all(any(equal(item, value) is True for value in values) for item in wanted)


def set_equivalent(left: list[Value], right: list[Value]) -> bool:
    """Return whether each list contains all elements of the other."""
    return set_contains(left, right) and set_contains(right, left)


def set_intersects(left: list[Value], right: list[Value]) -> bool:
    """Return whether the lists have an element in common."""
    _check_product(left, right)
    return any(any(equal(item, value) is True for value in right) for item in left)


def _price(factor: int) -> Price:
    return Price(
        lambda arguments, _result: 1 + size_of(arguments[0]) * size_of(arguments[1]) * factor,
        lambda operands: CallEstimate(size(operands[0]).times(size(operands[1])).scaled(factor).plus(ONE)),
    )


_TWO = (list_of(parameter("T")), list_of(parameter("T")))

SETS = Library(
    name="sets",
    since=(1, 29),
    functions={
        "sets.contains": (plain("list_sets_contains_list", _TWO, BOOL, set_contains, _price(1)),),
        "sets.equivalent": (plain("list_sets_equivalent_list", _TWO, BOOL, set_equivalent, _price(2)),),
        "sets.intersects": (plain("list_sets_intersects_list", _TWO, BOOL, set_intersects, _price(1)),),
    },
)
