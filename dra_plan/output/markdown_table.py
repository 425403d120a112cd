"""Tables and sentences as Markdown, for a merge request."""

from __future__ import annotations

from collections.abc import Sequence

from dra_plan import shown

from .columns import Part, Table
from .explain_markdown import escaped


def markdown_parts(parts: Sequence[Part]) -> str:
    """The parts under each other, tables as those of Markdown."""
    return "\n\n".join(_table(part) if isinstance(part, Table) else escaped(str(part)) for part in parts) + "\n"


def _table(made: Table) -> str:
    rows = [made.headers, ["---"] * len(made.headers), *([escaped(cell) for cell in row] for row in made.rows)]
    return "\n".join(shown.line(f"| {' | '.join(row)} |") for row in rows)
