"""Objects of kinds that planning does not know whose controllers make claim templates, and which ones.

NVIDIA's ComputeDomain makes the template that its pods name, so a manifest has the one and never the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dra_plan.api.meta import FieldPath

from .kinds import split_version
from .paths import value_at

_FIELDS: Mapping[tuple[str, str], FieldPath] = {
    ("resource.nvidia.com", "ComputeDomain"): ("spec", "channel", "resourceClaimTemplate", "name"),
}
"""Group and kind, and the field with the name of the template that is made, in the object's own namespace."""


def made_template(api_version: object, kind: object, value: Mapping[str, Any]) -> str:
    """The name of the claim template that the controller of the object makes, empty if it makes none."""
    if not isinstance(api_version, str) or not isinstance(kind, str):
        return ""
    path = _FIELDS.get((split_version(api_version)[0], kind))
    name = value_at(value, path) if path is not None else None
    return name if isinstance(name, str) else ""
