"""Extension libraries of cel-go that Kubernetes turns on, at the library versions it chose."""

from dra_plan.cel import macros
from dra_plan.cel.declarations.overload import Library, Overload, for_each, member, plain
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
    optional_of,
    parameter,
)

_T, _K, _V = parameter("T"), parameter("K"), parameter("V")
_LIST, _MAP, _OPTIONAL = list_of(_V), map_of(_K, _V), optional_of(_V)
_STRINGS = list_of(STRING)

COMPARABLE = (INT, UINT, DOUBLE, BOOL, DURATION, TIMESTAMP, STRING, BYTES)
"""The element types that lists can be ordered by."""

OPTIONAL = Library(
    name="optional",
    since=(1, 28),
    macros=macros.OPTIONAL,
    types={"optional_type": _OPTIONAL},
    functions={
        "optional.of": (plain("optional_of", (_V,), _OPTIONAL),),
        "optional.ofNonZeroValue": (plain("optional_ofNonZeroValue", (_V,), _OPTIONAL),),
        "optional.none": (plain("optional_none", (), _OPTIONAL),),
        "value": (member("optional_value", (_OPTIONAL,), _V),),
        "hasValue": (member("optional_hasValue", (_OPTIONAL,), BOOL),),
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
        "last": (member("list_last", (_LIST,), _OPTIONAL),),
        "first": (member("list_first", (_LIST,), _OPTIONAL),),
        "optional.unwrap": (plain("optional_unwrap", (list_of(_OPTIONAL),), _LIST),),
        "unwrapOpt": (member("optional_unwrapOpt", (list_of(_OPTIONAL),), _LIST),),
    },
)

STRINGS = Library(
    name="strings version 2",
    since=(1, 29),
    functions={
        "charAt": (member("string_char_at_int", (STRING, INT), STRING),),
        "indexOf": (
            member("string_index_of_string", (STRING, STRING), INT),
            member("string_index_of_string_int", (STRING, STRING, INT), INT),
        ),
        "lastIndexOf": (
            member("string_last_index_of_string", (STRING, STRING), INT),
            member("string_last_index_of_string_int", (STRING, STRING, INT), INT),
        ),
        "lowerAscii": (member("string_lower_ascii", (STRING,), STRING),),
        "upperAscii": (member("string_upper_ascii", (STRING,), STRING),),
        "replace": (
            member("string_replace_string_string", (STRING, STRING, STRING), STRING),
            member("string_replace_string_string_int", (STRING, STRING, STRING, INT), STRING),
        ),
        "split": (
            member("string_split_string", (STRING, STRING), _STRINGS),
            member("string_split_string_int", (STRING, STRING, INT), _STRINGS),
        ),
        "substring": (
            member("string_substring_int", (STRING, INT), STRING),
            member("string_substring_int_int", (STRING, INT, INT), STRING),
        ),
        "trim": (member("string_trim", (STRING,), STRING),),
        "format": (member("string_format", (STRING, list_of(DYN)), STRING),),
        "strings.quote": (plain("strings_quote", (STRING,), STRING),),
        "join": (
            member("list_join", (_STRINGS,), STRING),
            member("list_join_string", (_STRINGS, STRING), STRING),
        ),
    },
)

SETS = Library(
    name="sets",
    since=(1, 29),
    functions={
        "sets.contains": (plain("list_sets_contains_list", (list_of(_T), list_of(_T)), BOOL),),
        "sets.equivalent": (plain("list_sets_equivalent_list", (list_of(_T), list_of(_T)), BOOL),),
        "sets.intersects": (plain("list_sets_intersects_list", (list_of(_T), list_of(_T)), BOOL),),
    },
)

BINDINGS = Library(name="bindings version 0", since=(1, 31), macros=macros.BINDINGS)

TWO_VARIABLES = Library(
    name="two-variable comprehensions",
    since=(1, 32),
    macros=macros.TWO_VARIABLES,
    functions={
        "cel.@mapInsert": (
            plain("@mapInsert_map_key_value", (_MAP, _K, _V), _MAP),
            plain("@mapInsert_map_map", (_MAP, _MAP), _MAP),
        ),
    },
)


def _sort(of: Type) -> Overload:
    return member(f"list_{of}_sort", (list_of(of),), list_of(of))


def _sort_by(of: Type) -> Overload:
    return member(f"list_{of}_sortByAssociatedKeys", (list_of(_T), list_of(of)), list_of(_T))


LISTS = Library(
    name="lists version 3",
    since=(1, 34),
    macros=macros.LISTS,
    functions={
        "slice": (member("list_slice", (list_of(_T), INT, INT), list_of(_T)),),
        "flatten": (
            member("list_flatten", (list_of(list_of(_T)),), list_of(_T)),
            member("list_flatten_int", (list_of(DYN), INT), list_of(DYN)),
        ),
        "sort": for_each(COMPARABLE, _sort),
        "@sortByAssociatedKeys": for_each(COMPARABLE, _sort_by),
        "lists.range": (plain("lists_range", (INT,), list_of(INT)),),
        "reverse": (member("list_reverse", (list_of(_T),), list_of(_T)),),
        "distinct": (member("list_distinct", (list_of(_T),), list_of(_T)),),
    },
)
