"""Optional values, and the authorizer library, whose names are known although no selector can call it.

`or`, `orValue` and selections are in `interpret`, because their right side is evaluated only when needed.
"""

from __future__ import annotations

from dra_plan.api.quantity import Quantity
from dra_plan.api.semver import Semver
from dra_plan.cel import macros
from dra_plan.cel.cost import STRING_FACTOR, fixed
from dra_plan.cel.types import BOOL, DYN, INT, STRING, Type, list_of, map_of, optional_of, parameter
from dra_plan.cel.values import NONE, EvaluationError, NamedFormat, Optional, Url, Value

from .overload import CallEstimate, Library, member, plain
from .prices import Operands, estimated, size


def of(value: Value) -> Optional:
    """Return an optional with the value."""
    return Optional(value)


def of_non_zero(value: Value) -> Optional:
    """Return an optional with the value, or an empty optional for a zero value.

    Zero values are false, 0, null, and empty strings and containers.
    """
    if value is None or (type(value) is not Optional and _is_zero(value)):
        return NONE
    return Optional(value)


def _is_zero(value: Value) -> bool:
    if isinstance(value, (Quantity, Semver, Url, NamedFormat)):
        return False
    nanos = getattr(value, "nanos", None)
    return nanos == 0 if nanos is not None else not value


def none() -> Optional:
    """Return the empty optional."""
    return NONE


def has_value(option: Optional) -> bool:
    """Return whether the optional has a value."""
    return option is not NONE


def value_of(option: Optional) -> Value:
    """Return the value of the optional. Raises EvaluationError if it is empty."""
    if option is NONE:
        raise EvaluationError("optional.none() dereference")
    return option.value


def first(values: list[Value]) -> Optional:
    """Return an optional with the first element, or an empty optional for an empty list."""
    return Optional(values[0]) if values else NONE


def last(values: list[Value]) -> Optional:
    """Return an optional with the last element, or an empty optional for an empty list."""
    return Optional(values[-1]) if values else NONE


def unwrap(options: list[Value]) -> list[Value]:
    """Return the values of the optionals in the list, without empty ones."""
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


# -- the authorizer library --------------------------------------------------------------------------------------------
# The library is declared for every expression, although no selector has an authorizer to call it on.

_AUTHORIZER = Type("object", "kubernetes.authorization.Authorizer")
_PATH = Type("object", "kubernetes.authorization.PathCheck")
_GROUP = Type("object", "kubernetes.authorization.GroupCheck")
_RESOURCE = Type("object", "kubernetes.authorization.ResourceCheck")
_DECISION = Type("object", "kubernetes.authorization.Decision")

AUTHORIZER_TYPES = frozenset({_AUTHORIZER, _PATH, _GROUP, _RESOURCE, _DECISION})

_CHECKED = estimated(lambda _operands: CallEstimate(fixed(350_000)))


def _selector(operands: Operands) -> CallEstimate:
    """Price the parsing of a label or field selector.

    A requirement has at least two characters, and costs a list and a struct.
    """
    text = size(operands[1])
    return CallEstimate(fixed(10).plus(text.scaled(STRING_FACTOR)).plus(text.scaled(0.5).scaled(50)))


_SELECTED = estimated(_selector)

AUTHORIZER = Library(
    name="kubernetes authorizer",
    since=(1, 27),
    functions={
        "path": (member("authorizer_path", (_AUTHORIZER, STRING), _PATH),),
        "group": (member("authorizer_group", (_AUTHORIZER, STRING), _GROUP),),
        "serviceAccount": (member("authorizer_serviceaccount", (_AUTHORIZER, STRING, STRING), _AUTHORIZER),),
        "resource": (member("groupcheck_resource", (_GROUP, STRING), _RESOURCE),),
        "subresource": (member("resourcecheck_subresource", (_RESOURCE, STRING), _RESOURCE),),
        "namespace": (member("resourcecheck_namespace", (_RESOURCE, STRING), _RESOURCE),),
        "name": (member("resourcecheck_name", (_RESOURCE, STRING), _RESOURCE),),
        "check": (
            member("pathcheck_check", (_PATH, STRING), _DECISION, price=_CHECKED),
            member("resourcecheck_check", (_RESOURCE, STRING), _DECISION, price=_CHECKED),
        ),
        "errored": (member("decision_errored", (_DECISION,), BOOL),),
        "error": (member("decision_error", (_DECISION,), STRING),),
        "allowed": (member("decision_allowed", (_DECISION,), BOOL),),
        "reason": (member("decision_reason", (_DECISION,), STRING),),
    },
)

SELECTORS = Library(
    name="kubernetes authorizer selectors",
    since=(1, 31),
    functions={
        "fieldSelector": (member("authorizer_fieldselector", (_RESOURCE, STRING), _RESOURCE, price=_SELECTED),),
        "labelSelector": (member("authorizer_labelselector", (_RESOURCE, STRING), _RESOURCE, price=_SELECTED),),
    },
)
