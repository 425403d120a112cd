"""Run-time values: their Python types, equality, order, sizes and type names.

bool, int (int64), float, str, bytes, None, list and dict represent themselves; a bool is never an int. The other types,
and the map keys true and false, have classes in this module. An `EvaluationError` is a value where cel-go continues
after an error to count costs; otherwise, it is raised.
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
"""Any run-time value."""

MAX_INT64 = 2**63 - 1
MIN_INT64 = -(2**63)
MAX_UINT64 = 2**64 - 1
MAX_TEXT = 10_000_000
"""The maximum length of a string or list. Upstream reaches its cost or memory limit there too."""


class EvaluationError(Exception):
    """An error in an evaluation, which `&&`, `||` and comprehensions may ignore.

    `missing_key` is true if a map does not have a key.
    """

    missing_key = False


class Fatal(Exception):  # noqa: N818 - nothing of the language catches it
    """Raised to end an evaluation: the cost limit is exceeded, or upstream's evaluator crashes."""


def unsigned_overflow() -> EvaluationError:
    """Return the error for a number that does not fit in a uint64."""
    return EvaluationError("unsigned integer overflow")


_Error = TypeVar("_Error", bound=Exception)


def kept(error: _Error) -> _Error:
    """Return the error without its traceback, so that it can be kept as a value.

    A traceback refers to all values of the evaluation, which may be large and would stay in memory until the next
    garbage collection.
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
    """Reset the steps that `spend` counts. Call this before each evaluation."""
    _WORK.left = _MAX_WORK


def spend(steps: int) -> None:
    """Count steps that upstream's costs do not include. Raises Fatal if there are too many in an evaluation.

    Lists that share their parts let a short expression compare or flatten an exponential number of elements.
    """
    _WORK.left -= steps
    if _WORK.left < 0:
        raise cost_exceeded()


def spend_on(values: list[Value]) -> None:
    """Count the steps for traversing a list."""
    spend(len(values) // _PER_STEP + 1)


def cost_exceeded() -> Fatal:
    """Return the error for an evaluation that exceeds the cost limit."""
    return Fatal("operation cancelled: actual cost limit exceeded")


class Uint(int):
    """A uint, which has 64 bits."""

    __slots__ = ()


class Duration(msgspec.Struct, frozen=True, order=True, gc=False):
    """A duration in nanoseconds, as an int64."""

    nanos: int


_MIN_TIME = -62135596800 * 10**9
_MAX_TIME = 253402300800 * 10**9 - 1


class Timestamp(msgspec.Struct, frozen=True, order=True, gc=False):
    """A time in nanoseconds since 1970, in the years 1 to 9999."""

    nanos: int


class TypeValue(msgspec.Struct, frozen=True, gc=False):
    """A type as a value, such as `string` or the result of `type(x)`."""

    name: str


class Optional(msgspec.Struct, frozen=True, eq=False):
    """An optional with a value, such as `optional.of(value)`."""

    value: Value


NONE = Optional(None)
"""The only empty optional (`optional.none()`), compared by identity."""


class BoolKey:
    """The map key true or false. In a dict, Python's bools would be equal to 1 and 0."""

    __slots__ = ("value",)

    def __init__(self, value: bool) -> None:
        self.value = value


TRUE_KEY, FALSE_KEY = BoolKey(True), BoolKey(False)


class ContainerKey:
    """A list or map as a map key. It is not equal to any key, not even to itself."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value


class DefaultMap(dict[str, Value]):
    """A map in which an unknown key selects an empty map: `device.attributes` or `device.capacity`."""

    __slots__ = ()


class QuantityCell:
    """A quantity as upstream stores it, so that an operation can change it for later operations.

    `amount` is replaced in place (see `library.quantities`). `computed` is true for the result of add or sub, which
    upstream holds by pointer; it is an error on the right of `==`.
    """

    __slots__ = ("amount", "computed")

    def __init__(self, amount: QuantityBox, computed: bool) -> None:
        self.amount = amount
        self.computed = computed


class QuantityBox:
    """The amount of a quantity. Cells with a decimal amount may share it."""

    __slots__ = ("quantity",)

    def __init__(self, quantity: Quantity) -> None:
        self.quantity = quantity


class Url(msgspec.Struct, frozen=True, gc=False):
    """A parsed URL. URLs are equal if their texts, put together from their parts, are equal."""

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
    """An IP network: an address and the prefix length."""

    address: Ip
    length: int


class NamedFormat(msgspec.Struct, frozen=True, eq=False):
    """A named format, with a function that finds errors in a text, and the pattern length for upstream's cost."""

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
"""The Python classes of each type, by run-time type name."""


def type_name(value: Value) -> str:
    """Return the run-time type name of the value, as `type(value)` does."""
    return _TYPE_NAMES[type(value)]


def go_type_name(value: Value) -> str:
    """Return the name of the value's type in Go, for error messages."""
    return _GO_NAMES.get(type_name(value), type_name(value))


def map_key(key: Value) -> Value:
    """Return the dict key for a map key.

    Raises Fatal for a key that makes upstream crash.
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
    """Yield the keys and values of a map, in order."""
    for key, value in mapping.items():
        yield (key.value if type(key) is BoolKey or type(key) is ContainerKey else key), value


def size_of(value: Value) -> int:
    """Return the size of a value for upstream's costs: its code points, bytes or elements, or 1 if it has no size."""
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
    """Return `left == right`, or an EvaluationError if upstream cannot compare values of these types."""
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
    """Return -1, 0 or 1, or an EvaluationError if the values cannot be ordered.

    NaN cannot be ordered, as in upstream.
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
    """Return whether values of this type can be ordered."""
    return type(value) in _NUMBERS or type(value) in _ORDERED


def check_int(number: int) -> int:
    """Return the number. Raises EvaluationError if it does not fit in an int64."""
    if MIN_INT64 <= number <= MAX_INT64:
        return number
    raise EvaluationError("integer overflow")


def check_uint(number: int) -> Uint:
    """Return the number as a uint. Raises EvaluationError if it does not fit in a uint64."""
    if 0 <= number <= MAX_UINT64:
        return Uint(number)
    raise unsigned_overflow()


def check_text(length: int) -> None:
    """Raise Fatal if a string or list of this length exceeds the limit."""
    if length > MAX_TEXT:
        raise cost_exceeded()


def check_duration(nanos: int) -> Duration:
    """Return a duration of this many nanoseconds. Raises EvaluationError if it does not fit in an int64."""
    if MIN_INT64 <= nanos <= MAX_INT64:
        return Duration(nanos)
    raise EvaluationError("duration overflow")


def check_timestamp(nanos: int) -> Timestamp:
    """Return the time this many nanoseconds after the beginning of 1970.

    Raises EvaluationError if it is not in the years 1 to 9999.
    """
    if _MIN_TIME <= nanos <= _MAX_TIME:
        return Timestamp(nanos)
    raise EvaluationError("timestamp overflow")
