"""What stands in for a value of the wrong type, so that the rest of the document can be judged: never planned with.

Each function looks at one value and the schema of its field. That the value is wrong, `diagnose` says.
"""

from __future__ import annotations

import re
from copy import copy
from typing import Any

from dra_plan.api.quantity import QuantityError, parse

from .shapes import QUANTITY, Schema

_ZEROS: dict[str, Any] = {"string": "", "integer": 0, "number": 0, "boolean": False, "object": {}, "array": []}
_LARGE = 10**30
_BOOLEANS = {"true": True, "false": False}
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
_AMOUNT = re.compile(r"([0-9.]+)\s*([kmgtpe])?(i)?b?", re.ASCII | re.IGNORECASE)


def zero(schema: Schema) -> Any:
    """The zero value of the field's type; None where there is none."""
    types = schema.get("type")
    if types == QUANTITY:
        return "0"
    return copy(_ZEROS.get(types)) if isinstance(types, str) else None


def meant(value: Any, schema: Schema) -> Any:
    """What was probably meant by a value of the wrong type; None if nobody can tell."""
    types = schema.get("type")
    if types == QUANTITY:
        return _amount(value)
    if types == "string" and schema.get("format") == "date-time":
        return None
    if types == "string" and isinstance(value, bool | int | float):
        return str(value).lower() if isinstance(value, bool) else _number(value)
    if types == "integer" and isinstance(value, str) and _INTEGER.fullmatch(value.strip()):
        return int(value)
    if types == "boolean" and isinstance(value, str):
        return _BOOLEANS.get(value.lower())
    if "value" in schema.get("properties", {}) and isinstance(value, str | int | float):
        return {"value": amount} if (amount := _amount(value)) is not None else None
    return None


def _number(value: float) -> str | None:
    """Python refuses to write integers of thousands of digits."""
    return str(value) if isinstance(value, float) or abs(value) < _LARGE else None


def _amount(value: Any) -> str | None:
    """A quantity in its own notation, such as 80Gi for 80 GB and 80gi."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        parse(value)
        return _number(value) if not isinstance(value, str) else value
    except QuantityError:
        if not isinstance(value, str):
            return None
        match = _AMOUNT.fullmatch(value.strip())
        if match is None or match[1].count(".") > 1:
            return None
    suffix = (match[2] or "").upper()
    return match[1] + (suffix + "i" if match[3] else "k" if suffix == "K" else suffix)
