"""Lines of an explanation on paper: indented, and on a terminal wrapped between words under their own beginning."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from dra_plan import shown

from .columns import Screen

Lines = Iterator[str]

LEAST = 20
"""Columns that are left for words, however deep a line stands."""

_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"
_MARK = re.compile(r"\s*(?:- |\d+\. |[-\d]\d*  )?")


class Verbatim(str):
    """A line that stays as it is on a terminal too: part of an expression, to be copied."""

    __slots__ = ()


def indented(lines: Iterable[str], by: int = 2) -> Lines:
    """The lines, each so many columns further right."""
    for line in lines:
        moved = f"{' ' * by}{line}" if line else line
        yield Verbatim(moved) if isinstance(line, Verbatim) else moved


def render(blocks: Sequence[Sequence[str]], screen: Screen | None) -> str:
    """Blocks with an empty line between; what begins a block, or follows an empty line, is a heading; not the last."""
    made: list[str] = []
    for number, block in enumerate(blocks, start=1):
        starts = number < len(blocks)
        for line in block:
            made += _on(screen, line, heading=starts and bool(line))
            starts = not line
        made.append("")
    return "\n".join(made)


def wrapped(lines: Iterable[str], width: int) -> list[str]:
    """The lines as they stand on a screen of that width."""
    screen = Screen(width, colour=False)
    return [part for line in lines for part in _on(screen, line, heading=False)]


def _on(screen: Screen | None, line: str, *, heading: bool) -> list[str]:
    safe = shown.line(line)
    if screen is None:
        return [safe]
    lines = [safe] if isinstance(line, Verbatim) or not safe else _wrapped(safe, screen.width)
    return [f"{_BOLD}{part}{_PLAIN}" for part in lines] if heading and screen.colour else lines


def _wrapped(line: str, width: int) -> list[str]:
    import textwrap

    mark = _MARK.match(line)
    start = mark.group() if mark is not None else ""
    return textwrap.wrap(
        line[len(start) :],
        max(width, len(start) + LEAST),
        initial_indent=start,
        subsequent_indent=" " * len(start),
        break_long_words=False,
        break_on_hyphens=False,
    )
