"""Tables on a terminal: they keep to its width by wrapping, and outcomes have colours. Nothing is cut here either."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from dra_plan import shown
from dra_plan.text.columns import GAP, Paragraph, Part, Screen, Table, wrapped

if TYPE_CHECKING:
    from rich.console import RenderableType


STYLES = {
    "Fits": "green",
    "Bound": "green",
    "Unschedulable": "red",
    "Gated": "yellow",
    "Waiting": "yellow",
    "DoesNotFit": "red",
    "NodeError": "red",
    "Error": "bold red",
    "Refused": "red",
    "Undecided": "yellow",
    "Unknown": "yellow",
    "Complete": "green",
    "Incomplete": "yellow",
    "Invalid": "red",
    "Obsolete": "yellow",
}
"""Colours of cells that hold one of these words."""


NARROW_GAP = 2
"""Spaces between columns where some of them have to wrap."""


INDENT = 2
"""Spaces before a table that stands under a heading."""


LEAST = 8
"""Columns that a flexible column keeps at least while the others stay whole."""


def render(parts: Sequence[Part], screen: Screen) -> str:
    """Parts under each other with a blank line between, no line longer than the screen is wide."""
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
            for piece in _pieces(part, screen):
                console.print(piece)
    return "".join(f"{line.rstrip()}\n" for line in capture.get().splitlines())


def _pieces(part: Part, screen: Screen) -> Iterable[RenderableType]:
    if isinstance(part, Table):
        return _table(part, screen.width)
    if isinstance(part, Paragraph):
        from rich.text import Text

        lines = wrapped(part.lines, screen.width)
        return [Text(line, style="bold" if not number else "") for number, line in enumerate(lines)]
    return [shown.line(part)]


def _table(table: Table, width: int) -> Iterator[RenderableType]:
    """The table as it is if it fits; else its groups one after the other, each under a heading."""
    if not table.grouped or _needs(table.widths()) <= width:
        yield _columns(table, width, indent=0)
        return
    from rich.text import Text

    for number, (about, rows) in enumerate(groupby(table.rows, key=lambda row: tuple(row[: table.grouped]))):
        heading = Text("\n" if number else "")
        for header, cell in zip(table.headers, about, strict=False):
            heading.append(f"{header} ", style="bold").append(cell, style=STYLES.get(cell, "")).append(" " * GAP)
        yield heading
        rest = [row[table.grouped :] for row in rows]
        flexible = [column - table.grouped for column in table.flexible]
        yield _columns(Table(table.headers[table.grouped :], 0, flexible, rest), width, indent=INDENT)


def _needs(widths: Sequence[int], gap: int = GAP) -> int:
    return sum(widths) + gap * (len(widths) - 1)


def _columns(table: Table, width: int, *, indent: int) -> RenderableType:
    from rich.padding import Padding
    from rich.table import Table as RichTable
    from rich.text import Text

    allotted = _allotted(table, width - indent)
    if allotted is None:
        return Padding(_records(table), (0, 0, 0, indent))
    gap = GAP if _needs(table.widths()) <= width - indent else NARROW_GAP
    made = RichTable(box=None, show_edge=False, pad_edge=False, padding=(0, gap, 0, 0), header_style="bold")
    for header, wanted in zip(table.headers, allotted, strict=True):
        made.add_column(Text(header), overflow="fold", width=wanted)
    above: Sequence[str] = ()
    for row in table.rows:
        same = _repeated(row, above, table.grouped)
        made.add_row(*(Text("" if i < same else cell, style=STYLES.get(cell, "")) for i, cell in enumerate(row)))
        above = row
    return Padding(made, (0, 0, 0, indent))


def _records(table: Table) -> RenderableType:
    """For a screen too narrow for columns: each row as lines of HEADER and cell."""
    from rich.console import Group
    from rich.text import Text

    rows = (zip(table.headers, row, strict=True) for row in table.rows)
    return Group(
        *(
            Text("\n").join(Text.assemble((header, "bold"), " ", (cell, STYLES.get(cell, ""))) for header, cell in row)
            for row in rows
        )
    )


def _allotted(table: Table, width: int) -> list[int] | None:
    """Widths of columns: the inflexible ones whole, the flexible ones share what is left; None if that won't do.

    The widest gives way first: as long as any can wrap between words, one that can; only then one inside a word.
    """
    needed = table.widths()
    if _needs(needed) <= width:
        return needed
    words = _longest_words(table)
    allotted = list(needed)
    for _ in range(_needs(needed, NARROW_GAP) - width):
        between_words = [column for column in table.flexible if allotted[column] > max(words[column], LEAST)]
        column = max(between_words or table.flexible, key=lambda index: allotted[index], default=None)
        if column is None or allotted[column] <= LEAST:
            return None
        allotted[column] -= 1
    return allotted


def _longest_words(table: Table) -> list[int]:
    """For each column the width below which a word of it has to be broken."""
    columns = zip(table.headers, *table.rows, strict=True)
    return [max(len(word) for cell in column for word in cell.split() or ("",)) for column in columns]


def _repeated(row: Sequence[str], above: Sequence[str], grouped: int) -> int:
    """How many leading cells, of the first `grouped`, repeat the row above."""
    count = 0
    while count < grouped and above and row[count] == above[count]:
        count += 1
    return count
