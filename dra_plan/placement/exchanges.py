"""Bounds on the price of moves, for pods that currently fit on no node because other pods would have to leave.

A worth is the price of a place for one pod of a shape. The search looks for worths at which no exchange gains: on no
node are arriving pods worth more than the prices and worths of the pods that leave for them. A pod of such a shape that
leaves its node then adds at least its worth to the price, wherever it goes. Every set of pods that may leave a node is
considered, unless prices for its amounts prove that it gains nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from .amounts import Amounts
from .node_capacity import Combination

MOST_STEPS = 8_000
"""The maximum number of search steps on one node. If more are needed, the worths are lowered."""
MOST_TRIES = 20
"""The maximum number of times that worths are lowered for one node. After that, all worths are 0."""
_NOTHING = 1e-9
_ALIKE = 3

Part = tuple[str, int, int]

_Comes = tuple[int, ...]
"""The shapes of the pods that arrive, in order, each as often as it arrives."""

_Price = tuple[tuple[int, float], ...]
"""The price of one unit of each sort that has a price."""


Size = tuple[str, int]
"""A capacity name, and an amount of it on a single device."""

Asked = tuple[tuple[int, int], ...]
"""The needs that are not 0, as (position in a list of amounts, need)."""


@dataclass(frozen=True)
class SizedNeeds:
    """The needs of some shapes: total amounts, followed by the number of parts of each size on single devices."""

    sizes: tuple[Size, ...]
    asked: Mapping[int, Asked]


@dataclass(frozen=True)
class ShapeNeeds:
    """The needs of each shape: `needs` in total, and `parts` on single devices."""

    needs: Sequence[Amounts]
    parts: Sequence[Sequence[Part]]
    _sized: dict[tuple[int, ...], SizedNeeds] = field(default_factory=dict, compare=False)

    def sized(self, some: tuple[int, ...]) -> SizedNeeds:
        """Return the needs of these shapes, including the parts on single devices."""
        if some not in self._sized:
            sizes = sorted({(name, size) for shape in some for name, size, _ in self.parts[shape] if size})
            asked = {shape: tuple(self._asked(shape, sizes)) for shape in some}
            self._sized[some] = SizedNeeds(tuple(sizes), asked)
        return self._sized[some]

    def _asked(self, shape: int, sizes: Sequence[Size]) -> Iterator[tuple[int, int]]:
        slots = (
            sum(count * (amount // size) for name, amount, count in self.parts[shape] if name == wanted)
            for wanted, size in sizes
        )
        return ((position, need) for position, need in enumerate((*self.needs[shape], *slots)) if need)


def _fit(free: Sequence[int], asked: Asked) -> int:
    """Return the number of pods with these needs that the amounts allow."""
    for position, need in asked:
        if free[position] < need:
            return 0
    return min([free[position] // need for position, need in asked], default=0)


def _without(free: Sequence[int], asked: Asked, number: int = 1) -> list[int]:
    """Return the amounts that are left in addition to this number of pods."""
    left = list(free)
    for position, need in asked:
        left[position] -= number * need
    return left


@dataclass(frozen=True)
class AlikeResidents:
    """Pods on one node with the same shape, the same amounts and the same price."""

    positions: tuple[int, ...]
    amounts: Amounts
    shape: int
    price: int


@dataclass(frozen=True)
class NodeRoom:
    """A node with its free amounts, its devices and the pods that may leave it.

    `total` has the free amounts once all of them have left, and `shapes` are the shapes that then fit.
    """

    name: str
    free: Amounts
    total: Amounts
    groups: tuple[AlikeResidents, ...]
    shapes: tuple[int, ...]
    devices: tuple[tuple[str, int], ...]
    held: tuple[Amounts, ...]
    """The amounts that each pod holds, by position."""
    takes: tuple[tuple[tuple[int, int], ...], ...]
    """The capacity that each pod takes, as (index in `devices`, amount)."""

    def has(self, needs: Asked, stay: Collection[int]) -> bool:
        """Return whether the node has these amounts free if only the pods at these positions stay."""
        if 2 * len(stay) <= len(self.held):  # the shorter of two sums
            start, sign, some = self.total, -1, [self.held[position] for position in stay]
        else:
            gone = [amounts for position, amounts in enumerate(self.held) if position not in stay]
            start, sign, some = self.free, 1, gone
        return all(start[sort] + sign * sum([held[sort] for held in some]) >= need for sort, need in needs)

    def takers(self, shapes: ShapeNeeds, shape: int, leaves: Sequence[tuple[AlikeResidents, int]] = ()) -> int:
        """Return how many pods of the shape the amounts allow once these pods have left. Fewer may fit."""
        sized, free = shapes.sized((shape,)), self.free
        asked = sized.asked[shape]
        if not leaves:
            for sort, need in asked:
                if sort < len(free) and need > free[sort]:
                    return 0
        return _fit(self.left(leaves, sized.sizes), asked)

    def least_losses(
        self, shapes: ShapeNeeds, some: Iterable[int], worth: Mapping[int, float]
    ) -> Iterator[tuple[int, float]]:
        """Yield the shapes for which an exchange on the node may gain, each with a lower bound on its loss.

        The loss is what making room for one pod costs: the prices of the pods that leave, and the worths of their
        shapes.
        """
        here = sorted(
            (group.price + worth.get(group.shape, 0.0), group.amounts, len(group.positions)) for group in self.groups
        )
        two = sum(sorted(loss for loss, _, number in here for _ in range(min(number, 2)))[:2])
        for shape in some:
            most = worth.get(shape, 0.0)
            if not here or here[0][0] >= most or shape not in self.shapes:
                continue
            short = [
                (sort, need - have)
                for sort, (need, have) in enumerate(zip(shapes.needs[shape], self.free, strict=True))
                if need > have
            ]
            least = two
            for loss, amounts, _ in here:
                if loss >= two or all(amounts[sort] >= lack for sort, lack in short):
                    least = min(two, loss)
                    break
            if least < most:
                yield shape, least

    def left(self, leaves: Sequence[tuple[AlikeResidents, int]], sizes: Sequence[Size]) -> list[int]:
        """Return the free amounts once these pods have left, followed by the number of free parts of each size.

        A part is an amount of a capacity on a single device.
        """
        free, devices = list(self.free), [amount for _, amount in self.devices]
        for group, number in leaves:
            free = [have + number * more for have, more in zip(free, group.amounts, strict=True)]
            for position in group.positions[:number]:
                for index, amount in self.takes[position]:
                    devices[index] += amount
        for name, size in sizes:
            slots = 0
            for (own, _), left in zip(self.devices, devices, strict=True):
                if own == name and left >= size:
                    slots += left // size
            free.append(slots)
        return free


# -- worths ------------------------------------------------------------------------------------------------------------


def stuck_shapes(rooms: Sequence[NodeRoom], shapes: ShapeNeeds) -> frozenset[int]:
    """Return the shapes that currently fit on no node, whichever devices are chosen."""
    number = len(shapes.needs)
    return frozenset(
        shape
        for shape in range(number)
        if not any(shape in room.shapes and room.takers(shapes, shape) for room in rooms)
    )


def worths(rooms: Sequence[NodeRoom], shapes: ShapeNeeds, stuck: frozenset[int]) -> list[list[float]]:
    """Return several lists that assign a value to each shape.

    With any of these lists, no exchange increases the total value.

    Only the `stuck` shapes have a value above 0. For each of the two amounts that differ most between these shapes, one
    list is proportional to the amount. Another list is the average of both.
    """
    number = len(shapes.needs)
    dearest = max((group.price for room in rooms for group in room.groups), default=0)
    found = []
    for sort in _telling(shapes, stuck):
        most = max(shapes.needs[shape][sort] for shape in stuck)
        weights = [shapes.needs[shape][sort] / most if shape in stuck else 0.0 for shape in range(number)]
        scale = _scale(rooms, shapes, weights, dearest / min(weights[shape] for shape in stuck))
        found.append([each * scale for each in weights])
    if len(found) == 2:
        found.append([(a + b) / 2 for a, b in zip(*found, strict=True)])
    return found


def _telling(shapes: ShapeNeeds, stuck: frozenset[int]) -> list[int]:
    """Return the sorts that all of these shapes need, and of which no two are proportional.

    The first sort has the fewest different values, and the next sort the most.
    """
    needed: dict[tuple[float, ...], int] = {}
    for sort in range(len(shapes.needs[0])):
        column = [shapes.needs[shape][sort] for shape in sorted(stuck)]
        if column and min(column) > 0:
            needed.setdefault(tuple(each / max(column) for each in column), sort)
    different = sorted(needed, key=lambda each: len(set(each)))
    different = [each for each in different if len(set(each)) > 1] or different
    return [needed[each] for each in dict.fromkeys(different[:1] + different[-1:])]


def _scale(rooms: Sequence[NodeRoom], shapes: ShapeNeeds, weights: Sequence[float], scale: float) -> float:
    """Return the largest factor, up to this one, at which these worths do not gain on any node."""
    prices = WorthPrices(shapes, weights)
    for room in rooms:
        some = tuple(shape for shape in room.shapes if weights[shape] > 0)
        tries = 0
        while some and scale > 0:
            search = _Search(room, prices, some, scale)
            lower = search.lower()
            if lower is None:
                break
            tries += 1
            scale = 0.0 if tries > MOST_TRIES else lower
    return scale


class WorthPrices:
    """Prices for amounts. At these prices, the needs of a shape never cost more than its weight.

    Parts on single devices have no price.
    """

    def __init__(self, shapes: ShapeNeeds, weights: Sequence[float]) -> None:
        self.shapes, self.weights = shapes, weights
        self._known: dict[tuple[int, ...], list[_Price]] = {}

    def of(self, some: tuple[int, ...]) -> list[_Price]:
        """Return several lists of prices. With any of the lists, none of these shapes costs more than its weight."""
        if some not in self._known:
            self._known[some] = list(self._made(some))
        return self._known[some]

    def _made(self, some: tuple[int, ...]) -> Iterator[_Price]:
        sorts = range(len(self.shapes.needs[0]))
        single = [self._least(some, sort, {}) for sort in sorts]
        for first, price in enumerate(single):
            if price is None:
                continue
            yield ((first, price),)
            for second in sorts[first + 1 :]:
                own = price / 2
                other = self._least(some, second, {first: own})
                if other:
                    yield (first, own), (second, other)

    def _least(self, some: Sequence[int], sort: int, given: dict[int, float]) -> float | None:
        """Return the lowest price for one sort, in addition to given prices; None if there is none."""
        found = 0.0
        for shape in some:
            needs = self.shapes.needs[shape]
            left = self.weights[shape] - sum(price * needs[other] for other, price in given.items())
            if left > _NOTHING:
                if not needs[sort]:
                    return None
                found = max(found, left / needs[sort])
        return found


class PlaceWorths:
    """The worth of the pods that a node can hold once all pods that may leave have left."""

    def __init__(self, prices: WorthPrices) -> None:
        self._prices, self.weights = prices, prices.weights
        self._known: dict[tuple[Amounts, tuple[int, ...], Combination], float] = {}

    def beside(self, room: NodeRoom, comes: Combination) -> float:
        """Return the worth of these pods, and of the pods that the node can hold in addition to them."""
        key = room.total, room.shapes, comes
        if key not in self._known:
            needs = self._prices.shapes.needs
            coming = [(shape, number) for shape, number in enumerate(comes) if number]
            left: Sequence[int] = room.total
            for shape, number in coming:
                left = [have - number * need for have, need in zip(left, needs[shape], strict=True)]
            own = sum(self.weights[shape] * number for shape, number in coming)
            self._known[key] = own + self._most(room.shapes, left)
        return self._known[key]

    def _most(self, shapes: Sequence[int], free: Sequence[int]) -> float:
        """Return the maximum worth of pods with these shapes that fit in these amounts."""
        needs = self._prices.shapes.needs
        some = tuple(
            shape
            for shape in shapes
            if self.weights[shape] > 0
            and all(need <= have for need, have in zip(needs[shape], free, strict=True) if need)
        )
        own = [max(0, each) for each in free]
        return min(_dot(price, own) for price in self._prices.of(some)) if some else 0.0


class _Search:
    """The search for an exchange on one node that gains, where shapes are worth their weights times a factor."""

    def __init__(self, room: NodeRoom, prices: WorthPrices, some: tuple[int, ...], scale: float) -> None:
        self._room, self._scale = room, scale
        self._worth = [each * scale for each in prices.weights]
        self._needs = prices.shapes.sized(some)
        order = sorted(some, key=lambda shape: -self._worth[shape])
        self._arriving = [(self._needs.asked[shape], self._worth[shape]) for shape in order]
        self._prices = [tuple((sort, each * scale) for sort, each in price) for price in prices.of(some)]
        self._checks = list(self._prices)
        self._losses = [group.price + self._worth[group.shape] for group in room.groups]
        self._gone = [0] * len(room.groups)
        self._steps = 0
        self._lower: float | None = None

    def lower(self) -> float | None:
        """Return a smaller factor, at which the exchange that was found does not gain.

        Return None if no exchange gains at the current factor.
        """
        free = [max(0, each) for each in self._room.free]
        values = [_dot(price, free) for price in self._prices]
        self._adds = [
            [_dot(price, group.amounts) - loss for price in self._prices]
            for group, loss in zip(self._room.groups, self._losses, strict=True)
        ]
        rest = [0.0] * len(self._prices)
        self._rests = [rest]
        for group, adds in zip(reversed(self._room.groups), reversed(self._adds), strict=True):
            rest = [one + len(group.positions) * max(0.0, add) for one, add in zip(rest, adds, strict=True)]
            self._rests.append(rest)
        self._rests.reverse()
        self._leave(0, values, 0.0)
        if self._lower is None and self._steps > MOST_STEPS:
            return self._scale * 0.9
        return self._lower

    @property
    def _is_over(self) -> bool:
        return self._lower is not None or self._steps > MOST_STEPS

    def _leave(self, index: int, values: list[float], loss: float) -> None:
        self._steps += 1
        if self._is_over:
            return
        for value, rest in zip(values, self._rests[index], strict=True):
            if value + rest <= _NOTHING:
                return
        if index == len(self._gone):
            gone = [(group, number) for group, number in zip(self._room.groups, self._gone, strict=True) if number]
            self._come(0, self._room.left(gone, self._needs.sizes), -loss)
            return
        adds = self._adds[index]
        for number in range(len(self._room.groups[index].positions) + 1):
            self._gone[index] = number
            self._leave(index + 1, values, loss)
            values = [one + add for one, add in zip(values, adds, strict=True)]
            loss += self._losses[index]
        self._gone[index] = 0

    def _come(self, index: int, free: Sequence[int], gain: float) -> None:
        self._steps += 1
        if gain > _NOTHING and self._lower is None:
            self._lower = self._without_gain(gain)
        if self._is_over or not self._may_gain(free, gain):
            return
        for position, (asked, worth) in enumerate(self._arriving[index:], index + 1):
            for number in range(_fit(free, asked), 0, -1):
                self._come(position, _without(free, asked, number), gain + number * worth)
                if self._is_over:
                    return

    def _may_gain(self, free: Sequence[int], gain: float) -> bool:
        """Return whether the pods that fit in these amounts may be worth more than what is lost so far."""
        for price in self._checks:
            most = gain
            for sort, each in price:
                if free[sort] > 0:
                    most += each * free[sort]
            if most <= _NOTHING:
                self._checks.remove(price)
                self._checks.insert(0, price)  # the same price often proves the same for the next amounts
                return False
        return True

    def _without_gain(self, gain: float) -> float:
        """Return the factor at which an exchange with this gain has none: its price stays, and the worths shrink."""
        paid = sum(group.price * number for group, number in zip(self._room.groups, self._gone, strict=True))
        return self._scale * paid / (paid + gain) * (1 - 1e-9)


def _dot(price: _Price, amounts: Sequence[int]) -> float:
    total = 0.0
    for sort, each in price:
        total += each * amounts[sort]
    return total


# -- exchanges worth trying --------------------------------------------------------------------------------------------


def single_exchanges(
    rooms: Sequence[NodeRoom], shapes: ShapeNeeds, demand: Sequence[int], worth: Sequence[float], most: int
) -> list[tuple[str, Combination, tuple[int, ...]]]:
    """Return the exchanges in which one pod leaves a node and up to three pods take its place, best first.

    There are at most `_ALIKE` exchanges for the same arriving pods.
    """
    best: dict[_Comes, list[tuple[int, str, tuple[int, ...]]]] = {}
    sized, meant = shapes.sized(tuple(demand)), frozenset(demand)
    needs = [shapes.needs[shape] for shape in demand]
    least = [(sort, min(column)) for sort, column in enumerate(zip(*needs, strict=True)) if min(column)]
    for room in rooms:
        some = [shape for shape in demand if shape in room.shapes]
        for group in room.groups if some else ():
            if group.shape in meant or any(need > room.free[sort] + group.amounts[sort] for sort, need in least):
                continue
            leaving = group.price, room.name, group.positions[:1]
            for comes in _threes(some, sized.asked, room.left([(group, 1)], sized.sizes)):
                alike = best.setdefault(comes, [])
                if len(alike) < _ALIKE or leaving < alike[-1]:
                    alike.append(leaving)
                    alike.sort()
                    del alike[_ALIKE:]
    found = [
        (price - sum(worth[shape] for shape in comes), name, comes, leaves)
        for comes, alike in best.items()
        for price, name, leaves in alike
    ]
    return [
        (name, tuple(comes.count(shape) for shape in range(len(shapes.needs))), leaves)
        for _, name, comes, leaves in sorted(found)[:most]
    ]


def _threes(some: Sequence[int], needs: Mapping[int, Asked], free: Sequence[int]) -> Iterator[_Comes]:
    """Yield the combinations of one to three pods that fit, except those that are part of another."""
    stack: list[tuple[_Comes, Sequence[int], Sequence[int]]] = [((), some, free)]
    while stack:
        comes, others, left = stack.pop()
        fitting = []
        for shape in others:
            for position, need in needs[shape]:
                if need > left[position]:
                    break
            else:
                fitting.append(shape)
        if len(comes) < 2:
            for index, shape in enumerate(fitting):
                stack.append(((*comes, shape), fitting[index:], _without(left, needs[shape])))
        elif fitting:
            yield from ((*comes, shape) for shape in fitting)
        if comes and not fitting:
            yield comes
