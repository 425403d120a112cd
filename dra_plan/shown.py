"""How text from manifests and file names is shown, so that it acts on no terminal and on no CI runner.

Everything that is printed passes through here: `line` and `lines` for people, `in_json` and `in_yaml` for programs. All
escapes are those of quoted text in CEL, JSON and YAML, so that what is copied into quotes stays the same text.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_COMMAND = re.compile(r"(?<=:):|#(?=#[A-Za-z]*\[)")
"""In `::` the second colon; in `##[` and `##vso[` the first `#`. Runners look for these in the lines of a log."""

_LONGEST = 60
"""Characters of a value that an error shows."""


def acts(text: str) -> bool:
    """Whether `text`, as it stands, may act on a terminal or a runner, or breaks its line."""
    return not text.isprintable() or _may_command(text)


def line(text: str) -> str:
    r"""`text` on one line: what does not print is escaped, `::` is `:\u003a`, `##[` is `\u0023#[`."""
    if not acts(text):
        return text
    return _broken_up("".join(char if char.isprintable() else _escaped(char) for char in text))


def characters(text: str) -> list[str]:
    """What `line` shows for each character of `text`; together that is `line(text)`."""
    made = [char if char.isprintable() else _escaped(char) for char in text]
    for found in _COMMAND.finditer(text):
        made[found.start()] = _broken(found)
    return made


def lines(text: str) -> str:
    """`text` with its line ends, each of its lines as `line` shows it. For texts whose line ends are our own."""
    return "\n".join(map(line, text.split("\n")))


def printable(text: str) -> str:
    """`text` with only what does not print escaped, line ends kept: names of files, which a runner must find again."""
    return "".join(char if char.isprintable() or char == "\n" else _escaped(char) for char in text)


def in_json(document: str) -> str:
    """JSON that holds the same, where no text of it acts: what JSON leaves raw is escaped."""
    return _in_quotes(document, lambda char: "".join(f"\\u{unit:04x}" for unit in _utf16(char)))


def in_yaml(document: str) -> str:
    """As `in_json`, for YAML that has every text in double quotes of which `acts` is true."""
    return _in_quotes(document, _escaped)


def value(given: object) -> str:
    """A value as Python writes it, of a long one the beginning; of a number with too many digits, what it is."""
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
