"""Check that items fit into bins (R6c), and that there are enough devices for all demands (R1, R2).

Bin packing is NP-hard, but there are only a few different sizes, so a dynamic program over the number of items of each
size is fast enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import product
from math import prod

Sizes = tuple[tuple[int, int], ...]
"""The number of items of each size, as (size, number), largest first. Sizes are greater than 0."""

_MOST_STATES = 300
"""The maximum number of entries in a table; if there are more, similar sizes are treated as the smaller one."""
_MOST_PLACES = 64
"""The maximum number of bins packed together; a search that is worth the effort has few bins."""
_NO_ROOM = -1


def can_be_packed(sizes: Sizes, places: Sequence[int]) -> bool:
    """Return whether items of these sizes fit into these places.

    False is certain. True is certain only if there are few places, items and sizes.
    """
    if not sizes:
        return True
    smallest = sizes[-1][0]
    room = tuple(sorted(place for place in places if place >= smallest))
    # Try the cheap method first: it solves most cases, and then the table is not needed.
    return _largest_first(sizes, room) or len(room) > _MOST_PLACES or _in_any_way(_coarser(sizes), room)


def _largest_first(sizes: Sizes, places: Sequence[int]) -> bool:
    """Return whether all items fit if the largest goes first, into the first bin with enough space.

    The result False proves nothing.
    """
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
    """Return few enough sizes for a table; while there are too many, the two closest are merged into the smaller one.

    Safe: wherever an item fits, a smaller one fits instead, so a negative result stays negative.
    """
    listed = list(sizes)
    while len(listed) > 1 and _entries(listed) > _MOST_STATES:
        at = min(range(1, len(listed)), key=lambda index: listed[index - 1][0] / listed[index][0])
        listed[at - 1 : at + 1] = [(listed[at][0], listed[at - 1][1] + listed[at][1])]
    return tuple(listed)


def _entries(sizes: Sequence[tuple[int, int]]) -> int:
    """Return the length of the table, whose entries pack from none to all items of every size but the smallest."""
    return prod(number + 1 for _, number in sizes[:-1])


@lru_cache(maxsize=8192)
def _in_any_way(sizes: Sizes, places: tuple[int, ...]) -> bool:
    # In the last entry, all larger items are packed.
    return _fits_table(sizes, places)[-1] >= sizes[-1][1]


@lru_cache(maxsize=8192)
def _fits_table(sizes: Sizes, places: tuple[int, ...]) -> list[int]:
    """Return the table of what fits into these bins.

    Entry i, read as mixed-radix digits, gives the number of packed items of each larger size; the value is the number
    of smallest items that still fit in addition, or -1 if the entry is impossible.

    The last digit counts the second smallest size and changes fastest. The smallest size needs no digit, because of two
    ways to pack the same larger items, the one that leaves space for more of the smallest is always better. The table
    for a list of bins is computed from the table for all but the last bin. It is cached, because searches return to the
    same few bins.
    """
    if not places:
        return [0] + [_NO_ROOM] * (_entries(sizes) - 1)
    before = _fits_table(sizes, places[:-1])
    table, wanted = list(before), sizes[-1][1]
    for sources, step, more in _loads(sizes, places[-1]):
        # Putting this load into the last bin leads from each entry with enough unpacked items to another entry.
        for index in sources:
            number = before[index]
            if number != _NO_ROOM and number + more > table[index + step]:
                table[index + step] = min(wanted, number + more)  # more than needed is no better
    return table


@lru_cache(maxsize=4096)
def _loads(sizes: Sizes, place: int) -> list[tuple[list[int], int, int]]:
    """Return the loads of one bin as moves in the table, with source entries, distance, and number of smallest items.

    A load of some items of each larger size adds its amounts to the digits, which is the same step from every entry. It
    may start only from entries whose digits stay within the available numbers: beyond them, the sum would carry into
    the digit of another size.
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
    """Yield the numbers of items of each of these sizes that fit into one bin together, and the space that remains."""
    if not sizes:
        yield (), place
        return
    (size, number), others = sizes[0], sizes[1:]
    for taken in range(min(number, place // size) + 1):
        for amounts, rest in _loads_of_larger(others, place - taken * size):
            yield (taken, *amounts), rest


# -- enough devices for all demands at once ----------------------------------------------------------------------------
# Devices are bits. A demand consists of a number and the devices that may serve it; each device serves one demand. By
# Hall's theorem, all demands can be served if and only if no group of demands needs more devices than may serve its
# members, and a matching finds this out without checking every group.

DeviceDemand = tuple[int, int]
"""The number of devices that are needed, and a bit mask of the devices to choose from."""


def overdrawn(demands: Iterable[DeviceDemand]) -> bool:
    """Return whether there are too few devices to meet all demands with different devices."""
    needs: dict[int, int] = {}
    for need, row in demands:
        if need > 0:
            needs[row] = needs.get(row, 0) + need
    rows = sorted(needs, key=int.bit_count)
    if any(needs[row] > row.bit_count() for row in rows):
        return True
    return len(rows) > 1 and not _matched([(needs[row], row) for row in rows])


def _matched(demands: list[DeviceDemand]) -> bool:
    """Return whether a matching serves all demands.

    Scarce demands go first, and later ones may make earlier ones move.
    """
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
    """Return the free devices after earlier demands move, if possible, to release a device that `asking` can use."""
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
    """Give a free device to the last demand of the chain.

    Each demand passes one device on, and the first demand's device becomes free.
    """
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
