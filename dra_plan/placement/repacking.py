"""The fewest moves that make room: an integer program over what each node may hold after moves.

A column says of one node which pods come and which leave. Every pod that leaves has to come somewhere, pods of one
shape for each other, and the room that is wanted has to be there; the price of those that leave is as low as possible.
First comes the program without those who leave, of which all columns are known: nothing can cost less. Columns are made
in rounds until that is reached: nodes where room costs least, nodes that take who leaves there, nodes where somebody
leaves for that; at last, on small clusters, all there are: then the program's own bound is the answer's.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from .leaving import Leavings, Resident, Vacancies
from .limits import SearchTime
from .node_capacity import Combination
from .solver import Model, Solved, SolverEnd, solve

MOST_COLUMNS = 6_000
"""Where there would be more, not all are made."""
MOST_LOOKS = 2_000
"""So many combinations of pods on nodes are looked at for all columns, and on one node for the wanted pods alone."""
MOST_ROOMY = 60
"""So many nodes more than are needed for the room that is wanted are looked at, the cheapest first."""
SPARE = 12
"""For each shape that has to come somewhere, so many more places are looked for."""
MOST_DEEP = 400
"""So many nodes are asked who would have to leave for a pod of a shape."""


@dataclass(frozen=True)
class MoveColumn:
    """What happens on one node: so many pods of each shape come, and these residents leave."""

    node: str
    comes: Combination
    leaves: tuple[int, ...]


@dataclass(frozen=True)
class Wanted:
    """The room that is wanted: so many pods of each shape.

    With `most` it is as much of it as possible; no more than `moves` pods may leave.
    """

    pods: Combination
    moves: int | None = None
    most: bool = False


@dataclass(frozen=True)
class Repacking:
    """What the program found: columns, the price of their moves, and what is proved of all others.

    `columns` are None if it found nothing. `possible` is False where that is proved; `least` is the lowest price that
    is not excluded, `rooms` and `most_rooms` are how much of the wanted room there is, and can be at most.
    """

    columns: tuple[MoveColumn, ...] | None
    price: int
    least: int
    rooms: int
    most_rooms: int
    possible: bool = True


@dataclass
class Repacker:
    """Programs about one cluster. Plans that can't be carried out are excluded one by one (`exclude`)."""

    vacancies: Vacancies
    wanted: Wanted
    time: SearchTime = field(default_factory=SearchTime)
    _columns: dict[MoveColumn, None] = field(default_factory=dict)
    _cuts: list[frozenset[MoveColumn]] = field(default_factory=list)
    _leavings: dict[tuple[str, Combination], Leavings] = field(default_factory=dict)
    _round: int = 0
    _complete: bool = False
    _bound: Repacking | None = None

    def exclude(self, columns: Iterable[MoveColumn]) -> None:
        """These columns are not all chosen again."""
        self._cuts.append(frozenset(columns))

    def best(self) -> Repacking:
        """The cheapest moves among the columns, after as many rounds as it takes to find some."""
        if self._bound is None:
            self._bound = self._without_those_who_leave()
        if not self._bound.possible:
            return self._bound
        found = self._solved(self._columns)
        while self._is_short(found, self._bound) and self._more():
            found = self._solved(self._columns)
        if self._complete and not self._cuts:
            self._bound = found
            return found
        bound = self._bound
        if not bound.possible:
            return bound
        # with less room than there may be, less may have to move
        is_all = found.columns is None or found.rooms == bound.most_rooms
        return replace(found, least=bound.least if is_all else 0, most_rooms=bound.most_rooms, possible=True)

    def _is_short(self, found: Repacking, bound: Repacking) -> bool:
        if found.columns is None:
            return True
        return found.rooms < bound.most_rooms or found.price > bound.least

    # Columns

    def leavings(self, node: str, comes: Combination) -> Leavings:
        """Who has to leave the node so that these fit."""
        key = node, comes
        if key not in self._leavings:
            self._leavings[key] = self.vacancies.leavings(node, comes)
        return self._leavings[key]

    def _all_columns(self) -> bool:
        """Makes all columns; False if there are too many, or not all are known."""
        vacancies, made, looked = self.vacancies, dict[MoveColumn, None](), 0
        demand = list(self.wanted.pods)
        for here in vacancies.residents.values():
            for resident in here:
                demand[resident.shape] += 1
        if len(vacancies.residents) * len(demand) > MOST_LOOKS:
            return False
        for node in vacancies.residents:
            most = [vacancies.most_of(node, shape, number) for shape, number in enumerate(demand)]
            size = 1
            for each in most:
                size *= each + 1
            looked += size
            if looked > MOST_LOOKS:
                return False
            for comes in product(*(range(number + 1) for number in most)):
                if not any(comes):
                    continue
                found = self.leavings(node, comes)
                if not found.complete:
                    return False
                made.update((MoveColumn(node, comes, leaves), None) for leaves in found.sets)
            if len(made) > MOST_COLUMNS or self.time.is_over:
                return False
        self._columns = made
        return True

    def _without_those_who_leave(self) -> Repacking:
        """The program of the room that is wanted alone: a bound, and which nodes are cheap."""
        prices: dict[MoveColumn, int] = {}
        for node in self.vacancies.residents:
            for comes in self._rooms_on(node):
                found = self.leavings(node, comes)
                if found.least is None:
                    continue
                self._columns.update((MoveColumn(node, comes, leaves), None) for leaves in found.sets)
                prices[MoveColumn(node, comes, ())] = found.least
        self._keep_cheapest(prices)
        return self._solved(prices, prices)

    def _rooms_on(self, node: str) -> Iterator[Combination]:
        """The combinations of the wanted pods that the node can hold if everybody leaves."""
        wanted = self.wanted.pods
        most = [self.vacancies.most_of(node, shape, number) if number else 0 for shape, number in enumerate(wanted)]
        size = 1
        for each in most:
            size *= each + 1
        if size <= MOST_LOOKS:
            combos: Iterable[Combination] = product(*(range(number + 1) for number in most))
        else:  # a node is taken for several of one shape, or holds one of each
            combos = (
                tuple(count if i == shape else 0 for i in range(len(wanted)))
                for shape, number in enumerate(most)
                for count in range(1, number + 1)
            )
        for comes in combos:
            if any(comes) and self.vacancies.fits(node, (), comes):
                yield comes

    def _keep_cheapest(self, prices: Mapping[MoveColumn, int]) -> None:
        """Of the columns only those of the cheapest nodes, by what a wanted pod costs there."""
        cost: dict[str, float] = {}
        for column, price in prices.items():
            each = price / sum(column.comes)
            cost[column.node] = min(each, cost.get(column.node, each))
        nodes = set(heapq.nsmallest(sum(self.wanted.pods) + MOST_ROOMY, cost, key=lambda node: (cost[node], node)))
        self._columns = {column: None for column in self._columns if column.node in nodes}

    def _more(self) -> bool:
        """Makes more columns; False if there is nothing more to make, or the time is over."""
        self._round += 1
        if self.time.is_over or self._round > 3:
            return False
        if self._round == 3:
            self._complete = self._all_columns()
            if self._complete:
                cuts, self._cuts = self._cuts, []
                self._bound, self._cuts = self._solved(self._columns), cuts
            return self._complete
        demand = self._leaving()
        before = len(self._columns)
        for shape, number in sorted(demand.items()):
            if self._round == 1:
                self._columns.update(dict.fromkeys(self._takers(shape, number, demand)))
            else:
                self._columns.update(dict.fromkeys(self._exchanges(shape)))
        if self._round == 2:
            for shape, number in sorted((self._leaving() - demand).items()):
                self._columns.update(dict.fromkeys(self._takers(shape, number, self._leaving())))
        return len(self._columns) > before

    def _leaving(self) -> Counter[int]:
        """How many pods of each shape may have to come somewhere: no more than leave the needed number of nodes."""
        found: Counter[int] = Counter()
        each: dict[str, Counter[int]] = {}
        for column in self._columns:
            here = self.vacancies.residents[column.node]
            each[column.node] = each.get(column.node, Counter()) | Counter(here[i].shape for i in column.leaves)
        for numbers in each.values():
            found |= numbers
        return Counter({shape: number * max(1, sum(self.wanted.pods)) for shape, number in found.items()})

    def _takers(self, shape: int, number: int, demand: Mapping[int, int]) -> Iterator[MoveColumn]:
        """Nodes that take pods of the shape as they are, and others beside them as far as there is room."""
        places = 0
        for node, here in self.vacancies.residents.items():
            if places >= number + SPARE:
                return
            stay, comes = range(len(here)), self._alone(shape)
            if not self.vacancies.fits(node, stay, comes):
                continue
            for column in self._filled(node, comes, shape, demand):
                places += column.comes[shape]
                yield column

    def _filled(self, node: str, comes: Combination, first: int, demand: Mapping[int, int]) -> Iterator[MoveColumn]:
        """One pod, more of its shape, and then of the others as many as fit."""
        stay = range(len(self.vacancies.residents[node]))
        yield MoveColumn(node, comes, ())
        for shape in (first, *(each for each in demand if each != first)):
            while comes[shape] < demand.get(shape, 0):
                more = tuple(count + (i == shape) for i, count in enumerate(comes))
                if not self.vacancies.fits(node, stay, more):
                    break
                comes = more
                yield MoveColumn(node, comes, ())

    def _exchanges(self, shape: int) -> Iterator[MoveColumn]:
        """Nodes that take a pod of the shape once somebody has left."""
        for number, node in enumerate(self.vacancies.residents):
            if number > MOST_DEEP:
                return
            found = self.leavings(node, self._alone(shape))
            yield from (MoveColumn(node, self._alone(shape), leaves) for leaves in found.sets)

    def _alone(self, shape: int) -> Combination:
        return tuple(int(i == shape) for i in range(len(self.wanted.pods)))

    # The program

    def _price(self, column: MoveColumn) -> int:
        here = self.vacancies.residents[column.node]
        return sum(here[each].price for each in column.leaves)

    def _solved(self, columns: Iterable[MoveColumn], prices: Mapping[MoveColumn, int] | None = None) -> Repacking:
        """The program of these columns; with `prices`, nobody who leaves has to come anywhere."""
        chosen = list(columns)
        model = Model([1] * len(chosen))
        self._rows(model, chosen, is_free=prices is not None)
        rooms = range(len(chosen), len(model.upper))
        all_rooms = most = sum(self.wanted.pods)
        seconds = self.time.seconds
        if self.wanted.most:
            goal = dict.fromkeys(rooms, 1)
            found = solve(model, goal, model.keeps, seconds=seconds)
            reached = sum(found.values[i] for i in goal) if found.values is not None else 0
            most = min(all_rooms, max(found.bound, reached))
            model.at_most(dict.fromkeys(rooms, -1), -reached)
            all_rooms = reached
        own = [prices[each] if prices is not None else self._price(each) for each in chosen]
        # first the price; of what costs the same, that of the fewest nodes
        scale = len(chosen) + 1
        cheap = solve(model, {i: -price * scale - 1 for i, price in enumerate(own)}, model.keeps, seconds=seconds)
        return self._told(cheap, chosen, own, scale, (all_rooms, most))

    def _told(
        self, cheap: Solved, chosen: Sequence[MoveColumn], own: Sequence[int], scale: int, rooms: tuple[int, int]
    ) -> Repacking:
        if cheap.outcome is SolverEnd.IMPOSSIBLE:
            return Repacking(None, 0, 0, 0, rooms[1], possible=False)
        least = max(0, -((cheap.bound + len(chosen)) // scale))
        if cheap.values is None:
            return Repacking(None, 0, least, 0, rooms[1])
        taken = tuple(column for column, value in zip(chosen, cheap.values, strict=False) if value)
        price = sum(cost for cost, value in zip(own, cheap.values, strict=False) if value)
        if cheap.outcome is SolverEnd.BEST:
            least = price
        return Repacking(taken, price, min(least, price), rooms[0], rooms[1])

    def _rows(self, model: Model, chosen: Sequence[MoveColumn], *, is_free: bool) -> None:
        residents = self.vacancies.residents
        by_node: dict[str, dict[int, int]] = {}
        balance: dict[int, dict[int, int]] = {shape: {} for shape in range(len(self.wanted.pods))}
        leaving: dict[int, int] = {}
        for index, column in enumerate(chosen):
            by_node.setdefault(column.node, {})[index] = 1
            gone = Counter(residents[column.node][each].shape for each in column.leaves)
            for shape, number in enumerate(column.comes):
                net = (0 if is_free else gone[shape]) - number
                if net:
                    balance[shape][index] = net
            if column.leaves:
                leaving[index] = len(column.leaves)
        for row in by_node.values():
            model.at_most(row, 1)
        for shape, row in balance.items():
            number = self.wanted.pods[shape]
            if self.wanted.most and number:
                model.upper.append(number)
                row[len(model.upper) - 1] = 1
                number = 0
            if row or number:
                model.at_most(row, -number)
        if self.wanted.moves is not None and not is_free:
            model.at_most(leaving, self.wanted.moves)
        positions = {column: index for index, column in enumerate(chosen)}
        for cut in () if is_free else self._cuts:
            model.at_most({positions[each]: 1 for each in cut if each in positions}, len(cut) - 1)


@dataclass(frozen=True)
class Move:
    """A pod that leaves its node for another one, which may be its own where it gets other devices."""

    resident: Resident
    to_node: str


def moves_of(vacancies: Vacancies, columns: Sequence[MoveColumn], wanted: Sequence[int]) -> list[Move]:
    """The moves of a solution: who comes where, pods of one shape in the order of nodes.

    A pod goes to its own node only if nobody else of its shape could. What is left of the columns is room for the
    wanted pods.
    """
    coming: dict[int, list[str]] = {}
    for column in columns:
        for shape, number in enumerate(column.comes):
            coming.setdefault(shape, []).extend([column.node] * number)
    roomy = _roomy(columns, wanted)
    moves = []
    for column in columns:
        for position in column.leaves:
            resident = vacancies.residents[column.node][position]
            places = coming[resident.shape]
            to_node = min(places, key=lambda node: (node == resident.node, node in roomy))
            places.remove(to_node)
            moves.append(Move(resident, to_node))
    return moves


def _roomy(columns: Sequence[MoveColumn], wanted: Sequence[int]) -> set[str]:
    """The nodes with room for the wanted pods; some of them may take others of the same shape."""
    return {column.node for column in columns if any(a and b for a, b in zip(column.comes, wanted, strict=True))}
