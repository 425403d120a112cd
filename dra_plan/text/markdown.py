"""Tables and sentences as Markdown, for merge requests."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dra_plan import shown
from dra_plan.text.columns import Part, Table


def markdown_parts(parts: Sequence[Part]) -> str:
    """Return the parts as Markdown."""
    return "\n\n".join(_table(part) if isinstance(part, Table) else escaped(str(part)) for part in parts) + "\n"


def _table(made: Table) -> str:
    rows = [made.headers, ["---"] * len(made.headers), *([escaped(cell) for cell in row] for row in made.rows)]
    return "\n".join(shown.line(f"| {' | '.join(row)} |") for row in rows)


def escaped(line: str) -> str:
    """Return the text escaped for Markdown. Text between backticks is still shown as code."""
    parts = line.split("`")
    if len(parts) % 2 == 0:
        return _escaped(line)
    return "`".join(part.replace("|", "\\|") if at % 2 else _escaped(part) for at, part in enumerate(parts))


def _escaped(text: str) -> str:
    """Return the text with formatting characters escaped, and with automatic links and mentions split."""
    plain = "".join(f"\\{char}" if char in "\\`*_|<>[]#" else char for char in text)
    linked = plain.replace("://", ":/\\/").replace("www.", "www\\.")
    return _MENTION.sub("`@`", linked)


_MENTION = re.compile(r"@(?=\w)")
