"""Protobuf's well-known messages, the only ones that expressions can write: their types and fields."""

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct

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
    UINT,
    Type,
    list_of,
    map_of,
    wrapper_of,
)


class WellKnown(Struct, frozen=True):
    """The type that a message literal has, and its fields."""

    type: Type
    fields: Mapping[str, Type]


def _wrapper(of: Type) -> WellKnown:
    return WellKnown(wrapper_of(of), {"value": of})


_TIME = {"seconds": INT, "nanos": INT}

MESSAGES: Mapping[str, WellKnown] = MappingProxyType(
    {
        "google.protobuf.Any": WellKnown(ANY, {"type_url": STRING, "value": BYTES}),
        "google.protobuf.BoolValue": _wrapper(BOOL),
        "google.protobuf.BytesValue": _wrapper(BYTES),
        "google.protobuf.DoubleValue": _wrapper(DOUBLE),
        "google.protobuf.FloatValue": _wrapper(DOUBLE),
        "google.protobuf.Int32Value": _wrapper(INT),
        "google.protobuf.Int64Value": _wrapper(INT),
        "google.protobuf.StringValue": _wrapper(STRING),
        "google.protobuf.UInt32Value": _wrapper(UINT),
        "google.protobuf.UInt64Value": _wrapper(UINT),
        "google.protobuf.Duration": WellKnown(DURATION, _TIME),
        "google.protobuf.Timestamp": WellKnown(TIMESTAMP, _TIME),
        "google.protobuf.Empty": WellKnown(Type("object", "google.protobuf.Empty"), {}),
        "google.protobuf.ListValue": WellKnown(list_of(DYN), {"values": list_of(DYN)}),
        "google.protobuf.Struct": WellKnown(map_of(STRING, DYN), {"fields": map_of(STRING, DYN)}),
        "google.protobuf.Value": WellKnown(
            DYN,
            {
                "null_value": NULL,
                "number_value": DOUBLE,
                "string_value": STRING,
                "bool_value": BOOL,
                "struct_value": map_of(STRING, DYN),
                "list_value": list_of(DYN),
            },
        ),
    }
)
