"""R4: whether there is a value that all requests under a matchAttribute constraint can still share."""

from __future__ import annotations

from dra_plan.allocator.constraints import Constraint
from dra_plan.allocator.ledger import Ledger

from .facts import Facts
from .hall import DeviceDemand, overdrawn
from .offers import DeviceOffer, Outlook
from .outlook import OutlookMaker
from .values import Values


class Agreement:
    """The matchAttribute constraints of one search."""

    def __init__(self, facts: Facts, outlooks: OutlookMaker) -> None:
        self._facts, self._outlooks = facts, outlooks
        self._matches = [values for values in facts.values.values() if values.is_match]

    def narrowed(self, outlook: Outlook, ledger: Ledger) -> Outlook | None:
        """The outlook without devices whose value can't be shared, or None if some constraint has no value left.

        Safe: the devices of all requests under a constraint share one value, so a value that leaves one of these
        requests, or all of them together (R2), short of devices is none of the solution's. Alternatives that are not
        under the constraint keep all their devices.
        """
        if "R4" not in self._facts.rules:
            return outlook
        for values in self._matches:
            if not any(_is_under(offer, values.constraint) for offers in outlook for offer in offers):
                continue
            choices = self._choices(values, outlook, ledger)
            if not choices:
                return None
            if len(choices) < len(values.masks) or values.unknown:
                allowed = 0
                for mask in choices:
                    allowed |= mask
                restricted = self._restricted(outlook, values.constraint, allowed)
                if restricted is None:
                    return None
                outlook = restricted
        return outlook

    def _choices(self, values: Values, outlook: Outlook, ledger: Ledger) -> list[int]:
        """The masks of the values that all requests could share.

        Values of unknown type count as one more; that each of them is for a single device only is not used.
        """
        pinned = values.pinned(ledger)
        tokens = values.masks if pinned is None else pinned
        masks = [values.masks.get(token, 0) for token in tokens]
        if pinned is None and values.unknown:
            masks.append(values.unknown)
        under = [any(_is_under(offer, values.constraint) for offer in offers) for offers in outlook]
        others = self._outlooks.demands(offers for offers, is_under in zip(outlook, under, strict=True) if not is_under)
        asking = [offers for offers, is_under in zip(outlook, under, strict=True) if is_under]
        return [mask for mask in masks if self._is_possible(asking, others, values.constraint, mask)]

    def _is_possible(self, asking: Outlook, others: list[DeviceDemand], constraint: Constraint, mask: int) -> bool:
        """Whether the requests under the constraint can have the masked devices, beside what the others demand."""
        restricted = self._restricted(asking, constraint, mask)
        return restricted is not None and not overdrawn([*self._outlooks.demands(restricted), *others])

    def _restricted(self, outlook: Outlook, constraint: Constraint, mask: int) -> Outlook | None:
        """The outlook with only the masked devices for what is under the constraint; None if a request has too few."""
        result = []
        for offers in outlook:
            kept = []
            for offer in offers:
                if not _is_under(offer, constraint):
                    kept.append(offer)
                    continue
                row = offer.row & mask
                if self._outlooks.supply(row) >= offer.need:
                    kept.append(DeviceOffer(offer.option, offer.need, row))
            if not kept:
                return None
            result.append(kept)
        return result


def _is_under(offer: DeviceOffer, constraint: Constraint) -> bool:
    return constraint in offer.option.want.constraints
