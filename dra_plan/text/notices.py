"""The wording of warnings."""

from __future__ import annotations

from collections.abc import Iterable

from dra_plan import shown
from dra_plan.api.inventory import NOTES, Notice

SHOWN = 3
"""The maximum number of objects that a repeated warning names."""


def lines(warnings: Iterable[Notice], *, most: int = SHOWN) -> list[str]:
    """Return a line for each distinct warning. A line names up to `most` objects."""
    grouped: dict[tuple[str, str], list[str]] = {}
    for warning in warnings:
        about = grouped.setdefault((warning.code, warning.message), [])
        where = _where(warning)
        if where and where not in about:
            about.append(where)
    return [shown.line(_line(code, message, about, most)) for (code, message), about in grouped.items()]


def _where(warning: Notice) -> str:
    return " at ".join(part for part in (warning.object, warning.source) if part)


def _line(code: str, message: str, about: list[str], most: int) -> str:
    text = f"{'note' if code in NOTES else 'warning'}: {message} [{code}]"
    if not about:
        return text
    rest = len(about) - most
    return f"{text}: {', '.join(about[:most])}" + (f" and {rest} more" if rest > 0 else "")
