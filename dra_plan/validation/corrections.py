"""The fixes for single fields and objects.

Each function returns the edits that fix one problem, or None if the fix is not certain. `fixing` lists the fixes by
rule.
"""

from __future__ import annotations

import re
from typing import Any

from dra_plan.api.meta import FieldPath
from dra_plan.api.quantity import QuantityError, parse
from dra_plan.api.semver import parse as parse_version
from dra_plan.manifests import defaults
from dra_plan.manifests.convert import REQUESTS
from dra_plan.manifests.diagnose import diagnose
from dra_plan.manifests.fitting import fits
from dra_plan.manifests.kinds import Kind
from dra_plan.manifests.objects import NOT_DECODED, typed
from dra_plan.manifests.paths import value_at
from dra_plan.manifests.places import Extent, Form
from dra_plan.manifests.shapes import Schema, schema_at

from .edits import STEP, CharEdit, Correction, Mending, ObjectText, changed, down, up


def exactly(question: Mending) -> Correction | None:
    """Move the fields of a request into `exactly`, as v1 requires."""
    found = _request(question.path)
    value: Any = value_at(question.subject.value, found) if found else None
    if found is None or not isinstance(value, dict) or not _is_flat(question, found, value):
        return None
    edits = down(question.text, found, "exactly", "name")
    return None if edits is None else Correction(edits, found, wrapped(value))


def _request(path: FieldPath) -> FieldPath | None:
    """Return the path of the request that has the field."""
    at = path[:-1]
    return (
        at if len(at) >= 2 and at[-2] == "requests" and isinstance(at[-1], int) and at[-3:-2] == ("devices",) else None
    )


def _is_flat(question: Mending, path: FieldPath, request: dict[str, Any]) -> bool:
    """Return whether all fields except the name belong in `exactly`, and nothing indicates another meaning."""
    kind = question.subject.kind
    schema = schema_at(kind, question.subject.version, (*path, "exactly")) if kind is not None else None
    return (
        bool(request.get("deviceClassName"))
        and request.keys() - {"name"} <= (schema or {}).get("properties", {}).keys()
    )


def wrapped(request: dict[str, Any]) -> dict[str, Any]:
    """Return the request with its fields, except for the name, moved into `exactly`."""
    named = {"name": request["name"]} if "name" in request else {}
    return {**named, "exactly": {key: item for key, item in request.items() if key != "name"}}


def basic(question: Mending) -> Correction | None:
    """Move the fields in `basic` directly into the device, for all devices in the slice."""
    return lifted(question, ("spec", "devices"), "basic")


def source(question: Mending) -> Correction | None:
    """Move the fields in `source` directly into the claim, for all of the pod's resourceClaims."""
    return lifted(question, question.path[:-2], "source")


def lifted(question: Mending, path: FieldPath, name: str) -> Correction | None:
    """Move the fields in the map `name` one level up, in each entry of the list at `path`."""
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
        one = up(question.text, (*path, index, name))
        if one is None:
            return None
        edits += one
        made.append({**{key: item for key, item in entry.items() if key != name}, **inner})
    return Correction(edits, path, made) if edits else None


# -- values and keys ---------------------------------------------------------------------------------------------------
# The faults are too few or too many quotes, a value without its map, and a key in the wrong case.

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)\Z")
_UNSAFE_IN_BRACKETS = re.compile(r"[\[\]{},#]|:(?:\s|\Z)")
_QUOTED = (Form.SINGLE, Form.DOUBLE)


def rewritten(question: Mending, path: FieldPath, to: str) -> Correction | None:
    """Replace the text at the path, keeping its quotes. The new text must not need escaping."""
    extent = question.text.extent(path)
    if extent is None or extent.form not in (Form.PLAIN, *_QUOTED):
        return None
    inset = 0 if extent.form is Form.PLAIN else 1
    edit = CharEdit(extent.begin + inset, extent.end - inset, to)
    return Correction([edit], path, to)


def right_type(question: Mending) -> Correction | None:
    """Convert the value to the field's type, if there is only one way to do so."""
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
    """Return the only field of the expected map that can have the value."""
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
    """Return the field for a string, if it cannot also be a version."""
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
    """Put the value, as written, into a map in brackets, or on its own line if brackets would change it."""
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
    """Correct the case of a key that differs from a field's name only in case. The field itself must not be set."""
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


# -- old API versions --------------------------------------------------------------------------------------------------
# The object is rewritten in the new version, if it stays the same object.

_FLAT = "v1beta1"


def newest(question: Mending) -> Correction | None:
    """Return the object in the API version that the problem names, or None if the conversion would change a field."""
    subject, kind = question.subject, question.subject.kind
    api_version = question.problem.value
    version = api_version.rpartition("/")[2]
    if kind is None or version not in kind.versions or subject.value.get("apiVersion") is None:
        return None
    head = rewritten(question, ("apiVersion",), api_version)
    moved = _moved(question, kind) if subject.version == _FLAT else Correction([], (), subject.value)
    if head is None or moved is None:
        return None
    value = {**changed(subject.value, moved.path, moved.to), "apiVersion": api_version}
    if not _is_same(subject.value, subject.version, value, version, kind):
        return None
    return Correction([*head.edits, *moved.edits], (), value)


def _moved(question: Mending, kind: Kind) -> Correction | None:
    """Move the v1beta1 fields to where later versions have them."""
    if kind.name == "ResourceSlice":
        nothing = Correction([], (), question.subject.value)
        devices = _entries(question.subject.value, ("spec", "devices"))
        has_any = any(isinstance(device, dict) and "basic" in device for device in devices)
        return lifted(question, ("spec", "devices"), "basic") if has_any else nothing
    path = REQUESTS.get(kind.name)
    value, edits = question.subject.value, list[CharEdit]()
    for index, request in enumerate(_entries(value, path) if path else ()):
        if path is None or not isinstance(request, dict) or "firstAvailable" in request:
            continue
        at = (*path, index)
        made = down(question.text, at, "exactly", "name")
        if made is None:
            return None
        edits += made
        value = changed(value, at, wrapped(request))
    return Correction(edits, (), value)


def _entries(value: Any, path: FieldPath) -> list[Any]:
    """Return the list at a path; empty for any other value there."""
    found = value_at(value, path)
    return found if isinstance(found, list) else []


def _is_same(old: dict[str, Any], old_version: str, new: dict[str, Any], new_version: str, kind: Kind) -> bool:
    """Return whether two manifests are the same object once read, with no fields dropped from either."""
    read = []
    for value, version in ((old, old_version), (new, new_version)):
        stored = value
        if not fits(value, kind, version):
            decoded = diagnose(value, kind, version)
            if decoded.wrong or decoded.unknown:
                return False
            stored = decoded.value
        try:
            read.append(defaults.apply(typed(stored, kind, version)))
        except NOT_DECODED:
            return False
    return bool(read[0] == _with_version(read[1], read[0]))


def _with_version(made: Any, like: Any) -> Any:
    """Return the object with the version of the other, if objects store it."""
    import msgspec

    if not hasattr(made, "api_version"):
        return made
    return msgspec.structs.replace(made, api_version=like.api_version)
