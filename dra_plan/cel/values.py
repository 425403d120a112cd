"""Run-time values in the selector language: their Python types, equality, order, size and type names.

bool, int (int64), float, str, bytes, None, list and dict represent themselves; a bool is never an int. Unsigned
integers, instants, durations, optionals, types, URLs, addresses and the map keys true and false have classes here. An
error is an `EvaluationError`: a value when cost is counted (cel-go continues after an error), raised otherwise. No
function of the language's libraries belongs here.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias, TypeVar

import msgspec

from dra_plan.api.quantity import Quantity
from dra_plan.api.semver import Semver

from .types import CIDR, DURATION, FORMAT, IP, QUANTITY, SEMVER, TIMESTAMP, URL

Value: TypeAlias = Any
"""Any of the run-time values. The type is not narrower because every function in the language is called through one
table."""

MAX_INT64 = 2**63 - 1
MIN_INT64 = -(2**63)
MAX_UINT64 = 2**64 - 1
MAX_TEXT = 10_000_000
"""The maximum length of a string or list; upstream also reaches its cost or memory limit there."""


class EvaluationError(Exception):
    """An error in an evaluation. The operators `&&` and `||` and comprehensions may ignore it.

    `missing_key` is true if the error is that a map lacks a key.
    """

    missing_key = False


class Fatal(Exception):  # noqa: N818 - nothing of the language catches it
    """An error that always ends the evaluation: an exceeded cost limit, or a crash of upstream's evaluator."""


def unsigned_overflow() -> EvaluationError:
    """Return the error for a number that exceeds uint64."""
    return EvaluationError("unsigned integer overflow")


_Error = TypeVar("_Error", bound=Exception)


def kept(error: _Error) -> _Error:
    """Return the error without its traceback, so that it can be stored as a value.

    A traceback refers to all frames, and the frames refer to the values in the evaluation, including lists of a million
    entries. If one of these frames held the error, the values would stay in memory until the next garbage collection,
    which is off during planning.
    """
    return error.with_traceback(None)


def no_such_overload() -> EvaluationError:
    """Return the error for an operation on values of the wrong types."""
    return EvaluationError("no such overload")


class _Work(threading.local):
    left = 0


_WORK = _Work()
_MAX_WORK = 3_000_000


_PER_STEP = 10
"""The number of elements that count as one step if each takes almost no time; upstream also charges a tenth."""


def begin_work() -> None:
    """Start an evaluation. The steps that `spend` counts from now on belong to it."""
    _WORK.left = _MAX_WORK


def spend(steps: int) -> None:
    """Count steps that upstream's costs do not include. Raises Fatal if an evaluation takes too many of them.

    Lists that share their parts let a short expression compare or flatten an exponential number of elements.
    """
    _WORK.left -= steps
    if _WORK.left < 0:
        raise cost_exceeded()


def spend_on(values: list[Value]) -> None:
    """Count the steps of traversing a list."""
    spend(len(values) // _PER_STEP + 1)


def cost_exceeded() -> Fatal:
    """Return the error for an evaluation that exceeds the cost limit."""
    return Fatal("operation cancelled: actual cost limit exceeded")


class Uint(int):
    """A value of the type uint, which has 64 bits."""

    __slots__ = ()


class Duration(msgspec.Struct, frozen=True, order=True, gc=False):
    """A span of time in nanoseconds, as an int64."""

    nanos: int


_MIN_TIME = -62135596800 * 10**9
_MAX_TIME = 253402300800 * 10**9 - 1


class Timestamp(msgspec.Struct, frozen=True, order=True, gc=False):
    """A point in time, in nanoseconds since the beginning of 1970 in UTC, in the years 1 to 9999."""

    nanos: int


class TypeValue(msgspec.Struct, frozen=True, gc=False):
    """A type as a value, as returned by a type name such as `string` or by `type(x)`. Equal names make equal values."""

    name: str


class Optional(msgspec.Struct, frozen=True, eq=False):
    """An optional that contains a value, as returned by `optional.of(value)`."""

    value: Value


NONE = Optional(None)
"""`optional.none()`, which is this single object, compared by identity."""


class BoolKey:
    """The map key true or false. As dict keys, Python's own bools would be equal to 1 and 0."""

    __slots__ = ("value",)

    def __init__(self, value: bool) -> None:
        self.value = value


TRUE_KEY, FALSE_KEY = BoolKey(True), BoolKey(False)


class ContainerKey:
    """A list or map that is used as a map key. It is not equal to any key, not even to the same list."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value


class DefaultMap(dict[str, Value]):
    """A map such as `device.attributes` or `device.capacity`, in which an unknown domain selects an empty map."""

    __slots__ = ()


class QuantityCell:
    """A quantity as upstream stores it. An operation can change the quantity that the next operation sees.

    `amount` is replaced in place (see `library.quantities`). A `computed` quantity is the result of add or sub, and
    upstream holds it by pointer. On the right of `==`, a computed quantity is an error.
    """

    __slots__ = ("amount", "computed")

    def __init__(self, amount: QuantityBox, computed: bool) -> None:
        self.amount = amount
        self.computed = computed


class QuantityBox:
    """The amount of a quantity. If it is a decimal, several cells may share one box."""

    __slots__ = ("quantity",)

    def __init__(self, quantity: Quantity) -> None:
        self.quantity = quantity


class Url(msgspec.Struct, frozen=True, gc=False):
    """A parsed URL. Two URLs are equal if the texts made from their parts are equal."""

    text: str
    scheme: str
    host: str
    hostname: str
    port: str
    escaped_path: str
    query: tuple[tuple[str, tuple[str, ...]], ...]


class Ip(msgspec.Struct, frozen=True, gc=False):
    """An IP address of 32 or 128 bits."""

    bits: int
    number: int


class Cidr(msgspec.Struct, frozen=True, gc=False):
    """An IP network: an address, and the length of the prefix."""

    address: Ip
    length: int


class NamedFormat(msgspec.Struct, frozen=True, eq=False):
    """A named text format, with a function that checks texts and the pattern length that upstream's cost uses."""

    name: str
    problems: Callable[[str], list[str]]
    regex_size: int


_TYPE_NAMES: dict[type, str] = {
    bool: "bool",
    int: "int",
    Uint: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    type(None): "null_type",
    list: "list",
    dict: "map",
    DefaultMap: "map",
    Duration: DURATION.name,
    Timestamp: TIMESTAMP.name,
    TypeValue: "type",
    Optional: "optional_type",
    Quantity: QUANTITY.name,
    QuantityCell: QUANTITY.name,
    Semver: SEMVER.name,
    Url: URL.name,
    Ip: IP.name,
    Cidr: CIDR.name,
    NamedFormat: FORMAT.name,
}

_GO_NAMES = {
    "bool": "types.Bool",
    "int": "types.Int",
    "uint": "types.Uint",
    "double": "types.Double",
    "string": "types.String",
    "bytes": "types.Bytes",
    "null_type": "types.Null",
    DURATION.name: "types.Duration",
    TIMESTAMP.name: "types.Timestamp",
    "type": "*types.Type",
    "optional_type": "*types.Optional",
    QUANTITY.name: "cel.Quantity",
    SEMVER.name: "cel.Semver",
    URL.name: "cel.URL",
    IP.name: "cel.IP",
    CIDR.name: "cel.CIDR",
    FORMAT.name: "*cel.Format",
}


CLASSES: dict[str, frozenset[type]] = {
    name: frozenset(held for held, of in _TYPE_NAMES.items() if of == name) for name in set(_TYPE_NAMES.values())
}
"""The classes that represent each type, by run-time type name."""


def type_name(value: Value) -> str:
    """Return the name of the value's run-time type, as `type(value)` returns it."""
    return _TYPE_NAMES[type(value)]


def go_type_name(value: Value) -> str:
    """Return the name of the Go type that holds the value. The name appears in error texts."""
    return _GO_NAMES.get(type_name(value), type_name(value))


def map_key(key: Value) -> Value:
    """Return the key under which Python dicts store the given map key.

    Raises Fatal for a key that crashes upstream's maps.
    """
    kind = type(key)
    if kind is str or kind is int:
        return key
    if kind is bool:
        return TRUE_KEY if key else FALSE_KEY
    if kind is Semver or kind is bytes:
        raise Fatal(f"internal error: runtime error: hash of unhashable type {go_type_name(key)}")
    if kind is list or isinstance(key, dict):
        return ContainerKey(key)
    return key


def entries_of(mapping: dict[Value, Value]) -> Iterator[tuple[Value, Value]]:
    """Yield the keys of a map with their values, in order."""
    for key, value in mapping.items():
        yield (key.value if type(key) is BoolKey or type(key) is ContainerKey else key), value


def size_of(value: Value) -> int:
    """Return the size of a value as upstream's costs count it, in code points, bytes or elements.

    For a value without a size, return 1.
    """
    kind = type(value)
    if kind is str or kind is list or kind is dict or kind is bytes or kind is DefaultMap:
        return len(value)
    if kind is Ip:
        return int(value.bits) // 8
    if kind is Cidr:
        return -(-int(value.length) // 8)
    return 1


_NUMBERS = frozenset((int, Uint, float))


def equal(left: Value, right: Value) -> Value:
    """Return `left == right`, or an EvaluationError if upstream refuses to compare values of these types."""
    kind = type(left)
    if kind in _NUMBERS:
        return _numbers_equal(left, right)
    if kind is str or kind is bool or kind is bytes or left is None:
        return type(right) is kind and left == right
    if right is None:
        return False
    if kind is list:
        return _lists_equal(left, right)
    if kind is dict or kind is DefaultMap:
        return _maps_equal(left, right)
    if kind is Optional:
        return _optionals_equal(left, right)
    return _opaque_equal(left, right)


def _numbers_equal(left: Value, right: Value) -> bool:
    kind, other = type(left), type(right)
    if other not in _NUMBERS:
        return False
    if kind is float or other is float:
        return float(left) == float(right)
    return bool(left == right)


def _lists_equal(left: list[Value], right: Value) -> bool:
    if type(right) is not list or len(left) != len(right):
        return False
    spend(len(left) // _PER_STEP + 3)
    return all(equal(a, b) is not False for a, b in zip(left, right, strict=True))


def _maps_equal(left: dict[Value, Value], right: Value) -> bool:
    if not isinstance(right, dict) or len(left) != len(right):
        return False
    spend(4 * len(left) + 4)
    for key, value in left.items():
        if key in right:
            other = right[key]
        elif type(right) is DefaultMap:
            other = {}
        else:
            return False
        if equal(value, other) is False:
            return False
    return True


def _optionals_equal(left: Optional, right: Value) -> Value:
    if type(right) is not Optional:
        return False
    if left is NONE or right is NONE:
        return left is right
    return equal(left.value, right.value)


def _opaque_equal(left: Value, right: Value) -> Value:
    """Return the equality of types, times and Kubernetes' types; those of Kubernetes reject other types."""
    kind = type(left)
    if kind is TypeValue or kind is Duration or kind is Timestamp:
        return type(right) is kind and left == right
    if kind is QuantityCell:
        return _cell_equal(left, right)
    if kind is Quantity:
        return left == right if type(right) is Quantity else _cell_or_refused(left, right)
    if kind is NamedFormat:
        return left is right if type(right) is NamedFormat else no_such_overload()
    return left == right if type(right) is kind else no_such_overload()


def _cell_equal(left: QuantityCell, right: Value) -> Value:
    return equal(left.amount.quantity, right)


def _cell_or_refused(left: Quantity, right: Value) -> Value:
    if type(right) is QuantityCell and not right.computed:
        return left == right.amount.quantity
    return no_such_overload()


_ORDERED = frozenset((str, bytes, bool, Duration, Timestamp))


def compare(left: Value, right: Value) -> Value:
    """Return -1, 0 or 1, or an EvaluationError if values of these types have no order.

    As in upstream, NaN has no order.
    """
    kind, other = type(left), type(right)
    if kind in _NUMBERS and other in _NUMBERS:
        if (kind is float and math.isnan(left)) or (other is float and math.isnan(right)):
            return EvaluationError("NaN values cannot be ordered")
        if kind is float or other is float:
            left, right = float(left), float(right)
        return (left > right) - (left < right)
    if kind is not other or kind not in _ORDERED:
        return no_such_overload()
    # Go orders text by UTF-8 bytes, which is the order of code points.
    return (left > right) - (left < right)


def is_comparable(value: Value) -> bool:
    """Return whether values of this type have an order."""
    return type(value) in _NUMBERS or type(value) in _ORDERED


def check_int(number: int) -> int:
    """Return the number if it is in the range of int64. Otherwise, raise EvaluationError."""
    if MIN_INT64 <= number <= MAX_INT64:
        return number
    raise EvaluationError("integer overflow")


def check_uint(number: int) -> Uint:
    """Return the number as a uint. Raises EvaluationError if it is out of range."""
    if 0 <= number <= MAX_UINT64:
        return Uint(number)
    raise unsigned_overflow()


def check_text(length: int) -> None:
    """Raise Fatal if a string or list of this length would exceed the limit."""
    if length > MAX_TEXT:
        raise cost_exceeded()


def check_duration(nanos: int) -> Duration:
    """Return the duration of this many nanoseconds. Raises EvaluationError if it exceeds int64."""
    if MIN_INT64 <= nanos <= MAX_INT64:
        return Duration(nanos)
    raise EvaluationError("duration overflow")


def check_timestamp(nanos: int) -> Timestamp:
    """Return the time that is this many nanoseconds after the beginning of 1970.

    Raises EvaluationError outside the years 1 to 9999.
    """
    if _MIN_TIME <= nanos <= _MAX_TIME:
        return Timestamp(nanos)
    raise EvaluationError("timestamp overflow")
