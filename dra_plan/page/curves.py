"""Curves over time: what they tell, drawn without a script, and where the steps of a slider are on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10

HEIGHT = 40
"""How high a curve is drawn, beside a width of 100."""


@dataclass(frozen=True, slots=True)
class CurveLine:
    """One line: its name, its values, and where several runs are told, the least and the most of each."""

    name: str
    values: Sequence[float]
    least: Sequence[float] = ()
    most: Sequence[float] = ()


@dataclass(frozen=True, slots=True)
class Curve:
    """Lines of one scale, which begins at 0: what they tell, and what they are counted in."""

    title: str
    unit: str
    lines: Sequence[CurveLine]
    all: float = 0.0
    """What there is of it at most; 0 where that is not known."""

    @property
    def top(self) -> float:
        """The end of the scale: all there is, or the next round number."""
        return self.all or rounded(
            max((value for line in self.lines for value in (*line.values, *line.most)), default=0)
        )


@dataclass(frozen=True, slots=True)
class Curves:
    """Curves over the same moments, each with its label; the moments are seconds."""

    moments: Sequence[float]
    labels: Sequence[str]
    curves: Sequence[Curve]
    stops: Sequence[int] = ()
    """The numbers of the moments at which the slider stops."""

    @property
    def steps(self) -> list[float]:
        """Where each step of the slider is, from 0 to 100: the beginning, and the stops."""
        return [0.0, *(self.at[number] for number in self.stops)]

    @property
    def at(self) -> list[float]:
        """Where each moment is, from 0 to 100."""
        first, last = self.moments[0], self.moments[-1]
        return [round(100 * (each - first) / (last - first), 2) if last > first else 0.0 for each in self.moments]

    def path(self, of: Curve, values: Sequence[float]) -> str:
        """A line through the values, as the `d` of a path."""
        points = [f"{x:g} {_y(of, value):g}" for x, value in zip(self.at, values, strict=True)]
        return f"M{'L'.join(points)}" + ("h100" if len(points) == 1 else "")

    def band(self, of: Curve, line: CurveLine) -> str:
        """The area between the least and the most."""
        low = [f"{x:g} {_y(of, value):g}" for x, value in zip(self.at, line.least, strict=True)]
        high = [f"{x:g} {_y(of, value):g}" for x, value in zip(self.at, line.most, strict=True)]
        return f"M{'L'.join([*high, *reversed(low)])}z"


def _y(of: Curve, value: float) -> float:
    return round(HEIGHT - HEIGHT * value / (of.top or 1), 2)


def rounded(value: float) -> float:
    """The next number of 1, 2 or 5 and zeros."""
    if value <= 0:
        return 1.0
    size = 10.0 ** floor(log10(value))
    return next(step * size for step in (1, 2, 5, 10) if step * size >= value)
