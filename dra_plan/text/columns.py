"""Text tables: aligned columns under UPPER CASE headers, as kubectl prints them.

A table is a value; `plain` writes it for files and pipes, `screen.py` for a terminal. Nothing is truncated.
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
    """A cell that has a short form for narrow terminals, such as `gpu-0..gpu-7 (8)`."""

    __slots__ = ("short",)
    short: str

    def __new__(cls, whole: str, short: str) -> Folded:
        """Return a cell with the whole text and its short form."""
        made = super().__new__(cls, whole)
        made.short = short
        return made


def _safe(cell: str) -> str:
    if isinstance(cell, Folded):
        return Folded(_safe(str(cell)), _safe(cell.short))
    return shown.line(cell.replace("\n", " ")) or "-"


class Table(Struct):
    """A table with headers and rows.

    The first `grouped` columns identify the row. A terminal leaves a cell in these columns blank if the cell repeats
    the cell above, and a narrow terminal turns these columns into headings. The columns numbered in `flexible` shrink
    on a narrow terminal. Before they shrink, the `spare` columns are moved below the rows, in the order of `spare`;
    zeros are then not shown, and cells that are equal in all rows are shown once.
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
    """A heading, followed by indented lines, as in explanations."""

    lines: Sequence[str]


Part = Table | Paragraph | str
"""A block between blank lines; a string is a single line."""


class Screen(Struct, frozen=True):
    """The terminal on which output is shown: its width in columns, and whether to use colours."""

    width: int
    colour: bool


def short_cells(table: Table) -> Table:
    """Return the table with the short forms of its cells."""
    rows: list[Sequence[str]] = [
        [cell.short if isinstance(cell, Folded) else cell for cell in row] for row in table.rows
    ]
    return replace(table, rows=rows)


WIDEST = 160
"""The width up to which a table in a file or a pipe shows whole cells: logs of CI systems show little more."""


def plain(parts: Sequence[Part]) -> str:
    """Return the parts as text, separated by blank lines.

    A row is one line. Cells have their short forms only in very wide tables.
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
    """Return the total width of columns with gaps between them."""
    return sum(widths) + gap * (len(widths) - 1)


Lines = Iterator[str]


LEAST = 20
"""The minimum number of columns for text, regardless of indentation."""


BOLD, PLAIN = "\x1b[1m", "\x1b[0m"


_MARK = re.compile(r"\s*(?:- |\d+\. |[-\d]\d*  )?")


class Verbatim(str):
    """A line that is not wrapped on a terminal, because it is part of an expression that users copy."""

    __slots__ = ()


def indented(lines: Iterable[str], by: int = 2) -> Lines:
    """Yield the lines, each indented by this number of columns."""
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
"""The minimum number of slots that form a row."""


def rows(total: Mapping[str, str]) -> dict[str, dict[int, str]]:
    """Return the counters that are slots, grouped by the prefix of their names and then by number.

    A counter is a slot if its total is 1 and the counters with the same prefix have consecutive numbers.
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
    """Yield a line for each row of slots. A dot stands for a free slot, and an X for a used slot."""
    for prefix, names in rows(total).items():
        marks = " ".join("." if left[name] == total[name] else "X" for name in names.values())
        yield f"{prefix} {min(names)}-{max(names)}: {marks}"
