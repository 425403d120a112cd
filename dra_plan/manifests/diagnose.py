"""The slow path: where one document departs from its schema, and what is left of it when that is put right.

Follows the API server's decoder: null is "not set", a whole float is an integer, unknown fields are dropped,
any other wrong type is a fault, for which `standins` has what was probably meant. That required fields are missing is
noted; decoding does not ask for them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from dra_plan.api.go_text import parse_timestamp
from dra_plan.api.meta import FieldPath
from dra_plan.api.quantity import QuantityError, parse

from . import standins
from .kinds import Kind
from .shapes import QUANTITY, Schema, may_be_empty, schema_of

_NAMES = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
    "array": "a list",
}


@dataclass(slots=True)
class DecodedFields:
    """The document as the API server would decode it, and its fields that are wrong, unknown or missing."""

    value: Any = None
    """Where a field is wrong, what stands in for it: what was probably meant, or the zero of the field's type."""
    lost: list[FieldPath] = field(default_factory=list)
    """The wrong fields of which nobody can tell what was meant."""
    wrong: list[tuple[FieldPath, str, str]] = field(default_factory=list)
    """(path, message, hint)."""
    unknown: dict[FieldPath, Collection[str]] = field(default_factory=dict)
    """Each with the fields that are known in its place."""
    missing: list[FieldPath] = field(default_factory=list)
    """Lists and maps that are not there are empty to the API server, and real objects leave them out: not these."""


def diagnose(document: dict[str, Any], kind: Kind, version: str) -> DecodedFields:
    """Walks the whole document; the document itself is not changed."""
    decoded = DecodedFields()
    schema = schema_of(kind, version)
    decoded.value = _SchemaWalk(schema.get("$defs", {}), decoded).value(document, schema, ())
    return decoded


def wrong_type(value: object, types: list[str]) -> tuple[str, str]:
    """What to say of a value that has none of the schema's types, and a hint or an empty text."""
    wanted = "a quantity" if types == QUANTITY else " or ".join(_NAMES[name] for name in types if name != "null")
    hint = "put it in quotes" if isinstance(value, bool | int | float) and types == ["string"] else ""
    return expected(wanted, value), hint


def wrong_value(value: Any, types: list[str], form: str = "") -> tuple[str, str] | None:
    """What to say of a value of a right type that no object can hold; None for all others. `form` is the schema's."""
    if form == "date-time" and isinstance(value, str) and parse_timestamp(value) is None:
        return f"{describe(value)} is not a time", "such as 2026-01-31T12:00:00Z"
    if types == QUANTITY:
        try:
            parse(value)
        except QuantityError:
            return f"{describe(value)} is not a quantity", "such as 500m, 2, 80Gi or 1e3"
    elif types == ["integer"] and not -(2**63) <= value < 2**63:
        return f"{_number(value)} is beyond 64 bits", ""
    return None


def expected(wanted: str, value: object) -> str:
    """What to say of a value of a wrong type."""
    return f"expected {wanted}, got {describe(value)}"


def describe(value: object) -> str:
    """A value in the words of a message."""
    match value:
        case None:
            return "null"
        case bool():
            return f"the boolean {str(value).lower()}"
        case int() | float():
            return f"the number {_number(value)}"
        case str():
            shown = value if len(value) <= 40 else value[:37] + "..."
            return f'the string "{shown}"'
        case list():
            return "a list"
        case dict():
            return "an object"
    return f"a value of type {type(value).__name__}"


def _number(value: float) -> str:
    """A number as text; Python refuses to write integers of thousands of digits."""
    return f"{value}" if isinstance(value, float) or abs(value) < 10**30 else f"a number of {_digits(value)} digits"


def _digits(value: int) -> int:
    """How many decimal digits a large integer has, give or take one."""
    return round(abs(value).bit_length() * 0.30103)


class _SchemaWalk:
    def __init__(self, definitions: dict[str, Schema], decoded: DecodedFields) -> None:
        self._definitions = definitions
        self._found = decoded

    def _resolve(self, schema: Schema) -> Schema:
        while "$ref" in schema:
            schema = self._definitions[schema["$ref"].removeprefix("#/$defs/")]
        return schema

    def value(self, value: Any, schema: Schema, path: FieldPath) -> Any:
        schema = self._resolve(schema)
        types = schema.get("type")
        if types is None:
            return value
        types = [types] if isinstance(types, str) else types
        if isinstance(value, float) and value.is_integer() and "integer" in types:
            value = int(value)
        if not any(_is(value, name) for name in types):
            message, hint = wrong_type(value, types)
            stand_in = self._stand_in(value, schema, path)
            if isinstance(stand_in, dict) and stand_in:
                hint = f"{{value: {stand_in['value']}}}"
            self._found.wrong.append((path, message, hint))
            return stand_in
        problem = wrong_value(value, types, schema.get("format", ""))
        if problem is not None:
            self._found.wrong.append((path, *problem))
            return self._stand_in(value, schema, path)
        if isinstance(value, dict):
            return self._fields(value, schema, path) if "properties" in schema else self._entries(value, schema, path)
        if isinstance(value, list) and "items" in schema:
            return [self._item(item, schema["items"], (*path, index)) for index, item in enumerate(value)]
        return value

    def _fields(self, value: dict[str, Any], schema: Schema, path: FieldPath) -> dict[str, Any]:
        known, kept = schema["properties"], {}
        closed = schema.get("additionalProperties") is False
        for key, item in value.items():
            inner = known.get(key)
            if inner is None:
                if closed:
                    self._found.unknown[*path, key] = known
                else:
                    kept[key] = item
            elif item is not None:
                kept[key] = self.value(item, inner, (*path, key))
        for key in schema.get("required", ()):
            if key not in kept and not may_be_empty(known.get(key, {})):
                self._found.missing.append((*path, key))
        return kept

    def _entries(self, value: dict[str, Any], schema: Schema, path: FieldPath) -> dict[str, Any]:
        inner = schema.get("additionalProperties")
        if not isinstance(inner, dict):
            return value
        return {key: self._item(item, inner, (*path, key)) for key, item in value.items()}

    def _item(self, value: Any, schema: Schema, path: FieldPath) -> Any:
        """A list item or map value, for which null is the type's zero value."""
        if value is not None:
            return self.value(value, schema, path)
        return standins.zero(self._resolve(schema))

    def _stand_in(self, value: Any, schema: Schema, path: FieldPath) -> Any:
        meant = standins.meant(value, schema)
        if meant is not None:
            return meant
        zero = standins.zero(schema)
        if zero is not None:
            self._found.lost.append(path)
        return zero


def _is(value: object, name: str) -> bool:
    match name:
        case "string":
            return isinstance(value, str)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "object":
            return isinstance(value, dict)
        case "array":
            return isinstance(value, list)
    return value is None
