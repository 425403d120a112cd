"""Tables of text: aligned columns under UPPER CASE headers, as kubectl prints them.

A table is a value; `plain` writes it for files and pipes, `terminal` for a screen. Plain text is never cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from .notices import printable

GAP = 3
"""Spaces between columns, as kubectl has them."""

STYLES = {"Fits": "green", "DoesNotFit": "red", "NodeError": "red", "Error": "bold red", "Undecided": "yellow"}
"""Colours of cells that hold one of these words."""


@dataclass(slots=True)
class Table:
    """Headers and rows; columns listed in `grouped` are left blank on a screen where they repeat the row above."""

    headers: Sequence[str]
    grouped: int = 0
    rows: list[Sequence[str]] = field(default_factory=list)

    def add(self, *cells: str) -> None:
        """Add a row; an empty cell is shown as a dash."""
        self.rows.append([printable(cell.replace("\n", " ")) or "-" for cell in cells])


@dataclass(frozen=True, slots=True)
class Screen:
    """The terminal that output goes to: its width in columns, and whether colours are wanted."""

    width: int
    colour: bool


def plain(parts: Sequence[Table | str]) -> str:
    """Parts under each other with a blank line between; every row whole, every cell filled in."""
    return "\n".join(_plain_table(part) if isinstance(part, Table) else f"{printable(part)}\n" for part in parts)


def _plain_table(table: Table) -> str:
    rows = [table.headers, *table.rows]
    widths = [max(map(len, column)) for column in zip_longest(*rows, fillvalue="")]
    padded = ((cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "".join((" " * GAP).join(cells).rstrip() + "\n" for cells in padded)


def terminal(parts: Sequence[Table | str], screen: Screen) -> str:
    """As `plain`, for a screen: cells wrap so that lines keep to its width, groups are blanked, words coloured."""
    from rich.console import Console

    console = Console(
        width=screen.width,
        force_terminal=True,
        color_system="standard" if screen.colour else None,
        no_color=not screen.colour,
        highlight=False,
        markup=False,
        emoji=False,
    )
    with console.capture() as capture:
        for index, part in enumerate(parts):
            if index:
                console.print()
            console.print(_rich_table(part) if isinstance(part, Table) else printable(part))
    return "".join(f"{line.rstrip()}\n" for line in capture.get().splitlines())


def _rich_table(table: Table) -> object:
    from rich.table import Table as RichTable
    from rich.text import Text

    made = RichTable(box=None, show_edge=False, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for header in table.headers:
        made.add_column(Text(header), overflow="fold")
    above: Sequence[str] = ()
    for row in table.rows:
        same = _repeated(row, above, table.grouped)
        made.add_row(*(Text("" if i < same else cell, style=STYLES.get(cell, "")) for i, cell in enumerate(row)))
        above = row
    return made


def _repeated(row: Sequence[str], above: Sequence[str], grouped: int) -> int:
    """How many leading cells, of the first `grouped`, repeat the row above."""
    count = 0
    while count < grouped and above and row[count] == above[count]:
        count += 1
    return count
