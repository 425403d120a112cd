"""Fixes of what stands one level too high or too low: requests' fields, `basic` of devices, `source` of pod claims."""

from __future__ import annotations

from typing import Any

from dra_plan.api.meta import FieldPath
from dra_plan.manifests.paths import value_at
from dra_plan.manifests.shapes import schema_at

from . import moves
from .edits import CharEdit
from .fix import Correction, Mending


def exactly(question: Mending) -> Correction | None:
    """The fields of a request under `exactly`, where v1 has them."""
    found = _request(question.path)
    value: Any = value_at(question.subject.value, found) if found else None
    if found is None or not isinstance(value, dict) or not _is_flat(question, found, value):
        return None
    edits = moves.down(question.text, found, "exactly", "name")
    return None if edits is None else Correction(edits, found, wrapped(value))


def _request(path: FieldPath) -> FieldPath | None:
    """The path of the request that has the field."""
    at = path[:-1]
    return (
        at if len(at) >= 2 and at[-2] == "requests" and isinstance(at[-1], int) and at[-3:-2] == ("devices",) else None
    )


def _is_flat(question: Mending, path: FieldPath, request: dict[str, Any]) -> bool:
    """Whether all fields beside the name are those of `exactly`, and nothing says that something else is meant."""
    kind = question.subject.kind
    schema = schema_at(kind, question.subject.version, (*path, "exactly")) if kind is not None else None
    return (
        bool(request.get("deviceClassName"))
        and request.keys() - {"name"} <= (schema or {}).get("properties", {}).keys()
    )


def wrapped(request: dict[str, Any]) -> dict[str, Any]:
    """A request with its fields under `exactly`."""
    named = {"name": request["name"]} if "name" in request else {}
    return {**named, "exactly": {key: item for key, item in request.items() if key != "name"}}


def basic(question: Mending) -> Correction | None:
    """The fields of `basic` directly in the devices: all devices of the slice that have it."""
    return lifted(question, ("spec", "devices"), "basic")


def source(question: Mending) -> Correction | None:
    """The fields of `source` directly in the entries of the pod's resourceClaims."""
    return lifted(question, question.path[:-2], "source")


def lifted(question: Mending, path: FieldPath, name: str) -> Correction | None:
    """The fields of `name`, in the maps of the list at `path`, one level up."""
    entries: Any = value_at(question.subject.value, path)
    edits: list[CharEdit] = []
    made = []
    for index, entry in enumerate(entries if isinstance(entries, list) else ()):
        inner = entry.get(name) if isinstance(entry, dict) else None
        if not isinstance(inner, dict):
            if isinstance(entry, dict) and name in entry:
                return None
            made.append(entry)
            continue
        if inner.keys() & entry.keys():
            return None
        one = moves.up(question.text, (*path, index, name))
        if one is None:
            return None
        edits += one
        made.append({**{key: item for key, item in entry.items() if key != name}, **inner})
    return Correction(edits, path, made) if edits else None
