"""Optional values. `or`, `orValue` and selections are planned: the right side is only evaluated when needed."""

from __future__ import annotations

from dra_plan.api.quantity import Quantity
from dra_plan.api.semver import Semver
from dra_plan.cel import macros
from dra_plan.cel.types import BOOL, DYN, INT, STRING, list_of, map_of, optional_of, parameter
from dra_plan.cel.values import NONE, EvaluationError, NamedFormat, Optional, Url, Value

from .overload import Library, member, plain


def of(value: Value) -> Optional:
    """The value as optional."""
    return Optional(value)


def of_non_zero(value: Value) -> Optional:
    """The value as optional, none for false, 0, empty text, empty containers and null."""
    if value is None or (type(value) is not Optional and _is_zero(value)):
        return NONE
    return Optional(value)


def _is_zero(value: Value) -> bool:
    if isinstance(value, (Quantity, Semver, Url, NamedFormat)):
        return False
    nanos = getattr(value, "nanos", None)
    return nanos == 0 if nanos is not None else not value


def none() -> Optional:
    """No value."""
    return NONE


def has_value(option: Optional) -> bool:
    """Whether there is a value."""
    return option is not NONE


def value_of(option: Optional) -> Value:
    """The value; raises EvaluationError when there is none."""
    if option is NONE:
        raise EvaluationError("optional.none() dereference")
    return option.value


def first(values: list[Value]) -> Optional:
    """The first element, if there is one."""
    return Optional(values[0]) if values else NONE


def last(values: list[Value]) -> Optional:
    """The last element, if there is one."""
    return Optional(values[-1]) if values else NONE


def unwrap(options: list[Value]) -> list[Value]:
    """The values of those that have one."""
    for option in options:
        if type(option) is not Optional:
            raise EvaluationError("value is not an optional")
    return [option.value for option in options if option is not NONE]


_K, _V = parameter("K"), parameter("V")
_LIST, _MAP, _OPTIONAL = list_of(_V), map_of(_K, _V), optional_of(_V)
_OPTIONALS = list_of(_OPTIONAL)

OPTIONALS = Library(
    name="optional",
    since=(1, 28),
    macros=macros.OPTIONAL,
    types={"optional_type": _OPTIONAL},
    functions={
        "optional.of": (plain("optional_of", (_V,), _OPTIONAL, of),),
        "optional.ofNonZeroValue": (plain("optional_ofNonZeroValue", (_V,), _OPTIONAL, of_non_zero),),
        "optional.none": (plain("optional_none", (), _OPTIONAL, none),),
        "value": (member("optional_value", (_OPTIONAL,), _V, value_of),),
        "hasValue": (member("optional_hasValue", (_OPTIONAL,), BOOL, has_value),),
        "or": (member("optional_or_optional", (_OPTIONAL, _OPTIONAL), _OPTIONAL),),
        "orValue": (member("optional_orValue_value", (_OPTIONAL, _V), _V),),
        "_?._": (plain("select_optional_field", (DYN, STRING), _OPTIONAL),),
        "_[?_]": (
            plain("list_optindex_optional_int", (_LIST, INT), _OPTIONAL),
            plain("optional_list_optindex_optional_int", (optional_of(_LIST), INT), _OPTIONAL),
            plain("map_optindex_optional_value", (_MAP, _K), _OPTIONAL),
            plain("optional_map_optindex_optional_value", (optional_of(_MAP), _K), _OPTIONAL),
        ),
        "_[_]": (
            plain("optional_list_index_int", (optional_of(_LIST), INT), _OPTIONAL),
            plain("optional_map_index_value", (optional_of(_MAP), _K), _OPTIONAL),
        ),
        "last": (member("list_last", (_LIST,), _OPTIONAL, last),),
        "first": (member("list_first", (_LIST,), _OPTIONAL, first),),
        "optional.unwrap": (plain("optional_unwrap", (_OPTIONALS,), _LIST, unwrap),),
        "unwrapOpt": (member("optional_unwrapOpt", (_OPTIONALS,), _LIST, unwrap),),
    },
)
