"""What an API server answers instead of objects: refusals, tables for printing, metadata alone.

Such an answer, kept in a file, is no cluster: reading says what it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .places import Header

_META = "meta.k8s.io/"


def is_no_objects(api_version: object, kind: object) -> bool:
    """Whether the header is that of an answer without objects."""
    if kind == "Status":
        return api_version == "v1"
    named = kind in ("Table", "PartialObjectMetadata", "PartialObjectMetadataList")
    return named and isinstance(api_version, str) and api_version.startswith(_META)


def explained(value: Mapping[str, Any], header: Header) -> str:
    """What the answer is, and what to ask for instead."""
    if header.kind == "Status":
        said = ", ".join(str(value[key]) for key in ("reason", "code") if value.get(key))
        return f"the API server's refusal instead of objects: {value.get('message') or 'no message'}" + (
            f" ({said})" if said else ""
        )
    if header.kind == "Table":
        return "a table for printing, without the objects: ask for -o json, or with Accept: application/json"
    return "metadata alone, without spec and status: ask for -o json, or with Accept: application/json"
