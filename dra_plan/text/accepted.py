"""JSON Schemas of the documents that dra-plan reads: Kubernetes objects in each version, and configurations."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]


DRAFT = "https://json-schema.org/draft/2020-12/schema"


SETTINGS = "Settings"
"""The name of the schema for the settings of `validate`, in `.dra-plan.toml` or `[tool.dra-plan]` in pyproject.toml."""


_CODES: Schema = {"type": "array", "items": {"type": "string", "pattern": "^DRA[0-9]{0,3}$"}}


_SETTINGS: Schema = {
    "title": SETTINGS,
    "description": "What dra-plan validate reads from .dra-plan.toml, or from [tool.dra-plan] of pyproject.toml.",
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "select": {**_CODES, "description": ("The rules to apply: codes or prefixes of codes (default: all).")},
        "ignore": {**_CODES, "description": ("Rules to ignore. If select and ignore overlap, the longer code wins.")},
        "per-file-ignores": {
            "type": "object",
            "additionalProperties": _CODES,
            "description": "Rules to ignore in files that match a pattern.",
        },
        "ignore-unknown": {
            "type": "boolean",
            "description": "Ignore fields that are not in the API.",
        },
        "fail-on": {
            "enum": ["error", "warning", "info"],
            "description": ("The lowest severity for which the exit status is 1."),
        },
    },
}


def kinds() -> list[str]:
    """Return the names of all schemas: those of Kubernetes objects, as APIVERSION/KIND, and that of the settings.

    The newest version of each kind comes first.
    """
    from dra_plan.manifests.kinds import every
    from dra_plan.scheduler import config

    objects = [f"{_api_version(kind.group, version)}/{kind.name}" for kind in every() for version in kind.versions]
    return [*objects, f"{config.API_VERSION}/{config.KIND}", SETTINGS]


def load(name: str) -> Schema:
    """Return the schema of this name, which is one of `kinds()`."""
    from dra_plan.scheduler import config

    if name == SETTINGS:
        return {"$schema": DRAFT, **_SETTINGS}
    api_version, _, kind = name.rpartition("/")
    read = _configuration() if kind == config.KIND else _object(api_version, kind)
    named = {"apiVersion": {"const": api_version}, "kind": {"const": kind}}
    return {
        "$schema": DRAFT,
        **read,
        "title": kind,
        "properties": {**read.get("properties", {}), **named},
        "required": [*dict.fromkeys(["apiVersion", "kind", *read.get("required", ())])],
    }


def _object(api_version: str, name: str) -> Schema:
    from dra_plan.manifests import kinds as known
    from dra_plan.manifests.shapes import schema_of

    kind = known.find(api_version, name)
    assert kind is not None
    return schema_of(kind, known.split_version(api_version)[1])


def _configuration() -> Schema:
    """Return the schema of the scheduler configuration, reduced to the fields that the simulation reads."""
    import msgspec

    from dra_plan.scheduler.config import Configuration

    made = msgspec.json.schema(Configuration)
    definitions: Schema = dict(made["$defs"])
    return {**definitions.pop(Configuration.__name__), "$defs": definitions}


def _api_version(group: str, version: str) -> str:
    return f"{group}/{version}" if group else version
