"""Whether everything finds room: items in places (R6c), and demands in devices (R1, R2).

Bin packing first. It is NP-hard, but equal items are interchangeable and there are few different sizes: it is enough
to know how many of each size are packed, not which, by a dynamic program over the places. `stocks` says which items
there are, and that none may be left out. Then matching of demands with devices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import product
from math import prod

Sizes = tuple[tuple[int, int], ...]
"""Sizes above 0, the largest first, each with the number of items that have it."""

_MOST_STATES = 300
"""Entries of a table; with more, sizes near each other count as the smaller one."""
_MOST_PLACES = 64
"""More places are not looked at together: a search that is worth it has few."""
_NO_ROOM = -1


def can_be_packed(sizes: Sizes, places: Sequence[int]) -> bool:
    """Whether all items find room. False is certain; True is with few places and not too many items and sizes."""
    if not sizes:
        return True
    smallest = sizes[-1][0]
    room = tuple(sorted(place for place in places if place >= smallest))
    # The cheap way first: most that can be packed is packed by it, and then the table need not be made.
    return _largest_first(sizes, room) or len(room) > _MOST_PLACES or _in_any_way(_coarser(sizes), room)


def _largest_first(sizes: Sizes, places: Sequence[int]) -> bool:
    """Whether they do if the largest goes first, into the first place that has room. False says nothing."""
    left = list(places)
    for size, number in sizes:
        for index, amount in enumerate(left):
            taken = min(number, amount // size)
            number -= taken
            left[index] = amount - taken * size
        if number:
            return False
    return True


def _coarser(sizes: Sizes) -> Sizes:
    """Few enough sizes for a table: where there are too many, the two that differ least count as the smaller one.

    Safe: what has room has room for something smaller in its stead, so a no stays a no.
    """
    listed = list(sizes)
    while len(listed) > 1 and _entries(listed) > _MOST_STATES:
        at = min(range(1, len(listed)), key=lambda index: listed[index - 1][0] / listed[index][0])
        listed[at - 1 : at + 1] = [(listed[at][0], listed[at - 1][1] + listed[at][1])]
    return tuple(listed)


def _entries(sizes: Sequence[tuple[int, int]]) -> int:
    """The length of the table: for every size but the smallest, from none of its items to all."""
    return prod(number + 1 for _, number in sizes[:-1])


@lru_cache(maxsize=8192)
def _in_any_way(sizes: Sizes, places: tuple[int, ...]) -> bool:
    # The last entry is the one with all larger items packed.
    return _fits_table(sizes, places)[-1] >= sizes[-1][1]


@lru_cache(maxsize=8192)
def _fits_table(sizes: Sizes, places: tuple[int, ...]) -> list[int]:
    """What can be packed into these places.

    Entry i, read as mixed-radix digits, says how many of each larger size are packed; the value is how many smallest
    items still fit beside them, -1 if none.

    The last digit counts the second smallest size and changes fastest. The smallest size needs no digit: of two ways to
    pack the same larger items, the one that leaves room for more of the smallest is better whatever comes. The table of
    some places is made from that of all but the last; it is remembered, as searches come back to the same few places.
    """
    if not places:
        return [0] + [_NO_ROOM] * (_entries(sizes) - 1)
    before = _fits_table(sizes, places[:-1])
    table, wanted = list(before), sizes[-1][1]
    for sources, step, more in _loads(sizes, places[-1]):
        # Putting this load into the last place leads from each entry with that many items unpacked to another one.
        for index in sources:
            number = before[index]
            if number != _NO_ROOM and number + more > table[index + step]:
                table[index + step] = min(wanted, number + more)  # more than are wanted are no better
    return table


@lru_cache(maxsize=4096)
def _loads(sizes: Sizes, place: int) -> list[tuple[list[int], int, int]]:
    """What can be put into one place, as moves in the table: from which entries, how far on, how many of the smallest.

    A load of some items of each larger size adds its amounts to the digits, which is the same step from every entry.
    It may start from those whose digits stay within the numbers there are: beyond, the sum would carry into the digit
    of another size.
    """
    numbers = [number for _, number in sizes[:-1]]
    strides = [_entries(sizes[index + 1 :]) for index in range(len(numbers))]
    loads = []
    for amounts, rest in _loads_of_larger(sizes[:-1], place):
        ranges = [range(number - amount + 1) for number, amount in zip(numbers, amounts, strict=True)]
        sources = [sum(at * stride for at, stride in zip(digits, strides, strict=True)) for digits in product(*ranges)]
        step = sum(amount * stride for amount, stride in zip(amounts, strides, strict=True))
        loads.append((sources, step, rest // sizes[-1][0]))
    return loads


def _loads_of_larger(sizes: Sizes, place: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """How many of each of these sizes go into one place together, and what is left of it then."""
    if not sizes:
        yield (), place
        return
    (size, number), others = sizes[0], sizes[1:]
    for taken in range(min(number, place // size) + 1):
        for amounts, rest in _loads_of_larger(others, place - taken * size):
            yield (taken, *amounts), rest


# -- enough devices for all demands at once ----------------------------------------------------------------------------
# Devices are bits. A demand is a number and the devices that may serve it; each device serves one demand. By Hall's
# theorem that works out exactly when no group of demands needs more devices than its members can have together, and a
# matching finds that out without looking at every group.

DeviceDemand = tuple[int, int]
"""How many devices are needed, and which may serve (a bit mask)."""


def overdrawn(demands: Iterable[DeviceDemand]) -> bool:
    """Whether the demands can't all be served with different devices.

    Safe as a reason to give up wherever each of the demands must be served before anything else can happen.
    """
    needs: dict[int, int] = {}
    for need, row in demands:
        if need > 0:
            needs[row] = needs.get(row, 0) + need
    rows = sorted(needs, key=int.bit_count)
    if any(needs[row] > row.bit_count() for row in rows):
        return True
    return len(rows) > 1 and not _matched([(needs[row], row) for row in rows])


def _matched(demands: list[DeviceDemand]) -> bool:
    """Whether a matching serves all demands; scarce ones go first, later ones may make earlier ones move."""
    held = [0] * len(demands)
    free = 0
    for _, row in demands:
        free |= row
    for index, (need, row) in enumerate(demands):
        while need:
            mine = row & free
            if not mine:
                free = _moved(demands, held, index, free)
                if not row & free:
                    return False
                continue
            bit = mine & -mine
            held[index] |= bit
            free ^= bit
            need -= 1
    return True


def _moved(demands: list[DeviceDemand], held: list[int], asking: int, free: int) -> int:
    """What is free after earlier demands have moved over for one device that `asking` can use, if any can."""
    came_from: dict[int, int] = {asking: asking}
    queue = [asking]
    for current in queue:
        row = demands[current][1]
        for other, hold in enumerate(held):
            if other in came_from or not row & hold:
                continue
            came_from[other] = current
            if demands[other][1] & free:
                return _handed_down(demands, held, came_from, other, free)
            queue.append(other)
    return free


def _handed_down(demands: list[DeviceDemand], held: list[int], came_from: dict[int, int], last: int, free: int) -> int:
    """The last demand of the chain takes a free device; each gives one on, and the first one's becomes free."""
    bit = demands[last][1] & free
    bit &= -bit
    free ^= bit
    while True:
        receiver = came_from[last]
        given = held[last] & demands[receiver][1]
        given &= -given
        held[last] ^= given | bit
        if came_from[receiver] == receiver:
            return free | given
        bit, last = given, receiver
