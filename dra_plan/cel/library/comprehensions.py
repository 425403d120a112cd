"""cel.bind, comprehensions with two variables, and the maps that these build."""

from __future__ import annotations

from dra_plan.cel import macros
from dra_plan.cel.types import map_of, parameter
from dra_plan.cel.values import EvaluationError, Value, map_key, spend

from .overload import Library, plain


def map_insert(mapping: dict[Value, Value], key: Value, value: Value) -> dict[Value, Value]:
    """The map with one more entry."""
    place = map_key(key)
    if place in mapping:
        raise EvaluationError(f"insert failed: key {key} already exists")
    spend(len(mapping))
    return {**mapping, place: value}


def map_merge(mapping: dict[Value, Value], other: dict[Value, Value]) -> dict[Value, Value]:
    """The map with the entries of another."""
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
