"""Devices that are alike to a range of requests, and blocks of devices that are copies of each other (R3).

Two devices are alike if the requests cannot distinguish them: they have the same values under the constraints, the same
counters in the same sets, and the same demand for capacity. Devices with a common counter set or constraint value form
a block. Two blocks are copies if they become equal when their counter sets and values are renamed, like the partitions
of two equal GPUs.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from dra_plan.allocator.capacity import summed
from dra_plan.allocator.pools import PoolDevice

from .facts import Facts, Option, Token, Values

Tie = tuple[Hashable, ...]
"""A counter set or a constraint value that devices have in common."""


@dataclass(slots=True, eq=False)
class Block:
    """A group of devices with counter sets or constraint values in common.

    Blocks of the same `kind` are copies of each other. `classes` are bit masks of devices that are alike. `counters`
    are the counters that the devices consume, and `tokens` are their values, in the same order in all copies.
    """

    kind: Hashable
    classes: list[int] = field(default_factory=list)
    counters: list[tuple[PoolDevice, tuple[Hashable, str, str]]] = field(default_factory=list)
    tokens: list[tuple[Values, Token]] = field(default_factory=list)
    shared: list[list[tuple[int, PoolDevice]]] = field(default_factory=list)
    """The shared devices of each class, each with its bit. Classes without shared devices are left out."""


class Shapes:
    """The devices that are alike to requests `start` to `end` - 1, and the blocks that are copies of each other."""

    def __init__(self, facts: Facts, start: int, end: int) -> None:
        self._facts = facts
        self._options = [option for request in facts.requests[start:end] for option in request.options]
        self.values = self._constraints()
        """The values that constraints on the requests compare."""
        self._positions = self._reached()
        self._plain = {p: self._describe(p) for p in self._positions}
        self._ties = {p: self._tied(p) for p in self._positions}
        self.alike = self._alike()
        """By position, a bit mask of the devices that are alike to the device at this position, including itself."""
        self.loose = self._loose()
        """Bit masks of the alike devices that belong to no block."""
        self.blocks = [self._block(members) for members in self._components()]

    def _constraints(self) -> list[Values]:
        wanted = {constraint for option in self._options for constraint in option.want.constraints}
        return [values for constraint, values in self._facts.values.items() if constraint in wanted]

    def _reached(self) -> list[int]:
        reach = 0
        for option in self._options:
            reach |= option.row
        return [position for position in range(reach.bit_length()) if reach >> position & 1]

    # -- one device ----------------------------------------------------------------------------------------------

    def _describe(self, position: int) -> Hashable:
        """Return what requests see of a device, apart from its ties to others."""
        device = self._facts.devices[position]
        assert isinstance(device, PoolDevice)
        serves = [option for option in self._options if option.row >> position & 1]
        rows = tuple(option.row >> position & 1 for option in self._options)
        order = position if any(depends_on_order(option, self._facts) for option in serves) else None
        known = tuple(
            (position in values.at, self._whole_value(values, position))
            for values in self.values
            if any(values.constraint in option.want.constraints for option in serves)
        )
        return rows, order, known, self._share(serves, device)

    def _whole_value(self, values: Values, position: int) -> Hashable:
        """Return a value that is compared as a whole.

        Lists are not tied by their elements, and unknown types by nothing.
        """
        tokens = values.at.get(position)
        return tokens if values.constraint.lists or not tokens else None

    def _share(self, serves: list[Option], device: PoolDevice) -> Hashable:
        """Return what each request would take from a shared device. `Facts.left` returns what is left of the device."""
        taker = self._facts.taker
        if not taker.is_shared(device):
            return None
        demands = tuple(
            tuple((portion.name, portion.amount) for portion in taker.demand(option.want, device).portions)
            for option in serves
        )
        return demands, device.id in taker.state.aggregate, device.id in taker.state.shared

    def _tied(self, position: int) -> list[tuple[Tie, Hashable]]:
        """Return the device's ties, each with its effect: amounts for a counter set, nothing for a value."""
        device = self._facts.devices[position]
        assert isinstance(device, PoolDevice)
        table = self._facts.taker.counters.key(device)
        sets: dict[str, list[tuple[str, int]]] = {}
        for counter_set, name, amount in summed(device.consumption):
            sets.setdefault(counter_set, []).append((name, amount))
        ties: list[tuple[Tie, Hashable]] = [
            (("set", table, name), tuple(sorted(amounts))) for name, amounts in sorted(sets.items())
        ]
        for index, values in enumerate(self.values):
            if self._is_telling(values, position):
                ties += [(("value", index, token), None) for token in values.at[position]]
        return ties

    def _is_telling(self, values: Values, position: int) -> bool:
        """Return whether a request here reads the device's value."""
        return (
            bool(values.at.get(position))
            and not values.constraint.lists
            and any(
                option.row >> position & 1 and values.constraint in option.want.constraints for option in self._options
            )
        )

    # -- devices together ----------------------------------------------------------------------------------------

    def _alike(self) -> dict[int, int]:
        masks: dict[Hashable, int] = {}
        for p in self._positions:
            key = (self._plain[p], tuple(self._ties[p]))
            masks[key] = masks.get(key, 0) | 1 << p
        return {p: masks[self._plain[p], tuple(self._ties[p])] for p in self._positions}

    def _loose(self) -> list[int]:
        return list(
            dict.fromkeys(self.alike[p] for p in self._positions if not self._ties[p] and not self._is_single(p))
        )

    def _is_single(self, position: int) -> bool:
        """Return whether the device stands for itself, as shared devices do because different amounts are taken."""
        return bool(self._facts.shared >> position & 1)

    def _components(self) -> Iterator[list[int]]:
        """Yield the devices that are tied to each other, directly or through others, in scan order."""
        leader: dict[Tie, Tie] = {}

        def find(tie: Tie) -> Tie:
            while leader[tie] != tie:
                leader[tie] = tie = leader[leader[tie]]
            return tie

        for p in self._positions:
            for tie, _ in self._ties[p]:
                leader.setdefault(tie, tie)
                leader[find(tie)] = find(self._ties[p][0][0])
        members: dict[Tie, list[int]] = {}
        for p in self._positions:
            if self._ties[p]:
                members.setdefault(find(self._ties[p][0][0]), []).append(p)
            elif self._is_single(p):
                members[("device", p)] = [p]
        yield from members.values()

    def _block(self, members: list[int]) -> Block:
        """Return the block, whose ties are numbered in the order in which its devices name them."""
        numbers: dict[Tie, int] = {}
        classes: dict[Hashable, int] = {}
        counters: dict[tuple[Hashable, str, str], PoolDevice] = {}
        kind = []
        for p in members:
            device = self._facts.devices[p]
            assert isinstance(device, PoolDevice)
            ties = tuple(
                (tie[:2] if tie[0] == "value" else tie[:1], numbers.setdefault(tie, len(numbers)), what)
                for tie, what in self._ties[p]
            )
            local = (self._plain[p], ties)
            kind.append(local)
            classes[local] = classes.get(local, 0) | 1 << p
            for tie, amounts in self._ties[p]:
                if tie[0] == "set" and isinstance(amounts, tuple):
                    for name, _ in amounts:
                        counters.setdefault((tie[1], str(tie[2]), name), device)
        tokens = [(self.values[tie[1]], tie[2]) for tie in numbers if tie[0] == "value" and isinstance(tie[1], int)]
        return Block(
            tuple(kind),
            list(classes.values()),
            [(device, key) for key, device in counters.items()],
            tokens,
            [found for mask in classes.values() if (found := self._shared_in(mask))],
        )

    def _shared_in(self, mask: int) -> list[tuple[int, PoolDevice]]:
        mask &= self._facts.shared
        return [(1 << p, device) for device, p in self._facts.position.items() if mask >> p & 1]


def depends_on_order(option: Option, facts: Facts) -> bool:
    """Return whether the result depends on the order in which the option gets its devices (Q2)."""
    return (
        option.count > 1
        and facts.taker.quirks.distinct_remembers_last
        and any(not facts.values[constraint].is_match for constraint in option.want.constraints)
    )
