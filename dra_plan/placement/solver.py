"""The solver, HiGHS, and the integer programs that it solves: docs/decisions/0020-integer-programs.md.

First the solver: its steps are bounded by counts, never by time, and its seed and threads are fixed, so that the same
model has the same answer on every machine. It is imported when a model is solved. Then pinning, with which the
allocator confirms given devices, and the program that decides how many nodes take which combination of pods.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from dra_plan.allocator import AllocatedState, DeviceID, SelectorError
from dra_plan.allocator.pools import PoolDevice, PoolSlice
from dra_plan.allocator.requests import Want
from dra_plan.api.resource import AllocationResult, DeviceRequest, ResourceClaim, ResourceSlice

from .node_kinds import SolverMissingError, asking, attributes_with, selector_of

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
    """Makes the goal as large as the rows allow. Values that are not `is_right` as integers are discarded."""
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


# -- pinning requests to given devices ---------------------------------------------------------------------------------
# The allocator takes the first devices that fit. To learn whether given other devices fit as well, it is offered only
# these: devices that no request is meant to get are left out, each of the others carries a mark, and each request asks
# for its mark. Requests for all devices are left as they are, and so is everything that they would take.

Marks = Mapping[DeviceID, Collection[str]]
"""The marks of each device that is meant for somebody."""


def marks_of(allocations: Iterable[AllocationResult]) -> Marks:
    """The marks of each device: one for each request that is meant to get it."""
    found: dict[DeviceID, dict[str, None]] = {}
    for claim, allocation in enumerate(allocations):
        for each in allocation.devices.results:
            name = _mark(claim, each.request)
            found.setdefault(DeviceID(each.driver, each.pool, each.device), {})[name] = None
    return found


def _mark(claim: int, request: str) -> str:
    return f"c{claim}_{request.replace('/', '__').replace('-', '_').replace('.', '_')}"


def pinned(claims: Sequence[ResourceClaim], allocations: Sequence[AllocationResult]) -> list[ResourceClaim]:
    """The claims with every request asking for its mark, and with only the alternatives that were allocated."""
    return [_pinned(index, *each) for index, each in enumerate(zip(claims, allocations, strict=True))]


def _pinned(index: int, claim: ResourceClaim, allocation: AllocationResult) -> ResourceClaim:
    meant = {each.request for each in allocation.devices.results}
    return asking(claim, lambda request: _request(index, request, meant))


def _request(claim: int, request: DeviceRequest, meant: Collection[str]) -> DeviceRequest:
    if request.exactly is not None:
        if request.exactly.allocation_mode == "All":
            return request
        selectors = [*request.exactly.selectors, selector_of(_mark(claim, request.name))]
        return replace(request, exactly=replace(request.exactly, selectors=selectors))
    options = [
        option
        if option.allocation_mode == "All"
        else replace(option, selectors=[*option.selectors, selector_of(_mark(claim, f"{request.name}/{option.name}"))])
        for option in request.first_available
        if f"{request.name}/{option.name}" in meant
    ]
    return replace(request, first_available=options) if options else request


def marked(slice_: PoolSlice, marks: Marks, state: AllocatedState, greedy: Collection[Want]) -> ResourceSlice:
    """The slice reduced to devices with marks, devices in use (counters need them), and those that All would take."""
    left = []
    for device in slice_.devices:
        names = marks.get(device.id)
        if names:
            left.append(replace(device.device, attributes=attributes_with(device.device, names)))
        elif device.id in state.dedicated or device.id in state.shared or any(_takes(w, device) for w in greedy):
            left.append(device.device)
    return replace(slice_.object, spec=replace(slice_.object.spec, devices=left))


def _takes(want: Want, device: PoolDevice) -> bool:
    """Whether the request's selectors are true of the device, or can't be told."""
    try:
        return want.selector_refusal(device) is None
    except SelectorError:
        return True


# -- the integer program -----------------------------------------------------------------------------------------------
# How many nodes of each kind take which combination of pods. What a combination is, and that it fits a node, comes from
# `placement/node_capacity.py`; here are only numbers. A solution is checked in integers before it counts, so that only
# the bound rests on the solver's arithmetic.


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
