"""R9: whether the values of an attribute have room for all matchAttribute constraints together.

R4 asks of one constraint after the other which values it could have. Nine claims may each find room for five GPUs of
one root on each of eight roots, and still one claim too many is there if a root has no room for two.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from dra_plan.allocator.ledger import Ledger
from dra_plan.allocator.requests import Want

from .facts import Facts
from .hall import DeviceDemand, overdrawn
from .offers import Outlook
from .outlook import OutlookMaker
from .values import Token, Values


class _Wish(NamedTuple):
    """What one constraint needs, by request; of alternatives the smallest need and the devices of all."""

    values: Values
    demands: list[DeviceDemand]


class Crowding:
    """The matchAttribute constraints of one search, by attribute; those over lists are left alone."""

    def __init__(self, facts: Facts, outlooks: OutlookMaker) -> None:
        self._outlooks, self._rules = outlooks, facts.rules
        groups: dict[str, list[Values]] = {}
        for values in facts.values.values():
            if values.is_match and not values.constraint.lists:
                groups.setdefault(values.constraint.attribute, []).append(values)
        self._groups = [group for group in groups.values() if len(group) > 1]

    def exhausted(self, outlook: Outlook, ledger: Ledger) -> bool:
        """Whether the constraints on some attribute can't all be given a value.

        Safe: devices of one constraint share one value, and a device serves one request. So of a value's devices no
        more constraints can live than its smallest wishes add up to, and each constraint needs a place with some
        value (R2 over these places).
        """
        return "R9" in self._rules and any(self._is_crowded(group, outlook, ledger) for group in self._groups)

    def _is_crowded(self, group: list[Values], outlook: Outlook, ledger: Ledger) -> bool:
        wishes: list[_Wish] = []
        asking: set[Want] = set()
        for values in group:
            under = _under(values, outlook)
            wants = {offer.option.want for offers in under for offer in offers}
            # A request under two constraints gets its devices once: the second says nothing that can be added up.
            if wants & asking:
                continue
            wish = self._wish(values, under)
            if wish is not None:
                asking |= wants
                wishes.append(wish)
        if len(wishes) < 2:
            return False
        places = [0] * len(wishes)
        used = 0
        tokens = dict.fromkeys(token for wish in wishes for token in wish.values.masks)
        for token in tokens:
            able = [index for index, wish in enumerate(wishes) if _can_have(wish, token, ledger)]
            room = _room([_restricted(wishes[index], token) for index in able])
            for index in able:
                places[index] |= ((1 << room) - 1) << used
            used += room
        return overdrawn((1, mask) for mask in places)

    def _wish(self, values: Values, under: Outlook) -> _Wish | None:
        """None for a constraint that need not take any of these values."""
        if values.unknown:
            return None
        demands = [demand for demand in self._outlooks.demands(under) if demand[0] > 0]
        return _Wish(values, demands) if demands else None


def _under(values: Values, outlook: Outlook) -> Outlook:
    """What is asked under the constraint, whatever alternative is chosen."""
    return [offers for offers in outlook if all(values.constraint in offer.option.want.constraints for offer in offers)]


def _can_have(wish: _Wish, token: Token, ledger: Ledger) -> bool:
    pinned = wish.values.pinned(ledger)
    if pinned is not None and token not in pinned:
        return False
    return all(need <= (row & wish.values.masks.get(token, 0)).bit_count() for need, row in wish.demands)


def _restricted(wish: _Wish, token: Token) -> Mapping[int, int]:
    """The needs by row, among the devices of one value."""
    mask = wish.values.masks[token]
    needs: dict[int, int] = {}
    for need, row in wish.demands:
        needs[row & mask] = needs.get(row & mask, 0) + need
    return needs


def _room(wishes: list[Mapping[int, int]]) -> int:
    """How many of the wishes fit beside each other at most, by each row that some of them want."""
    room = len(wishes)
    for row in dict.fromkeys(row for wish in wishes for row in wish):
        left = row.bit_count()
        fitting = 0
        for need in sorted(sum(n for r, n in wish.items() if not r & ~row) for wish in wishes):
            left -= need
            if left < 0:
                break
            fitting += 1
        room = min(room, fitting)
    return room
