"""Operators of the standard library: overload ids and types (cel-go common/stdlib)."""

from dra_plan.cel.declarations.overload import Library, Overload, plain
from dra_plan.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    INT,
    STRING,
    TIMESTAMP,
    UINT,
    Type,
    list_of,
    map_of,
    parameter,
)

_A, _B = parameter("A"), parameter("B")
_LIST, _MAP = list_of(_A), map_of(_A, _B)

_COMPARED: tuple[tuple[str, Type, Type], ...] = (
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


def _comparison(prefix: str) -> tuple[Overload, ...]:
    return tuple(plain(f"{prefix}_{suffix}", (left, right), BOOL) for suffix, left, right in _COMPARED)


def _numeric(prefix: str, *types: tuple[str, Type]) -> tuple[Overload, ...]:
    return tuple(plain(f"{prefix}_{suffix}", (number, number), number) for suffix, number in types)


_DOUBLE, _INT, _UINT = ("double", DOUBLE), ("int64", INT), ("uint64", UINT)

OPERATORS = Library(
    name="operators",
    since=(1, 0),
    functions={
        "_?_:_": (plain("conditional", (BOOL, _A, _A), _A),),
        "_&&_": (plain("logical_and", (BOOL, BOOL), BOOL),),
        "_||_": (plain("logical_or", (BOOL, BOOL), BOOL),),
        "!_": (plain("logical_not", (BOOL,), BOOL),),
        "@not_strictly_false": (plain("not_strictly_false", (BOOL,), BOOL),),
        "_==_": (plain("equals", (_A, _A), BOOL),),
        "_!=_": (plain("not_equals", (_A, _A), BOOL),),
        "_<_": _comparison("less"),
        "_<=_": _comparison("less_equals"),
        "_>_": _comparison("greater"),
        "_>=_": _comparison("greater_equals"),
        "_+_": (
            plain("add_bytes", (BYTES, BYTES), BYTES),
            plain("add_double", (DOUBLE, DOUBLE), DOUBLE),
            plain("add_duration_duration", (DURATION, DURATION), DURATION),
            plain("add_duration_timestamp", (DURATION, TIMESTAMP), TIMESTAMP),
            plain("add_timestamp_duration", (TIMESTAMP, DURATION), TIMESTAMP),
            plain("add_int64", (INT, INT), INT),
            plain("add_list", (_LIST, _LIST), _LIST),
            plain("add_string", (STRING, STRING), STRING),
            plain("add_uint64", (UINT, UINT), UINT),
        ),
        "_-_": (
            plain("subtract_double", (DOUBLE, DOUBLE), DOUBLE),
            plain("subtract_duration_duration", (DURATION, DURATION), DURATION),
            plain("subtract_int64", (INT, INT), INT),
            plain("subtract_timestamp_duration", (TIMESTAMP, DURATION), TIMESTAMP),
            plain("subtract_timestamp_timestamp", (TIMESTAMP, TIMESTAMP), DURATION),
            plain("subtract_uint64", (UINT, UINT), UINT),
        ),
        "_*_": _numeric("multiply", _DOUBLE, _INT, _UINT),
        "_/_": _numeric("divide", _DOUBLE, _INT, _UINT),
        "_%_": _numeric("modulo", _INT, _UINT),
        "-_": (plain("negate_double", (DOUBLE,), DOUBLE), plain("negate_int64", (INT,), INT)),
        "_[_]": (plain("index_list", (_LIST, INT), _A), plain("index_map", (_MAP, _A), _B)),
        "@in": (plain("in_list", (_A, _LIST), BOOL), plain("in_map", (_A, _MAP), BOOL)),
    },
)
