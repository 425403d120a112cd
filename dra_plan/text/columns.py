"""Text tables with aligned columns and upper-case headers, as in kubectl.

`plain` lays out a table for files and pipes, and `screen.py` for a terminal. Nothing is truncated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from dra_plan import shown

GAP = 3
"""The number of spaces between columns, as in kubectl."""


class Folded(str):
    """A cell with a short form for narrow terminals, such as `gpu-0..gpu-7 (8)`."""

    __slots__ = ("short",)
    short: str

    def __new__(cls, whole: str, short: str) -> Folded:
        """Return a cell with a full and a short form."""
        made = super().__new__(cls, whole)
        made.short = short
        return made


def _safe(cell: str) -> str:
    if isinstance(cell, Folded):
        return Folded(_safe(str(cell)), _safe(cell.short))
    return shown.line(cell.replace("\n", " ")) or "-"


class Table(Struct):
    """A table with headers and rows.

    The first `grouped` columns identify a row. A terminal leaves their cells blank if they repeat the cell above, and a
    narrow terminal shows these columns as headings. On a narrow terminal, the `spare` columns are moved below the rows,
    in the order of `spare`: zeros are left out, and a value that is the same in all rows is shown once. If this is not
    enough, the `flexible` columns shrink.
    """

    headers: Sequence[str]
    grouped: int = 0
    flexible: Sequence[int] = ()
    rows: list[Sequence[str]] = field(default_factory=list)
    spare: Sequence[int] = ()

    def add(self, *cells: str) -> None:
        """Add a row. An empty cell is shown as a dash."""
        self.rows.append([_safe(cell) for cell in cells])

    def widths(self) -> list[int]:
        """Return the width that each column needs."""
        return [max(map(len, column)) for column in zip(self.headers, *self.rows, strict=True)]


class Paragraph(Struct, frozen=True):
    """A heading and indented lines, as in explanations."""

    lines: Sequence[str]


Part = Table | Paragraph | str
"""A block of output. A string is a single line. Blocks are separated by blank lines."""


class Screen(Struct, frozen=True):
    """The terminal on which output is shown: its width in columns, and whether it has colours."""

    width: int
    colour: bool


def short_cells(table: Table) -> Table:
    """Return the table with the short form of each cell."""
    rows: list[Sequence[str]] = [
        [cell.short if isinstance(cell, Folded) else cell for cell in row] for row in table.rows
    ]
    return replace(table, rows=rows)


WIDEST = 160
"""The maximum width of a table with full cells in a file or a pipe. CI logs show little more."""


def plain(parts: Sequence[Part]) -> str:
    """Return the parts as text, separated by blank lines.

    Each row is one line. In very wide tables, cells have their short forms.
    """
    return "\n".join(map(_plain, parts))


def _plain(part: Part) -> str:
    if isinstance(part, Table):
        return _plain_table(part)
    lines = part.lines if isinstance(part, Paragraph) else [part]
    return "".join(f"{shown.line(line)}\n" for line in lines)


def readable(table: Table) -> Table:
    """Return the table. If it is wider than `WIDEST`, its cells have their short forms."""
    return short_cells(table) if width_of(table.widths()) > WIDEST else table


def _plain_table(table: Table) -> str:
    table = readable(table)
    widths = table.widths()
    padded = (
        (cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (table.headers, *table.rows)
    )
    return "".join((" " * GAP).join(cells).rstrip() + "\n" for cells in padded)


def width_of(widths: Sequence[int], gap: int = GAP) -> int:
    """Return the total width of columns, including the gaps between them."""
    return sum(widths) + gap * (len(widths) - 1)


Lines = Iterator[str]


LEAST = 20
"""The minimum width of text in columns, even if it is deeply indented."""


BOLD, PLAIN = "\x1b[1m", "\x1b[0m"


_MARK = re.compile(r"\s*(?:- |\d+\. |[-\d]\d*  )?")


class Verbatim(str):
    """A line that a terminal does not wrap, because it is part of an expression that users copy."""

    __slots__ = ()


def indented(lines: Iterable[str], by: int = 2) -> Lines:
    """Yield the lines, indented by this number of columns."""
    for line in lines:
        moved = f"{' ' * by}{line}" if line else line
        yield Verbatim(moved) if isinstance(line, Verbatim) else moved


def render(blocks: Sequence[Sequence[str]], screen: Screen | None) -> str:
    """Return the blocks, separated by empty lines.

    A line after an empty line is a heading, except in the last block.
    """
    made: list[str] = []
    for number, block in enumerate(blocks, start=1):
        starts = number < len(blocks)
        for line in block:
            made += _on(screen, line, heading=starts and bool(line))
            starts = not line
        made.append("")
    return "\n".join(made)


def wrapped(lines: Iterable[str], width: int) -> list[str]:
    """Return the lines as a terminal of this width wraps them."""
    screen = Screen(width, colour=False)
    return [part for line in lines for part in _on(screen, line, heading=False)]


def _on(screen: Screen | None, line: str, *, heading: bool) -> list[str]:
    safe = shown.line(line)
    if screen is None:
        return [safe]
    lines = [safe] if isinstance(line, Verbatim) or not safe else _wrapped(safe, screen.width)
    return [f"{BOLD}{part}{PLAIN}" for part in lines] if heading and screen.colour else lines


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


_NUMBERED = re.compile(r"(.*?)[-_.]?(\d+)$")


LEAST_ALIKE = 2
"""The minimum number of slots in a row."""


def rows(total: Mapping[str, str]) -> dict[str, dict[int, str]]:
    """Return the counters that are slots, by the prefix of their names and then by number.

    A counter is a slot if its total is 1, and if the counters with the same prefix have consecutive numbers.
    """
    found: dict[str, dict[int, str]] = {}
    for name, amount in total.items():
        numbered = _NUMBERED.match(name)
        if numbered is not None and numbered[1] and amount == "1":
            found.setdefault(numbered[1], {})[int(numbered[2])] = name
    return {
        prefix: dict(sorted(names.items()))
        for prefix, names in found.items()
        if len(names) >= LEAST_ALIKE and max(names) - min(names) == len(names) - 1
    }


def lines(total: Mapping[str, str], left: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each row of slots, with a dot for each free slot and an X for each used slot."""
    for prefix, names in rows(total).items():
        marks = " ".join("." if left[name] == total[name] else "X" for name in names.values())
        yield f"{prefix} {min(names)}-{max(names)}: {marks}"
