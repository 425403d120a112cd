"""The kept solver, HiGHS, behind the few things that are asked of it: docs/decisions/0020-integer-programs.md.

Its steps are bounded by counts, never by time, and its seed and threads are fixed, so that the same model has the same
answer on every machine. It is imported when a model is solved.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .errors import SolverMissingError

MOST_BRANCHES = 20_000
"""Nodes of the search tree after which the solver gives up."""


@dataclass
class Model:
    """Whole numbers from 0 to `upper`, and rows that bound sums of them from above."""

    upper: list[int]
    rows: list[tuple[dict[int, int], int]] = field(default_factory=list)

    def at_most(self, row: Mapping[int, int], bound: int) -> None:
        """The sum of the variables, each times its factor, is at most the bound."""
        self.rows.append((dict(row), bound))

    def keeps(self, values: Sequence[int]) -> bool:
        """Whether the values keep all bounds."""
        return all(0 <= value <= most for value, most in zip(values, self.upper, strict=True)) and all(
            sum(factor * values[index] for index, factor in row.items()) <= bound for row, bound in self.rows
        )


class SolverEnd(enum.Enum):
    """How solving ended."""

    BEST = "best"
    CUT_SHORT = "cut short"
    IMPOSSIBLE = "impossible"


@dataclass(frozen=True)
class Solved:
    """The values found, if any, and the bound on the goal that is proved."""

    outcome: SolverEnd
    bound: int = 0
    values: list[int] | None = None


def solve(
    model: Model, goal: Mapping[int, int], is_right: Callable[[Sequence[int]], bool], start: Sequence[int] | None = None
) -> Solved:
    """Makes the goal as large as the rows allow. Values that are not `is_right` in whole numbers are not believed."""
    highspy = _import()
    highs = highspy.Highs()
    for name, value in _OPTIONS.items():
        highs.setOptionValue(name, value)
    highs.passModel(_as_lp(highspy, model, goal))
    if start is not None:
        solution = highspy.HighsSolution()
        solution.col_value = [float(value) for value in start]
        highs.setSolution(solution)
    highs.run()
    status = highs.getModelStatus()
    if status in (highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kUnboundedOrInfeasible):
        return Solved(SolverEnd.IMPOSSIBLE)
    info = highs.getInfo()
    most = sum(max(0, factor * model.upper[index]) for index, factor in goal.items())
    bound = most if math.isinf(info.mip_dual_bound) else min(most, math.floor(info.mip_dual_bound + 1e-6))
    found = [round(value) for value in highs.getSolution().col_value]
    values = found if len(found) == len(model.upper) and is_right(found) else None
    is_best = status == highspy.HighsModelStatus.kOptimal
    if values is not None and is_best:
        bound = min(bound, sum(factor * values[index] for index, factor in goal.items()))
    return Solved(SolverEnd.BEST if is_best and values is not None else SolverEnd.CUT_SHORT, bound, values)


_OPTIONS: dict[str, Any] = {
    "output_flag": False,
    "threads": 1,
    "parallel": "off",
    "random_seed": 1,
    "mip_max_nodes": MOST_BRANCHES,
    "mip_rel_gap": 0.0,
    "mip_abs_gap": 0.5,
}


def _import() -> Any:
    try:
        import highspy
    except ImportError as missing:
        raise SolverMissingError from missing
    return highspy


def _as_lp(highspy: Any, model: Model, goal: Mapping[int, int]) -> Any:
    """The model as HiGHS takes it, row by row."""
    lp = highspy.HighsLp()
    count = len(model.upper)
    lp.num_col_, lp.num_row_ = count, len(model.rows)
    lp.sense_ = highspy.ObjSense.kMaximize
    lp.col_cost_ = [float(goal.get(index, 0)) for index in range(count)]
    lp.col_lower_ = [0.0] * count
    lp.col_upper_ = [float(most) for most in model.upper]
    lp.row_lower_ = [-highspy.kHighsInf] * len(model.rows)
    lp.row_upper_ = [float(bound) for _, bound in model.rows]
    starts, indices, factors = [0], [], []
    for row, _ in model.rows:
        for index, factor in sorted(row.items()):
            indices.append(index)
            factors.append(float(factor))
        starts.append(len(indices))
    matrix = lp.a_matrix_
    matrix.format_ = highspy.MatrixFormat.kRowwise
    matrix.num_col_, matrix.num_row_ = count, len(model.rows)
    matrix.start_, matrix.index_, matrix.value_ = starts, indices, factors
    lp.integrality_ = [highspy.HighsVarType.kInteger] * count
    return lp
