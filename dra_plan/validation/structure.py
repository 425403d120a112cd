"""The JSON Schema of a kind applied as the API server's strict decoder reads it: null is "not set", nothing else bends.

Only what a schema can say. Which rule a fault breaks is told in `schema`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from dra_plan.manifests.diagnose import wrong_type, wrong_value
from dra_plan.manifests.kinds import Kind
from dra_plan.manifests.paths import FieldPath
from dra_plan.manifests.shapes import schema_of


class Departure(NamedTuple):
    """One place where a value departs from its schema: `keyword` is what the schema asks there.

    `known` lists the fields that the place has, for those that it has not.
    """

    keyword: Literal["type", "required", "additionalProperties"]
    path: FieldPath
    message: str = ""
    hint: str = ""
    known: tuple[str, ...] = ()


def departures(value: Mapping[str, Any], kind: Kind, version: str) -> list[Departure]:
    """All departures of an object from the schema of its own version."""
    return [_departure(error) for error in _validator(kind, version).iter_errors(value)]


def _departure(error: Any) -> Departure:
    path = tuple(error.absolute_path)
    if error.validator == "type":
        types = _names(error.validator_value)
        told = wrong_value(error.instance, types) if _fits(error.instance, types) else None
        return Departure("type", path, *(told or wrong_type(error.instance, types)))
    return Departure(error.validator, path, known=tuple(error.schema.get("properties", ())))


def _names(types: str | list[str]) -> list[str]:
    return [types] if isinstance(types, str) else types


@functools.cache
def _validator(kind: Kind, version: str) -> Any:
    from jsonschema import Draft202012Validator, validators

    extend: Any = validators.extend
    keywords = {
        "type": _type,
        "properties": _properties,
        "required": _required,
        "additionalProperties": _additional,
        "items": _items,
    }
    return extend(Draft202012Validator, keywords)(schema_of(kind, version))


def _fits(value: object, types: list[str]) -> bool:
    from jsonschema import Draft202012Validator

    return any(Draft202012Validator.TYPE_CHECKER.is_type(value, name) for name in types)


def _error(*path: str) -> Any:
    from jsonschema import ValidationError

    return ValidationError("", path=path)


def _type(_validator: Any, types: str | list[str], value: Any, _schema: Any) -> Iterator[Any]:
    names = _names(types)
    if not _fits(value, names) or wrong_value(value, names) is not None:
        yield _error()


def _properties(validator: Any, properties: Mapping[str, Any], value: Any, _schema: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for name, inner in value.items():
            if inner is not None and name in properties:
                yield from validator.descend(inner, properties[name], path=name, schema_path=name)


def _required(_validator: Any, names: list[str], value: Any, schema: Mapping[str, Any]) -> Iterator[Any]:
    """Lists and maps that are not there are empty to the API server, and real objects leave them out."""
    if isinstance(value, dict):
        for name in names:
            inner = schema["properties"].get(name, {})
            if value.get(name) is None and inner.get("type") != "array" and "additionalProperties" not in inner:
                yield _error(name)


def _additional(validator: Any, inner: Any, value: Any, schema: Mapping[str, Any]) -> Iterator[Any]:
    if not isinstance(value, dict):
        return
    known = schema.get("properties", {})
    for name, item in value.items():
        if name in known:
            continue
        if inner is False:
            yield _error(name)
        elif isinstance(inner, dict) and item is not None:
            yield from validator.descend(item, inner, path=name)


def _items(validator: Any, inner: Any, value: Any, _schema: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            if item is not None:
                yield from validator.descend(item, inner, path=index)
