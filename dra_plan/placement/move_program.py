"""The integer program over columns of moves, in which nodes with the same columns share their variables.

A column lists the pods that arrive on one node and the pods that leave it. Two nodes are alike if, for each column of
one node, the other has a column with the same arriving pods, the same leaving shapes, and the same price. The variables
count the nodes in each class that have a column, so the program's size depends on the number of classes, and not on the
number of nodes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from .limits import SearchTime
from .node_capacity import Combination
from .solver import Model, Solved, SolverEnd, solve


@dataclass(frozen=True)
class MoveColumn:
    """The changes on one node: the number of pods with each shape that arrive, and the residents that leave."""

    node: str
    comes: Combination
    leaves: tuple[int, ...]


@dataclass(frozen=True)
class RoomWanted:
    """The wanted capacity, as a number of pods with each shape.

    If `most` is set, as much of it as possible is wanted, and at most `moves` pods may leave.
    """

    pods: Combination
    moves: int | None = None
    most: bool = False


@dataclass(frozen=True)
class Repacking:
    """The program's result: columns, the price of their moves, and the proven bounds on all other results.

    `columns` is None if nothing was found. `possible` is False if it is proved that there is nothing to find; `least`
    is the lowest price that is not excluded; `rooms` and `most_rooms` are the available part of the wanted capacity,
    and its upper bound.
    """

    columns: tuple[MoveColumn, ...] | None
    price: int
    least: int
    rooms: int
    most_rooms: int
    possible: bool = True


@dataclass(frozen=True)
class PricedColumn:
    """A column, with the number of pods with each shape that leave, and its price."""

    column: MoveColumn
    gone: Mapping[int, int]
    price: int


@dataclass
class _NodeClass:
    """Nodes that are alike, with each node's columns by what is the same for all nodes."""

    nodes: list[Mapping[Hashable, PricedColumn]] = field(default_factory=list)

    @property
    def columns(self) -> Mapping[Hashable, PricedColumn]:
        """The first node's columns, which represent those of all nodes."""
        return self.nodes[0]


class MoveProgram:
    """The program for some columns: enough room, a node for every pod that leaves, and the lowest price.

    If `tight` is given, leaving pods have to arrive somewhere only if they have these shapes. None of the `cuts`, which
    are sets of columns, may be chosen as a whole.
    """

    def __init__(
        self,
        priced: Sequence[PricedColumn],
        wanted: RoomWanted,
        tight: Collection[int] | None = None,
        cuts: Sequence[frozenset[MoveColumn]] = (),
    ) -> None:
        self._wanted, self._tight = wanted, tight
        self._apart = frozenset[MoveColumn]().union(*cuts)
        self._positions = {each.column: position for position, each in enumerate(priced)}
        self._classes = self._classed(priced)
        self._variables = [(each, key, one) for each in self._classes for key, one in each.columns.items()]
        self._model = Model([len(each.nodes) for each, _, _ in self._variables])
        self._limit_nodes()
        self._rooms = self._balance()
        self._limit_moves()
        self._exclude(cuts)

    def _classed(self, priced: Sequence[PricedColumn]) -> list[_NodeClass]:
        by_node: dict[str, dict[Hashable, PricedColumn]] = {}
        for each in priced:
            by_node.setdefault(each.column.node, {}).setdefault(self._key(each), each)
        found: dict[Hashable, _NodeClass] = {}
        for columns in by_node.values():
            found.setdefault(frozenset(columns), _NodeClass()).nodes.append(columns)
        return list(found.values())

    def _key(self, each: PricedColumn) -> Hashable:
        gone = tuple(sorted((shape, number) for shape, number in each.gone.items() if self._counts(shape)))
        own = each.column if each.column in self._apart else None
        return each.column.comes, gone, len(each.column.leaves), each.price, own

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
            for shape in {*each.gone, *(shape for shape, number in enumerate(comes) if number)}:
                net = each.gone.get(shape, 0) - comes[shape]
                if net and self._counts(shape):
                    balance[shape][index] = net
        first = len(self._model.upper)
        for row, number in zip(balance, self._wanted.pods, strict=True):
            if self._wanted.most and number:
                self._model.upper.append(number)
                row[len(self._model.upper) - 1] = 1
                self._model.at_most(row, 0)
            elif row or number:
                self._model.at_most(row, -number)
        return range(first, len(self._model.upper))

    def _limit_moves(self) -> None:
        if self._wanted.moves is not None:
            leaving = {index: len(each.column.leaves) for index, (_, _, each) in enumerate(self._variables)}
            self._model.at_most({index: number for index, number in leaving.items() if number}, self._wanted.moves)

    def _exclude(self, cuts: Sequence[frozenset[MoveColumn]]) -> None:
        own = {each.column: index for index, (_, _, each) in enumerate(self._variables)}
        for cut in cuts:
            self._model.at_most({own[each]: 1 for each in cut if each in own}, len(cut) - 1)

    # Solving

    def solved(self, time: SearchTime) -> Repacking:
        """Return the cheapest columns or, if as much room as possible is wanted, the columns with the most room."""
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
        cheap = solve(self._model, goal, self._model.keeps, seconds=time.seconds)
        return self._told(cheap, nodes, (all_rooms, most))

    def _told(self, cheap: Solved, nodes: int, rooms: tuple[int, int]) -> Repacking:
        if cheap.outcome is SolverEnd.IMPOSSIBLE:
            return Repacking(None, 0, 0, 0, rooms[1], possible=False)
        least = max(0, -((cheap.bound + nodes) // (nodes + 1)))
        if cheap.values is None:
            return Repacking(None, 0, least, 0, rooms[1])
        taken = sorted(self._taken(cheap.values), key=lambda each: self._positions[each.column])
        price = sum(each.price for each in taken)
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
