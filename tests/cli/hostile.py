"""Objects with hostile text in one field each, for every field of every kind that planning reads."""

import io
import json
import re
from collections.abc import Iterator
from typing import Any

from dra_plan.manifests import kinds
from dra_plan.manifests.faults import ManifestErrors
from dra_plan.manifests.load import load
from dra_plan.text import accepted

TEXT = (
    "::error::a\nBROKEN  ::stop-commands::b\r##[error]c ##vso[d]\t"
    "\x1b[31m\x7f\x85\x9b2J\u202e\u2066\u200b\u2028BROKEN\u2029::e:"
)
"""Line ends, controls, C1, bidi, separators, and what runners take for commands."""

_COMMAND = re.compile(r"::|##[A-Za-z]*\[")
_OWN = re.compile(r"^::(error|warning|notice) [^\n]*?::", re.MULTILINE)
"""How an annotation of the github report begins."""

Step = str | int


def faults(text: str, *, wrapped: bool = False) -> list[str]:
    """The lines of a log that could act on what reads it; on a wrapped one any line may begin anywhere."""
    return [
        line
        for line in _OWN.sub("", text).split("\n")
        if _COMMAND.search(line)
        or not line.isprintable()
        or (line.removeprefix("error:").strip().startswith("BROKEN") and not wrapped)
    ]


def objects() -> list[dict[str, Any]]:
    """One object for each text, and each key of a map, that the schemas of the newest versions have."""
    made = []
    for kind in kinds.every():
        schema = accepted.load(f"{kind.api_version}/{kind.name}")
        for number, path in enumerate(_texts(schema, schema, ())):
            if path[0] in ("apiVersion", "kind"):
                continue
            named = {"apiVersion": kind.api_version, "kind": kind.name}
            one: dict[str, Any] = {**named, "metadata": {"name": f"n{number}"}}
            _fill(one, schema, schema)
            _put(one, path, schema, schema)
            made.append(one)
    return made


def _resolved(schema: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    while True:
        if "$ref" in schema:
            schema = root["$defs"][schema["$ref"].removeprefix("#/$defs/")]
        elif "anyOf" in schema:
            schema = next((one for one in schema["anyOf"] if one.get("type") != "null"), {})
        else:
            return schema


def _texts(schema: dict[str, Any], root: dict[str, Any], path: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
    schema = _resolved(schema, root)
    if len(path) > 20:
        return
    if "properties" in schema:
        for name, inner in schema["properties"].items():
            yield from _texts(inner, root, (*path, name))
    elif schema.get("type") == "object":
        yield (*path, TEXT)
        if isinstance(schema.get("additionalProperties"), dict):
            yield from _texts(schema["additionalProperties"], root, (*path, "key"))
    elif schema.get("type") == "array":
        yield from _texts(schema.get("items", {}), root, (*path, 0))
    elif schema.get("type", "string") == "string" or "string" in schema["type"]:
        yield path


def _fill(value: dict[str, Any], schema: dict[str, Any], root: dict[str, Any]) -> None:
    """The fields that must be there."""
    for name in schema.get("required", ()):
        if name not in value:
            value[name] = "Exists" if name == "operator" else _least(schema["properties"][name], root)


def _least(schema: dict[str, Any], root: dict[str, Any]) -> Any:
    schema = _resolved(schema, root)
    if "properties" in schema:
        filled: dict[str, Any] = {}
        _fill(filled, schema, root)
        return filled
    made = {"object": {}, "array": [], "integer": 1, "number": 1, "boolean": True}
    return made.get(str(schema.get("type")), "1")


def _put(value: Any, path: tuple[Step, ...], schema: dict[str, Any], root: dict[str, Any]) -> None:
    """Hostile text at `path`, and what has to be there on the way."""
    step, *rest = path
    schema = _resolved(schema, root)
    if isinstance(step, int):
        inner = schema.get("items", {})
        if not value:
            value.append(_least(inner, root) if rest else TEXT)
    else:
        extra = schema.get("additionalProperties")
        inner = schema.get("properties", {}).get(step) or (extra if isinstance(extra, dict) else {})
        if not rest:
            value[step] = _least(inner, root) if step == TEXT else TEXT
        else:
            value.setdefault(step, _least(inner, root))
    if rest:
        _put(value[step], tuple(rest), inner, root)


def unrefused(some: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those that planning takes, so that answers, too, have hostile text."""
    try:
        load(["-"], stdin=io.BytesIO(json.dumps(some).encode()))
    except ManifestErrors as error:
        refused = {(fault.object.split(" ")[0], fault.object.split("/")[-1].split(" ")[-1]) for fault in error.faults}
        return [one for one in some if (one["kind"], one["metadata"]["name"]) not in refused]
    return some
