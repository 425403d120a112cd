"""Curves over time, drawn without a script, and the slider's positions on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10

HEIGHT = 40
"""The height of a curve whose width is 100."""


@dataclass(frozen=True, slots=True)
class CurveLine:
    """A line in a chart, with its name and values, and a range around each value if there are several runs."""

    name: str
    values: Sequence[float]
    least: Sequence[float] = ()
    most: Sequence[float] = ()


@dataclass(frozen=True, slots=True)
class Curve:
    """Lines that share a scale, which begins at 0, with a title and a unit."""

    title: str
    unit: str
    lines: Sequence[CurveLine]
    all: float = 0.0
    """The largest possible value, or 0 if it is unknown."""

    @property
    def top(self) -> float:
        """The end of the scale: the largest possible value or, if it is unknown, a round number above all values."""
        return self.all or rounded(
            max((value for line in self.lines for value in (*line.values, *line.most)), default=0)
        )


@dataclass(frozen=True, slots=True)
class Curves:
    """Curves over the same times. Times are in seconds and have labels."""

    moments: Sequence[float]
    labels: Sequence[str]
    curves: Sequence[Curve]
    stops: Sequence[int] = ()
    """The indices of the times at which the slider can stop."""

    @property
    def steps(self) -> list[float]:
        """The positions of the slider's steps on a scale from 0 to 100. The first step is the start of the curves."""
        return [0.0, *(self.at[number] for number in self.stops)]

    @property
    def at(self) -> list[float]:
        """The position of each time on a scale from 0 to 100."""
        first, last = self.moments[0], self.moments[-1]
        return [round(100 * (each - first) / (last - first), 2) if last > first else 0.0 for each in self.moments]

    def path(self, of: Curve, values: Sequence[float]) -> str:
        """Return the line through the values as the `d` attribute of an SVG path."""
        points = [f"{x:g} {_y(of, value):g}" for x, value in zip(self.at, values, strict=True)]
        return f"M{'L'.join(points)}" + ("h100" if len(points) == 1 else "")

    def band(self, of: Curve, line: CurveLine) -> str:
        """Return the area between the minimum and maximum values of the line as the `d` attribute of an SVG path."""
        low = [f"{x:g} {_y(of, value):g}" for x, value in zip(self.at, line.least, strict=True)]
        high = [f"{x:g} {_y(of, value):g}" for x, value in zip(self.at, line.most, strict=True)]
        return f"M{'L'.join([*high, *reversed(low)])}z"


def _y(of: Curve, value: float) -> float:
    return round(HEIGHT - HEIGHT * value / (of.top or 1), 2)


def rounded(value: float) -> float:
    """Return the smallest number that is at least `value` and is 1, 2 or 5 times a power of ten."""
    if value <= 0:
        return 1.0
    size = 10.0 ** floor(log10(value))
    return next(step * size for step in (1, 2, 5, 10) if step * size >= value)
