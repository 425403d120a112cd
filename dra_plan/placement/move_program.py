"""The integer program that chooses the pods to move.

A column lists the pods that arrive at a node and the pods that leave it. Nodes whose columns have equal prices,
arriving pods and leaving shapes form a class and share variables, so that the size of the program depends on the number
of classes. A node whose columns are named in a row of their own is a class of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from .limits import SearchTime
from .node_capacity import Combination
from .solver import Model, Solved, SolverEnd, relax, solve

_ALL = 1_000_000
"""More pods than any cluster has."""


@dataclass(frozen=True)
class MoveColumn:
    """A change on one node: the number of pods of each shape that arrive, and the pods that leave."""

    node: str
    comes: Combination
    leaves: tuple[int, ...]


Departures = Mapping[str, tuple[int, ...]]
"""The pods that leave each node, by position."""


@dataclass(frozen=True)
class RoomWanted:
    """The room that is wanted, as a number of pods of each shape.

    If `most` is true, as much of it as possible is wanted. At most `moves` pods may leave their nodes and, of the pods
    that each disruption budget protects, at most the number in `budgets`.
    """

    pods: Combination
    moves: int | None = None
    most: bool = False
    budgets: tuple[int, ...] = ()


@dataclass(frozen=True)
class Repacking:
    """A solution of the program: the columns to carry out, the price of their moves, and bounds.

    `columns` is None if no solution was found. `possible` is False if it is proved that there is none. No solution
    costs less than `least`. `rooms` is how much of the wanted room becomes available, and `most_rooms` is an upper
    bound.
    """

    columns: tuple[MoveColumn, ...] | None
    price: int
    least: int
    rooms: int
    most_rooms: int
    possible: bool = True


@dataclass(frozen=True)
class GonePods:
    """The number of pods that leave in a column, by shape and by disruption budget.

    `losable` counts those that need no other node, by shape and loss.
    """

    by_shape: Mapping[int, int]
    by_budget: Mapping[int, int]
    losable: Mapping[tuple[int, int], int]


@dataclass(frozen=True)
class ClaimUsers:
    """A claim that several pods use, on the node where its devices are.

    `positions` are its users on the node that may leave, and `shapes` are the shapes of all its users. The users can
    move together only if all users on the node leave.
    """

    node: str
    positions: frozenset[int]
    shapes: frozenset[int]

    def arrives(self, column: MoveColumn) -> bool:
        """Return whether a user of the claim may arrive with this column."""
        return any(column.comes[shape] for shape in self.shapes)


@dataclass(frozen=True)
class PricedColumn:
    """A column with its price and the pods that leave in it."""

    column: MoveColumn
    gone: GonePods
    price: int


@dataclass
class _NodeClass:
    """Nodes that are alike, with each node's columns by what is the same for all nodes."""

    nodes: list[Mapping[Hashable, PricedColumn]] = field(default_factory=list)

    @property
    def columns(self) -> Mapping[Hashable, PricedColumn]:
        """The columns of the first node, which stand for the columns of all nodes of the class."""
        return self.nodes[0]


class MoveProgram:
    """The integer program that chooses the cheapest columns with room for the wanted pods and the pods that leave.

    If `tight` is given, only pods of the shapes in it need another node. The columns of a set in `cuts` are never all
    chosen. The pods of a set in `stay`, given by node, do not leave unless other pods leave too.
    """

    def __init__(
        self,
        priced: Sequence[PricedColumn],
        wanted: RoomWanted,
        tight: Collection[int] | None = None,
        cuts: Sequence[frozenset[MoveColumn]] = (),
        stay: Sequence[Departures] = (),
        shared: Sequence[ClaimUsers] = (),
    ) -> None:
        self._wanted, self._tight = wanted, tight
        self._apart = {column.node for cut in cuts for column in cut}
        self._apart.update((node for each in stay for node in each), (each.node for each in shared))
        self._losses: dict[int, int] = {}
        """The variables for lost pods, with the price of each."""
        self._places: dict[int, int] = {}
        """The row that gives pods of each shape a node, by shape."""
        self._positions = {each.column: position for position, each in enumerate(priced)}
        self._classes = self._classed(priced)
        self._variables = [(each, key, one) for each in self._classes for key, one in each.columns.items()]
        self._model = Model([len(each.nodes) for each, _, _ in self._variables])
        self._limit_nodes()
        self._rooms = self._balance()
        self._limit_moves()
        self._exclude(cuts, stay)
        self._keep_together(shared)

    def _classed(self, priced: Sequence[PricedColumn]) -> list[_NodeClass]:
        by_node: dict[str, dict[Hashable, PricedColumn]] = {}
        for each in priced:
            by_node.setdefault(each.column.node, {}).setdefault(self._key(each), each)
        found: dict[Hashable, _NodeClass] = {}
        for columns in by_node.values():
            found.setdefault(frozenset(columns), _NodeClass()).nodes.append(columns)
        return list(found.values())

    def _key(self, each: PricedColumn) -> Hashable:
        if each.column.node in self._apart:
            return each.column
        gone = tuple(sorted((shape, number) for shape, number in each.gone.by_shape.items() if self._counts(shape)))
        lost = tuple(sorted(each.gone.losable.items()))
        budgets = tuple(sorted(each.gone.by_budget.items()))
        return each.column.comes, gone, lost, budgets, len(each.column.leaves), each.price

    def _counts(self, shape: int) -> bool:
        return self._tight is None or shape in self._tight

    # Rows

    def _limit_nodes(self) -> None:
        index = 0
        for each in self._classes:
            here = range(index, index + len(each.columns))
            self._model.at_most(dict.fromkeys(here, 1), len(each.nodes))
            index = here.stop

    def _balance(self) -> range:
        """Add a row for each shape; if the wanted pods with room are a goal, return the variables that count them."""
        balance: list[dict[int, int]] = [{} for _ in self._wanted.pods]
        for index, (_, _, each) in enumerate(self._variables):
            comes = each.column.comes
            for shape in {*each.gone.by_shape, *(shape for shape, number in enumerate(comes) if number)}:
                net = each.gone.by_shape.get(shape, 0) - comes[shape]
                if net and self._counts(shape):
                    balance[shape][index] = net
        for (shape, price), row in self._losable().items():
            lost = len(self._model.upper)
            self._model.upper.append(-sum(row[index] * self._model.upper[index] for index in row))
            self._model.at_most({**row, lost: 1}, 0)
            balance[shape][lost] = -1
            self._losses[lost] = price
        first = len(self._model.upper)
        for shape, (row, number) in enumerate(zip(balance, self._wanted.pods, strict=True)):
            if self._wanted.most and number:
                self._model.upper.append(number)
                row[len(self._model.upper) - 1] = 1
                self._model.at_most(row, 0)
            elif row or number:
                self._model.at_most(row, -number)
            if row or number:
                self._places[shape] = len(self._model.rows) - 1
        return range(first, len(self._model.upper))

    def _losable(self) -> Mapping[tuple[int, int], Mapping[int, int]]:
        """Return for each shape and loss the columns in which such pods leave, with their negative number."""
        found: dict[tuple[int, int], dict[int, int]] = {}
        for index, (_, _, each) in enumerate(self._variables):
            for kind, number in each.gone.losable.items():
                if self._counts(kind[0]):
                    found.setdefault(kind, {})[index] = -number
        return found

    def _limit_moves(self) -> None:
        if self._wanted.moves is not None:
            leaving = {index: len(each.column.leaves) for index, (_, _, each) in enumerate(self._variables)}
            self._model.at_most({index: number for index, number in leaving.items() if number}, self._wanted.moves)
        for budget, allowed in enumerate(self._wanted.budgets):
            counted = {index: each.gone.by_budget.get(budget, 0) for index, (_, _, each) in enumerate(self._variables)}
            self._model.at_most({index: number for index, number in counted.items() if number}, allowed)

    def _keep_together(self, shared: Sequence[ClaimUsers]) -> None:
        """Let users of a claim arrive elsewhere only once all have left its node, and none returns there."""
        for users in shared:
            row = {}
            for index, (_, _, each) in enumerate(self._variables):
                is_there, arrives = each.column.node == users.node, users.arrives(each.column)
                if arrives and not is_there:
                    row[index] = 1
                elif is_there and not arrives and users.positions <= set(each.column.leaves):
                    row[index] = -1
            self._model.at_most(row, 0)

    def _exclude(self, cuts: Sequence[frozenset[MoveColumn]], stay: Sequence[Departures]) -> None:
        for each in stay:
            row = {}
            for index, (_, _, one) in enumerate(self._variables):
                leaves = one.column.leaves
                if leaves and each.get(one.column.node, leaves) == leaves:
                    row[index] = 1 if one.column.node in each else -1
            self._model.at_most(row, len(each) - 1)
        own = {each.column: index for index, (_, _, each) in enumerate(self._variables)}
        for cut in cuts:
            self._model.at_most({own[each]: 1 for each in cut if each in own}, len(cut) - 1)

    # Solving

    def solved(self, time: SearchTime) -> Repacking:
        """Return the cheapest solution.

        If as much room as possible is wanted, it is the cheapest with the most room.
        """
        all_rooms = most = sum(self._wanted.pods)
        if self._wanted.most:
            goal = dict.fromkeys(self._rooms, 1)
            found = solve(self._model, goal, self._model.keeps, seconds=time.seconds)
            reached = sum(found.values[i] for i in goal) if found.values is not None else 0
            most = min(all_rooms, max(found.bound, reached))
            self._model.at_most(dict.fromkeys(self._rooms, -1), -reached)
            all_rooms = reached
        # the price decides first; among equal prices, the fewest nodes
        nodes = sum(len(each.nodes) for each in self._classes)
        goal = {index: -each.price * (nodes + 1) - 1 for index, (_, _, each) in enumerate(self._variables)}
        goal.update((index, -price * (nodes + 1)) for index, price in self._losses.items())
        cheap = solve(self._model, goal, self._model.keeps, seconds=time.seconds)
        return self._told(cheap, nodes, (all_rooms, most))

    def worths(self, most: int, time: SearchTime) -> Mapping[int, float]:
        """Return the worth of a place for a pod of each shape, up to `most`, if columns may be chosen in fractions.

        A new column is useful only if its arriving pods are worth more than its price and its leaving pods.
        """
        goal = {index: -each.price for index, (_, _, each) in enumerate(self._variables)}
        goal.update((index, -price) for index, price in self._losses.items())
        for place in self._places.values():
            without = len(self._model.upper)
            self._model.upper.append(_ALL)
            self._model.rows[place][0][without] = -1
            goal[without] = -most
        found = relax(self._model, goal, seconds=time.seconds)
        prices = found.prices if found is not None else [0.0] * len(self._model.rows)
        return {shape: max(0.0, prices[place]) for shape, place in self._places.items()}

    def _told(self, cheap: Solved, nodes: int, rooms: tuple[int, int]) -> Repacking:
        if cheap.outcome is SolverEnd.IMPOSSIBLE:
            return Repacking(None, 0, 0, 0, rooms[1], possible=False)
        least = max(0, -((cheap.bound + nodes) // (nodes + 1)))
        if cheap.values is None:
            return Repacking(None, 0, least, 0, rooms[1])
        taken = sorted(self._taken(cheap.values), key=lambda each: self._positions[each.column])
        price = sum(each.price for each in taken) + sum(cheap.values[i] * each for i, each in self._losses.items())
        if cheap.outcome is SolverEnd.BEST:
            least = price
        return Repacking(tuple(each.column for each in taken), price, min(least, price), rooms[0], rooms[1])

    def _taken(self, values: Sequence[int]) -> Iterator[PricedColumn]:
        """Yield a column for each node that has one; the nodes in a class get their columns in order."""
        used: Counter[int] = Counter()
        for (each, key, _), value in zip(self._variables, values, strict=False):
            for node in each.nodes[used[id(each)] :][:value]:
                yield node[key]
            used[id(each)] += value
