"""The cheapest moves of running pods that make room for other pods, found with an integer program.

Every pod that leaves needs a place elsewhere, and the price of all moves is minimized (`move_program`). A first program
assumes that leaving pods always find a place. This gives a lower bound on the price, which shapes that currently fit on
no node raise (`exchanges`). Columns are created in rounds until the price reaches the bound. On small clusters, all
columns are created in the end, and the program itself gives the bound.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from heapq import nsmallest
from itertools import product

from .exchanges import NodeRoom, PlaceWorths, WorthPrices, single_exchanges, stuck_shapes, worths
from .leaving import Leavings, Resident, Vacancies
from .limits import SearchTime
from .move_program import Departures, GonePods, MoveColumn, MoveProgram, PricedColumn, Repacking, RoomWanted
from .node_capacity import Combination

MOST_COLUMNS = 6_000
"""The maximum number of columns if all columns are created."""
MOST_LOOKS = 2_000
"""The maximum number of combinations of pods examined to create all columns."""
MOST_HELD = 2_000
"""The maximum number of combinations of pods examined on a node for the bound. If there are more, the bound is
weaker."""
FEW_ROOMY = 24
MOST_ROOMY = 60
"""The number of nodes examined beyond those needed for the wanted room. If they are not enough, more are examined."""
SPARE = 12
"""The number of additional places to look for, for each shape that has to move."""
MOST_TIGHT = 5_000
"""For the bound, the maximum number of pairs of a node and a shape that currently fits on no node."""
MOST_SINGLE = 300
"""The maximum number of exchanges tried in which a single pod leaves."""
_UNITS = 1_000
"""The parts in which fractional prices are counted, rounded down."""
MOST_DEEP = 8
"""The number of nodes on which to look for pods that could leave, for each shape."""
MOST_WORTH = 20
"""The maximum worth of a place for a pod, as a multiple of the highest price of a move."""


@dataclass
class Repacker:
    """Searches for the cheapest moves in one cluster. Plans that cannot be carried out can be excluded."""

    vacancies: Vacancies
    wanted: RoomWanted
    time: SearchTime = field(default_factory=SearchTime)
    _columns: dict[MoveColumn, int | None] = field(default_factory=dict)
    _cuts: list[frozenset[MoveColumn]] = field(default_factory=list)
    _leavings: dict[tuple[str, Combination], Leavings] = field(default_factory=dict)
    _most_held: dict[tuple[int, int], int] = field(default_factory=dict)
    _held: dict[tuple[int, frozenset[int]], Sequence[Combination]] = field(default_factory=dict)
    _departures: dict[tuple[str, tuple[int, ...]], GonePods] = field(default_factory=dict)
    _stay: list[Departures] = field(default_factory=list)
    _roomy: list[str] = field(default_factory=list)
    _takes: dict[int, bool] = field(default_factory=dict)
    _round: int = 0
    _complete: bool = False
    _cheapest: list[Repacking] = field(default_factory=list)
    _tight: frozenset[int] = frozenset()
    _room_columns: dict[MoveColumn, int] = field(default_factory=dict)
    _bound: Repacking | None = None

    def exclude(self, columns: Iterable[MoveColumn]) -> None:
        """Never choose all of these columns together again."""
        self._cuts.append(frozenset(columns))

    def exclude_leaving(self, columns: Iterable[MoveColumn]) -> None:
        """Never let the pods that leave in these columns leave again, unless other pods leave too."""
        self._stay.append({column.node: column.leaves for column in columns if column.leaves})

    def best(self) -> Repacking:
        """Return the cheapest moves that were found, with a bound on the price."""
        if self._bound is None:
            self._bound = self._relaxed()
            if self._bound.possible and self._bound.columns is not None:
                self._bound = replace(self._bound, least=max(self._bound.least, self._priced()))
        if not self._bound.possible:
            return self._bound
        found = self._solved(self._columns)
        while self._is_short(found, self._bound):
            before = self._columns, len(self._columns)
            if not self._more(is_found=found.columns is not None):
                break
            if self._columns is not before[0] or len(self._columns) > before[1]:
                found = self._solved(self._columns)
        if self._complete and not self._cuts and not self._stay:
            self._bound = found
            return found
        bound = self._bound
        if not bound.possible:
            return bound
        # with less than the possible capacity, fewer pods may have to move
        is_all = found.columns is None or found.rooms == bound.most_rooms
        return replace(found, least=bound.least if is_all else 0, most_rooms=bound.most_rooms, possible=True)

    def _is_short(self, found: Repacking, bound: Repacking) -> bool:
        if found.columns is None:
            return True
        return found.rooms < bound.most_rooms or found.price > bound.least

    # Columns

    def leavings(self, node: str, comes: Combination) -> Leavings:
        """Return the sets of pods that can leave the node to make room for these pods."""
        key = node, comes
        if key not in self._leavings:
            found = self.vacancies.leavings(node, comes)
            if self.vacancies.shared:
                sets = dict.fromkeys(each for one in found.sets for each in self.vacancies.together(node, one))
                found = replace(found, sets=tuple(sets))
            self._leavings[key] = found
        return self._leavings[key]

    def _all_columns(self) -> bool:
        """Create all columns; return False if there are too many, or not all are known."""
        vacancies, made, looked = self.vacancies, dict.fromkeys(self._vacated(), None), 0
        demand, moves = self._demand, self.wanted.moves
        coming = sum(demand) if moves is None else moves + sum(self.wanted.pods)
        if len(vacancies.residents) * len(demand) > MOST_LOOKS:
            return False
        for node in vacancies.residents:
            most = [vacancies.most_of(node, shape, number) for shape, number in enumerate(demand)]
            for comes in _up_to(most, coming):
                if not any(comes):
                    continue
                looked += 1
                if looked > MOST_LOOKS:
                    return False
                found = self.leavings(node, comes)
                if not found.complete:
                    return False
                made.update((MoveColumn(node, comes, leaves), None) for leaves in found.sets)
            if len(made) > MOST_COLUMNS or self.time.is_over:
                return False
        self._columns = made
        return True

    def _vacated(self) -> Iterator[MoveColumn]:
        """Yield the nodes that all users of a claim leave and where nobody arrives, if a wanted pod needs the claim."""
        nobody = tuple(0 for _ in self.wanted.pods)
        for users in self.vacancies.shared:
            if any(self.wanted.pods[shape] for shape in users.shapes):
                for leaves in self.vacancies.together(users.node, tuple(sorted(users.positions))):
                    yield MoveColumn(users.node, nobody, leaves)

    def _relaxed(self) -> Repacking:
        """Solve the program in which leaving pods have a node, except for shapes that do not now fit on any node."""
        tight = {shape for shape, number in enumerate(self.wanted.pods) if number}
        known = set(tight)
        while True:
            prices = self._tight_columns(tight)
            self._room_columns, self._tight = prices, frozenset(tight)
            found = self._solved(prices, tight)
            leaving = {shape for column in found.columns or () for shape in self._gone(column).by_shape} - known
            known |= leaving
            more = {shape for shape in leaving if not self._has_taker(shape)}
            is_many = (len(tight) + len(more)) * len(self.vacancies.residents) > MOST_TIGHT
            if not more or is_many or self.time.is_over or not self._is_counted(tight | more):
                break
            tight |= more
        self._roomy = self._by_price(prices, tight)
        if self._is_counted(tight):
            return found
        self._room_columns = {}  # some columns are missing, so they do not prove anything
        return replace(found, least=0, most_rooms=sum(self.wanted.pods), possible=True)

    @cached_property
    def _stuck(self) -> frozenset[int]:
        """Return the shapes that do not now fit on any node."""
        return stuck_shapes(self.vacancies.rooms, self.vacancies.needed)

    @cached_property
    def _worths(self) -> list[list[float]]:
        """Return the worth of a place for each shape, in several ways."""
        stuck = frozenset(shape for shape in self._stuck if not self.wanted.pods[shape] and self._needs_place(shape))
        return worths(self.vacancies.rooms, self.vacancies.needed, stuck) if stuck else []

    def _needs_place(self, shape: int) -> bool:
        """Return whether every pod of the shape needs another node, and devices that are its own."""
        kind = self.vacancies.shapes[shape]
        return not kind.shared and shape not in self._losable

    @cached_property
    def _losable(self) -> frozenset[int]:
        here = self.vacancies.residents.values()
        return frozenset(each.shape for residents in here for each in residents if each.loss is not None)

    def _priced(self) -> int:
        """Return a lower bound on the price, in which pods that leave cost the worth of the place that they need.

        These are the pods that leave for the wanted capacity.
        """
        if not self._room_columns or self.time.is_over:
            return 0
        least = 0
        for worth in self._worths:
            places = PlaceWorths(WorthPrices(self.vacancies.needed, worth))
            prices = {
                column: math.floor(_UNITS * self._with_worth(column, price, places))
                for column, price in self._room_columns.items()
            }
            found = self._solved(prices, self._tight)
            self._cheapest.append(found)
            least = max(least, -(-found.least // _UNITS))
        return least

    def _with_worth(self, column: MoveColumn, price: int, places: PlaceWorths) -> float:
        """Return the minimum cost of a column.

        It includes the places that its leaving pods need elsewhere, minus the places that others may find here.
        """
        own = sum(places.weights[shape] * number for shape, number in self._gone(column).by_shape.items())
        here = places.beside(self.vacancies.rooms_by_name[column.node], column.comes)
        return max(0.0, price + own - here)

    def _gone(self, column: MoveColumn) -> GonePods:
        """Return the pods that leave."""
        found = self._departures.get((column.node, column.leaves))
        if found is None:
            gone = [self.vacancies.residents[column.node][each] for each in column.leaves]
            found = self._departures[column.node, column.leaves] = GonePods(
                by_shape=Counter(each.shape for each in gone),
                by_budget=Counter(budget for each in gone for budget in each.budgets),
                losable=Counter((each.shape, each.loss) for each in gone if each.loss is not None),
            )
        return found

    def _has_taker(self, shape: int) -> bool:
        """Return whether a pod with the shape now fits on some node."""
        if shape in self._stuck:
            return False
        if shape not in self._takes:
            alone, residents = self._alone(shape), self.vacancies.residents
            self._takes[shape] = any(
                self.vacancies.fits(room.name, range(len(residents[room.name])), alone) for room in self._taking(shape)
            )
        return self._takes[shape]

    def _taking(self, shape: int) -> Iterator[NodeRoom]:
        """Yield the nodes on which a pod with the shape now fits, according to the numbers."""
        for room in self.vacancies.rooms if shape not in self._stuck else ():
            if shape in room.shapes and room.takers(self.vacancies.needed, shape):
                yield room

    def _tight_columns(self, tight: Collection[int]) -> dict[MoveColumn, int]:
        """Return all combinations of these shapes on nodes, with a price that is at most the true price."""
        prices: dict[MoveColumn, int] = {}
        for node in self.vacancies.residents:
            for comes in self._rooms_on(node, tight):
                found = self.leavings(node, comes)
                for leaves in found.sets:
                    column = MoveColumn(node, comes, leaves)
                    prices[column] = self._price(column)
                if not found.complete and found.least is not None:
                    # it is unknown which pods leave, and whether they fit elsewhere
                    prices[MoveColumn(node, comes, ())] = found.least
        return prices

    def _rooms_on(self, node: str, shapes: Collection[int]) -> Sequence[Combination]:
        """Return the combinations of these shapes that the node can hold if all residents leave."""
        key = self.vacancies.empty_kinds[node], frozenset(shapes)
        if key not in self._held:
            most = self._most_on(node, shapes)
            if math.prod(each + 1 for each in most) > MOST_HELD:
                most = [min(each, 1) for each in most]
            every = product(*(range(number + 1) for number in most))
            self._held[key] = [comes for comes in every if any(comes) and self.vacancies.fits(node, (), comes)]
        return self._held[key]

    def _most_on(self, node: str, shapes: Collection[int]) -> list[int]:
        """Return how many pods with each shape alone the node can hold; 0 for shapes that are not given."""
        found = [0] * len(self.wanted.pods)
        for shape in shapes:
            key = self.vacancies.empty_kinds[node], shape
            if key not in self._most_held:
                self._most_held[key] = self.vacancies.most_of(node, shape, self._demand[shape])
            found[shape] = self._most_held[key]
        return found

    def _is_counted(self, shapes: Collection[int]) -> bool:
        """Return whether every combination of these shapes is examined on each node, so that they bound something."""
        nodes = {kind: node for node, kind in self.vacancies.empty_kinds.items()}.values()
        return all(math.prod(each + 1 for each in self._most_on(node, shapes)) <= MOST_HELD for node in nodes)

    @cached_property
    def _demand(self) -> list[int]:
        """The number of pods with each shape: wanted pods, and pods that may leave."""
        found = list(self.wanted.pods)
        for here in self.vacancies.residents.values():
            for resident in here:
                found[resident.shape] += 1
        return found

    def _by_price(self, prices: Mapping[MoveColumn, int], tight: Collection[int]) -> list[str]:
        """Return the nodes by the price of a pod there, including pods displaced by pods that do not now fit anywhere.

        Nodes with leaving pods whose shapes already have a price in the bound come last.
        """
        cost: dict[str, tuple[int, float]] = {}
        for column, price in prices.items():
            if column.leaves or not price:
                gone = self._gone(column).by_shape
                dear = sum(number for shape, number in gone.items() if shape in tight)
                stuck = sum(number for shape, number in gone.items() if not self._has_taker(shape))
                each = (dear, (price + stuck) / sum(column.comes))
                cost[column.node] = min(each, cost.get(column.node, each))
        return sorted(cost, key=lambda node: (cost[node], node))

    def _take_roomy(self, number: int) -> None:
        """Add the columns of this number of the cheapest nodes."""
        nodes = set(self._roomy[: sum(self.wanted.pods) + number])
        for (node, comes), found in self._leavings.items():
            if node in nodes:
                self._columns.update((MoveColumn(node, comes, leaves), None) for leaves in found.sets)

    def _more(self, *, is_found: bool) -> bool:
        """Create more columns; return False if there are none left, or the time is over."""
        self._round += 1
        if self.time.is_over:
            return False
        match self._round:
            case 1:
                self._columns.update(dict.fromkeys(self._vacated()))
                self._take_roomy(FEW_ROOMY)
                self._take_takers(self._leaving())
            case 2:
                demand = self._leaving()
                self._columns.update(dict.fromkeys(self._single_columns(demand)))
                self._take_takers(self._leaving() - demand)
            case 3:
                self._complete = self._all_columns()
                if self._complete:
                    cuts, stay, self._cuts, self._stay = self._cuts, self._stay, [], []
                    self._bound, self._cuts, self._stay = self._solved(self._columns), cuts, stay
            case 4 | 5 if not self._complete:
                demand = self._leaving()
                self._columns.update(dict.fromkeys(self._exchanges(demand)))
                self._take_takers(self._leaving() - demand)
            case 6 if not self._complete and not is_found:
                self._take_roomy(MOST_ROOMY)
                self._take_takers(self._leaving())
            case _:
                return False
        return True

    def _take_takers(self, demand: Counter[int]) -> None:
        for shape, number in sorted(demand.items()):
            self._columns.update(dict.fromkeys(self._takers(shape, number, demand)))

    def _leaving(self) -> Counter[int]:
        """Return the maximum number of pods of each shape to move: no more than leave the needed number of nodes."""
        found: Counter[int] = Counter()
        each: dict[str, Counter[int]] = {}
        for column in self._columns:
            here = self.vacancies.residents[column.node]
            each[column.node] = each.get(column.node, Counter()) | Counter(here[i].shape for i in column.leaves)
        for numbers in each.values():
            found |= numbers
        return Counter({shape: number * max(1, sum(self.wanted.pods)) for shape, number in found.items()})

    def _takers(self, shape: int, number: int, demand: Mapping[int, int]) -> Iterator[MoveColumn]:
        """Yield nodes on which pods with the shape now fit, with other pods as far as they also fit."""
        places = 0
        comes = self._alone(shape)
        for room in self._taking(shape):
            if places >= number + SPARE:
                return
            if not self.vacancies.fits(room.name, range(len(self.vacancies.residents[room.name])), comes):
                continue
            for column in self._filled(room.name, comes, shape, demand):
                places += column.comes[shape]
                yield column

    def _filled(self, node: str, comes: Combination, first: int, demand: Mapping[int, int]) -> Iterator[MoveColumn]:
        """Yield one pod, more pods with its shape, and then as many of the others as fit."""
        stay = range(len(self.vacancies.residents[node]))
        yield MoveColumn(node, comes, ())
        for shape in (first, *(each for each in demand if each != first)):
            while comes[shape] < demand.get(shape, 0):
                more = tuple(count + (i == shape) for i, count in enumerate(comes))
                if not self.vacancies.fits(node, stay, more):
                    break
                comes = more
                yield MoveColumn(node, comes, ())

    def _single(self, demand: Mapping[int, int]) -> Iterator[tuple[str, Combination, tuple[int, ...]]]:
        """Yield exchanges in which one pod leaves: first for pods that leave the cheapest nodes, then for all."""
        cheapest = [[self._gone(column).by_shape for column in found.columns or ()] for found in self._cheapest]
        leaving = [{shape for gone in each for shape in gone} for each in cheapest]
        for shapes in (*leaving, set(demand)) if self._worths else ():
            stuck = sorted(shapes & self._stuck - self._tight)
            yield from single_exchanges(
                self.vacancies.rooms, self.vacancies.needed, stuck, self._worths[-1], MOST_SINGLE
            )

    def _single_columns(self, demand: Mapping[int, int]) -> Iterator[MoveColumn]:
        """Yield nodes on which pods fit once one other pod has left.

        There are several such pods if the numbers allow it.
        """
        for node, comes, leaves in self._single(demand):
            stay = [each for each in range(len(self.vacancies.residents[node])) if each not in leaves]
            if self.vacancies.fits(node, stay, comes):
                yield MoveColumn(node, comes, leaves)

    def _exchanges(self, demand: Mapping[int, int]) -> Iterator[MoveColumn]:
        """Yield nodes on which a pod with a shape fits once other pods have left, if this may lower the price."""
        dearest = max((group.price for room in self.vacancies.rooms for group in room.groups), default=1)
        worth = self._program(self._columns).worths(MOST_WORTH * dearest, self.time)
        gains: dict[int, list[tuple[float, str]]] = {}
        for room in self.vacancies.rooms:
            for shape, least in room.least_losses(self.vacancies.needed, sorted(demand), worth):
                gains.setdefault(shape, []).append((least, room.name))
        for shape, nodes in gains.items():
            for _, node in nsmallest(MOST_DEEP, nodes):
                found = self.leavings(node, self._alone(shape))
                yield from (MoveColumn(node, self._alone(shape), leaves) for leaves in found.sets)

    def _alone(self, shape: int) -> Combination:
        return tuple(int(i == shape) for i in range(len(self.wanted.pods)))

    # The program

    def _price(self, column: MoveColumn) -> int:
        here = self.vacancies.residents[column.node]
        return sum(here[each].price for each in column.leaves)

    def _solved(self, columns: Mapping[MoveColumn, int | None], tight: Collection[int] | None = None) -> Repacking:
        """Solve the program for these columns.

        If `tight` is given, leaving pods have to arrive somewhere only if they have these shapes.
        """
        if not columns:  # the solver does not accept an empty model
            everything = self.wanted.most or not any(self.wanted.pods)
            return Repacking(() if everything else None, 0, 0, 0, 0, possible=everything)
        return self._program(columns, tight).solved(self.time)

    def _program(self, columns: Mapping[MoveColumn, int | None], tight: Collection[int] | None = None) -> MoveProgram:
        priced = [
            PricedColumn(column, self._gone(column), self._price(column) if price is None else price)
            for column, price in columns.items()
        ]
        if tight is not None:
            return MoveProgram(priced, self.wanted, tight)
        shared = self.vacancies.shared
        return MoveProgram(priced, self.wanted, None, self._cuts, self._stay, shared)


def _up_to(most: Sequence[int], total: int) -> Iterator[Combination]:
    """Yield all combinations of at most these numbers, and of this number in total."""
    if not most:
        yield ()
        return
    for number in range(min(most[0], total) + 1):
        for rest in _up_to(most[1:], total - number):
            yield (number, *rest)


@dataclass(frozen=True)
class Move:
    """A pod that moves to another node, or that gets other devices on its own node."""

    resident: Resident
    to_node: str


def moves_of(vacancies: Vacancies, columns: Sequence[MoveColumn], wanted: Sequence[int]) -> list[Move]:
    """Return the moves of a solution. Each pod that leaves gets a place for its shape.

    A pod stays on its own node only if no other pod of its shape can take the place. The remaining places are for the
    pods that need room.
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
    """Return the nodes with capacity for the wanted pods; some of them may take other pods with the same shape."""
    return {column.node for column in columns if any(a and b for a, b in zip(column.comes, wanted, strict=True))}
