"""R1 and R2: whether there are enough devices for all demands at once.

Devices are bits. A demand is a number and the devices that may serve it; each device serves one demand. By Hall's
theorem that works out exactly when no group of demands needs more devices than its members can have together, and a
matching finds that out without looking at every group.
"""

from __future__ import annotations

from collections.abc import Iterable

DeviceDemand = tuple[int, int]
"""How many devices, and of which (a bit mask)."""


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
