"""R6: the devices that counters and shared capacity keep out by now.

Safe: consumption only grows within a branch, so what fails now fails in the whole branch. Nothing is said about
counters of which it is still open who asks first (Q1).
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from dra_plan.allocator.counters import summed
from dra_plan.allocator.ledger import Ledger
from dra_plan.allocator.pools import Consumption, PoolDevice
from dra_plan.allocator.requests import Want

from .facts import Facts


class Consumers(NamedTuple):
    """Devices that consume the same from the same table; `device` stands for all."""

    device: PoolDevice
    consumption: Consumption
    mask: int


class Resources:
    """Counters and capacity of one search. Call `look` first at each moment, then ask."""

    def __init__(self, facts: Facts) -> None:
        self._facts, self._taker = facts, facts.taker
        self.consumers = self._gather()
        """The devices that may pay counters, by counter table; those of which a share is allocated never pay again."""
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

    # -- what is out by now --------------------------------------------------------------------------------------

    def look(self, ledger: Ledger) -> None:
        """Takes note of the counters as they are."""
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
        """The devices that the counters refuse, or None while the table is not certain."""
        out = 0
        for each in self.consumers[table]:
            known = self._taker.foreseen(each.device)
            if known is None:
                return None
            if self._taker.counters.short(each.device, known, ledger.counters) is not None:
                out |= each.mask
        return out

    def blocked(self, want: Want, ledger: Ledger) -> int:
        """The devices that counters or shared capacity refuse to a want by now."""
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
            # an amount that is an error ends the walk when it comes to it, and not before
            error = bool(self._taker.demand(want, device).problem)
            short = self._short[key] = not error and self._taker.capacity_refusal(want, device) is not None
        return short
