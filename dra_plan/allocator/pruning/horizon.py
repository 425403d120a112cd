"""How far ahead the search is quiet: what may be left out because nobody could tell.

A part of the walk may be left out if it finds nothing *and* leaves nothing behind. Walking through a request, or not,
makes no difference only while that can neither end the search with an error nor change anything for good. The horizon
is the first request of which this is not certain; the rules apply to what never gets there.

The horizon only moves away: errors are known from the start, and less can leak as leaks fill the counters up.
"""

from __future__ import annotations

from collections.abc import Callable

from dra_plan.allocator.constraints import Constraint
from dra_plan.allocator.ledger import Ledger
from dra_plan.allocator.pools import PoolDevice
from dra_plan.allocator.requests import Want

from .facts import Facts, Option


class Horizon:
    """The horizon of one search."""

    def __init__(self, facts: Facts) -> None:
        self._facts, self._taker = facts, facts.taker
        self._quirks = facts.taker.quirks
        self._end = len(facts.requests)
        self._errors = self._first(self._may_err)
        self._never = min(self._errors, self._first(self._is_never_quiet))
        self._open = [self._devices(number, self._may_pay) for number in range(self._end)]
        """By request: devices whose counter table is not certain yet. Who asks first settles it, for all nodes (Q1)."""
        self._leaky = [self._devices(number, self._may_leak) for number in range(self._end)]
        """By request: devices that may keep counters without being taken, or after they are given back."""
        self.only_rejections_leak = self._end == self._first(self._is_never_quiet) and not (
            self._quirks.shared_undo_keeps_counters and self._pays_for_shares()
        )
        """Whether nothing can leak but counters of devices that were refused (Q4)."""
        self._reached = 0
        self._leaks_seen = -1

    def for_errors(self) -> int:
        """The first request that may end the search with an error, or settle something for other nodes.

        For R0, after which nothing runs: what leaks before is forgotten then.
        """
        return next((number for number in range(self._errors) if self._undecided(number)), self._errors)

    def reach(self, ledger: Ledger) -> int:
        """The first request that is not quiet yet."""
        if self._reached < self._never and (ledger.leaks != self._leaks_seen or self._open[self._reached]):
            self._leaks_seen = ledger.leaks
            while self._reached < self._never and self._is_quiet(self._reached, ledger):
                self._reached += 1
        if self._reached < self._end and self._facts.may_exceed:
            # A claim with too many devices ends loops early, which also hides errors and leaks: all or nothing.
            return 0
        return self._reached

    def _is_quiet(self, number: int, ledger: Ledger) -> bool:
        self._leaky[number] = [device for device in self._leaky[number] if self._still_leaks(device, ledger)]
        return not self._leaky[number] and not self._undecided(number)

    def _undecided(self, number: int) -> bool:
        self._open[number] = [device for device in self._open[number] if self._taker.foreseen(device) is None]
        return bool(self._open[number])

    def _first(self, holds: Callable[[Option], bool]) -> int:
        for number, request in enumerate(self._facts.requests):
            if any(holds(option) for option in request.options):
                return number
        return self._end

    def _devices(self, number: int, holds: Callable[[Want, PoolDevice], bool]) -> list[PoolDevice]:
        return [
            device
            for device, position in self._facts.position.items()
            if any(
                option.tries >> position & 1 and holds(option.want, device)
                for option in self._facts.requests[number].options
            )
        ]

    def _pays_for_shares(self) -> bool:
        shared = self._facts.shared
        return any(device.consumption for device, position in self._facts.position.items() if shared >> position & 1)

    # -- what is never quiet -------------------------------------------------------------------------------------

    def _may_err(self, option: Option) -> bool:
        """Whether the option may end the search with an error, or the masks say nothing about it.

        A selector may fail on a device; a constraint may stop All (Q11). All may turn into another alternative (Q20),
        and amounts below zero would make consumption shrink: both are beyond what the rules understand.
        """
        want = option.want
        if option.errs or (want.takes_all and want.constraints and self._quirks.all_with_constraint_fatal):
            return True
        if want.takes_all and want.option_index and self._quirks.all_alternative_loses_index:
            return True
        return any(
            option.tries >> position & 1 and self._is_negative(want, device)
            for device, position in self._facts.position.items()
        )

    def _is_negative(self, want: Want, device: PoolDevice) -> bool:
        if any(amount < 0 for _, _, amount in device.consumption):
            return True
        return self._taker.capacity_counts and any(p.amount < 0 for p in self._taker.demand(want, device).portions)

    def _is_never_quiet(self, option: Option) -> bool:
        """All that fails late leaves constraints and counters behind (Q21)."""
        late = option.want.takes_all and bool(option.tries & self._facts.shared)
        return late and self._quirks.late_all_failure_leaks

    # -- what can leak -------------------------------------------------------------------------------------------

    def _may_pay(self, want: Want, device: PoolDevice) -> bool:
        """Whether the want can be charged for the device's counters."""
        if not any(amount for _, _, amount in device.consumption) or not self._taker.features.partitionable_devices:
            return False
        if want.admin and not self._quirks.admin_pays:
            return False
        return not (self._taker.is_shared(device) and self._taker.capacity_in_use(device))

    def _may_leak(self, want: Want, device: PoolDevice) -> bool:
        """Counters are charged before taints and constraints refuse (Q4), and with shared devices for good (Q5)."""
        if not self._may_pay(want, device):
            return False
        if self._quirks.shared_undo_keeps_counters and self._taker.is_shared(device):
            return True
        if not self._quirks.rejection_leaks_counters:
            return False
        if self._taker.taint_refusal(want, device) is not None:
            return True
        return any(self._may_refuse(constraint, device) for constraint in want.constraints)

    def _may_refuse(self, constraint: Constraint, device: PoolDevice) -> bool:
        """Whether a constraint can refuse the device at all: not if it is for one device, or all offer one value."""
        values = self._facts.values[constraint]
        if self._facts.position[device] not in values.at:
            return True
        reach = devices = 0
        for request in self._facts.requests:
            under = [option for option in request.options if constraint in option.want.constraints]
            devices += max((option.count for option in under), default=0)
            for option in under:
                reach |= option.tries
        if devices < 2:
            return False
        if not values.is_match or values.unknown & reach:
            return True
        return sum(1 for mask in values.masks.values() if mask & reach) > 1

    def _still_leaks(self, device: PoolDevice, ledger: Ledger) -> bool:
        """Whether the device would still be charged with nothing but the leaks so far against it."""
        if device.id in ledger.kept:
            return False
        table = self._taker.foreseen(device)
        return table is None or self._taker.counters.short(device, table, ledger.leaked) is None
