"""What YAML repeats: merged maps and aliases, as plain values; and the error of a document that can't be read."""

from __future__ import annotations

from typing import Any


class YamlError(Exception):
    """A document that can't be read, with the line of the fault from 1."""

    def __init__(self, message: str, line: int, hint: str = "") -> None:
        self.message = message
        self.line = line
        self.hint = hint
        super().__init__(message)


def merge(container: dict[str, Any], merges: list[Any], line: int) -> None:
    """Adds merged entries to a map; its own keys win, then earlier sources. Raises `YamlError`."""
    for merged in merges:
        for source in merged if isinstance(merged, list) else [merged]:
            if not isinstance(source, dict):
                raise YamlError("<< must be given a map, or a list of maps", line)
            for key, value in source.items():
                container.setdefault(key, value)


def copied(value: Any) -> Any:
    """A copy of a plain value, so that no two places of the result share maps or lists. Depth is bounded by now."""
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [copied(item) for item in value]
    return value
