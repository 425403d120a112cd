"""Functions and type names of the standard library: overload ids and types (cel-go common/stdlib)."""

from dra_plan.cel.declarations.overload import Library, Overload, member, plain
from dra_plan.cel.macros import STANDARD as STANDARD_MACROS
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
    Type,
    list_of,
    map_of,
    parameter,
    type_of,
)

_A, _B = parameter("A"), parameter("B")
_LIST, _MAP = list_of(_A), map_of(_A, _B)

_NAMED = {"bool": BOOL, "bytes": BYTES, "double": DOUBLE, "duration": DURATION, "int64": INT, "string": STRING}
_NAMED |= {"timestamp": TIMESTAMP, "uint64": UINT}


def _conversions(result: str, *sources: str) -> tuple[Overload, ...]:
    """Return the overloads named SOURCE_to_RESULT."""
    return tuple(plain(f"{source}_to_{result}", (_NAMED[source],), _NAMED[result]) for source in sources)


def _text(identifier: str) -> tuple[Overload, ...]:
    return (member(identifier, (STRING, STRING), BOOL),)


def _clock(suffix: str, *, zoned: str | None = None, durations: bool = False) -> tuple[Overload, ...]:
    """Return a timestamp accessor, its form with a time zone, and its form for durations."""
    zoned = zoned or f"timestamp_to_{suffix}_with_tz"
    overloads = (
        member(f"timestamp_to_{suffix}", (TIMESTAMP,), INT),
        member(zoned, (TIMESTAMP, STRING), INT),
    )
    return (*overloads, member(f"duration_to_{suffix}", (DURATION,), INT)) if durations else overloads


def _sizes() -> tuple[Overload, ...]:
    sized: tuple[tuple[str, Type], ...] = (("bytes", BYTES), ("list", _LIST), ("map", _MAP), ("string", STRING))
    return tuple(
        overload
        for name, of in sized
        for overload in (plain(f"size_{name}", (of,), INT), member(f"{name}_size", (of,), INT))
    )


STANDARD = Library(
    name="standard",
    since=(1, 0),
    macros=STANDARD_MACROS,
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
        # Kubernetes' type provider knows these two by their short names; nothing is there when they are evaluated.
        "duration": DURATION,
        "timestamp": TIMESTAMP,
        "google.protobuf.Any": ANY,
        "google.protobuf.Duration": DURATION,
        "google.protobuf.Timestamp": TIMESTAMP,
    },
    functions={
        "size": _sizes(),
        "type": (plain("type", (_A,), type_of(_A)),),
        "dyn": (plain("to_dyn", (_A,), DYN),),
        "bool": _conversions("bool", "bool", "string"),
        "bytes": _conversions("bytes", "bytes", "string"),
        "double": _conversions("double", "double", "int64", "string", "uint64"),
        "duration": _conversions("duration", "duration", "int64", "string"),
        "int": _conversions("int64", "int64", "double", "duration", "string", "timestamp", "uint64"),
        "string": _conversions(
            "string", "string", "bool", "bytes", "double", "duration", "int64", "timestamp", "uint64"
        ),
        "timestamp": _conversions("timestamp", "timestamp", "int64", "string"),
        "uint": _conversions("uint64", "uint64", "double", "int64", "string"),
        "contains": _text("contains_string"),
        "endsWith": _text("ends_with_string"),
        "startsWith": _text("starts_with_string"),
        "matches": (plain("matches", (STRING, STRING), BOOL), member("matches_string", (STRING, STRING), BOOL)),
        "getFullYear": _clock("year"),
        "getMonth": _clock("month"),
        "getDayOfYear": _clock("day_of_year"),
        "getDayOfMonth": _clock("day_of_month"),
        "getDate": _clock("day_of_month_1_based"),
        "getDayOfWeek": _clock("day_of_week"),
        "getHours": _clock("hours", durations=True),
        "getMinutes": _clock("minutes", durations=True),
        "getSeconds": _clock("seconds", zoned="timestamp_to_seconds_tz", durations=True),
        "getMilliseconds": _clock("milliseconds", durations=True),
    },
)
