"""A finding as text: the source line with the problem marked, and the replacement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dra_plan import shown
from dra_plan.documents.findings import FindingEntry
from dra_plan.text.columns import Screen

_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"


_COLOURS = {"error": "\x1b[1;31m", "warning": "\x1b[1;33m", "info": "\x1b[1;36m"}


_WIDTH = 80
"""The width of source lines if there is no screen."""


def block(finding: FindingEntry, fix: str, screen: Screen | None) -> Iterator[str]:
    """Yield the lines that show a finding. `fix` is the advice of the finding's rule."""
    colour = _COLOURS[finding.severity] if screen and screen.colour else ""
    where = shown.line(f"{place(finding)}: ") if finding.file else ""
    mark = f"{finding.severity}[{finding.code}]"
    head = wrapped(f"{where}{mark} {shown.line(finding.message)}", screen, "  ")
    head[0] = _in_colour(head[0], where, mark, colour)
    yield from head
    width = screen.width if screen else _WIDTH
    margin = " " * len(str(finding.line)) if finding.excerpt else ""
    yield from excerpt_lines(finding, width, colour)
    about = ", ".join(part for part in (finding.object, finding.field) if part)
    yield from wrapped(f"{margin} = {shown.line(about)}", screen, f"{margin}   ")
    yield from _help(finding, fix, screen)
    if finding.fix is not None:
        yield from wrapped(f"fix: --fix can {finding.fix.title}", screen, "     ")


def _in_colour(line: str, where: str, mark: str, colour: str) -> str:
    if not colour or not line.startswith(where + mark):
        return line
    return f"{_BOLD}{where}{_PLAIN}{colour}{mark}{_PLAIN}{line[len(where + mark) :]}"


def _help(finding: FindingEntry, fix: str, screen: Screen | None) -> Iterator[str]:
    """Yield the advice and, if known, the replacement text, unwrapped so that it can be copied."""
    if not finding.suggestion:
        yield from wrapped(f"help: {fix}", screen, "      ")
        return
    yield from wrapped(f"help: {fix.removesuffix('.')}:", screen, "      ")
    yield f"        {shown.line(finding.suggestion)}"


def wrapped(line: str, screen: Screen | None, indent: str) -> list[str]:
    """Return the text as lines. It is wrapped between words on a terminal, and is a single line otherwise."""
    if screen is None or len(line) <= screen.width:
        return [line]
    import textwrap

    words = line.lstrip()
    start = line[: len(line) - len(words)]
    return textwrap.wrap(
        words,
        max(screen.width, len(indent) + 20),
        initial_indent=start,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def place(finding: FindingEntry) -> str:
    """Return the place of the finding as `FILE:LINE:COLUMN`, without unknown parts."""
    numbers = [str(number) for number in (finding.line, finding.column) if number]
    return ":".join([finding.file, *numbers]) if finding.file else ""


_TAB = 4
"""The number of columns between tab stops."""


_LEAST = 20
"""The minimum number of columns for a line on a narrow screen."""


_CUT = "..."


_DIM, _PLAIN_LINE = "\x1b[2m", "\x1b[0m"


def excerpt_lines(finding: FindingEntry, width: int, colour: str = "") -> Iterator[str]:
    """Yield the source line in a frame of at most `width` columns, with carets in `colour` below the marked text.

    Nothing is yielded if the finding has no excerpt.
    """
    excerpt = finding.excerpt
    if excerpt is None:
        return
    number = str(finding.line)
    margin = " " * len(number)
    begin = min(max(finding.column - excerpt.column, 0), len(excerpt.text))
    one_line = finding.end_line == finding.line
    end = min(max(finding.end_column - excerpt.column, begin), len(excerpt.text)) if one_line else len(excerpt.text)
    room = max(width - len(number) - 3, _LEAST)
    text, caret, carets = _cut(excerpt.text, begin, end, room, before=excerpt.column > 1)
    bar, plain = (_DIM, _PLAIN_LINE) if colour else ("", "")
    yield f"{bar}{margin} |{plain}"
    yield f"{bar}{number} |{plain} {text}".rstrip()
    yield f"{bar}{margin} |{plain} {' ' * caret}{colour}{'^' * carets}{plain}"


def _cells(text: str) -> tuple[Sequence[str], list[int]]:
    """Return the displayed form of each character, with spaces for tabs, and the number of columns it takes."""
    if text.isascii() and not shown.acts(text):
        return text, [1] * len(text)
    made: list[str] = []
    widths: list[int] = []
    at = 0
    for char, safe in zip(text, shown.characters(text), strict=True):
        made.append(" " * (_TAB - at % _TAB) if char == "\t" else safe)
        widths.append(_width(made[-1]))
        at += widths[-1]
    return made, widths


def _width(cell: str) -> int:
    if cell.isascii():
        return len(cell)
    from rich.cells import cell_len

    return cell_len(cell)


def _cut(source: str, begin: int, end: int, room: int, *, before: bool) -> tuple[str, int, int]:
    """Return the part of the text around the position that fits in `room` columns, the caret column and count."""
    cells, widths = _cells(source)
    first, last = 0, len(cells)
    past_end = 1 if begin == len(cells) else 0  # the caret is after the text
    if sum(widths) + (len(_CUT) if before else 0) + past_end > room:
        inner = room - 2 * len(_CUT)
        marked = min(sum(widths[begin:end]), inner)
        first = _back(widths, begin, (inner - marked) // 2)
        last = _on(widths, first, inner)
        if last == len(cells):
            first = max(_back(widths, last, inner), 0)
    head = _CUT if first or before else ""
    tail = _CUT if last < len(cells) else ""
    left = len(head) + sum(widths[first:begin])
    return f"{head}{''.join(cells[first:last])}{tail}", left, max(sum(widths[begin : min(end, last)]), 1)


def _back(widths: Sequence[int], at: int, room: int) -> int:
    """Return the first of the characters before `at` that fit in the available width."""
    while at > 0 and widths[at - 1] <= room:
        at -= 1
        room -= widths[at]
    return at


def _on(widths: Sequence[int], at: int, room: int) -> int:
    """Return the end of the characters from `at` on that fit in the available width."""
    while at < len(widths) and widths[at] <= room:
        room -= widths[at]
        at += 1
    return at
