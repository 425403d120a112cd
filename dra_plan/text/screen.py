"""Tables on a terminal, fitted to its width, with coloured outcomes.

Words are never broken, and text is never truncated.

If a table is too wide, the following are tried in order: short cells, names without their common suffix, headings
instead of columns, and wrapping between words. Cells that still do not fit are shown below their row, with their
header. A name that is longer than the line overflows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec.structs import replace

from dra_plan import shown
from dra_plan.text.columns import (
    BOLD,
    GAP,
    PLAIN,
    Paragraph,
    Part,
    Screen,
    Table,
    short_cells,
    width_of,
    wrapped,
)

_GREEN, _RED, _YELLOW = "\x1b[32m", "\x1b[31m", "\x1b[33m"


STYLES = {
    "Fits": _GREEN,
    "Bound": _GREEN,
    "Unschedulable": _RED,
    "Gated": _YELLOW,
    "OverQuota": _RED,
    "Waiting": _YELLOW,
    "DoesNotFit": _RED,
    "NodeError": _RED,
    "Error": f"{BOLD}{_RED}",
    "Refused": _RED,
    "Undecided": _YELLOW,
    "Unknown": _YELLOW,
    "Complete": _GREEN,
    "Incomplete": _YELLOW,
    "Invalid": _RED,
    "Obsolete": _YELLOW,
}
"""The colours of cells that contain these words."""


NARROW_GAP = 2
"""The number of spaces between columns if some of them have to wrap."""


INDENT = 2
"""The indentation of a table below a heading, and of cells below a row."""


LEAST = 24
"""The minimum width of a wrapped cell. Sentences are hard to read in narrower cells."""


def render(parts: Sequence[Part], screen: Screen) -> str:
    """Return the parts, separated by blank lines.

    A line is wider than the terminal only if it contains a wider word.
    """
    blocks = ["\n".join(line.rstrip() for line in _lines(part, screen)) + "\n" for part in parts]
    return "\n".join(blocks)


def _lines(part: Part, screen: Screen) -> Iterator[str]:
    if isinstance(part, Table):
        yield from _table(part, screen)
    elif isinstance(part, Paragraph):
        first, *rest = wrapped(part.lines, screen.width) or [""]
        yield _styled(first, BOLD, screen)
        yield from rest
    else:
        yield from wrapped([shown.line(part)], screen.width)


def _styled(text: str, style: str, screen: Screen) -> str:
    return f"{style}{text}{PLAIN}" if style and screen.colour and text else text


def _table(table: Table, screen: Screen) -> Iterator[str]:
    """Yield the table unchanged if it fits, or with short cells; otherwise its groups, each under a heading."""
    if width_of(table.widths()) > screen.width:
        table = short_cells(table)
    suffix = ""
    if width_of(table.widths()) > screen.width:
        table, suffix = _without_suffix(table)
    yield from _grouped(table, screen)
    if suffix:
        yield from wrapped([f"Names of nodes and pools are shown without {suffix}."], screen.width)


def _grouped(table: Table, screen: Screen) -> Iterator[str]:
    """Yield the table, or its groups under headings if it is too wide."""
    if not table.grouped or width_of(table.widths()) <= screen.width:
        yield from _columns(table, screen, indent=0)
        return
    for number, (about, rows) in enumerate(groupby(table.rows, key=lambda row: tuple(row[: table.grouped]))):
        if number:
            yield ""
        yield from _heading(list(zip(table.headers, about, strict=False)), screen)
        rest = [row[table.grouped :] for row in rows]
        flexible, spare = (
            [c - table.grouped for c in cs if c >= table.grouped] for cs in (table.flexible, table.spare)
        )
        headers = table.headers[table.grouped :]
        yield from _columns(Table(headers, flexible=flexible, rows=rest, spare=spare), screen, indent=INDENT)


def _heading(entries: Sequence[tuple[str, str]], screen: Screen) -> Iterator[str]:
    """Yield the HEADER and cell of each grouped column, on one line or on separate lines."""
    together = width_of([len(header) + 1 + len(cell) for header, cell in entries]) <= screen.width
    said = [_entry(header, cell, screen) for header, cell in entries]
    yield from ([(" " * GAP).join(said)] if together else said)


def _entry(header: str, cell: str, screen: Screen) -> str:
    return f"{_styled(header, BOLD, screen)} {_styled(cell, STYLES.get(cell, ''), screen)}"


NAMED = frozenset({"FROM", "NODE", "NODES", "POOL", "TO"})
"""The headers of columns that contain the names of nodes or pools."""


_SUFFIX = re.compile(r"\.[A-Za-z0-9.-]+")
"""A suffix of a name that may be cut: it begins with a dot."""


def _without_suffix(table: Table) -> tuple[Table, str]:
    """Return the table without the suffix that all node and pool names share, and this suffix, or ""."""
    named = [column for column, header in enumerate(table.headers) if header in NAMED]
    names = {row[column].split(",")[0].split(" ")[0] for row in table.rows for column in named} - {"-", ""}
    ends = [name[name.index(".") + 1 :] if "." in name else "" for name in names]
    suffix = _common_end(ends) if len(names) > 1 and all(ends) else ""
    if not _SUFFIX.fullmatch(suffix):
        return table, ""
    end = re.compile(re.escape(suffix) + r"(?![A-Za-z0-9.-])")
    return replace(table, rows=[[end.sub("", cell) for cell in row] for row in table.rows]), suffix


def _common_end(names: Sequence[str]) -> str:
    """Return the end that all names share, from a dot on."""
    shared: list[str] = []
    for labels in zip(*(name.split(".")[::-1] for name in names), strict=False):
        if len(set(labels)) > 1:
            break
        shared.append(labels[0])
    return ".".join(["", *reversed(shared)]) if shared else ""


def _columns(table: Table, screen: Screen, *, indent: int) -> Iterator[str]:
    """Yield the columns that fit next to each other, wrapped where necessary; the others below each row."""
    width = screen.width - indent
    below: set[int] = set()
    words = _longest_words(table)
    while (widths := _allotted(table, words, below, width)) is None:
        below.add(_widest(table, below))
    beside = [column for column in range(len(table.headers)) if column not in below]
    gap = GAP if width_of([table.widths()[column] for column in beside]) <= width else NARROW_GAP
    margin = " " * indent
    headers = [table.headers[column] for column in beside]
    for line in _row([[header] for header in headers], widths, gap):
        yield f"{margin}{_styled(line.rstrip(), BOLD, screen)}"
    above: Sequence[str] = ()
    spare = below & {*table.spare}
    constant = {column for column in spare if len(table.rows) > 1 and len({row[column] for row in table.rows}) == 1}
    for row in table.rows:
        same = _repeated(row, above, table.grouped)
        above = row
        cells = [wrapped([row[column]], room) for column, room in zip(beside, widths, strict=True)]
        blank = [[""] if column < same else cell for column, cell in zip(beside, cells, strict=True)]
        styles = [STYLES.get(row[column], "") for column in beside]
        for line in _row(blank, widths, gap, styles, screen):
            yield f"{margin}{line}"
        cells_below = [(column, row[column]) for column in sorted(below - constant) if row[column] != "-"]
        entries = [(table.headers[c], cell) for c, cell in cells_below if c not in spare or cell != "0"]
        yield from _below(entries, indent + INDENT, screen)
    same_cells = [(table.headers[column], table.rows[0][column]) for column in sorted(constant)]
    if any(cell != "-" for _, cell in same_cells):
        said = "   ".join(f"{header} {cell}" for header, cell in same_cells if cell != "-")
        yield from (f"{margin}{line}" for line in wrapped([f"In all rows: {said}"], width))


def _row(
    cells: Sequence[Sequence[str]],
    widths: Sequence[int],
    gap: int,
    styles: Sequence[str] = (),
    screen: Screen | None = None,
) -> Iterator[str]:
    """Yield the lines of a row: each cell begins in its column."""
    for number in range(max(map(len, cells))):
        parts: list[str] = []
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True)):
            text = cell[number] if number < len(cell) else ""
            padding = " " * (width - len(text))
            styled = _styled(text, styles[column], screen) if styles and screen is not None else text
            parts.append(f"{styled}{padding}")
        yield (" " * gap).join(parts).rstrip()


def _below(entries: Sequence[tuple[str, str]], indent: int, screen: Screen) -> Iterator[str]:
    """Yield each HEADER and cell, on one line if they fit, or else on separate lines, wrapped between words."""
    margin = " " * indent
    if entries and width_of([len(header) + 1 + len(cell) for header, cell in entries]) <= screen.width - indent:
        yield f"{margin}{(' ' * GAP).join(_entry(header, cell, screen) for header, cell in entries)}"
        return
    for header, cell in entries:
        first, *rest = wrapped([f"{header} {cell}"], screen.width - indent - INDENT)
        yield f"{margin}{_styled(header, BOLD, screen)}{first[len(header) :]}"
        yield from (f"{margin}{' ' * INDENT}{line}" for line in rest)


def _widest(table: Table, below: set[int]) -> int:
    """Return the next column to move below: a column without text, a spare column, or else the widest flexible column.

    The first column is never moved.
    """
    widths = table.widths()
    left = [column for column in range(1, len(widths)) if column not in below]
    empty = [column for column in left if all(row[column] == "-" for row in table.rows)]
    if empty:
        return empty[-1]
    spare = [column for column in table.spare if column in left]
    if spare:
        return spare[0]
    return max([column for column in left if column in table.flexible] or left, key=lambda column: widths[column])


def _allotted(table: Table, words: Sequence[int], below: set[int], width: int) -> list[int] | None:
    """Return the widths of columns that stay next to each other, wrapping the widest first; None if they do not fit."""
    needed = table.widths()
    beside = [column for column in range(len(needed)) if column not in below]
    allotted = {column: needed[column] for column in beside}
    if len(beside) == 1 or width_of(list(allotted.values())) <= width:
        return list(allotted.values())
    least = {c: max(words[c], min(LEAST, needed[c])) if c in table.flexible else needed[c] for c in beside}
    for _ in range(width_of(list(allotted.values()), NARROW_GAP) - width):
        column = max(beside, key=lambda each: (allotted[each] > least[each], allotted[each]))
        if allotted[column] <= least[column]:
            return None
        allotted[column] -= 1
    return list(allotted.values())


def _longest_words(table: Table) -> list[int]:
    """Return the width of the longest word in each column; headers are not wrapped."""
    columns = zip(*table.rows, strict=True) if table.rows else [() for _ in table.headers]
    return [
        max([len(header), *(len(word) for cell in column for word in cell.split())])
        for header, column in zip(table.headers, columns, strict=True)
    ]


def _repeated(row: Sequence[str], above: Sequence[str], grouped: int) -> int:
    """Return how many of the first `grouped` cells repeat the row above."""
    count = 0
    while count < grouped and above and row[count] == above[count]:
        count += 1
    return count
