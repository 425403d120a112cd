"""Rows of bars: how many of what, one beside the other. A page says the numbers in words, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a bar: its tone (of `picks`), and what it counts, in words."""

    count: int
    tone: str
    said: str


@dataclass(frozen=True, slots=True)
class BarRow:
    """A bar with its name; pieces that count nothing are left out."""

    name: str
    segments: Sequence[Segment]

    @property
    def total(self) -> int:
        """All that the pieces count."""
        return sum(each.count for each in self.segments)

    @property
    def said(self) -> str:
        """The pieces in words."""
        return ", ".join(each.said for each in self.segments if each.count) or "nothing"


@dataclass(frozen=True, slots=True)
class Bars:
    """Rows of one scale."""

    title: str
    rows: Sequence[BarRow]

    @property
    def longest(self) -> int:
        """What the longest row counts."""
        return max((row.total for row in self.rows), default=0) or 1

    def pieces(self, row: BarRow) -> list[tuple[str, float, float]]:
        """Of each piece its tone, where it begins and how long it is, of 100."""
        made, start = [], 0.0
        for each in row.segments:
            width = 100 * each.count / self.longest
            made.append((each.tone, round(start, 2), round(width, 2)))
            start += width
        return [piece for piece in made if piece[2]]
