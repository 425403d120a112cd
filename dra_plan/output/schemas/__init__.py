"""JSON Schemas of the documents that dra-plan prints, one file per kind."""

from __future__ import annotations

from importlib import resources
from typing import Any


def kinds() -> list[str]:
    """The kinds that have a schema, sorted."""
    files = (entry.name for entry in resources.files(__name__).iterdir())
    return sorted(name.removesuffix(".json") for name in files if name.endswith(".json"))


def text(kind: str) -> str:
    """The schema of one of `kinds()` as it ships."""
    return (resources.files(__name__) / f"{kind}.json").read_text(encoding="utf-8")


def load(kind: str) -> dict[str, Any]:
    """The schema of one of `kinds()`."""
    import msgspec

    return msgspec.json.decode(text(kind), type=dict[str, Any])
