"""Values of protobuf's well-known messages written as literals: wrappers, times, Struct, Value, ListValue."""

from __future__ import annotations

from dra_plan.cel.library.operators import check_duration, check_timestamp
from dra_plan.cel.values import EvaluationError, Uint, Value

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
    """The value of `name{fields}`; raises EvaluationError for fields out of range."""
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
        raise EvaluationError("unsigned integer overflow")
    if short == "FloatValue":
        import struct

        try:
            return struct.unpack("f", struct.pack("f", value))[0]
        except OverflowError:
            return float("inf") if value > 0 else float("-inf")
    return value
