"""The slow path of reading: find where a document deviates from its schema, and repair the document.

Contents: replacements for values of the wrong type, the walk through a document, and the report of all faults and
notices. The rules are those of the API server's decoder: null means "not set", a whole float is an integer, unknown
fields are dropped, and any other wrong type is a fault. Missing required fields are recorded, although decoding does
not need them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from copy import copy
from typing import Any

from msgspec import Struct, field

from dra_plan.api.go_text import parse_timestamp
from dra_plan.api.inventory import AsWritten, Notice, Origin
from dra_plan.api.meta import FieldPath
from dra_plan.api.quantity import QuantityError, parse
from dra_plan.wording import listed

from .convert import BASIC_DEVICES
from .faults import Fault
from .kinds import Kind
from .paths import pattern, render
from .places import Place
from .shapes import QUANTITY, Schema, may_be_empty, schema_of

# -- replacements for values of the wrong type -------------------------------------------------------------------------
# The replacements are used only to check the rest of the document, and never for planning.

_ZEROS: dict[str, Any] = {"string": "", "integer": 0, "number": 0, "boolean": False, "object": {}, "array": []}
_LARGE = 10**30
_BOOLEANS = {"true": True, "false": False}
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
_AMOUNT = re.compile(r"([0-9.]+)\s*([kmgtpe])?(i)?b?", re.ASCII | re.IGNORECASE)


def zero_value(schema: Schema) -> Any:
    """Return the zero value of the schema's type, or None if the type has none."""
    types = schema.get("type")
    if types == QUANTITY:
        return "0"
    return copy(_ZEROS.get(types)) if isinstance(types, str) else None


def stand_in(value: Any, schema: Schema) -> Any:
    """Return what a value of the wrong type probably means, or None if that is unclear."""
    types = schema.get("type")
    if types == QUANTITY:
        return _amount(value)
    if types == "string" and schema.get("format") == "date-time":
        return None
    if types == "string" and isinstance(value, bool | int | float):
        return str(value).lower() if isinstance(value, bool) else _number_text(value)
    if types == "integer" and isinstance(value, str) and _INTEGER.fullmatch(value.strip()):
        return int(value)
    if types == "boolean" and isinstance(value, str):
        return _BOOLEANS.get(value.lower())
    if "value" in schema.get("properties", {}) and isinstance(value, str | int | float):
        return {"value": amount} if (amount := _amount(value)) is not None else None
    return None


def _number_text(value: float) -> str | None:
    """Return the number as text, or None for integers with thousands of digits, which Python refuses to write."""
    return str(value) if isinstance(value, float) or abs(value) < _LARGE else None


def _amount(value: Any) -> str | None:
    """Return a quantity in its own notation, such as 80Gi for 80 GB and 80gi."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        parse(value)
        return _number_text(value) if not isinstance(value, str) else value
    except QuantityError:
        if not isinstance(value, str):
            return None
        match = _AMOUNT.fullmatch(value.strip())
        if match is None or match[1].count(".") > 1:
            return None
    suffix = (match[2] or "").upper()
    return match[1] + (suffix + "i" if match[3] else "k" if suffix == "K" else suffix)


# -- the walk over a document ------------------------------------------------------------------------------------------

_NAMES = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
    "array": "a list",
}


class DecodedFields(Struct):
    """A document as the API server would decode it, with its wrong, unknown and missing fields."""

    value: Any = None
    """The document with wrong fields replaced by their probable meaning, or by the zero value of their type."""
    lost: list[FieldPath] = field(default_factory=list)
    """The wrong fields whose meaning is unclear."""
    wrong: list[tuple[FieldPath, str, str]] = field(default_factory=list)
    """The wrong fields, as (path, message, hint)."""
    unknown: dict[FieldPath, Collection[str]] = field(default_factory=dict)
    """The unknown fields, with the known fields of the same map."""
    missing: list[FieldPath] = field(default_factory=list)
    """The missing required fields.

    Lists and maps are left out, because the API server treats a missing list or map as empty.
    """


def diagnose(document: dict[str, Any], kind: Kind, version: str) -> DecodedFields:
    """Return the document as the API server would decode it, with its faults. The argument is not changed."""
    decoded = DecodedFields()
    schema = schema_of(kind, version)
    decoded.value = _SchemaWalk(schema.get("$defs", {}), decoded).value(document, schema, ())
    return decoded


def wrong_type(value: object, types: list[str]) -> tuple[str, str]:
    """Return a message and a hint for a value whose type the schema does not allow. The hint may be empty."""
    wanted = "a quantity" if types == QUANTITY else " or ".join(_NAMES[name] for name in types if name != "null")
    hint = "put it in quotes" if isinstance(value, bool | int | float) and types == ["string"] else ""
    return expected(wanted, value), hint


def wrong_value(value: Any, types: list[str], form: str = "") -> tuple[str, str] | None:
    """Return a message and a hint for an unacceptable value of the right type, or None if the value is acceptable.

    `form` is the format in the schema.
    """
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
    """Return the message "expected X, got Y"."""
    return f"expected {wanted}, got {describe(value)}"


def describe(value: object) -> str:
    """Return a description of the value for a message."""
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
    """Return a number as text; Python refuses to write integers with thousands of digits."""
    return f"{value}" if isinstance(value, float) or abs(value) < 10**30 else f"a number of {_digits(value)} digits"


def _digits(value: int) -> int:
    """Return a large integer's approximate number of decimal digits, plus or minus one."""
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
        """Decode a list item or map value, for which null is the type's zero value."""
        if value is not None:
            return self.value(value, schema, path)
        return zero_value(self._resolve(schema))

    def _stand_in(self, value: Any, schema: Schema, path: FieldPath) -> Any:
        meant = stand_in(value, schema)
        if meant is not None:
            return meant
        zero = zero_value(schema)
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


# -- faults and notices of an input ------------------------------------------------------------------------------------
# Each notice is created once, even if it concerns many objects.

_NO_PATH: FieldPath = ()


class Report:
    """The faults and notices of an input, in the order in which they were found."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self._deprecated: dict[tuple[str, str], Origin] = {}
        self._lifted: list[tuple[str, Origin]] = []
        self._not_planned: list[Notice] = []
        self._empty: list[str] = []
        self._whole_lists: set[str] = set()
        self._pages: dict[str, tuple[int, Origin]] = {}
        self.as_written: dict[str, AsWritten] = {}
        """The unusual features of objects as written, by label, such as fields that their version does not have."""
        self._unknown: dict[tuple[str, str, tuple[str, ...]], list[tuple[str, Origin]]] = {}

    def fault(
        self, place: Place, message: str, *, label: str = "", path: FieldPath = _NO_PATH, hint: str = "", line: int = 0
    ) -> None:
        """Record a fault in the field at `path`, relative to the place. By default, the line is looked up."""
        line = line or (place.lines([path])[0] if path else place.line)
        # An unnamed object is identified by its position in the document.
        where = path if label else (*place.prefix, *path)
        self.faults.append(Fault(place.source, message, line, place.document, label, render(where), hint))

    def deprecated_version(self, kind: Kind, version: str, origin: Origin) -> None:
        """Record that an object of an older API version was converted."""
        self._deprecated.setdefault((f"{kind.group}/{version}", kind.api_version), origin)

    def lifted_source(self, label: str, origin: Origin) -> None:
        """Record that a pod refers to its claims in the form used before 1.31."""
        self._lifted.append((label, origin))
        self.as_written[label] = self.as_written.get(label, AsWritten())._replace(has_source=True)

    def unknown_fields(self, kind: Kind, version: str, paths: list[FieldPath], label: str, place: Place) -> None:
        """Record that an object has fields that its API version does not have."""
        origin = Origin(place.source, place.lines(paths[:1])[0])
        patterns = tuple(dict.fromkeys(pattern(path) for path in paths))
        key = (f"{kind.group}/{version}", kind.name, patterns)
        self._unknown.setdefault(key, []).append((label, origin))
        self.as_written[label] = self.as_written.get(label, AsWritten())._replace(unknown=tuple(paths))

    def not_planned(self, label: str, path: FieldPath, why: str, origin: Origin) -> None:
        """Record that a pod template in an object of an unknown kind cannot be planned."""
        message = f"{render(path)} looks like a pod template, but cannot be planned: {why}"
        self._not_planned.append(Notice("workload-not-planned", message, label, str(origin)))

    def empty_file(self, name: str) -> None:
        """Record that a file is empty."""
        self._empty.append(name)

    def list_read(self, kind: object, *, goes_on: bool, origin: Origin) -> None:
        """Record that a list, or a page of one, was read. `goes_on` says whether more pages follow."""
        if not goes_on:
            self._whole_lists.add(str(kind))
        else:
            number, first = self._pages.get(str(kind), (0, origin))
            self._pages[str(kind)] = (number + 1, first)

    def _incomplete_lists(self) -> Iterator[Notice]:
        """Yield a notice for each list with missing later pages; the last page of a list has no continuation."""
        for kind, (number, origin) in self._pages.items():
            if kind not in self._whole_lists:
                pages = "1 page was" if number == 1 else f"{number} pages were"
                message = (
                    f"{pages} read of a {kind} with more pages (metadata.continue): add the other "
                    "pages, or use kubectl, which reads them all"
                )
                yield Notice("list-incomplete", message, "", str(origin))

    def notices(self) -> Iterator[Notice]:
        """Yield all notices. A notice about several objects is yielded once, for the first of them."""
        yield from self._incomplete_lists()
        yield from self._not_planned
        if self._empty:
            many = len(self._empty) > 1
            yield Notice(
                "file-empty", f"{listed(self._empty)} {'are' if many else 'is'} empty: did `kubectl get` fail?"
            )
        for (old, new), origin in self._deprecated.items():
            yield Notice("deprecated-api", f"{old} is deprecated; converted to {new}", "", str(origin))
        if self._lifted:
            label, origin = self._lifted[0]
            message = (
                "resourceClaims[*].source, the form before Kubernetes 1.31, is read as if its fields were outside it"
            )
            yield Notice("deprecated-api", message + _others(self._lifted, "object"), label, str(origin))
        for (api_version, kind, patterns), found in self._unknown.items():
            label, origin = found[0]
            message = f"{api_version} has no {', '.join(patterns)}: dropped, as the API server does"
            if BASIC_DEVICES in patterns:
                message += "; only v1beta1 has `basic`, so the devices are left with only their names"
            yield Notice("unknown-field", message + _others(found, kind), label, str(origin))


def _others(found: list[tuple[str, Origin]], kind: str) -> str:
    more = len(found) - 1
    return f" (and in {more} more {kind}{'s' if more > 1 else ''})" if more else ""
