"""Rules R4, R5, R7 and R8: whether constraints can still be satisfied, and which states are known to fail.

In order: the values that all requests under a matchAttribute constraint can still share; whether there are enough
different values for the requests under a distinctAttribute constraint; and the states from which an earlier walk found
no solution.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from dra_plan.allocator.constraints import Constraint
from dra_plan.allocator.ledger import Ledger
from dra_plan.allocator.pools import PoolDevice
from dra_plan.allocator.requests import RESULTS_LIMIT

from .facts import Facts, Token, Values
from .outlook import DeviceOffer, Moment, Outlook, OutlookMaker, union
from .packing import DeviceDemand, overdrawn
from .shapes import Block, Shapes, depends_on_order


class Agreement:
    """The matchAttribute constraints of a search. They restrict requests to devices with a common value."""

    def __init__(self, facts: Facts, outlooks: OutlookMaker) -> None:
        self._facts, self._outlooks = facts, outlooks
        self._matches = [values for values in facts.values.values() if values.is_match]

    def narrowed(self, outlook: Outlook, ledger: Ledger) -> Outlook | None:
        """Return the outlook restricted to common values, or None if a constraint has no value left (R4).

        A value is impossible if it leaves a request under the constraint, or all of them together (R2), with too few
        devices. Alternatives that the constraint does not apply to keep all their devices.
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
        """Return the masks of the values that all requests could share.

        Values of unknown type are treated as one more value; the fact that each serves only a single device is not
        used.
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
        """Return whether the constrained requests can have the masked devices in addition to the others' demands."""
        restricted = self._restricted(asking, constraint, mask)
        return restricted is not None and not overdrawn([*self._outlooks.demands(restricted), *others])

    def _restricted(self, outlook: Outlook, constraint: Constraint, mask: int) -> Outlook | None:
        """Return the outlook with only the masked devices for constrained requests; None if a request has too few."""
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


# -- distinctAttribute: enough different values (R7, R7b) --------------------------------------------------------------


class Diversity:
    """The distinctAttribute constraints of a search, except those on attributes with lists."""

    def __init__(self, facts: Facts) -> None:
        self._remembers_last = facts.taker.quirks.distinct_remembers_last
        self._distincts = [
            values for values in facts.values.values() if not values.is_match and not values.constraint.lists
        ]
        self._rules = facts.rules
        self._offered: dict[tuple[Values, int], int] = {}

    def exhausted(self, outlook: Outlook, ledger: Ledger, wide: Outlook) -> bool:
        """Return whether a constraint needs more different values than there are (R7).

        `wide` is the outlook before constraints restricted it. If only the last value of each request is remembered
        (Q2), another test is used.
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
        self, values: Values, under: Sequence[int], outlook: Outlook, ledger: Ledger, wide: Outlook
    ) -> bool:
        """Return whether some request comes too late to find enough values next to those remembered earlier.

        Safe: the last devices of the requests all have different values. A request for several devices meets one more
        value while the earlier ones are remembered: its second device differs from its first, or else the first was
        forgotten because the walk had met a device in between that differs, and then released it, or a later constraint
        rejected it.
        """
        gone = values.offering(values.remembered(ledger, but=outlook[0][0].option.want.request_name))
        earlier: list[DeviceDemand] = []
        for number in under:
            demand = self._demand(values, outlook[number], 1)
            if "R7b" in self._rules and all(offer.need > 1 for offer in outlook[number]):
                met = _met(values, wide[number], gone)
                if overdrawn([*earlier, demand, (1, self._values_of(values, met))]):
                    return True
            earlier.append(demand)
        return overdrawn(earlier)

    def _values_of(self, values: Values, row: int) -> int:
        """Return the values of a row's devices as bits. Values of unknown type equal nothing: one bit each."""
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


def _met(values: Values, offers: Sequence[DeviceOffer], gone: int) -> int:
    """Return the devices that the constraint may admit for a request, even if a later constraint then rejects them."""
    row = 0
    for offer in offers:
        constraints = offer.option.want.constraints
        if values.constraint in constraints:
            refused_later = constraints[-1] is not values.constraint
            row |= offer.option.tries & ~gone if refused_later else offer.row
    return row


# -- states without a solution (R5, R8) --------------------------------------------------------------------------------
# Two states are equal if the remaining requests cannot distinguish them, because they have the same number of free
# devices of each kind, the same values in use, and the same remaining counters and capacity. Copies of a block may be
# exchanged (`shapes`).

_MOST_STATES = 100_000
"""The maximum number of stored states, which is enough for every search that ends within its steps and limits
memory."""


class Memory:
    """The states from which a walk found no solution.

    The result of a walk depends only on the state, so a walk from a stored state can be skipped. Only failures are
    stored, so the first solution remains the same.
    """

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._failed: set[Hashable] = set()
        self._shapes: dict[tuple[int, int], Shapes] = {}
        self._numbers: dict[Hashable, int] = {}
        self._admin = [any(want.admin for wants in ready.requests for want in wants) for ready in facts.space.claims]
        self._counts_results = [facts.most(claim) > RESULTS_LIMIT for claim in range(len(facts.space.claims))]

    def shapes(self, start: int, end: int) -> Shapes:
        """Return the shapes of the devices for requests `start` to `end` - 1."""
        if (start, end) not in self._shapes:
            self._shapes[start, end] = Shapes(self._facts, start, end)
        return self._shapes[start, end]

    def key(self, moment: Moment, horizon: int) -> Hashable | None:
        """Return a key for the state of the search, or None if no key can describe it.

        There is no key in the middle of a request for which the order of devices matters (Q2).
        """
        option = moment.option
        if "R5" not in self._facts.rules:
            return None
        if option is not None and moment.slot and depends_on_order(option, self._facts):
            return None
        shapes = self.shapes(moment.request, horizon)
        claim = self._facts.requests[moment.request].claim
        ledger, free = moment.ledger, ~moment.taken
        candidates = moment.candidates & free
        used = _in_use(shapes, ledger)
        return (
            moment.request,
            horizon,
            option.want.option_index if option is not None else -1,
            moment.slot,
            len(ledger.results[claim]) if self._counts_results[claim] else 0,
            (moment.taken, moment.mine[claim]) if self._admin[claim] else None,
            tuple([((mask & candidates).bit_count(), (mask & free).bit_count()) for mask in shapes.loose]),
            tuple([_constraint_state(values, ledger) for values in shapes.values]),
            tuple(sorted([self._number(self._block_state(b, candidates, moment, used)) for b in shapes.blocks])),
        )

    def knows(self, key: Hashable) -> bool:
        """Return whether an earlier walk from this state found no solution."""
        return key in self._failed

    def store(self, key: Hashable) -> None:
        """Record that a walk from this state found no solution."""
        if len(self._failed) < _MOST_STATES:
            self._failed.add(key)

    def _number(self, state: Hashable) -> int:
        """Return the number of a state; numbers can be sorted, states cannot."""
        return self._numbers.setdefault(state, len(self._numbers))

    def _block_state(self, block: Block, candidates: int, moment: Moment, used: set[tuple[Values, Token]]) -> Hashable:
        free, ledger = ~moment.taken, moment.ledger
        return (
            self._number(block.kind),
            tuple([((mask & candidates).bit_count(), (mask & free).bit_count()) for mask in block.classes]),
            tuple([self._left(device, key, ledger) for device, key in block.counters]),
            tuple([token in used for token in block.tokens]),
            tuple([self._sorted_shares(members, candidates, ledger) for members in block.shared]),
        )

    def _left(self, device: PoolDevice, key: tuple[Hashable, str, str], ledger: Ledger) -> int | None:
        """Return the remaining amount of a counter, or None if there is no such limit."""
        table = self._facts.taker.foreseen(device)
        total = table.left.get(key[1:]) if table is not None else None
        return None if total is None else total - ledger.counters.get(key, 0)

    def _sorted_shares(self, members: list[tuple[int, PoolDevice]], candidates: int, ledger: Ledger) -> Hashable:
        """Return what is left of each of these shared devices, unordered, and whether this slot may try it (R8)."""
        if "R8" not in self._facts.rules:
            return tuple([(bit, *self._facts.left(device, ledger), bool(candidates & bit)) for bit, device in members])
        return tuple(sorted([(*self._facts.left(device, ledger), bool(candidates & bit)) for bit, device in members]))


def _in_use(shapes: Shapes, ledger: Ledger) -> set[tuple[Values, Token]]:
    """Return the values that are pinned or remembered, by constraint."""
    used: set[tuple[Values, Token]] = set()
    for values in shapes.values:
        tokens = values.pinned(ledger) or () if values.is_match else values.remembered(ledger)
        used.update((values, token) for token in tokens)
    return used


def _constraint_state(values: Values, ledger: Ledger) -> Hashable:
    """Return the part of a constraint's state that blocks lack: whole lists, and whether any value is in use."""
    pinned = values.pinned(ledger) if values.is_match else tuple(values.remembered(ledger))
    if values.constraint.lists and pinned is not None:
        return tuple(sorted(pinned, key=repr))
    return pinned is not None if values.is_match else bool(ledger.remembered.get(values.constraint))
