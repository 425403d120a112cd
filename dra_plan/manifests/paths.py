"""Field paths: tuples of keys and list positions, and how they are written."""

from __future__ import annotations

import re

FieldPath = tuple[str | int, ...]

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")


def render(path: FieldPath) -> str:
    """The path as Kubernetes writes it: `spec.devices[0].attributes[example.com/model]`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _PLAIN_KEY.match(step):
            text += f".{step}" if text else step
        else:
            text += f"[{step}]"
    return text


def summary(paths: list[FieldPath]) -> str:
    """The fields, those of list items taken together: `spec.devices[*].basic (8 times)`."""
    counts: dict[str, int] = {}
    for path in paths:
        text = render(tuple("*" if isinstance(step, int) else step for step in path))
        counts[text] = counts.get(text, 0) + 1
    return ", ".join(text if count == 1 else f"{text} ({count} times)" for text, count in counts.items())
