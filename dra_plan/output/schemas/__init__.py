"""JSON Schemas of the documents that dra-plan prints, made from their structs (`dra_plan/documents`) when asked for."""

from __future__ import annotations

from importlib import import_module
from inspect import cleandoc
from typing import Any

Schema = dict[str, Any]

_DOCUMENTS = {
    "AllocationPlan": "allocation.AllocationDocument",
    "CapacityPlan": "capacity.CapacityDocument",
    "ClusterDiff": "diff.DiffDocument",
    "DrainList": "drains.DrainsDocument",
    "GrowthPlan": "growth.GrowthDocument",
    "Explanation": "explanation.ExplanationDocument",
    "Placement": "placement.PlacementDocument",
    "PoolList": "pools.PoolsDocument",
    "RuleList": "rules.RulesDocument",
    "SchedulePlan": "schedule.ScheduleDocument",
    "SelectorReport": "selectors.SelectorDocument",
    "ValidationReport": "validation.ValidationDocument",
}
"""The struct of each kind, in `dra_plan.documents`."""


def kinds() -> list[str]:
    """The kinds that have a schema, sorted."""
    return sorted(_DOCUMENTS)


def document_type(kind: str) -> type[Any]:
    """The struct of one of `kinds()`."""
    module, _, name = _DOCUMENTS[kind].partition(".")
    found: type[Any] = getattr(import_module(f"dra_plan.documents.{module}"), name)
    return found


def load(kind: str) -> Schema:
    """The schema of one of `kinds()`."""
    import msgspec

    from .accepted import DRAFT

    made = document_type(kind)
    _, parts = msgspec.json.schema_components([made, *getattr(import_module(made.__module__), "PARTS", ())])
    definitions: Schema = {name: _part(part) for name, part in parts.items()}
    whole = definitions.pop(made.__name__)
    return {
        "$schema": DRAFT,
        "$id": f"urn:dra-plan:v1alpha1:{kind}",
        "title": kind,
        **whole,
        "required": ["apiVersion", "kind", *whole["required"]],
        "$defs": definitions,
    }


def _part(part: Schema) -> Schema:
    """A struct's schema, without what a reader does not need: None as a default stands for a field that isn't there."""
    kept = {key: value for key, value in part.items() if key != "title"}
    if "description" in kept:
        kept["description"] = cleandoc(kept["description"])
    if "properties" not in part:
        return kept
    properties = {name: _property(read) for name, read in part["properties"].items()}
    return {**kept, "properties": properties, "additionalProperties": False}


def _property(read: Schema) -> Schema:
    about = {key: value for key, value in read.items() if key not in ("anyOf", "default")}
    if len(read.get("enum", ())) == 1:
        [about["const"]] = about.pop("enum")
    choices = read.get("anyOf", [])
    if read.get("default", "") is None:
        choices = [choice for choice in choices if choice != {"type": "null"}]
    return {**about, **choices[0]} if len(choices) == 1 else {**about, **({"anyOf": choices} if choices else {})}
