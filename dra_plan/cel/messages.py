"""The well-known types of protobuf, which are the only messages in expressions."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct

from .types import (
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
from .values import EvaluationError, Uint, Value, check_duration, check_timestamp, unsigned_overflow


class WellKnown(Struct, frozen=True):
    """A well-known type, with its fields."""

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
        DURATION.name: WellKnown(DURATION, _TIME),
        TIMESTAMP.name: WellKnown(TIMESTAMP, _TIME),
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

_INT32, _UINT32 = 2**31, 2**32
_ZEROS: dict[str, Value] = {
    "BoolValue": False,
    "BytesValue": b"",
    "DoubleValue": 0.0,
    "FloatValue": 0.0,
    "Int32Value": 0,
    "Int64Value": 0,
    "StringValue": "",
    "UInt32Value": Uint(0),
    "UInt64Value": Uint(0),
}


def build_message(name: str, fields: dict[str, Value]) -> Value:
    """Return the value of the message literal `name{fields}`. Raises EvaluationError if a field is out of range."""
    short = name.rpartition(".")[2]
    if short in _ZEROS:
        return _wrapped(short, fields.get("value", _ZEROS[short]))
    if short in ("Duration", "Timestamp"):
        nanos = fields.get("seconds", 0) * 10**9 + fields.get("nanos", 0)
        return check_duration(nanos) if short == "Duration" else check_timestamp(nanos)
    if short == "Struct":
        return fields.get("fields", {})
    if short == "ListValue":
        return fields.get("values", [])
    if short == "Value":
        return next(reversed(fields.values()), None)
    if short == "Empty" or not fields:
        return {}
    raise EvaluationError("conversion error: message of unknown type")


def _wrapped(short: str, value: Value) -> Value:
    if short == "Int32Value" and not -_INT32 <= value < _INT32:
        raise EvaluationError("integer overflow")
    if short == "UInt32Value" and not value < _UINT32:
        raise unsigned_overflow()
    if short == "FloatValue":
        import struct

        try:
            return struct.unpack("f", struct.pack("f", value))[0]
        except OverflowError:
            return float("inf") if value > 0 else float("-inf")
    return value
