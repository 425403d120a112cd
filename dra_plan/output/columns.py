"""Tables of text: aligned columns under UPPER CASE headers, as kubectl prints them.

A table is a value; `plain` writes it for files and pipes, `screen.py` for a terminal. Plain text is never cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dra_plan import shown

GAP = 3
"""Spaces between columns, as kubectl has them."""


@dataclass(slots=True)
class Table:
    """Headers and rows.

    The first `grouped` columns say what the row is about: a screen leaves them blank where they repeat the row above,
    and a narrow one makes them headings. The columns numbered in `flexible` give way on a narrow screen.
    """

    headers: Sequence[str]
    grouped: int = 0
    flexible: Sequence[int] = ()
    rows: list[Sequence[str]] = field(default_factory=list)

    def add(self, *cells: str) -> None:
        """Add a row; an empty cell is shown as a dash."""
        self.rows.append([shown.line(cell.replace("\n", " ")) or "-" for cell in cells])

    def widths(self) -> list[int]:
        """The width that each column needs."""
        return [max(map(len, column)) for column in zip(self.headers, *self.rows, strict=True)]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Lines as explanations have them: indented, the first of them a heading."""

    lines: Sequence[str]


Part = Table | Paragraph | str
"""What stands between blank lines; a text is one line."""


@dataclass(frozen=True, slots=True)
class Screen:
    """The terminal that output goes to: its width in columns, and whether colours are wanted."""

    width: int
    colour: bool


def plain(parts: Sequence[Part]) -> str:
    """Parts under each other with a blank line between; every row whole, every cell filled in."""
    return "\n".join(map(_plain, parts))


def _plain(part: Part) -> str:
    if isinstance(part, Table):
        return _plain_table(part)
    lines = part.lines if isinstance(part, Paragraph) else [part]
    return "".join(f"{shown.line(line)}\n" for line in lines)


def _plain_table(table: Table) -> str:
    widths = table.widths()
    padded = (
        (cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (table.headers, *table.rows)
    )
    return "".join((" " * GAP).join(cells).rstrip() + "\n" for cells in padded)
