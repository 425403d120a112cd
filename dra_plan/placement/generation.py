"""Create columns as the program needs them, for nodes with too many combinations of pods to check all of them.

Solving the program with fractions gives a value for a pod of each shape and a cost for a node of each kind. For each
kind of node, `pricing` searches for the most valuable combination; it becomes a column if its value exceeds the cost of
the node. Once no combination does, the value of the program bounds every placement. Until then, the combinations that
were found give a weaker bound (the Lagrangian bound). Finally, the program is solved in whole numbers with the columns
so far.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from .node_capacity import Combination
from .program import Column, Program, Rows, Solution
from .solver import relax, solve

MOST_ROUNDS = 60
"""The maximum number of times that a program is solved with fractions for one goal."""
MOST_BRANCHES = 300
"""The maximum number of nodes in the search tree of a program in whole numbers."""
_NOTHING = 1e-6


@dataclass(frozen=True)
class Priced:
    """The most valuable combination of pods that was found.

    No combination that may fit has a value above `bound`.
    """

    holds: Combination
    bound: float


class Pricer(Protocol):
    """Searches for the most valuable combination of pods on a node."""

    def best(self, node_kind: int, worth: Sequence[float], price: float) -> Priced:
        """Return the most valuable combination of pods on a node of this kind.

        `worth` is the value of a pod of each shape, and `price` is the cost of the node.
        """


class ColumnGeneration:
    """Solves integer programs that share their columns but have different goals and needs."""

    def __init__(self, pricer: Pricer, columns: Sequence[Column]) -> None:
        self._pricer = pricer
        self._columns = dict.fromkeys(columns)

    def is_excluded(self, program: Program) -> bool:
        """Return whether it is proved that the needs of the program cannot be met."""
        rows, bound = self._made(program, 0, [])
        return bound < rows.most(rows.goals()[0])

    def best(self, program: Program) -> tuple[Solution, Program]:
        """Return the best solution that was found, with the program whose columns it refers to."""
        held: list[int] = []
        bounds: list[int] = []
        values: list[int] | None = None
        number = len(program.goals) + bool(program.needs)
        for position in range(number):
            rows, bound = self._made(program, position, held)
            goal = rows.goals()[position]
            is_need = position == 0 and bool(program.needs)
            if is_need and bound < rows.most(goal):
                return Solution(is_possible=False, is_found=False), program
            found = solve(rows.model, goal, rows.model.keeps, branches=MOST_BRANCHES, seconds=program.time.seconds)
            reached = sum(found.values[i] * weight for i, weight in goal.items()) if found.values is not None else 0
            if found.values is None or (is_need and reached < rows.most(goal)):
                rest = [rows.most(each) for each in rows.goals()[len(bounds) + bool(program.needs) :]]
                return Solution(bounds=(*bounds, *rest), is_found=False), program
            values = found.values
            held.append(reached)
            if not is_need:
                bounds.append(max(bound, reached))
        assert values is not None
        return rows.solution(values, bounds), rows.program

    def _with_columns(self, program: Program) -> Program:
        return replace(program, columns=tuple(self._columns))

    def _rows(self, program: Program, held: Sequence[int]) -> Rows:
        rows = Rows(self._with_columns(program), meets=True)
        for goal, reached in zip(rows.goals(), held, strict=False):
            rows.hold(goal, reached)
        return rows

    def _made(self, program: Program, position: int, held: Sequence[int]) -> tuple[Rows, int]:
        """Return the program with all columns that improve this goal, and the proven bound on the goal."""
        rows = self._rows(program, held)
        bound = rows.most(rows.goals()[position])
        for _ in range(MOST_ROUNDS):
            goal = rows.goals()[position]
            relaxed = relax(rows.model, goal, seconds=program.time.seconds)
            if relaxed is None:
                break
            new, more = self._priced(program, rows, relaxed.prices)
            bound = min(bound, math.floor(relaxed.goal + more + _NOTHING))
            if not new or bound <= relaxed.goal + _NOTHING:
                break
            self._columns.update(dict.fromkeys(new))
            rows = self._rows(program, held)
        return rows, bound

    def _priced(self, program: Program, rows: Rows, prices: Sequence[float]) -> tuple[list[Column], float]:
        """Return the columns whose value exceeds their node's cost, and the possible excess value of all nodes."""
        new, more = [], 0.0
        for node_kind, number in enumerate(program.nodes):
            worth = _worth(rows, node_kind, prices, 1 + max(program.shapes))
            price = max(0.0, prices[rows.node_rows[node_kind]])
            priced = self._pricer.best(node_kind, worth, price)
            more += number * max(0.0, priced.bound - price)
            gained = sum(each * count for each, count in zip(worth, priced.holds, strict=True)) - price
            column = Column(node_kind, priced.holds)
            if gained > _NOTHING and column not in self._columns:
                new.append(column)
        return new, more


def _worth(rows: Rows, node_kind: int, prices: Sequence[float], shapes: int) -> list[float]:
    """Return the value of a pod of each shape on a node of the kind: higher if a gang needs nodes in its domain."""
    worth = [0.0] * shapes
    for shape, row in rows.shape_rows.items():
        worth[shape] += max(0.0, prices[row])
    for (shape, domain), row in rows.inside_rows.items():
        if node_kind in domain:
            worth[shape] += max(0.0, prices[row])
    return worth
