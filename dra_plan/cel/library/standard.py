"""The standard library, without its operators."""

from __future__ import annotations

from dra_plan.cel import macros
from dra_plan.cel.cost import traversal
from dra_plan.cel.types import (
    ANY,
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    TYPE,
    UINT,
    list_of,
    map_of,
    parameter,
)
from dra_plan.cel.values import Value, size_of

from .conversions import ACCESSORS, CONVERSIONS
from .formats import MATCHES
from .overload import CallEstimate, Library, Overload, Price, member, plain
from .prices import Operands, first, through


def size(value: Value) -> int:
    """Return the number of code points, bytes, elements or entries in the value."""
    return len(value)


def contains(text: str, part: str) -> bool:
    """Return whether the part occurs in the text."""
    return part in text


def starts_with(text: str, part: str) -> bool:
    """Return whether the text begins with the part."""
    return text.startswith(part)


def ends_with(text: str, part: str) -> bool:
    """Return whether the text ends with the part."""
    return text.endswith(part)


def _product(arguments: list[Value], _result: Value) -> int:
    return traversal(size_of(arguments[0])) * traversal(size_of(arguments[1]))


def _through_second(operands: Operands) -> CallEstimate:
    return CallEstimate(through(operands[1]))


def _through_both(operands: Operands) -> CallEstimate:
    return CallEstimate(through(operands[0]).times(through(operands[1])))


_AFFIX = Price(first, _through_second)
_CONTAINS = Price(_product, _through_both)
_TEXTS = (STRING, STRING)


def _sizes() -> tuple[Overload, ...]:
    sized = {
        "bytes": BYTES,
        "list": list_of(parameter("A")),
        "map": map_of(parameter("A"), parameter("B")),
        "string": STRING,
    }
    return tuple(
        overload
        for name, of in sized.items()
        for overload in (plain(f"size_{name}", (of,), INT, size), member(f"{name}_size", (of,), INT, size))
    )


STANDARD = Library(
    name="standard",
    since=(1, 0),
    macros=macros.STANDARD,
    types={
        "bool": BOOL,
        "bytes": BYTES,
        "double": DOUBLE,
        "int": INT,
        "list": list_of(DYN),
        "map": map_of(DYN, DYN),
        "null_type": NULL,
        "string": STRING,
        "type": TYPE,
        "uint": UINT,
        # Kubernetes' type provider knows these two by their short names; they have no value during evaluation.
        "duration": DURATION,
        "timestamp": TIMESTAMP,
        "google.protobuf.Any": ANY,
        DURATION.name: DURATION,
        TIMESTAMP.name: TIMESTAMP,
    },
    functions={
        "size": _sizes(),
        **CONVERSIONS,
        "contains": (member("contains_string", _TEXTS, BOOL, contains, _CONTAINS),),
        "endsWith": (member("ends_with_string", _TEXTS, BOOL, ends_with, _AFFIX),),
        "startsWith": (member("starts_with_string", _TEXTS, BOOL, starts_with, _AFFIX),),
        "matches": MATCHES,
        **ACCESSORS,
    },
)
