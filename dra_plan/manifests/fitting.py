"""The fast path of reading: check that a document matches its schema exactly. `diagnose` finds the deviations.

Schemas are compiled once, and checks allocate no memory, so documents without faults are checked quickly.
"""

from __future__ import annotations

import functools
from typing import Any

from dra_plan.api.quantity import MAX_INT64 as _INT64_MAX
from dra_plan.api.quantity import MIN_INT64 as _INT64_MIN

from .diagnose import wrong_value
from .kinds import Kind
from .shapes import QUANTITY, Schema, may_be_empty, schema_of

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
}


class _Node:
    """The allowed forms of a value. `plain` types need no further check; None stands for any type."""

    __slots__ = ("closed", "entries", "fields", "form", "items", "names", "plain", "quantity", "required", "types")

    def __init__(self) -> None:
        self.types: frozenset[type] | None = None
        self.names: list[str] = []
        self.form = ""
        self.quantity = False
        self.plain: frozenset[type] = frozenset()
        self.fields: dict[str, _Node] | None = None
        self.closed = False
        self.required: tuple[str, ...] = ()
        self.entries: _Node | None = None
        self.items: _Node | None = None


def fits(value: dict[str, Any], kind: Kind, version: str) -> bool:
    """Return whether the document certainly needs neither conversion nor repair.

    If so, none of its fields is wrong, unknown or missing.
    """
    try:
        return _fits(value, _compiled(kind, version))
    except RecursionError:
        return False


def _fits(value: Any, node: _Node) -> bool:
    kind = type(value)
    if node.types is None:
        return True
    if kind not in node.types:
        return False
    if kind is dict:
        return _fits_map(value, node)
    if kind is list:
        inner = node.items
        return inner is None or all(type(item) in inner.plain or _fits(item, inner) for item in value)
    if kind is int and not node.quantity:
        return bool(_INT64_MIN <= value <= _INT64_MAX)
    return wrong_value(value, node.names, node.form) is None


def _fits_map(value: dict[str, Any], node: _Node) -> bool:
    fields = node.fields
    if fields is None:
        inner = node.entries
        return inner is None or all(type(item) in inner.plain or _fits(item, inner) for item in value.values())
    for key, item in value.items():
        known = fields.get(key)
        if known is None:
            if node.closed:
                return False
        elif type(item) not in known.plain and not _fits(item, known):
            return False
    return all(name in value for name in node.required)


@functools.cache
def _compiled(kind: Kind, version: str) -> _Node:
    schema = schema_of(kind, version)
    return _compile(schema, schema.get("$defs", {}), {})


def _compile(schema: Schema, definitions: dict[str, Schema], made: dict[str, _Node]) -> _Node:
    name = schema.get("$ref")
    if name is not None:
        if name not in made:
            made[name] = _Node()
            _fill(made[name], definitions[name.removeprefix("#/$defs/")], definitions, made)
        return made[name]
    node = _Node()
    _fill(node, schema, definitions, made)
    return node


def _fill(node: _Node, schema: Schema, definitions: dict[str, Schema], made: dict[str, _Node]) -> None:
    while "$ref" in schema:
        schema = definitions[schema["$ref"].removeprefix("#/$defs/")]
    types = schema.get("type")
    if types is None:
        return
    names = [types] if isinstance(types, str) else types
    node.types = frozenset(kind for name in names for kind in _TYPES.get(name, ()))
    node.names, node.form, node.quantity = names, schema.get("format", ""), types == QUANTITY
    if types in ("string", "boolean") and not node.form:
        node.plain = node.types
    if "properties" in schema:
        node.fields = {key: _compile(inner, definitions, made) for key, inner in schema["properties"].items()}
        node.closed = schema.get("additionalProperties") is False
        known = schema["properties"]
        node.required = tuple(key for key in schema.get("required", ()) if not may_be_empty(known.get(key, {})))
    elif isinstance(schema.get("additionalProperties"), dict):
        node.entries = _compile(schema["additionalProperties"], definitions, made)
    if "items" in schema:
        node.items = _compile(schema["items"], definitions, made)
