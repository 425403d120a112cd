"""Escaping of text from manifests and file names, so that it cannot control a terminal or a CI runner.

All output passes through this module: `line` and `lines` for people, and `in_json` and `in_yaml` for programs. The
escapes are valid in quoted strings of CEL, JSON and YAML, so text that is copied into quotes keeps its value.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_COMMAND = re.compile(r"(?<=:):|#(?=#[A-Za-z]*\[)")
"""The second colon of `::`; the first `#` of `##[` and `##vso[`. CI runners look for these in log lines."""

_LONGEST = 60
"""The number of characters of a value that an error shows."""


def acts(text: str) -> bool:
    """Return whether `text` contains a line break, or could control a terminal or a CI runner if printed unescaped."""
    return not text.isprintable() or _may_command(text)


def line(text: str) -> str:
    r"""Return `text` on one line, with unprintable characters, `::` and `##[` escaped."""
    if not acts(text):
        return text
    return _broken_up("".join(char if char.isprintable() else _escaped(char) for char in text))


def characters(text: str) -> list[str]:
    """Return each character of `text` as `line` shows it. Joined, the results equal `line(text)`."""
    made = [char if char.isprintable() else _escaped(char) for char in text]
    for found in _COMMAND.finditer(text):
        made[found.start()] = _broken(found)
    return made


def lines(text: str) -> str:
    """Return `text` with each line escaped by `line`, and with line breaks kept.

    Use this only if all line breaks were written by dra-plan.
    """
    return "\n".join(map(line, text.split("\n")))


def printable(text: str) -> str:
    """Return `text` with unprintable characters escaped and line breaks kept.

    Use this for file names that a CI runner must be able to find.
    """
    return "".join(char if char.isprintable() or char == "\n" else _escaped(char) for char in text)


def in_json(document: str) -> str:
    """Return equivalent JSON in which characters that could control a terminal are escaped."""
    return _in_quotes(document, lambda char: "".join(f"\\u{unit:04x}" for unit in _utf16(char)))


def in_yaml(document: str) -> str:
    """Return equivalent YAML in which characters that could control a terminal are escaped.

    Each text for which `acts` is true must be in double quotes.
    """
    return _in_quotes(document, _escaped)


def value(given: object) -> str:
    """Return a value in Python syntax. Long values are truncated, and numbers with too many digits are described."""
    try:
        text = repr(given)
    except ValueError:
        return f"a number of {given.bit_length()} bits" if isinstance(given, int) else f"a {type(given).__name__}"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _in_quotes(document: str, escaped: Callable[[str], str]) -> str:
    if not document.isascii() or "\x7f" in document:
        document = "".join(char if char.isprintable() or char == "\n" else escaped(char) for char in document)
    return _broken_up(document)


def _may_command(text: str) -> bool:
    return "::" in text or "##" in text


def _broken_up(text: str) -> str:
    return _COMMAND.sub(_broken, text) if _may_command(text) else text


def _broken(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def _utf16(char: str) -> list[int]:
    units = char.encode("utf-16-be", "surrogatepass")
    return [int.from_bytes(units[at : at + 2]) for at in range(0, len(units), 2)]
