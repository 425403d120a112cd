"""R7 and R7b: whether there are enough different values for all requests under a distinctAttribute constraint."""

from __future__ import annotations

from collections.abc import Sequence

from dra_plan.allocator.ledger import Ledger
from dra_plan.allocator.requests import RESULTS_LIMIT

from .facts import Facts
from .hall import DeviceDemand, overdrawn
from .offers import DeviceOffer, Outlook, union
from .values import Values


class Diversity:
    """The distinctAttribute constraints of one search; those over lists are left alone."""

    def __init__(self, facts: Facts) -> None:
        self._remembers_last = facts.taker.quirks.distinct_remembers_last
        self._distincts = [
            values for values in facts.values.values() if not values.is_match and not values.constraint.lists
        ]
        self._rules = facts.rules
        self._offered: dict[tuple[Values, int], int] = {}

    def exhausted(self, outlook: Outlook, ledger: Ledger, wide: Outlook | None) -> bool:
        """Whether some constraint asks for more different values than there are.

        `wide` is the outlook with all that can be taken, whether or not anything can follow; None where devices that
        can't be taken any more may have been taken before.

        Safe: devices under the constraint differ in the value, each from each. Where only the last device of each
        request is remembered (Q2), see `_is_cramped`.
        """
        if "R7" not in self._rules:
            return False
        for values in self._distincts:
            under = [number for number, offers in enumerate(outlook) if _are_under(offers, values)]
            if self._remembers_last:
                if under and self._is_cramped(values, under, outlook, ledger, wide):
                    return True
            elif overdrawn(self._demand(values, outlook[number]) for number in under):
                return True
        return False

    def _demand(self, values: Values, offers: Sequence[DeviceOffer], most: int = RESULTS_LIMIT) -> DeviceDemand:
        return min(most, *(offer.need for offer in offers)), self._values_of(values, union(offers))

    def _is_cramped(
        self, values: Values, under: Sequence[int], outlook: Outlook, ledger: Ledger, wide: Outlook | None
    ) -> bool:
        """Whether some request comes too late to find what it needs beside what those before it leave remembered.

        Safe: the last devices of the requests differ, each from each. And a request for several devices meets one
        more value while those before it are remembered: its second device differs from its first, or else the first
        was forgotten, because the walk had met a device in between that differs, and gave it back, or had it refused
        by a later constraint.
        """
        gone = values.offering(values.remembered(ledger, but=outlook[0][0].option.want.request_name))
        earlier: list[DeviceDemand] = []
        for number in under:
            demand = self._demand(values, outlook[number], 1)
            if "R7b" in self._rules and all(offer.need > 1 for offer in outlook[number]):
                met = _met(values, outlook[number] if wide is None else wide[number], gone, every=wide is None)
                if overdrawn([*earlier, demand, (1, self._values_of(values, met))]):
                    return True
            earlier.append(demand)
        return overdrawn(earlier)

    def _values_of(self, values: Values, row: int) -> int:
        """The values that the devices of a row offer, as bits. Those of unknown type equal nothing: one bit each."""
        key = (values, row)
        known = self._offered.get(key)
        if known is None:
            known = 0
            for bit, mask in enumerate(values.masks.values()):
                if mask & row:
                    known |= 1 << bit
            known |= (row & values.unknown) << len(values.masks)
            self._offered[key] = known
        return known


def _are_under(offers: Sequence[DeviceOffer], values: Values) -> bool:
    return all(values.constraint in offer.option.want.constraints for offer in offers)


def _met(values: Values, offers: Sequence[DeviceOffer], gone: int, *, every: bool) -> int:
    """The devices that the constraint may let in for a request, also if a later constraint then refuses them."""
    row = 0
    for offer in offers:
        constraints = offer.option.want.constraints
        if values.constraint in constraints:
            refused_later = constraints[-1] is not values.constraint
            row |= offer.option.tries & ~gone if every or refused_later else offer.row
    return row
