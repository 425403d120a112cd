"""Wording of warnings, and how untrusted text reaches a terminal."""

from __future__ import annotations

from collections.abc import Iterable

from dra_plan.api.notice import Notice

SHOWN = 3
"""How many objects a repeated warning names before it counts the rest."""


def printable(text: str) -> str:
    """`text` with control characters escaped: a name from a manifest can't move the cursor or colour the screen."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char == "\n" else _escaped(char) for char in text)


def one_line(text: str) -> str:
    """As `printable`, line ends escaped too: no name begins a line, which a CI system might take for a command."""
    return printable(text).replace("\n", "\\n")


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def lines(warnings: Iterable[Notice], *, shown: int = SHOWN) -> list[str]:
    """One line per distinct warning: what is said about many objects is said once, and names the first `shown`."""
    grouped: dict[tuple[str, str], list[str]] = {}
    for warning in warnings:
        about = grouped.setdefault((warning.code, warning.message), [])
        where = _where(warning)
        if where and where not in about:
            about.append(where)
    return [one_line(_line(code, message, about, shown)) for (code, message), about in grouped.items()]


def _where(warning: Notice) -> str:
    return " at ".join(part for part in (warning.object, warning.source) if part)


def _line(code: str, message: str, about: list[str], shown: int) -> str:
    text = f"warning: {message} [{code}]"
    if not about:
        return text
    rest = len(about) - shown
    return f"{text}: {', '.join(about[:shown])}" + (f" and {rest} more" if rest > 0 else "")
