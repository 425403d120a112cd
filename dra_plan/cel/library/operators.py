"""Operators for arithmetic, order and containment. Equality is in `values`; `&&`, `||` and `?:` are in `interpret`."""

from __future__ import annotations

import math

from dra_plan.cel.cost import ONE, STRING_FACTOR, Interval, inequality, traversal
from dra_plan.cel.types import (
    BOOL,
    BYTES,
    CIDR,
    DOUBLE,
    DURATION,
    FORMAT,
    INT,
    IP,
    QUANTITY,
    SEMVER,
    STRING,
    TIMESTAMP,
    UINT,
    URL,
    Type,
    list_of,
    map_of,
    parameter,
)
from dra_plan.cel.values import (
    MIN_INT64,
    Duration,
    EvaluationError,
    Timestamp,
    Uint,
    Value,
    check_duration,
    check_int,
    check_text,
    check_timestamp,
    check_uint,
    compare,
    equal,
    map_key,
    no_such_overload,
    size_of,
    spend,
    spend_on,
)

from .optionals import AUTHORIZER_TYPES
from .overload import UNIT, CallEstimate, Function, Library, Overload, Price, plain
from .prices import Operands, estimated, size


def add(left: Value, right: Value) -> Value:
    """Return `left + right`."""
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
    """Return `left - right`."""
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
    """Return `left * right`."""
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
    """Return `left / right`. Integer division rounds towards zero."""
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
    """Return `left % right`, with the sign of the left operand."""
    kind = type(left)
    if kind is type(right) and (kind is int or kind is Uint):
        if right == 0:
            raise EvaluationError("modulus by zero")
        if left == MIN_INT64 and right == -1:
            raise EvaluationError("integer overflow")
        remainder = abs(int(left)) % abs(int(right))
        return Uint(remainder) if kind is Uint else (remainder if left >= 0 else -remainder)
    raise no_such_overload()


def negate(value: Value) -> Value:
    """Return `-value`."""
    kind = type(value)
    if kind is int:
        return check_int(-value)
    if kind is float:
        return -value
    raise no_such_overload()


def logical_not(value: Value) -> Value:
    """Return `!value`."""
    if type(value) is bool:
        return not value
    raise no_such_overload()


def less(left: Value, right: Value) -> bool:
    """Return `left < right`."""
    return _ordered(left, right) < 0


def less_equal(left: Value, right: Value) -> bool:
    """Return `left <= right`."""
    return _ordered(left, right) <= 0


def greater(left: Value, right: Value) -> bool:
    """Return `left > right`."""
    return _ordered(left, right) > 0


def greater_equal(left: Value, right: Value) -> bool:
    """Return `left >= right`."""
    return _ordered(left, right) >= 0


def _ordered(left: Value, right: Value) -> int:
    order: Value = compare(left, right)
    if type(order) is EvaluationError:
        raise order
    return int(order)


def contained(item: Value, container: Value) -> bool:
    """Return `item in container`. Elements that cannot be compared with the item are not equal to it."""
    if type(container) is list:
        spend_on(container)
        return any(equal(item, element) is True for element in container)
    if isinstance(container, dict):
        return map_key(item) in container
    raise no_such_overload()


# -- prices of operators -----------------------------------------------------------------------------------------------


def _smaller(arguments: list[Value], _result: Value) -> int:
    return inequality(arguments[0], arguments[1])


def _both(arguments: list[Value], _result: Value) -> int:
    return traversal(size_of(arguments[0]) + size_of(arguments[1]))


def _searched_list(arguments: list[Value], _result: Value) -> int:
    return size_of(arguments[1])


def _compared(operands: Operands) -> CallEstimate:
    most = min(size(operands[0]).most, size(operands[1]).most)
    return CallEstimate(Interval(min(most, 1), most).scaled(STRING_FACTOR))


_LONGEST_FORMAT = 64
_UNIT_EQUALITY = frozenset((IP, CIDR, QUANTITY, SEMVER)) | AUTHORIZER_TYPES


def _equals(operands: Operands) -> CallEstimate:
    """Price the equality of Kubernetes' own types; all others are compared by size."""
    left, right = operands[0].type, operands[1].type
    if left.name == right.name:
        if left in _UNIT_EQUALITY:
            return CallEstimate(ONE)
        if left == FORMAT:
            return CallEstimate(Interval(1, _LONGEST_FORMAT).scaled(STRING_FACTOR))
        if left == URL:
            text = operands[1].size
            return CallEstimate(Interval(1, 1 if text is None else text.most).scaled(STRING_FACTOR))
    return _compared(operands)


def _joined(operands: Operands) -> CallEstimate:
    result = size(operands[0]).plus(size(operands[1]))
    return CallEstimate(result.scaled(STRING_FACTOR), result)


def _joined_lists(operands: Operands) -> CallEstimate:
    return CallEstimate(ONE, size(operands[0]).plus(size(operands[1])))


def _in_list(operands: Operands) -> CallEstimate:
    return CallEstimate(size(operands[1]))


_COMPARED = Price(_smaller, _compared)
_ADDED = Price(_both, _joined)

# -- the table of operators --------------------------------------------------------------------------------------------

_A, _B = parameter("A"), parameter("B")
_LIST, _MAP = list_of(_A), map_of(_A, _B)

_PAIRS: tuple[tuple[str, Type, Type], ...] = (
    ("bool", BOOL, BOOL),
    ("int64", INT, INT),
    ("int64_double", INT, DOUBLE),
    ("int64_uint64", INT, UINT),
    ("uint64", UINT, UINT),
    ("uint64_double", UINT, DOUBLE),
    ("uint64_int64", UINT, INT),
    ("double", DOUBLE, DOUBLE),
    ("double_int64", DOUBLE, INT),
    ("double_uint64", DOUBLE, UINT),
    ("string", STRING, STRING),
    ("bytes", BYTES, BYTES),
    ("timestamp", TIMESTAMP, TIMESTAMP),
    ("duration", DURATION, DURATION),
)


def _order(prefix: str, function: Function) -> tuple[Overload, ...]:
    return tuple(
        plain(f"{prefix}_{suffix}", (left, right), BOOL, function, _COMPARED if left in (STRING, BYTES) else UNIT,
              guarded=False, singleton=True)
        for suffix, left, right in _PAIRS
    )  # fmt: skip


def _arithmetic(
    function: Function, *signatures: tuple[str, tuple[Type, ...], Type], price: Price = UNIT
) -> tuple[Overload, ...]:
    return tuple(
        plain(identifier, args, result, function, price, guarded=False, singleton=True)
        for identifier, args, result in signatures
    )


def _numeric(function: Function, prefix: str, **types: Type) -> tuple[Overload, ...]:
    return _arithmetic(function, *((f"{prefix}_{name}", (of, of), of) for name, of in types.items()))


# The evaluators and the estimate handle these overloads directly.
INDEX_LIST = plain("index_list", (_LIST, INT), _A)
INDEX_MAP = plain("index_map", (_MAP, _A), _B)
IN_LIST = plain("in_list", (_A, _LIST), BOOL, contained, Price(_searched_list, _in_list), guarded=False, singleton=True)

OPERATORS = Library(
    name="operators",
    since=(1, 0),
    functions={
        "_?_:_": (plain("conditional", (BOOL, _A, _A), _A),),
        "_&&_": (plain("logical_and", (BOOL, BOOL), BOOL),),
        "_||_": (plain("logical_or", (BOOL, BOOL), BOOL),),
        "!_": (plain("logical_not", (BOOL,), BOOL, logical_not, guarded=False, singleton=True),),
        "@not_strictly_false": (plain("not_strictly_false", (BOOL,), BOOL),),
        "_==_": (plain("equals", (_A, _A), BOOL, price=estimated(_equals)),),
        "_!=_": (plain("not_equals", (_A, _A), BOOL, price=estimated(_compared)),),
        "_<_": _order("less", less),
        "_<=_": _order("less_equals", less_equal),
        "_>_": _order("greater", greater),
        "_>=_": _order("greater_equals", greater_equal),
        "_+_": (
            *_arithmetic(add, ("add_bytes", (BYTES, BYTES), BYTES), price=_ADDED),
            *_arithmetic(
                add,
                ("add_double", (DOUBLE, DOUBLE), DOUBLE),
                ("add_duration_duration", (DURATION, DURATION), DURATION),
                ("add_duration_timestamp", (DURATION, TIMESTAMP), TIMESTAMP),
                ("add_timestamp_duration", (TIMESTAMP, DURATION), TIMESTAMP),
                ("add_int64", (INT, INT), INT),
            ),
            *_arithmetic(add, ("add_list", (_LIST, _LIST), _LIST), price=estimated(_joined_lists)),
            *_arithmetic(add, ("add_string", (STRING, STRING), STRING), price=_ADDED),
            *_arithmetic(add, ("add_uint64", (UINT, UINT), UINT)),
        ),
        "_-_": _arithmetic(
            subtract,
            ("subtract_double", (DOUBLE, DOUBLE), DOUBLE),
            ("subtract_duration_duration", (DURATION, DURATION), DURATION),
            ("subtract_int64", (INT, INT), INT),
            ("subtract_timestamp_duration", (TIMESTAMP, DURATION), TIMESTAMP),
            ("subtract_timestamp_timestamp", (TIMESTAMP, TIMESTAMP), DURATION),
            ("subtract_uint64", (UINT, UINT), UINT),
        ),
        "_*_": _numeric(multiply, "multiply", double=DOUBLE, int64=INT, uint64=UINT),
        "_/_": _numeric(divide, "divide", double=DOUBLE, int64=INT, uint64=UINT),
        "_%_": _numeric(modulo, "modulo", int64=INT, uint64=UINT),
        "-_": _arithmetic(negate, ("negate_double", (DOUBLE,), DOUBLE), ("negate_int64", (INT,), INT)),
        "_[_]": (INDEX_LIST, INDEX_MAP),
        "@in": (
            IN_LIST,
            plain("in_map", (_A, _MAP), BOOL, contained, guarded=False, singleton=True),
        ),
    },
)
"""The operators. They check the types of their operands themselves; `cost` has the cost of equality."""
