"""The devices left for the remaining requests at one point of the walk (rules R1 and R6).

An offer is an option with the devices that it can still use, without those that counters or shared capacity exclude
(R6). An outlook lists the offers for each remaining request. If a request has no offers, there is no solution (R1).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

from dra_plan.allocator.capacity import summed
from dra_plan.allocator.ledger import Ledger
from dra_plan.allocator.pools import Consumption, PoolDevice
from dra_plan.allocator.requests import Want

from .facts import Facts, Option
from .packing import DeviceDemand

# -- offers ------------------------------------------------------------------------------------------------------------


class DeviceOffer:
    """An option with the devices that it can still use. It needs `need` devices from the bit mask `row`."""

    __slots__ = ("need", "option", "row")

    def __init__(self, option: Option, need: int, row: int) -> None:
        self.option, self.need, self.row = option, need, row


Outlook = list[list[DeviceOffer]]
"""The offers for each remaining request, in order. Each request has at least one offer."""


def union(offers: Iterable[DeviceOffer]) -> int:
    """Return the devices in any of the offers, as a bit mask."""
    row = 0
    for offer in offers:
        row |= offer.row
    return row


# -- devices kept out by counters and shared capacity (R6) -------------------------------------------------------------
# Safe: consumption only grows within a branch, so a check that fails now fails in the whole branch. Counters are not
# used while it is undecided which device needs them first (Q1).


class Consumers(NamedTuple):
    """Devices that consume equal amounts from the same counter table. `device` is one of them."""

    device: PoolDevice
    consumption: Consumption
    mask: int


class Resources:
    """The counters and the shared capacity of a search. Call `look` after each step of the walk."""

    def __init__(self, facts: Facts) -> None:
        self._facts, self._taker = facts, facts.taker
        self.consumers = self._gather()
        """The devices that may be charged, by counter table; devices with an allocated share are never charged
        again."""
        self._counted = {
            table: sorted({(s, name) for each in consumers for s, name, _ in each.consumption})
            for table, consumers in self.consumers.items()
        }
        self._failing: dict[tuple[Hashable, tuple[int, ...]], int] = {}
        self._out = 0
        self._shared = [(p, d) for d, p in facts.position.items() if facts.shared >> p & 1]
        self._short: dict[tuple[Want, int, tuple[tuple[str, int], ...]], bool] = {}

    def _gather(self) -> dict[Hashable, list[Consumers]]:
        groups: dict[Hashable, dict[Consumption, Consumers]] = {}
        for device, position in self._facts.position.items():
            consumption = summed(device.consumption)
            if not consumption or (self._taker.is_shared(device) and self._taker.capacity_in_use(device)):
                continue
            consumers = groups.setdefault(self._taker.counters.key(device), {})
            before = consumers.get(consumption) or Consumers(device, consumption, 0)
            consumers[consumption] = before._replace(mask=before.mask | 1 << position)
        return {table: list(consumers.values()) for table, consumers in groups.items()}

    # -- excluded devices ----------------------------------------------------------------------------------------

    def look(self, ledger: Ledger) -> None:
        """Read the current amounts of the counters, for `blocked` to use."""
        spent = ledger.counters
        self._out = 0
        for table, counted in self._counted.items():
            state = (table, tuple([spent.get((table, s, name), 0) for s, name in counted]))
            if state not in self._failing:
                out = self._find_failing(table, ledger)
                if out is None:
                    continue
                self._failing[state] = out
            self._out |= self._failing[state]
        if ledger.shares:
            for position, device in self._shared:
                if device.id in ledger.shares:
                    self._out &= ~(1 << position)

    def _find_failing(self, table: Hashable, ledger: Ledger) -> int | None:
        """Return the devices that the counters reject, or None while the table is not certain."""
        out = 0
        for each in self.consumers[table]:
            known = self._taker.foreseen(each.device)
            if known is None:
                return None
            if self._taker.counters.short(each.device, known, ledger.counters) is not None:
                out |= each.mask
        return out

    def blocked(self, want: Want, ledger: Ledger) -> int:
        """Return the devices without enough counters or shared capacity for the request, as a bit mask (R6)."""
        if "R6" not in self._facts.rules or (want.admin and not self._taker.quirks.admin_pays):
            return 0
        out = self._out
        if ledger.shares:
            for position, device in self._shared:
                held = ledger.shares.get(device.id)
                if held is not None and self._is_short(want, position, device, held):
                    out |= 1 << position
        return out

    def _is_short(self, want: Want, position: int, device: PoolDevice, held: dict[str, int]) -> bool:
        key = (want, position, tuple(held.items()))
        short = self._short.get(key)
        if short is None:
            # an invalid amount ends the walk only when the walk reaches it
            error = bool(self._taker.demand(want, device).problem)
            short = self._short[key] = not error and self._taker.capacity_refusal(want, device) is not None
        return short


# -- the outlook -------------------------------------------------------------------------------------------------------


class Moment:
    """A point in the walk: a request, a slot of the request, and the devices taken so far.

    `option` is None until an option of the request is chosen. `taken` are all devices taken, and `mine` are those that
    each claim has taken, which matters for admin access. `candidates` are the devices that the slot may still try.
    """

    __slots__ = ("candidates", "ledger", "mine", "option", "request", "slot", "taken")

    def __init__(
        self,
        ledger: Ledger,
        request: int,
        option: Option | None,
        slot: int,
        candidates: int,
        taken: int,
        mine: Sequence[int],
    ) -> None:
        self.ledger, self.request, self.option, self.slot = ledger, request, option, slot
        self.candidates, self.taken, self.mine = candidates, taken, mine


class OutlookMaker:
    """Creates the outlooks for one search."""

    def __init__(self, facts: Facts, resources: Resources) -> None:
        self._facts, self._resources = facts, resources
        self._counts = "R1" in facts.rules
        self._once = facts.space.rules.resumes_scan

    def outlook(self, moment: Moment, horizon: int) -> Outlook | None:
        """Return the outlook for the requests before the horizon, or None if one of them cannot be met (R1).

        The outlook excludes only devices that stay excluded however many more devices are taken.
        """
        self._resources.look(moment.ledger)
        outlook = []
        for number in range(moment.request, horizon):
            offers = self._offers(moment, number)
            if not offers:
                return None
            outlook.append(offers)
        return outlook

    def _offers(self, moment: Moment, number: int) -> list[DeviceOffer]:
        request = self._facts.requests[number]
        here = number == moment.request
        options = [moment.option] if here and moment.option is not None else request.options
        slot = moment.slot if here else 0
        offers = []
        for option in options:
            if option.want.takes_all and not option.count:
                continue
            row = option.row_at(slot) & self._open(moment, option.want)
            if here:
                row &= moment.candidates
            need = option.count - slot
            if self.supply(row) >= need or not self._counts:
                offers.append(DeviceOffer(option, need, row))
        return offers

    def _open(self, moment: Moment, want: Want) -> int:
        """Return the devices that the want can still get."""
        blocked = moment.mine[want.claim_index] if want.admin else moment.taken
        blocked |= self._resources.blocked(want, moment.ledger)
        unfinished = self._facts.requests[moment.request].options[0].want.request_name
        allowed = -1
        for constraint in want.constraints:
            values = self._facts.values[constraint]
            if values.is_match:
                pinned = values.pinned(moment.ledger)
                if pinned is not None:
                    allowed &= values.offering(pinned)
            else:
                allowed &= ~values.offering(values.remembered(moment.ledger, but=unfinished))
        return allowed & ~blocked

    def supply(self, row: int) -> int:
        """Return how many slots of a request these devices can fill.

        A shared device can fill any number of slots, unless the walk scans the devices only once.
        """
        if row & self._facts.shared and not self._once:
            return 1 << 30
        return row.bit_count()

    def demands(self, outlook: Iterable[Sequence[DeviceOffer]]) -> list[DeviceDemand]:
        """Return how many devices each request needs exclusively, and the devices to choose from."""
        return [demand for offers in outlook if (demand := self.demand(offers)) is not None]

    def demand(self, offers: Sequence[DeviceOffer]) -> DeviceDemand | None:
        """Return how many devices a request needs exclusively, and the devices to choose from.

        Devices that the request can share are subtracted from the number. If there are alternatives, the number is that
        of the least demanding alternative. A request with admin access needs no device exclusively, so the result is
        None.
        """
        if any(offer.option.want.admin for offer in offers):
            return None
        shared = self._facts.shared
        if not shared:
            return min([offer.need for offer in offers]), union(offers)
        return min(offer.need - self.supply(offer.row & shared) for offer in offers), union(offers) & ~shared
