"""Values as Go's fmt prints them, for error texts that are reproduced to the letter."""

from __future__ import annotations

_ESCAPES = {
    7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r", 34: '\\"', 92: "\\\\",
}  # fmt: skip


def go_quote(text: str) -> str:
    """The text as Go's `%q` writes it."""
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    point = ord(character)
    if point in _ESCAPES:
        return _ESCAPES[point]
    if character.isprintable():
        return character
    if point < 0x80:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"
