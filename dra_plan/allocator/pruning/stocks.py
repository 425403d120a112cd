"""Rules R6b and R6c: whether the counters and the shared capacity are enough for all requests together.

A stock is a counter name or a capacity name, with the amounts in all counter sets or shared devices of that name.
`sums` gives the total amount that each device takes, and `peaks` gives the largest amount that it takes from a single
counter set or shared device.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from functools import lru_cache
from typing import Protocol

from dra_plan.allocator.ledger import Ledger
from dra_plan.allocator.pools import PoolDevice
from dra_plan.allocator.pruning_rules import PruningRule
from dra_plan.allocator.requests import Want
from dra_plan.api import quantity

from .facts import Facts
from .outlook import Outlook, Resources, union
from .packing import Sizes, can_be_packed

Levels = list[tuple[int, int]]
"""Amounts in ascending order, each with a bit mask of the devices that take it."""


Shares = tuple[tuple[int, ...], ...]
"""For each device, the amounts that it may take, one of which it takes. Devices that take nothing are left out."""

_MOST_UNITS = 1_000
"""The size of a place, in the largest unit that divides all amounts, above which it is not examined closely."""


class Stock(Protocol):
    """A counter name or capacity name, with all places that hold an amount of it."""

    def left(self, ledger: Ledger, reach: int) -> list[int]:
        """Return the amount left in each place that a device in the bit mask `reach` takes from."""

    def sums(self, want: Want) -> Levels:
        """Return the total amount that each device takes for a request."""

    def peaks(self, want: Want) -> Levels:
        """Return the largest amount that each device takes from a single place for a request."""


def overdrawn(stocks: Iterable[Stock], outlook: Outlook, ledger: Ledger, rules: frozenset[PruningRule]) -> bool:
    """Return whether a stock has too little left for the requests in the outlook.

    Each request is assumed to take as little as its least demanding device takes.
    """
    reach = 0
    for offers in outlook:
        reach |= union(offers)
    return any(_is_short(stock, outlook, stock.left(ledger, reach), rules) for stock in stocks)


def _is_short(stock: Stock, outlook: Outlook, left: list[int], rules: frozenset[PruningRule]) -> bool:
    """Return whether the stock is too small.

    The stock is too small if the sum of all needs is too large, if more devices of some size are needed than fit, or if
    all of them together do not fit. Each place counts only up to the sum of the amounts that can be taken from it.
    """
    needs = [
        min(offer.need * _least(stock.sums(offer.option.want), offer.row) for offer in offers) for offers in outlook
    ]
    needed = sum(needs)
    if "R6b" in rules and needed and needed > sum(fillings(_shares(stock, outlook), left)):
        return True
    if "R6c" not in rules:
        return False
    sizes = [
        [(offer.need, _least(stock.peaks(offer.option.want), offer.row)) for offer in offers] for offers in outlook
    ]
    return _is_crowded(sizes, left) or not can_be_packed(_modest(sizes), left)


def _is_crowded(sizes: list[list[tuple[int, int]]], left: list[int]) -> bool:
    """Return whether more devices of some size are needed than fit in the places.

    `sizes` are the (number, size) pairs of each request.
    """
    for size in {amount for request in sizes for _, amount in request if amount > 0}:
        needed = sum(min(need if amount >= size else 0 for need, amount in request) for request in sizes)
        if needed > sum(amount // size for amount in left):
            return True
    return False


def _modest(sizes: list[list[tuple[int, int]]]) -> Sizes:
    """Return the minimum to be packed: each request's smallest number of its smallest size, largest sizes first."""
    found: dict[int, int] = {}
    for request in sizes:
        size = min(amount for _, amount in request)
        if size > 0:
            found[size] = found.get(size, 0) + min(need for need, _ in request)
    return tuple((size, number) for size, number in sorted(found.items(), reverse=True) if number)


def _shares(stock: Stock, outlook: Outlook) -> Shares:
    """Return what each needed device can take from one place; nothing if some take from several."""
    found: list[tuple[int, ...]] = []
    for offers in outlook:
        amounts: set[int] = set()
        for offer in offers:
            levels = stock.peaks(offer.option.want)
            if levels != stock.sums(offer.option.want):
                return ()
            amounts.update(amount for amount, mask in levels if amount and mask & offer.row)
        if amounts:
            found += [tuple(sorted(amounts))] * max(offer.need for offer in offers)
    return tuple(sorted(found))


def fillings(shares: Shares, left: list[int]) -> list[int]:
    """Return the largest sum of shares that fits into each place, given the amounts left in the places.

    Each share takes one of its possible amounts, or nothing.
    """
    unit = math.gcd(*(amount for amounts in shares for amount in amounts))
    if not unit or max(left, default=0) > _MOST_UNITS * unit:
        return left
    sums = _sums_of(shares, unit)
    return [((sums & ((2 << amount // unit) - 1)).bit_length() - 1) * unit for amount in left]


@lru_cache(maxsize=4096)
def _sums_of(shares: Shares, unit: int) -> int:
    """Return the possible sums of the shares, in units, as far as they matter; bit n stands for a sum of n."""
    sums = 1
    for amounts in shares:
        before = sums
        for amount in amounts:
            sums |= before << amount // unit
        sums &= (2 << _MOST_UNITS) - 1
    return sums


def _least(levels: Levels, row: int) -> int:
    """Return the smallest amount that a device in the row takes."""
    return next((amount for amount, mask in levels if mask & row), 0)


def find_stocks(facts: Facts, resources: Resources) -> list[Stock]:
    """Return a stock for each counter whose table is known, and for each capacity of a shared device."""
    names = sorted(
        {name for groups in resources.consumers.values() for group in groups for _, name, _ in group.consumption}
    )
    capacities = sorted({name for device in _shared(facts) for name in device.device.capacity})
    return [
        *(CounterStock(name, facts, resources) for name in names),
        *(CapacityStock(name, facts) for name in capacities),
    ]


class CounterStock:
    """A counter name, with the amounts in the counter sets of all tables.

    Shared devices are left out, because they may already consume their counters.
    """

    def __init__(self, name: str, facts: Facts, resources: Resources) -> None:
        self._admin_pays = facts.taker.quirks.admin_pays
        self._places: dict[tuple[Hashable, str, str], tuple[int, int]] = {}
        """For each counter, the amount left before the search, and the devices that take from it."""
        sums: dict[int, int] = {}
        peaks: dict[int, int] = {}
        for table, groups in resources.consumers.items():
            known = facts.taker.foreseen(groups[0].device)
            if known is None:
                continue
            for group in groups:
                amounts = [(s, amount) for s, n, amount in group.consumption if n == name and (s, n) in known.left]
                mask = group.mask & ~facts.shared
                for s, _ in amounts:
                    left, takers = self._places.get((table, s, name), (known.left[s, name], 0))
                    self._places[table, s, name] = (left, takers | mask)
                if amounts and mask:
                    _add(sums, sum(amount for _, amount in amounts), mask)
                    _add(peaks, max(amount for _, amount in amounts), mask)
        self._sums, self._peaks = _levels(sums, facts), _levels(peaks, facts)

    def left(self, ledger: Ledger, reach: int) -> list[int]:
        """Return the amount that is left in each counter set, as `Stock.left` does."""
        spent = ledger.counters
        return [max(0, left - spent.get(key, 0)) for key, (left, takers) in self._places.items() if takers & reach]

    def sums(self, want: Want) -> Levels:
        """Return the total amount that each device takes for a request, as `Stock.sums` does."""
        return self._sums if self._admin_pays or not want.admin else []

    def peaks(self, want: Want) -> Levels:
        """Return the largest amount that each device takes from a single counter set, as `Stock.peaks` does."""
        return self._peaks if self._admin_pays or not want.admin else []


class CapacityStock:
    """A capacity name, with the amounts in all shared devices."""

    def __init__(self, name: str, facts: Facts) -> None:
        self._name, self._facts = name, facts
        self._admin_pays = facts.taker.quirks.admin_pays
        self._levels: dict[Want, Levels] = {}
        self._places = [
            (device, 1 << facts.position[device], self._total(device))
            for device in _shared(facts)
            if name in device.device.capacity
        ]

    def _total(self, device: PoolDevice) -> int:
        persisted = self._facts.taker.state.aggregate.get(device.id, {}).get(self._name, 0)
        return quantity.parse(device.device.capacity[self._name].value).nano - persisted

    def left(self, ledger: Ledger, reach: int) -> list[int]:
        """Return the amount that is left in each shared device, as `Stock.left` does."""
        shares = ledger.shares
        return [
            max(0, total - shares.get(device.id, {}).get(self._name, 0))
            for device, bit, total in self._places
            if bit & reach
        ]

    def sums(self, want: Want) -> Levels:
        """Return the amount that each device takes for a request, as `Stock.sums` does."""
        if want.admin and not self._admin_pays:
            return []
        if want not in self._levels:
            amounts: dict[int, int] = {}
            for device, bit, _ in self._places:
                for portion in self._facts.taker.demand(want, device).portions:
                    if portion.name == self._name:
                        _add(amounts, portion.amount, bit)
            self._levels[want] = _levels(amounts, self._facts)
        return self._levels[want]

    def peaks(self, want: Want) -> Levels:
        """Return the same as `sums`, because a device takes capacity from itself only."""
        return self.sums(want)


def _shared(facts: Facts) -> list[PoolDevice]:
    return [device for device, position in facts.position.items() if facts.shared >> position & 1]


def _add(amounts: dict[int, int], amount: int, mask: int) -> None:
    amounts[amount] = amounts.get(amount, 0) | mask


def _levels(amounts: dict[int, int], facts: Facts) -> Levels:
    """Return the amounts in order, with 0 for all devices that are not named."""
    named = 0
    for mask in amounts.values():
        named |= mask
    _add(amounts, 0, facts.everything & ~named)
    return sorted(amounts.items())
