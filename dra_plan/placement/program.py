"""The integer program that decides how many nodes of each kind get which combination of pods.

`node_capacity` decides which combinations fit; this module knows only numbers. Solutions are checked with integers, so
that only bounds depend on the arithmetic of the solver.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from .limits import SearchTime
from .solver import Model, SolverEnd, solve


@dataclass(frozen=True)
class Column:
    """A combination of pods on a node of one kind, as the number of pods of each shape.

    `claims` are the claims that the pods share with other pods.
    """

    node_kind: int
    holds: tuple[int, ...]
    claims: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Need:
    """A requirement to place at least this number of pods of the given kinds."""

    kinds: frozenset[int]
    number: int


@dataclass(frozen=True)
class Gang:
    """A requirement to place either no pods of the given kinds or at least `least`.

    If `domains` is given, as sets of node kinds, all of the pods must run in the same domain.
    """

    kinds: frozenset[int]
    least: int
    domains: tuple[frozenset[int], ...] | None = None


@dataclass(frozen=True)
class Goal:
    """A number to maximize: the number of pods of the given kinds, or the number of the given gangs that start."""

    kinds: tuple[int, ...] = ()
    gangs: tuple[int, ...] = ()


@dataclass(frozen=True)
class Clash:
    """A set of combinations that cannot be used at the same time, as (node kind, combination, number of nodes)."""

    nodes: tuple[tuple[int, tuple[int, ...], int], ...]


@dataclass(frozen=True)
class Program:
    """The integer program for a placement.

    `nodes` is the number of nodes of each kind, and `wanted` the number of pods of each kind. `shapes` is the shape of
    each kind of pod. An earlier goal is more important than all later goals together. If `mix` is given, only whole
    sets with these numbers of pods count.
    """

    nodes: tuple[int, ...]
    wanted: tuple[int, ...]
    columns: tuple[Column, ...]
    goals: tuple[Goal, ...]
    shapes: tuple[int, ...]
    needs: tuple[Need, ...] = ()
    gangs: tuple[Gang, ...] = ()
    mix: tuple[int, ...] | None = None
    clashes: tuple[Clash, ...] = ()
    time: SearchTime = field(default_factory=SearchTime)


@dataclass(frozen=True)
class Solution:
    """A solution of the program: `placed` pods of each kind, and the number of nodes that use each column (`taken`).

    `only` restricts some kinds of pods to some kinds of nodes. `reached` is the number of pods or gangs for each goal,
    and `bounds` are upper bounds. With a mix, both count whole sets.
    """

    placed: tuple[int, ...] = ()
    taken: dict[int, int] = field(default_factory=dict)
    only: dict[int, frozenset[int]] = field(default_factory=dict)
    reached: tuple[int, ...] = ()
    bounds: tuple[int, ...] = ()
    is_possible: bool = True
    """False if it is proved that the needs cannot be met."""
    is_found: bool = True
    """False if no solution was found, so that only the bounds are valid."""


def best(program: Program) -> Solution:
    """Return the best solution that the solver finds within its limits, with bounds on all solutions."""
    if not program.wanted:
        nothing = tuple(0 for _ in program.goals)
        possible = not any(need.number for need in program.needs)
        return Solution(reached=nothing, bounds=nothing, is_possible=possible, is_found=possible)
    simple = _without_solver(program)
    return simple if simple is not None else Rows(program).best()


def _without_solver(program: Program) -> Solution | None:
    """Return the solution for one kind of pod on independent nodes, each of which is filled separately."""
    is_simple = len(program.wanted) == 1 and not program.gangs and not program.clashes
    if not is_simple or any(column.claims for column in program.columns):
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
    reach = (reached,)
    return Solution((reached * unit,), taken, reached=reach, bounds=reach, is_possible=possible, is_found=possible)


class Rows:
    """The integer program as a model for the solver.

    The variables are, in this order: the columns, the placed pods of each kind, the sets of a mix, and the gangs. For
    each gang, one variable says whether it starts and, if there are domains, others count its pods of each kind in each
    domain. If needs are a goal, the last variables say how far each need is met.
    """

    def __init__(self, program: Program, *, meets: bool = False) -> None:
        """Create the model. If `meets` is true, meeting the needs is the first goal instead of a condition."""
        self.program = program
        self._columns = len(program.columns)
        kinds = len(program.wanted)
        self._sets = self._columns + kinds
        # A column's own bound is never active, so the price of one row alone is the value of another node of its kind.
        self._model = Model([program.nodes[column.node_kind] + 1 for column in program.columns] + list(program.wanted))
        self.node_rows = list(range(len(program.nodes)))
        """The row of each kind of node, of each shape, and of each shape in each domain."""
        for node_kind, number in enumerate(program.nodes):
            self._model.at_most(
                {i: 1 for i, column in enumerate(program.columns) if column.node_kind == node_kind}, number
            )
        self.shape_rows: dict[int, int] = {}
        for shape in sorted(set(program.shapes)):
            self.shape_rows[shape] = len(self._model.rows)
            self._model.at_most({**self._held(shape, -1), **dict.fromkeys(self._pods(shape), 1)}, 0)
        for claim in sorted({claim for column in program.columns for claim in column.claims}):
            self._model.at_most({i: 1 for i, column in enumerate(program.columns) if claim in column.claims}, 1)
        for need in () if meets else program.needs:
            self._model.at_most({self._columns + kind: -1 for kind in sorted(need.kinds)}, -need.number)
        if program.mix is not None:
            most = min((w // m for w, m in zip(program.wanted, program.mix, strict=True) if m), default=0)
            self._variable(most)
            for kind, share in enumerate(program.mix):
                self._model.at_most({self._sets: share, self._columns + kind: -1}, 0)
        for shape in sorted(set(program.shapes)) if program.clashes else ():
            self._model.at_most({**self._held(shape, 1), **dict.fromkeys(self._pods(shape), -1)}, 0)
        self._inside: dict[tuple[int, frozenset[int]], list[int]] = {}
        self._switches = [self._gang(gang) for gang in program.gangs]
        self.inside_rows: dict[tuple[int, frozenset[int]], int] = {}
        for (shape, domain), pods in self._inside.items():
            self.inside_rows[shape, domain] = len(self._model.rows)
            self._model.at_most({**self._held(shape, -1, domain), **dict.fromkeys(pods, 1)}, 0)
        for clash in program.clashes:
            self._avoid(clash)
        self._met = [self._variable(need.number) for need in program.needs] if meets else []
        for met, need in zip(self._met, program.needs, strict=False):
            self._model.at_most({met: 1, **{self._columns + kind: -1 for kind in need.kinds}}, 0)

    def _pods(self, shape: int) -> list[int]:
        """Return the variables for the pods with a shape."""
        return [self._columns + kind for kind, own in enumerate(self.program.shapes) if own == shape]

    def _held(self, shape: int, sign: int, domain: Collection[int] | None = None) -> dict[int, int]:
        """Return the number of pods with a shape in a domain's columns, or in all columns."""
        return {
            i: sign * column.holds[shape]
            for i, column in enumerate(self.program.columns)
            if column.holds[shape] and (domain is None or column.node_kind in domain)
        }

    def _gang(self, gang: Gang) -> list[int]:
        """Return a gang's switches, one for each domain; at most one is on, and if none is, none of its pods run."""
        if gang.domains is None:
            switch = self._variable(1)
            self._only_with(switch, {kind: self._columns + kind for kind in gang.kinds}, gang.least)
            return [switch]
        switches, inside = [], []
        for domain in gang.domains:
            switches.append(self._variable(1))
            inside.append({kind: self._variable(self.program.wanted[kind]) for kind in sorted(gang.kinds)})
            self._only_with(switches[-1], inside[-1], gang.least)
            for kind, pods in inside[-1].items():
                self._inside.setdefault((self.program.shapes[kind], domain), []).append(pods)
        self._model.at_most(dict.fromkeys(switches, 1), 1)
        for kind in sorted(gang.kinds):
            there = [pods[kind] for pods in inside]
            self._model.at_most({**dict.fromkeys(there, 1), self._columns + kind: -1}, 0)
            self._model.at_most({**dict.fromkeys(there, -1), self._columns + kind: 1}, 0)
        return switches

    def _only_with(self, switch: int, pods: Mapping[int, int], least: int) -> None:
        """Allow pods, with a variable for each kind, only if the switch is on, and then require at least this many."""
        for kind, variable in sorted(pods.items()):
            self._model.at_most({variable: 1, switch: -self.program.wanted[kind]}, 0)
        self._model.at_most({**dict.fromkeys(pods.values(), -1), switch: least}, 0)

    def _variable(self, most: int) -> int:
        self._model.upper.append(most)
        return len(self._model.upper) - 1

    def _avoid(self, clash: Clash) -> None:
        """Forbid that there are nodes for the whole clash; for some part of it, there must be fewer nodes than needed.

        By Hall's theorem, there are distinct nodes for the whole clash if and only if every part of it finds enough
        nodes. A switch for each part says that the part does not, and one of these switches has to be on.
        """
        switches = []
        for node_kind in sorted({kind for kind, _, _ in clash.nodes}):
            own = [(holds, number) for kind, holds, number in clash.nodes if kind == node_kind]
            for bits in range(1, 2 ** len(own)):
                part = [each for bit, each in enumerate(own) if bits >> bit & 1]
                switches.append(self._switch(node_kind, [holds for holds, _ in part], sum(n for _, n in part)))
        self._model.at_most(dict.fromkeys(switches, -1), -1)

    def _switch(self, node_kind: int, part: Sequence[tuple[int, ...]], number: int) -> int:
        """Return a variable that is 1 only if fewer than `number` nodes of the kind hold at least one of these."""
        switch, most = self._variable(1), self.program.nodes[node_kind]
        row = {
            index: 1
            for index, column in enumerate(self.program.columns)
            if column.node_kind == node_kind
            and any(all(a <= b for a, b in zip(holds, column.holds, strict=True)) for holds in part)
        }
        self._model.at_most({**row, switch: most}, most + number - 1)
        return switch

    @property
    def model(self) -> Model:
        """The model in its current state."""
        return self._model

    def hold(self, goal: Mapping[int, int], reached: int) -> None:
        """Require that every later solution reaches at least this value of the goal."""
        self._model.at_most({i: -weight for i, weight in goal.items()}, -reached)

    def goals(self) -> list[dict[int, int]]:
        """Return the goals, each as factors by variable. If meeting the needs is a goal, it comes first."""
        first = [dict.fromkeys(self._met, 1)] if self._met else []
        return first + self._goals()

    def _goals(self) -> list[dict[int, int]]:
        if self.program.mix is not None:
            return [{self._sets: 1}]
        return [
            {
                **{self._columns + kind: 1 for kind in goal.kinds},
                **{switch: 1 for gang in goal.gangs for switch in self._switches[gang]},
            }
            for goal in self.program.goals
        ]

    def best(self) -> Solution:
        """Solve the program for one goal after the other, and return the solution.

        Among equally good solutions, one with the fewest nodes is chosen, in a fixed order.
        """
        bounds: list[int] = []
        values: list[int] | None = None
        for goal in self._goals():
            most = self.most(goal)
            found = solve(self._model, goal, self._is_right, seconds=self.program.time.seconds)
            if found.outcome is SolverEnd.IMPOSSIBLE:
                return Solution(is_possible=False, is_found=False)
            bounds.append(min(most, found.bound))
            if found.values is None:
                return Solution(bounds=(*bounds, *self._rest(bounds)), is_found=False)
            values = found.values
            reached = sum(values[i] * weight for i, weight in goal.items())
            self.hold(goal, reached)
        assert values is not None
        fewest = {i: -_weight(i) for i in range(self._columns)}
        tidy = solve(self._model, fewest, self._is_right, start=values, seconds=self.program.time.seconds)
        return self.solution(tidy.values or values, bounds)

    def _rest(self, bounds: Sequence[int]) -> list[int]:
        return [self.most(goal) for goal in self._goals()[len(bounds) :]]

    def most(self, goal: Mapping[int, int]) -> int:
        """Return the highest useful value of the goal."""
        return sum(self._model.upper[i] for i in goal)

    def solution(self, values: Sequence[int], bounds: Sequence[int]) -> Solution:
        """Return the solution for these values of the variables. `bounds` are the bounds on the goals."""
        taken = {i: values[i] for i in range(self._columns) if values[i]}
        placed = tuple(values[self._columns + kind] for kind in range(len(self.program.wanted)))
        if self.program.mix is not None:
            placed = tuple(share * values[self._sets] for share in self.program.mix)
        reached = tuple(sum(values[i] * weight for i, weight in goal.items()) for goal in self._goals())
        best = tuple(max(pair) for pair in zip(bounds, reached, strict=True))
        return Solution(placed, taken, self._only(values), reached, best)

    def _only(self, values: Sequence[int]) -> dict[int, frozenset[int]]:
        """Return the node kinds for each kind of pod that has to stay in one domain."""
        found: dict[int, frozenset[int]] = {}
        for gang, switches in zip(self.program.gangs, self._switches, strict=True):
            if gang.domains is not None:
                on = [domain for domain, switch in zip(gang.domains, switches, strict=True) if values[switch]]
                found |= dict.fromkeys(gang.kinds, on[0] if on else frozenset())
        return found

    def _is_right(self, values: Sequence[int]) -> bool:
        """Return whether whole numbers satisfy every row."""
        return self._model.keeps(values)


def _weight(index: int) -> int:
    """Return the price of using a column once, which is similar for all columns, and never equal for two small sets."""
    return 10_000 + index * 7_919 % 4_999
