"""R7: whether there are enough different values for all requests under a distinctAttribute constraint."""

from __future__ import annotations

from .facts import Facts
from .hall import Demand, overdrawn
from .offers import Outlook, union
from .values import Values


class Diversity:
    """The distinctAttribute constraints of one search; those over lists are left alone."""

    def __init__(self, facts: Facts) -> None:
        self._remembers_last = facts.taker.quirks.distinct_remembers_last
        self._distincts = [
            values for values in facts.values.values() if not values.is_match and not values.constraint.lists
        ]
        self._offered: dict[tuple[Values, int], int] = {}

    def exhausted(self, outlook: Outlook) -> bool:
        """Whether some constraint asks for more different values than there are.

        Safe: devices under the constraint differ in the value, each from each. Where only the last device of each
        request is remembered (Q2), these still differ, so one value for each request is needed.
        """
        return any(overdrawn(self._demands(values, outlook)) for values in self._distincts)

    def _demands(self, values: Values, outlook: Outlook) -> list[Demand]:
        found = []
        for offers in outlook:
            if all(values.constraint in offer.option.want.constraints for offer in offers):
                need = 1 if self._remembers_last else min(offer.need for offer in offers)
                found.append((need, self._values_of(values, union(offers))))
        return found

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
