"""Tables and sentences as a piece of HTML, for notebooks: what `str()` says, with borders instead of spaces."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence

from dra_plan import shown
from dra_plan.text.columns import Paragraph, Part, Table

MOST_ROWS = 200
"""Rows of a table that a notebook shows; the rest is counted."""


def fragment(parts: Sequence[Part]) -> str:
    """The parts under each other; nothing in it is markup but what is made here."""
    return f"<div>{''.join(line for part in parts for line in _part(part))}</div>"


def text(of: str) -> str:
    """A text that has no tables, with its lines as they are."""
    return f"<div><pre>{_safe_lines(of.splitlines())}</pre></div>"


def _part(part: Part) -> Iterator[str]:
    if isinstance(part, Table):
        yield from _table(part)
    elif isinstance(part, Paragraph):
        yield f"<pre>{_safe_lines(part.lines)}</pre>"
    else:
        yield f"<p>{_safe(part)}</p>"


def _table(table: Table) -> Iterator[str]:
    yield f"<table><thead>{_row(table.headers, 'th')}</thead><tbody>"
    yield from (_row(row, "td") for row in table.rows[:MOST_ROWS])
    yield "</tbody></table>"
    more = len(table.rows) - MOST_ROWS
    if more > 0:
        yield f"<p>and {more:,} more rows</p>"


def _row(cells: Sequence[str], tag: str) -> str:
    made = (f'<{tag} style="text-align: left">{_safe(cell)}</{tag}>' for cell in cells)
    return f"<tr>{''.join(made)}</tr>"


def _safe(of: str) -> str:
    return html.escape(shown.line(of))


def _safe_lines(lines: Sequence[str]) -> str:
    return "\n".join(map(_safe, lines))
