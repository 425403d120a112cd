"""Tables and sentences as HTML for notebooks, with the content of `str()`."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence

from dra_plan import shown
from dra_plan.text.columns import Paragraph, Part, Table, readable

MOST_ROWS = 200
"""The maximum number of table rows that a notebook shows."""


def fragment(parts: Sequence[Part]) -> str:
    """Return the parts as HTML. All text is escaped."""
    return f"<div>{''.join(line for part in parts for line in _part(part))}</div>"


def text(of: str) -> str:
    """Return a text without tables as HTML, with the same lines."""
    return f"<div><pre>{_safe_lines(of.splitlines())}</pre></div>"


def _part(part: Part) -> Iterator[str]:
    if isinstance(part, Table):
        yield from _table(readable(part))
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
