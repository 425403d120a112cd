"""Arithmetic, order, containment and the other operators. Equality is in `values`; `&&`, `||` and `?:` are planned."""

from __future__ import annotations

import math
from collections.abc import Callable

from dra_plan.cel.library.base import OVERLOADS, Overload, overload
from dra_plan.cel.values import (
    MAX_INT64,
    MIN_INT64,
    Duration,
    EvaluationError,
    Timestamp,
    Uint,
    Value,
    check_int,
    check_text,
    check_uint,
    compare,
    equal,
    map_key,
    no_such_overload,
    spend,
    spend_on,
)

_MIN_TIME = -62135596800 * 10**9
_MAX_TIME = 253402300800 * 10**9 - 1


def check_duration(nanos: int) -> Duration:
    """The duration of so many nanoseconds; raises EvaluationError beyond an int64."""
    if MIN_INT64 <= nanos <= MAX_INT64:
        return Duration(nanos)
    raise EvaluationError("duration overflow")


def check_timestamp(nanos: int) -> Timestamp:
    """The instant; raises EvaluationError outside of the years 1 to 9999."""
    if _MIN_TIME <= nanos <= _MAX_TIME:
        return Timestamp(nanos)
    raise EvaluationError("timestamp overflow")


def add(left: Value, right: Value) -> Value:
    """`left + right`."""
    kind = type(left)
    if kind is type(right):
        if kind is int:
            return check_int(left + right)
        if kind is str or kind is bytes:
            check_text(len(left) + len(right))
            return left + right
        if kind is list:
            check_text(len(left) + len(right))
            spend((len(left) + len(right)) // 50 + 1)
            return left + right
        if kind is float:
            return left + right
        if kind is Uint:
            return check_uint(int(left) + int(right))
        if kind is Duration:
            return check_duration(left.nanos + right.nanos)
    elif (kind is Timestamp and type(right) is Duration) or (kind is Duration and type(right) is Timestamp):
        return check_timestamp(left.nanos + right.nanos)
    raise no_such_overload()


def subtract(left: Value, right: Value) -> Value:
    """`left - right`."""
    kind = type(left)
    if kind is type(right):
        if kind is int:
            return check_int(left - right)
        if kind is float:
            return left - right
        if kind is Uint:
            return check_uint(int(left) - int(right))
        if kind is Duration or kind is Timestamp:
            return check_duration(left.nanos - right.nanos)
    elif kind is Timestamp and type(right) is Duration:
        return check_timestamp(left.nanos - right.nanos)
    raise no_such_overload()


def multiply(left: Value, right: Value) -> Value:
    """`left * right`."""
    kind = type(left)
    if kind is type(right):
        if kind is int:
            return check_int(left * right)
        if kind is float:
            return left * right
        if kind is Uint:
            return check_uint(int(left) * int(right))
    raise no_such_overload()


def divide(left: Value, right: Value) -> Value:
    """`left / right`; integers are cut towards zero."""
    kind = type(left)
    if kind is type(right):
        if kind is int or kind is Uint:
            if right == 0:
                raise EvaluationError("division by zero")
            quotient = abs(int(left)) // abs(int(right))
            if kind is Uint:
                return Uint(quotient)
            return check_int(quotient if (left < 0) == (right < 0) else -quotient)
        if kind is float:
            return _divide_floats(left, right)
    raise no_such_overload()


def _divide_floats(left: float, right: float) -> float:
    if right != 0:
        return left / right
    if left == 0 or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def modulo(left: Value, right: Value) -> Value:
    """`left % right` with the sign of the left side."""
    kind = type(left)
    if kind is type(right) and (kind is int or kind is Uint):
        if right == 0:
            raise EvaluationError("modulus by zero")
        if left == MIN_INT64 and right == -1:
            raise EvaluationError("integer overflow")
        remainder = abs(int(left)) % abs(int(right))
        return Uint(remainder) if kind is Uint else (remainder if left >= 0 else -remainder)
    raise no_such_overload()


@overload("negate_int64", "int")
@overload("negate_double", "double")
def negate(value: Value) -> Value:
    """`-value`."""
    kind = type(value)
    if kind is int:
        return check_int(-value)
    if kind is float:
        return -value
    raise no_such_overload()


@overload("logical_not", "bool")
def logical_not(value: Value) -> Value:
    """`!value`."""
    if type(value) is bool:
        return not value
    raise no_such_overload()


def less(left: Value, right: Value) -> bool:
    """`left < right`."""
    return _ordered(left, right) < 0


def less_equal(left: Value, right: Value) -> bool:
    """`left <= right`."""
    return _ordered(left, right) <= 0


def greater(left: Value, right: Value) -> bool:
    """`left > right`."""
    return _ordered(left, right) > 0


def greater_equal(left: Value, right: Value) -> bool:
    """`left >= right`."""
    return _ordered(left, right) >= 0


def _ordered(left: Value, right: Value) -> int:
    order: Value = compare(left, right)
    if type(order) is EvaluationError:
        raise order
    return int(order)


def contained(item: Value, container: Value) -> bool:
    """`item in container`; an element that can't be compared is not equal."""
    if type(container) is list:
        spend_on(container)
        return any(equal(item, element) is True for element in container)
    if isinstance(container, dict):
        return map_key(item) in container
    raise no_such_overload()


@overload("size_string", "string")
@overload("string_size", "string")
@overload("size_bytes", "bytes")
@overload("bytes_size", "bytes")
@overload("size_list", "list")
@overload("list_size", "list")
@overload("size_map", "map")
@overload("map_size", "map")
def size(value: Value) -> int:
    """Code points, bytes, elements or entries."""
    return len(value)


SINGLETONS: dict[str, Callable[..., Value]] = {
    "_+_": add,
    "_-_": subtract,
    "_*_": multiply,
    "_/_": divide,
    "_%_": modulo,
    "_<_": less,
    "_<=_": less_equal,
    "_>_": greater,
    "_>=_": greater_equal,
    "@in": contained,
    "-_": negate,
    "!_": logical_not,
}
"""Operators that look at the values themselves, whatever overloads the check found."""

OVERLOADS["in_list"] = Overload("in_list", contained, ("any", "list"))
OVERLOADS["in_map"] = Overload("in_map", contained, ("any", "map"))
