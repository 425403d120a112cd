"""Curves over time: their data, drawn without a script, and the positions of the slider steps on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10

HEIGHT = 40
"""The height of a curve, for a width of 100."""


@dataclass(frozen=True, slots=True)
class CurveLine:
    """One line, with its name, its values, and, for several runs, each value's minimum and maximum."""

    name: str
    values: Sequence[float]
    least: Sequence[float] = ()
    most: Sequence[float] = ()


@dataclass(frozen=True, slots=True)
class Curve:
    """Lines on one scale, which begins at 0, with their title and unit."""

    title: str
    unit: str
    lines: Sequence[CurveLine]
    all: float = 0.0
    """The maximum possible value; 0 if unknown."""

    @property
    def top(self) -> float:
        """Return the end of the scale: the maximum, or the next round number."""
        return self.all or rounded(
            max((value for line in self.lines for value in (*line.values, *line.most)), default=0)
        )


@dataclass(frozen=True, slots=True)
class Curves:
    """Curves over the same times, each with its label; the times are in seconds."""

    moments: Sequence[float]
    labels: Sequence[str]
    curves: Sequence[Curve]
    stops: Sequence[int] = ()
    """The indices of the times at which the slider stops."""

    @property
    def steps(self) -> list[float]:
        """Return the positions of the slider's steps, from 0 to 100, which are the beginning and the stops."""
        return [0.0, *(self.at[number] for number in self.stops)]

    @property
    def at(self) -> list[float]:
        """Return the position of each time on a scale from 0 to 100."""
        first, last = self.moments[0], self.moments[-1]
        return [round(100 * (each - first) / (last - first), 2) if last > first else 0.0 for each in self.moments]

    def path(self, of: Curve, values: Sequence[float]) -> str:
        """Return a line through the values, as the `d` attribute of a path."""
        points = [f"{x:g} {_y(of, value):g}" for x, value in zip(self.at, values, strict=True)]
        return f"M{'L'.join(points)}" + ("h100" if len(points) == 1 else "")

    def band(self, of: Curve, line: CurveLine) -> str:
        """Return the area between the minimum and the maximum."""
        low = [f"{x:g} {_y(of, value):g}" for x, value in zip(self.at, line.least, strict=True)]
        high = [f"{x:g} {_y(of, value):g}" for x, value in zip(self.at, line.most, strict=True)]
        return f"M{'L'.join([*high, *reversed(low)])}z"


def _y(of: Curve, value: float) -> float:
    return round(HEIGHT - HEIGHT * value / (of.top or 1), 2)


def rounded(value: float) -> float:
    """Return the next number that is 1, 2 or 5 times a power of ten."""
    if value <= 0:
        return 1.0
    size = 10.0 ** floor(log10(value))
    return next(step * size for step in (1, 2, 5, 10) if step * size >= value)
