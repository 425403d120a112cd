"""What the remaining requests need and what is left for them, at one point of the walk.

An outlook is made of offers: for each remaining request the options that still have enough devices, each with the
number needed and the devices that can serve it now. Making it is rule R1; the other rules take it further.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dra_plan.allocator.ledger import Ledger
from dra_plan.allocator.requests import Want

from .facts import Facts, Option
from .hall import DeviceDemand
from .offers import DeviceOffer, Outlook, union
from .resources import Resources


class Moment:
    """Where the walk is: at `slot` of a request (of one option of it, or of all), with what is taken.

    `taken` are the devices that are gone; `mine` those that each claim has, which is what admin access minds;
    `candidates` those that this slot may still try; `ledger` knows the rest.
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
    """Makes outlooks for one search."""

    def __init__(self, facts: Facts, resources: Resources) -> None:
        self._facts, self._resources = facts, resources
        self._counts = "R1" in facts.rules
        self._once = facts.space.rules.resumes_scan

    def outlook(self, moment: Moment, horizon: int) -> Outlook | None:
        """The outlook for the requests before the horizon, or None if one of them can't be served (R1).

        Safe: each of these requests must be served, by devices that are free and pass every check that only gets
        stricter while devices are taken.
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
        """The devices that nothing so far keeps from the want."""
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
        """How many devices a request can have out of a row; where each slot scans anew, one may serve all slots."""
        if row & self._facts.shared and not self._once:
            return 1 << 30
        return row.bit_count()

    def demands(self, outlook: Iterable[Sequence[DeviceOffer]]) -> list[DeviceDemand]:
        """What the requests need of devices that only one request can have."""
        return [demand for offers in outlook if (demand := self.demand(offers)) is not None]

    def demand(self, offers: Sequence[DeviceOffer]) -> DeviceDemand | None:
        """What a request needs of such devices.

        A shared device serves every request; admin access takes nothing away from others; of alternatives, the
        smallest need and the devices of all.
        """
        if any(offer.option.want.admin for offer in offers):
            return None
        shared = self._facts.shared
        if not shared:
            return min([offer.need for offer in offers]), union(offers)
        return min(offer.need - self.supply(offer.row & shared) for offer in offers), union(offers) & ~shared
