"""The devices that each request can use, as bit masks, computed before any device is taken.

Bit p stands for the device at position p in the scan. In this module, requests are numbered across all claims, in
search order. The options of a request are its alternatives or, if it has none, the request itself.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field

from dra_plan.allocator.constraints import UNKNOWN, Constraint, MatchAttribute
from dra_plan.allocator.ledger import Ledger
from dra_plan.allocator.pools import PoolDevice
from dra_plan.allocator.pruning_rules import PruningRule
from dra_plan.allocator.reasons import AllocationError
from dra_plan.allocator.requests import RESULTS_LIMIT, Want
from dra_plan.allocator.taking import Taker
from dra_plan.allocator.walk import SearchSpace
from dra_plan.api import quantity

# -- devices by value --------------------------------------------------------------------------------------------------

Token = Hashable
"""A value that devices can have in common, with its type. For a list, one of its elements."""


class Values:
    """The devices for each value of an attribute, as bit masks.

    `unknown` are the devices with a value of an unknown type. Such a value is not equal to any other.
    """

    __slots__ = ("at", "constraint", "is_match", "masks", "unknown")

    def __init__(self, constraint: Constraint, positions: Mapping[PoolDevice, int]) -> None:
        self.constraint = constraint
        self.is_match = isinstance(constraint, MatchAttribute)
        self.at: dict[int, tuple[Token, ...]] = {}
        """The tokens of each device, by position. A device without the attribute has no entry, and an unknown value has
        no tokens.
        """
        self.masks: dict[Token, int] = {}
        self.unknown = 0
        for device, position in positions.items():
            value = constraint.value(device)
            if value is None:
                continue
            tokens = self.at[position] = self._tokens(value)
            for token in tokens:
                self.masks[token] = self.masks.get(token, 0) | 1 << position
            if not tokens:
                self.unknown |= 1 << position

    def _tokens(self, value: tuple[str, object]) -> tuple[Token, ...]:
        if value is UNKNOWN:
            return ()
        kind, content = value
        if isinstance(content, frozenset):
            return tuple((kind, item) for item in sorted(content))
        return (value,)

    def pinned(self, ledger: Ledger) -> tuple[Token, ...] | None:
        """Return the values that another device of a matchAttribute constraint may have, or None if all are allowed."""
        count, value = ledger.pins.get(self.constraint, (0, None))
        return self._tokens(value) if count and value is not None else None

    def remembered(self, ledger: Ledger, but: str | None = None) -> list[Token]:
        """Return the values that another device of a distinctAttribute constraint may not have.

        The value recorded for request `but` is left out: with Q2, a later device of this request overwrites it.
        """
        seen: Iterable[tuple[object, tuple[str, object]]] = ledger.remembered.get(self.constraint, {}).items()
        return [token for slot, value in seen if but is None or slot != but for token in self._tokens(value)]

    def offering(self, tokens: Iterable[Token]) -> int:
        """Return the devices that have at least one of the values, as a bit mask."""
        mask = 0
        for token in tokens:
            mask |= self.masks.get(token, 0)
        return mask


# -- devices by request ------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class Option:
    """A request or one of its alternatives, with bit masks of the devices that it can use.

    `tries` are the devices that the walk tries, and `row` are those that can be taken. `errs` is true if a device in
    `tries` ends the search with an error. `listed[k]` are the devices that a request for all devices has yet to take
    from slot k on.
    """

    want: Want
    count: int
    tries: int = 0
    row: int = 0
    errs: bool = False
    listed: list[int] = field(default_factory=list)

    def row_at(self, slot: int) -> int:
        """Return the devices that the option can use from this slot on, as a bit mask."""
        return self.row & self.listed[slot] if self.listed else self.row


@dataclass(slots=True, eq=False)
class Request:
    """A request with its options: its alternatives or, if it has none, the request itself."""

    claim: int
    index: int
    options: list[Option]
    alternatives: bool


Left = tuple[bool, tuple[tuple[str, int], ...]]


class Facts:
    """The bit masks for one search. The ledger must be empty when they are computed."""

    def __init__(self, space: SearchSpace, taker: Taker, rules: frozenset[PruningRule]) -> None:
        self.space, self.taker, self.rules = space, taker, rules
        self.devices = space.scan
        self.position = {d: p for p, d in enumerate(space.scan) if isinstance(d, PoolDevice)}
        self.everything = (1 << len(space.scan)) - 1
        self.shared = self._mask_of_shared()
        self._whole: dict[PoolDevice, tuple[tuple[str, int], ...]] = {}
        self.requests: list[Request] = []
        self.first: list[int] = []
        """The number of each claim's first request."""
        for claim, ready in enumerate(space.claims):
            self.first.append(len(self.requests))
            for index, wants in enumerate(ready.requests):
                options = [self._option(want) for want in wants]
                self.requests.append(Request(claim, index, options, ready.alternatives[index]))
        self.values: dict[Constraint, Values] = {
            constraint: Values(constraint, self.position) for ready in space.claims for constraint in ready.constraints
        }

    def number(self, want: Want) -> int:
        """Return the number of the request. An alternative has the number of its request."""
        return self.first[want.claim_index] + want.request_index

    def option(self, want: Want) -> Option:
        """Return the option for this request or alternative."""
        return self.requests[self.number(want)].options[want.option_index]

    def most(self, claim: int) -> int:
        """Return the largest number of devices that the claim can get."""
        return sum(max(o.count for o in request.options) for request in self.requests if request.claim == claim)

    @property
    def may_exceed(self) -> bool:
        """True if a claim could get more devices than the limit allows."""
        return any(self.most(claim) > RESULTS_LIMIT for claim in range(len(self.first)))

    def _mask_of_shared(self) -> int:
        return sum(1 << p for d, p in self.position.items() if self.taker.is_shared(d))

    def _option(self, want: Want) -> Option:
        option = Option(want, self.space.count(want))
        if want.takes_all:
            self._list(option)
            return option
        for position, device in enumerate(self.devices):
            bit = 1 << position
            if not isinstance(device, PoolDevice):
                option.errs, option.tries = True, option.tries | bit
                continue
            try:
                tried = self._is_tried(option, device)
            except AllocationError:
                option.errs, option.tries = True, option.tries | bit
                continue
            if tried:
                option.tries |= bit
                option.row |= 0 if self.taker.never(want, device) else bit
        return option

    def _list(self, option: Option) -> None:
        """Fill in the devices listed for All, and those of them that it can take."""
        left = 0
        for device in reversed(self.space.listed[option.want]):
            bit = 1 << self.position[device]
            left |= bit
            option.listed.append(left)
            taker, want = self.taker, option.want
            if taker.in_use(want, device) is None and not taker.never(want, device):
                option.row |= bit
        option.tries = left
        option.listed.reverse()

    def _is_tried(self, option: Option, device: PoolDevice) -> bool:
        """Return whether the walk would pass the checks that never change. Raises AllocationError as the walk would."""
        taker, want = self.taker, option.want
        if taker.in_use(want, device) is not None or taker.match_refusal(want, device) is not None:
            return False
        return not taker.capacity_counts or taker.capacity_refusal(want, device) is None

    def left(self, device: PoolDevice, ledger: Ledger) -> Left:
        """Return whether a share of the device is in use, and how much of each capacity is left."""
        held = ledger.shares.get(device.id)
        whole = self._whole.get(device)
        if whole is None:
            persisted = self.taker.state.aggregate.get(device.id, {})
            whole = self._whole[device] = tuple(
                (name, quantity.parse(stated.value).nano - persisted.get(name, 0))
                for name, stated in sorted(device.device.capacity.items())
            )
        if not held:
            return held is not None, whole
        return True, tuple([(name, total - held.get(name, 0)) for name, total in whole])
