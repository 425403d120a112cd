"""The solver, HiGHS, called through its C interface (docs/decisions/0020-highsbox.md).

Steps are limited by number, never by time, and the seed and the number of threads are fixed, so that results are the
same on every machine. The library is in the `highsbox` package, and is loaded when a model is first solved.
"""

from __future__ import annotations

import ctypes
import enum
import math
import sys
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from dra_plan.errors import UsageError

MOST_BRANCHES = 20_000
"""The maximum number of nodes in the search tree."""

MOST_PIVOTS = 1_000_000
"""The maximum number of steps of the simplex algorithm."""


@dataclass
class Model:
    """A model for the solver: integer variables from 0 to `upper`, and rows with upper bounds."""

    upper: list[int]
    rows: list[tuple[dict[int, int], int]] = field(default_factory=list)

    def at_most(self, row: Mapping[int, int], bound: int) -> None:
        """Add a row: the sum of the variables, each multiplied by its factor, is at most the bound."""
        self.rows.append((dict(row), bound))

    def keeps(self, values: Sequence[int]) -> bool:
        """Return whether the values are within all bounds."""
        return all(0 <= value <= most for value, most in zip(values, self.upper, strict=True)) and all(
            sum(factor * values[index] for index, factor in row.items()) <= bound for row, bound in self.rows
        )


class SolverMissingError(UsageError):
    """Raised if a question needs the solver, but its library cannot be loaded."""

    def __init__(self, why: str) -> None:
        super().__init__(
            "how different pods share the nodes is an integer program, and its solver, HiGHS, can't be loaded from"
            f" package highsbox, which comes with dra-plan: {why}"
        )


class SolverEnd(enum.Enum):
    """The ways in which solving ends."""

    BEST = "best"
    CUT_SHORT = "cut short"
    IMPOSSIBLE = "impossible"


@dataclass(frozen=True)
class Solved:
    """The values that were found, if any, and a proven upper bound on the goal."""

    outcome: SolverEnd
    bound: int = 0
    values: list[int] | None = None


@dataclass(frozen=True)
class Relaxed:
    """The best value of the goal if the variables may be fractions.

    `prices` has, for each row, the gain from raising its bound by one.
    """

    goal: float
    prices: list[float]


def solve(
    model: Model,
    goal: Mapping[int, int],
    is_right: Callable[[Sequence[int]], bool],
    start: Sequence[int] | None = None,
    *,
    branches: int = MOST_BRANCHES,
    seconds: float | None = None,
) -> Solved:
    """Return the values that maximize the goal or, if the solver was cut short, the best that it found.

    Values are rounded to integers, and discarded if `is_right` is then false.
    """
    count = len(model.upper)
    most = sum(max(0, factor * model.upper[index]) for index, factor in goal.items())
    with _Highs() as highs:
        highs.give(model, goal, whole=True)
        highs.limit(branches, seconds)
        if start is not None:
            highs.begin(start)
        status = highs.run()
        if status in (_INFEASIBLE, _UNBOUNDED_OR_INFEASIBLE):
            return Solved(SolverEnd.IMPOSSIBLE)
        proved = highs.figure("mip_dual_bound")
        found = [round(value) for value in highs.solution(count, len(model.rows))[0]]
    bound = most if not math.isfinite(proved) else min(most, math.floor(proved + 1e-6))
    values = found if is_right(found) else None
    is_best = status == _OPTIMAL
    if values is not None and is_best:
        bound = min(bound, sum(factor * values[index] for index, factor in goal.items()))
    return Solved(SolverEnd.BEST if is_best and values is not None else SolverEnd.CUT_SHORT, bound, values)


def relax(model: Model, goal: Mapping[int, int], *, seconds: float | None = None) -> Relaxed | None:
    """Return the best value of the goal if the variables may be fractions.

    Return None if the solver was cut short, or if the bounds cannot all be satisfied.
    """
    with _Highs() as highs:
        highs.give(model, goal, whole=False)
        highs.limit(MOST_BRANCHES, seconds)
        if highs.run() != _OPTIMAL:
            return None
        _, prices = highs.solution(len(model.upper), len(model.rows))
        return Relaxed(highs.figure("objective_function_value"), prices)


# -- the C interface of HiGHS ------------------------------------------------------------------------------------------
# Names and numbers are those of highs_c_api.h.

_OPTIMAL, _INFEASIBLE, _UNBOUNDED_OR_INFEASIBLE = 7, 8, 9
_MAXIMIZE, _BY_ROWS, _INTEGER = -1, 2, 1
_INFINITY = 1e30

_FLAGS = {"output_flag": False}
_NUMBERS = {"threads": 1, "random_seed": 1, "simplex_iteration_limit": MOST_PIVOTS}
_WORDS = {"parallel": "off"}
_AMOUNTS = {"mip_rel_gap": 0.0, "mip_abs_gap": 0.5}


class _Highs:
    """One run of HiGHS, as a context manager that frees the library's memory."""

    def __init__(self) -> None:
        self._library = _library()

    def __enter__(self) -> _Highs:
        call = self._library
        self._handle = ctypes.c_void_p(call.Highs_create())
        for name, flag in _FLAGS.items():
            call.Highs_setBoolOptionValue(self._handle, name.encode(), ctypes.c_int(flag))
        for name, number in _NUMBERS.items():
            call.Highs_setIntOptionValue(self._handle, name.encode(), ctypes.c_int(number))
        for name, word in _WORDS.items():
            call.Highs_setStringOptionValue(self._handle, name.encode(), word.encode())
        for name, amount in _AMOUNTS.items():
            call.Highs_setDoubleOptionValue(self._handle, name.encode(), ctypes.c_double(amount))
        return self

    def __exit__(self, *_: object) -> None:
        self._library.Highs_destroy(self._handle)

    def give(self, model: Model, goal: Mapping[int, int], *, whole: bool) -> None:
        """Pass the model to the solver, row by row."""
        count, rows = len(model.upper), len(model.rows)
        starts, indices, factors = array("i"), array("i"), array("d")
        for row, _ in model.rows:
            starts.append(len(indices))
            for index, factor in sorted(row.items()):
                indices.append(index)
                factors.append(factor)
        self._library.Highs_passMip(
            self._handle,
            *map(ctypes.c_int, (count, rows, len(indices), _BY_ROWS, _MAXIMIZE)),
            ctypes.c_double(0),
            _doubles(array("d", (goal.get(index, 0) for index in range(count)))),
            _doubles(array("d", [0.0]) * count),
            _doubles(array("d", model.upper)),
            _doubles(array("d", [-_INFINITY]) * rows),
            _doubles(array("d", (bound for _, bound in model.rows))),
            _integers(starts),
            _integers(indices),
            _doubles(factors),
            _integers(array("i", [_INTEGER if whole else 0]) * count),
        )

    def limit(self, branches: int, seconds: float | None) -> None:
        """Set the limits after which HiGHS gives up.

        `branches` is the number of search tree nodes. `seconds` may be None, which means no limit.
        """
        if seconds is not None:
            self._library.Highs_setDoubleOptionValue(self._handle, b"time_limit", ctypes.c_double(seconds))
        self._library.Highs_setIntOptionValue(self._handle, b"mip_max_nodes", ctypes.c_int(branches))

    def begin(self, values: Sequence[int]) -> None:
        """Set the initial solution."""
        self._library.Highs_setSolution(self._handle, _doubles(array("d", values)), None, None, None)

    def run(self) -> int:
        """Solve the model, and return its status."""
        self._library.Highs_run(self._handle)
        return int(self._library.Highs_getModelStatus(self._handle))

    def figure(self, name: str) -> float:
        """Return a number that HiGHS reports about the solution."""
        value = ctypes.c_double(math.inf)
        self._library.Highs_getDoubleInfoValue(self._handle, name.encode(), ctypes.byref(value))
        return value.value

    def solution(self, columns: int, rows: int) -> tuple[list[float], list[float]]:
        """Return the value of each variable, and the dual value of each row."""
        values, duals = (ctypes.c_double * columns)(), (ctypes.c_double * rows)()
        spare_of_columns, spare_of_rows = (ctypes.c_double * columns)(), (ctypes.c_double * rows)()
        self._library.Highs_getSolution(self._handle, values, spare_of_columns, spare_of_rows, duals)
        return list(values), list(duals)


def _doubles(values: array[float]) -> ctypes.Array[ctypes.c_double]:
    return (ctypes.c_double * len(values)).from_buffer(values) if values else (ctypes.c_double * 0)()


def _integers(values: array[int]) -> ctypes.Array[ctypes.c_int]:
    return (ctypes.c_int * len(values)).from_buffer(values) if values else (ctypes.c_int * 0)()


@cache
def _library() -> ctypes.CDLL:
    """Return HiGHS. Raises SolverMissingError if it can't be loaded."""
    try:
        import highsbox

        made = ctypes.CDLL(f"{highsbox.highs_dist_dir()}/{_FILE.get(sys.platform, 'lib/libhighs.so')}")
    except (ImportError, OSError) as error:
        raise SolverMissingError(str(error)) from error
    made.Highs_create.restype = ctypes.c_void_p
    return made


_FILE = {"darwin": "lib/libhighs.dylib", "win32": "bin/highs.dll"}
