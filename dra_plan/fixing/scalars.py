"""Fixes of single values and keys: quotes too few or too many, a value without its map, a key in another case."""

from __future__ import annotations

import re
from typing import Any

from dra_plan.api.meta import FieldPath
from dra_plan.api.quantity import QuantityError, parse
from dra_plan.api.semver import parse as parse_version
from dra_plan.manifests.paths import value_at
from dra_plan.manifests.places import Extent, Form
from dra_plan.manifests.shapes import Schema, schema_at

from .edits import CharEdit, ObjectText
from .fix import Correction, Mending
from .moves import STEP

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)\Z")
_UNSAFE_IN_BRACKETS = re.compile(r"[\[\]{},#]|:(?:\s|\Z)")
_QUOTED = (Form.SINGLE, Form.DOUBLE)


def rewritten(question: Mending, path: FieldPath, to: str) -> Correction | None:
    """Another text at the path, in the quotes that are there; it has nothing that quotes would escape."""
    extent = question.text.extent(path)
    if extent is None or extent.form not in (Form.PLAIN, *_QUOTED):
        return None
    inset = 0 if extent.form is Form.PLAIN else 1
    edit = CharEdit(extent.begin + inset, extent.end - inset, to)
    return Correction([edit], path, to)


def right_type(question: Mending) -> Correction | None:
    """A value of the type that the field has, where only one value can be meant."""
    kind = question.subject.kind
    schema = schema_at(kind, question.subject.version, question.path) if kind is not None else None
    extent = question.text.extent(question.path)
    value: Any = value_at(question.subject.value, question.path)
    if schema is None or extent is None:
        return None
    match schema.get("type"):
        case "string" if extent.form is Form.PLAIN and isinstance(value, bool | int | float):
            written = question.text.text[extent.begin : extent.end]
            return _written(question, extent, f'"{written}"', written)
        case "integer" if extent.form in _QUOTED and isinstance(value, str) and _INTEGER.match(value):
            return _written(question, extent, value, int(value))
        case "boolean" if extent.form in _QUOTED and value in ("true", "false"):
            return _written(question, extent, value, value == "true")
        case "object":
            name = _only_field(question.path, schema, value)
            return _in_map(question, extent, name, value) if name else None
    return None


def _written(question: Mending, extent: Extent, text: str, value: Any) -> Correction:
    edit = CharEdit(extent.begin, extent.end, text)
    return Correction([edit], question.path, value)


def _only_field(path: FieldPath, schema: Schema, value: Any) -> str | None:
    """The field of the wanted map that alone can have the value."""
    fields = schema.get("properties", {})
    if path[-2:-1] == ("capacity",) and "value" in fields:
        return "value" if _is_quantity(value) else None
    if path[-2:-1] == ("attributes",) and "string" in fields:
        return _attribute(value)
    if path[-1:] == ("cel",) and "expression" in fields:
        return "expression" if isinstance(value, str) else None
    return None


def _is_quantity(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return False
    try:
        parse(value)
    except QuantityError:
        return False
    return True


def _attribute(value: Any) -> str | None:
    """A text could be a version, too, unless it is none."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int"
    return "string" if isinstance(value, str) and not _is_version(value) else None


def _is_version(value: str) -> bool:
    try:
        parse_version(value)
    except ValueError:
        return False
    return True


def _in_map(question: Mending, extent: Extent, name: str, value: Any) -> Correction | None:
    """The value, as it is written, in a map: in brackets, or on a line of its own where brackets would change it."""
    text = question.text
    if extent.form not in (Form.PLAIN, *_QUOTED) or extent.key_begin < 0:
        return None
    written = text.text[extent.begin : extent.end]
    wrapped = {name: value}
    in_brackets = text.is_flow(question.path[:-1])
    if extent.form is Form.PLAIN and not in_brackets and _UNSAFE_IN_BRACKETS.search(written):
        return Correction(_on_its_own_line(text, extent, name), question.path, wrapped)
    opening = CharEdit(extent.begin, extent.begin, f"{{{text.key(name, extent)}: ")
    return Correction([opening, CharEdit(extent.end, extent.end, "}")], question.path, wrapped)


def _on_its_own_line(text: ObjectText, extent: Extent, name: str) -> list[CharEdit]:
    indent = " " * (text.column(extent.key_begin) + STEP)
    return [CharEdit(extent.key_end, extent.begin, f":{text.line_end}{indent}{name}: ")]


def right_case(question: Mending) -> Correction | None:
    """A key that is a field's name but for upper and lower case, where that field is not set."""
    kind, path = question.subject.kind, question.path
    extent = question.text.extent(path)
    outer: Any = value_at(question.subject.value, path[:-1])
    schema = schema_at(kind, question.subject.version, path[:-1]) if kind is not None else None
    if schema is None or extent is None or not isinstance(outer, dict):
        return None
    wrong = str(path[-1])
    meant = [name for name in schema.get("properties", {}) if name.lower() == wrong.lower()]
    if len(meant) != 1 or meant[0] in outer:
        return None
    inset = 1 if question.text.text[extent.key_begin] in "\"'" else 0
    if question.text.text[extent.key_begin + inset : extent.key_end - inset] != wrong:
        return None
    edit = CharEdit(extent.key_begin + inset, extent.key_end - inset, meant[0])
    renamed = {meant[0] if key == wrong else key: item for key, item in outer.items()}
    return Correction([edit], path[:-1], renamed)
