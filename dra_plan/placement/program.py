"""The integer program: how many nodes of each kind take which combination of pods.

What a combination is, and that it fits a node, comes from `placement/node_capacity.py`; here are only numbers. A
solution is checked in integers before it counts, so that only the bound rests on the solver's arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .solver import Model, SolverEnd, solve


@dataclass(frozen=True)
class Column:
    """A number of pods of each kind on one node of a kind; `claims` are those that its pods share with others."""

    node_kind: int
    holds: tuple[int, ...]
    claims: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Need:
    """The number of pods of these kinds that a placement must have at least."""

    kinds: frozenset[int]
    number: int


@dataclass(frozen=True)
class Clash:
    """Nodes that can't hold at least this much at the same time: (kind of node, combination) to number of nodes."""

    nodes: tuple[tuple[int, tuple[int, ...], int], ...]


@dataclass(frozen=True)
class Program:
    """`nodes` says how many nodes of each kind there are, `wanted` how many pods.

    `levels` are kinds of pods that count the same, the most important first: more pods of an earlier level are worth
    more than any number of a later one. With `mix`, pods count in these proportions only, as whole sets.
    """

    nodes: tuple[int, ...]
    wanted: tuple[int, ...]
    columns: tuple[Column, ...]
    levels: tuple[tuple[int, ...], ...]
    needs: tuple[Need, ...] = ()
    mix: tuple[int, ...] | None = None
    clashes: tuple[Clash, ...] = ()


@dataclass(frozen=True)
class Solution:
    """`placed` pods of each kind, by `taken`: column index to number of nodes.

    `reached` and `bounds` are of each level (with a mix, of whole sets): what is placed, and what can't be exceeded.
    """

    placed: tuple[int, ...] = ()
    taken: dict[int, int] = field(default_factory=dict)
    reached: tuple[int, ...] = ()
    bounds: tuple[int, ...] = ()
    is_possible: bool = True
    """False if the needs can't be met, which is proved."""
    is_found: bool = True
    """False if no solution was found; then only the bounds count."""


def best(program: Program) -> Solution:
    """The best solution that was found within the solver's steps, and how much better one may be."""
    if not program.wanted:
        nothing = tuple(0 for _ in program.levels)
        possible = not any(need.number for need in program.needs)
        return Solution(reached=nothing, bounds=nothing, is_possible=possible, is_found=possible)
    simple = _without_solver(program)
    return simple if simple is not None else _Rows(program).best()


def _without_solver(program: Program) -> Solution | None:
    """Where there is one kind of pods, and nothing couples the nodes, each node is filled on its own."""
    if len(program.wanted) != 1 or program.clashes or any(column.claims for column in program.columns):
        return None
    fullest: dict[int, int] = {}
    for index, column in enumerate(program.columns):
        known = fullest.get(column.node_kind)
        if known is None or column.holds > program.columns[known].holds:
            fullest[column.node_kind] = index
    total, taken = 0, {}
    for node_kind, index in sorted(fullest.items()):
        holds = program.columns[index].holds[0]
        if not holds or total >= program.wanted[0]:
            continue
        nodes = min(program.nodes[node_kind], -(-(program.wanted[0] - total) // holds))
        taken[index] = nodes
        total += nodes * holds
    unit = program.mix[0] if program.mix is not None else 1
    reached = min(total, program.wanted[0]) // unit
    possible = all(reached * unit >= need.number for need in program.needs if need.kinds)
    return Solution((reached * unit,), taken, (reached,), (reached,), is_possible=possible, is_found=possible)


class _Rows:
    """The program as a model for the solver: a variable for each column, then one for the pods placed of each kind."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._columns = len(program.columns)
        kinds = len(program.wanted)
        self._sets = self._columns + kinds
        self._model = Model([program.nodes[column.node_kind] for column in program.columns] + list(program.wanted))
        for node_kind, number in enumerate(program.nodes):
            self._model.at_most(
                {i: 1 for i, column in enumerate(program.columns) if column.node_kind == node_kind}, number
            )
        for kind in range(kinds):
            row = {i: -column.holds[kind] for i, column in enumerate(program.columns) if column.holds[kind]}
            self._model.at_most({**row, self._columns + kind: 1}, 0)
        for claim in sorted({claim for column in program.columns for claim in column.claims}):
            self._model.at_most({i: 1 for i, column in enumerate(program.columns) if claim in column.claims}, 1)
        for need in program.needs:
            self._model.at_most({self._columns + kind: -1 for kind in sorted(need.kinds)}, -need.number)
        if program.mix is not None:
            most = min((w // m for w, m in zip(program.wanted, program.mix, strict=True) if m), default=0)
            self._model.upper.append(most)
            for kind, share in enumerate(program.mix):
                self._model.at_most({self._sets: share, self._columns + kind: -1}, 0)
        for kind in range(kinds if program.clashes else 0):
            row = {i: column.holds[kind] for i, column in enumerate(program.columns) if column.holds[kind]}
            self._model.at_most({**row, self._columns + kind: -1}, 0)
        for clash in program.clashes:
            self._avoid(clash)

    def _avoid(self, clash: Clash) -> None:
        """Not all of the clash's nodes can be found: of some of them, there are fewer than it takes.

        By Hall's theorem there are distinct nodes for all of it if and only if any part of it finds as many nodes as it
        has; a switch for each part says that this one does not, and one of them has to be on.
        """
        switches = []
        for node_kind in sorted({kind for kind, _, _ in clash.nodes}):
            own = [(holds, number) for kind, holds, number in clash.nodes if kind == node_kind]
            for bits in range(1, 2 ** len(own)):
                part = [each for bit, each in enumerate(own) if bits >> bit & 1]
                switches.append(self._switch(node_kind, [holds for holds, _ in part], sum(n for _, n in part)))
        self._model.at_most(dict.fromkeys(switches, -1), -1)

    def _switch(self, node_kind: int, part: Sequence[tuple[int, ...]], number: int) -> int:
        """A variable that is 1 only if fewer than so many nodes of the kind hold at least one of these."""
        switch, most = len(self._model.upper), self._program.nodes[node_kind]
        self._model.upper.append(1)
        row = {
            index: 1
            for index, column in enumerate(self._program.columns)
            if column.node_kind == node_kind
            and any(all(a <= b for a, b in zip(holds, column.holds, strict=True)) for holds in part)
        }
        self._model.at_most({**row, switch: most}, most + number - 1)
        return switch

    def _goals(self) -> list[dict[int, int]]:
        if self._program.mix is not None:
            return [{self._sets: 1}]
        return [{self._columns + kind: 1 for kind in level} for level in self._program.levels]

    def best(self) -> Solution:
        """Level after level; then, of what is as good, the one with the fewest nodes, by a fixed order."""
        bounds: list[int] = []
        values: list[int] | None = None
        for goal in self._goals():
            most = sum(self._model.upper[i] for i in goal)
            found = solve(self._model, goal, self._is_right)
            if found.outcome is SolverEnd.IMPOSSIBLE:
                return Solution(is_possible=False, is_found=False)
            bounds.append(min(most, found.bound))
            if found.values is None:
                return Solution(bounds=(*bounds, *self._rest(bounds)), is_found=False)
            values = found.values
            reached = sum(values[i] * weight for i, weight in goal.items())
            self._model.at_most({i: -weight for i, weight in goal.items()}, -reached)
        assert values is not None
        tidy = solve(self._model, {i: -_weight(i) for i in range(self._columns)}, self._is_right, start=values)
        return self._solution(tidy.values or values, bounds)

    def _rest(self, bounds: Sequence[int]) -> list[int]:
        return [sum(self._model.upper[i] for i in goal) for goal in self._goals()[len(bounds) :]]

    def _solution(self, values: Sequence[int], bounds: Sequence[int]) -> Solution:
        taken = {i: values[i] for i in range(self._columns) if values[i]}
        placed = tuple(values[self._columns + kind] for kind in range(len(self._program.wanted)))
        if self._program.mix is not None:
            placed = tuple(share * values[self._sets] for share in self._program.mix)
        reached = tuple(sum(values[i] * weight for i, weight in goal.items()) for goal in self._goals())
        return Solution(placed, taken, reached, tuple(max(pair) for pair in zip(bounds, reached, strict=True)))

    def _is_right(self, values: Sequence[int]) -> bool:
        """Whether whole numbers keep every row."""
        return self._model.keeps(values)


def _weight(index: int) -> int:
    """The price of using a column once: about the same for all, and never the same for two small sets of them."""
    return 10_000 + index * 7_919 % 4_999
