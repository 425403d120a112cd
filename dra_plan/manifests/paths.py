"""Field paths, which are tuples of keys and list positions, and their notation."""

from __future__ import annotations

import re
from typing import Any

from dra_plan.api.meta import FieldPath

__all__ = ["FieldPath", "is_plain_key", "pattern", "render", "value_at"]

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")


def is_plain_key(step: str | int) -> bool:
    """Return whether the step is a key that needs no brackets."""
    return isinstance(step, str) and _PLAIN_KEY.match(step) is not None


def render(path: FieldPath) -> str:
    """Return the path in Kubernetes' notation, such as `spec.devices[0].attributes[example.com/model]`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif is_plain_key(step):
            text += f".{step}" if text else step
        else:
            text += f"[{step}]"
    return text


def pattern(path: FieldPath) -> str:
    """Return the path with `*` for list positions, such as `spec.devices[*].basic`."""
    return render(tuple("*" if isinstance(step, int) else step for step in path))


def value_at(value: Any, path: FieldPath) -> Any:
    """Return the value at the path, or None if there is none."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value
