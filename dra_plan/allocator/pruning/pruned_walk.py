"""The walk with pruning: the plain walk without the parts that cannot contain a solution.

In order: the horizon, before which the search cannot end with an error or change anything permanently; rules R0 to R7
together; and the pruned walk. Only parts before the horizon are skipped, so errors and permanent changes remain the
same.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import NamedTuple

from dra_plan.allocator.constraints import Constraint
from dra_plan.allocator.ledger import Ledger
from dra_plan.allocator.pools import PoolDevice
from dra_plan.allocator.pruning_rules import ALL_RULES, PruningRule
from dra_plan.allocator.requests import Want
from dra_plan.allocator.taking import Taker
from dra_plan.allocator.walk import NO, YES, Probe, SearchLimits, SearchSpace, Walk, reached_invalid

from .agreement import Agreement, Diversity, Memory
from .facts import Facts, Left, Option
from .outlook import Moment, Outlook, OutlookMaker, Resources
from .packing import overdrawn
from .stocks import Stock, find_stocks
from .stocks import overdrawn as stocks_overdrawn

# -- the horizon -------------------------------------------------------------------------------------------------------
# A part of the walk may be skipped if it finds nothing *and* leaves nothing behind. Skipping a request makes no
# difference only as long as the request can neither end the search with an error nor change anything permanently. The
# horizon is the first request for which this is not certain; the rules apply to parts that never reach it.
# The horizon can only move further away, because errors are known from the start and leaks fill the counters up.


class Horizon:
    """The first request that may end the search with an error or change something permanently.

    Only requests before the horizon may be skipped.
    """

    def __init__(self, facts: Facts) -> None:
        self._facts, self._taker = facts, facts.taker
        self._quirks = facts.taker.quirks
        self._end = len(facts.requests)
        self._errors = self._first(self._may_err)
        self._never = min(self._errors, self._first(self._is_never_quiet))
        self._open = [self._devices(number, self._may_pay) for number in range(self._end)]
        """By request, devices whose counter table is not yet certain. The first use settles it for all nodes (Q1)."""
        self._leaky = [self._devices(number, self._may_leak) for number in range(self._end)]
        """By request, devices that may keep counters without being taken, or after their release."""
        self._reached = 0
        self._leaks_seen = -1

    def for_errors(self) -> int:
        """Return the number of the first request that may end the search with an error, for rule R0.

        This includes requests that may decide which counter table other nodes use. Permanent changes do not matter,
        because nothing runs after R0 has ended the search.
        """
        return next((number for number in range(self._errors) if self._undecided(number)), self._errors)

    def reach(self, ledger: Ledger) -> int:
        """Return the number of the first request that may not be skipped yet."""
        if self._reached < self._never and (ledger.leaks != self._leaks_seen or self._open[self._reached]):
            self._leaks_seen = ledger.leaks
            while self._reached < self._never and self._is_quiet(self._reached, ledger):
                self._reached += 1
        if self._reached < self._end and self._facts.may_exceed:
            # A claim with too many devices ends loops early, which also hides errors and leaks, so it is all or
            # nothing.
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

    # -- options that are never quiet ----------------------------------------------------------------------------

    def _may_err(self, option: Option) -> bool:
        """Return whether the option may end the search with an error, or the masks do not describe it.

        A selector may fail on a device; a constraint may stop All (Q11). All may turn into another alternative (Q20),
        and amounts below zero would make consumption shrink: the rules cover neither.
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
        """Return whether the option is never quiet.

        All that fails late leaves constraints and counters behind (Q21).
        """
        late = option.want.takes_all and bool(option.tries & self._facts.shared)
        return late and self._quirks.late_all_failure_leaks

    # -- possible leaks ------------------------------------------------------------------------------------------

    def _may_pay(self, want: Want, device: PoolDevice) -> bool:
        """Return whether the want can be charged for the device's counters."""
        if not any(amount for _, _, amount in device.consumption) or not self._taker.features.partitionable_devices:
            return False
        if want.admin and not self._quirks.admin_pays:
            return False
        return not (self._taker.is_shared(device) and self._taker.capacity_in_use(device))

    def _may_leak(self, want: Want, device: PoolDevice) -> bool:
        """Return whether the device's counters may leak.

        Counters are charged before taints and constraints reject (Q4), and with shared devices permanently (Q5).
        """
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
        """Return whether a constraint can reject the device.

        It cannot if it is for one device, or all offer one value.
        """
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
        """Return whether the device would still be charged if only the leaks so far had been charged."""
        if device.id in ledger.kept:
            return False
        table = self._taker.foreseen(device)
        return table is None or self._taker.counters.short(device, table, ledger.leaked) is None


# -- the proof that there is no solution (R0 to R7b except R3 and R5) --------------------------------------------------
# Each rule states a necessary condition for serving all requests before the horizon. If one fails, the walk would end
# before the horizon on every path, with no error and no lasting change on the way: it may be left out.


class Refuter:
    """The pruning rules for one search. They prove that the remaining requests cannot be met."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._resources = Resources(facts)
        self._outlooks = OutlookMaker(facts, self._resources)
        self._agreement = Agreement(facts, self._outlooks)
        self._diversity = Diversity(facts)
        self._stocks: list[Stock] = []
        self._stocks_up_to = -1

    def refutes(self, moment: Moment, horizon: int) -> bool:
        """Return whether the rules prove that the requests from this moment to the horizon cannot all be met."""
        outlook = self._outlooks.outlook(moment, horizon)
        if outlook is None or self._overdrawn(outlook):
            return True
        narrowed = self._agreement.narrowed(outlook, moment.ledger)
        if narrowed is None or (narrowed is not outlook and self._overdrawn(narrowed)):
            return True
        if self._diversity.exhausted(narrowed, moment.ledger, outlook):
            return True
        return stocks_overdrawn(self._stocks_for(horizon), narrowed, moment.ledger, self._facts.rules)

    def _overdrawn(self, outlook: Outlook) -> bool:
        return "R2" in self._facts.rules and overdrawn(self._outlooks.demands(outlook))

    def _stocks_for(self, horizon: int) -> list[Stock]:
        """Return the stocks, rebuilt when the horizon has moved, because more counters may then be certain."""
        if horizon != self._stocks_up_to:
            self._stocks, self._stocks_up_to = find_stocks(self._facts, self._resources), horizon
        return self._stocks


# -- the pruned walk ---------------------------------------------------------------------------------------------------


class _Visit(NamedTuple):
    """A position that the walk has entered: its state, its horizon, and how far the walk had come before."""

    state: Hashable | None
    horizon: int
    reached: int


class PrunedWalk(Walk):
    """A walk that uses the pruning rules.

    The taker must not have taken any device. `steps` starts at the number of steps of earlier walks.
    """

    def __init__(
        self,
        space: SearchSpace,
        taker: Taker,
        limits: SearchLimits,
        rules: frozenset[PruningRule] = ALL_RULES,
        probe: Probe | None = None,
        *,
        steps: int = 0,
    ) -> None:
        super().__init__(space, taker, limits, probe)
        self.steps = steps
        self._facts = Facts(space, taker, rules)
        self._horizon = Horizon(self._facts)
        self._refuter = Refuter(self._facts)
        self._memory = Memory(self._facts)
        self._reached = 0
        """The furthest request entered, or used in a refutation, since this field was last read."""
        self._taken = 0
        self._mine = [0] * len(space.claims)

    def run(self, pause_at: int = 0) -> bool:
        """Run the walk, as `Walk.run` does. With R0, it may end before its first step."""
        if "R0" in self._facts.rules and self._facts.requests and self._is_hopeless():
            self._tell_pruned(self._facts.requests[0].options[0].want, 0)
            return False
        return super().run(pause_at)

    def _is_hopeless(self) -> bool:
        first = Moment(self._ledger, 0, None, 0, self._facts.everything, 0, self._mine)
        return self._refuter.refutes(first, self._horizon.for_errors())

    # -- entering and leaving ------------------------------------------------------------------------------------

    def _enter(self, number: int, option: Option | None, slot: int, candidates: int) -> _Visit | None:
        """Record the position of the walk; return None if nothing can be found from here on."""
        reached, self._reached = self._reached, number
        horizon = self._horizon.reach(self._ledger)
        if number >= horizon:
            return _Visit(None, horizon, reached)
        moment = Moment(self._ledger, number, option, slot, candidates, self._taken, self._mine)
        state = self._memory.key(moment, horizon)
        if (state is not None and self._memory.knows(state)) or self._refuter.refutes(moment, horizon):
            # All requests before the horizon affected that; it may have moved since other positions were entered.
            self._reached = max(reached, horizon - 1)
            return None
        return _Visit(state, horizon, reached)

    def _leave(self, visit: _Visit, found: int) -> int:
        if found != YES and visit.state is not None and self._reached < visit.horizon:
            self._memory.store(visit.state)
        self._reached = max(self._reached, visit.reached)
        return found

    def _first_available(self, claim: int, request: int) -> int:
        visit = self._enter(self._facts.first[claim] + request, None, 0, self._facts.everything)
        if visit is None:
            return self._tell_pruned(self._claims[claim].requests[request][0], 0)
        return self._leave(visit, super()._first_available(claim, request))

    def _take_listed(self, want: Want, option: int, slot: int, in_option: bool) -> int:
        visit = self._enter(self._facts.number(want), self._facts.option(want), slot, self._facts.everything)
        if visit is None:
            return self._tell_pruned(want, slot)
        return self._leave(visit, super()._take_listed(want, option, slot, in_option))

    def _tell_pruned(self, want: Want, slot: int) -> int:
        if self._probe is not None:
            self._probe.pruned(want, slot)
        return NO

    def _below(
        self, want: Want, option: int, slot: int, in_option: bool, device: PoolDevice, mark: int, start: int
    ) -> int:
        """Continue with the next slot, as in Walk, and keep the masks up to date."""
        taken, mine = self._taken, self._mine[want.claim_index]
        bit = 1 << self._facts.position[device]
        if not bit & self._facts.shared:
            self._mine[want.claim_index] |= bit
            if not want.admin or self._space.quirks.admin_take_blocks:
                self._taken |= bit
        found = super()._below(want, option, slot, in_option, device, mark, start)
        self._taken, self._mine[want.claim_index] = taken, mine
        return found

    # -- one slot of an ExactCount request -----------------------------------------------------------------------

    def _take_any(self, want: Want, option: int, slot: int, in_option: bool, start: int) -> int:
        """Try devices, as in Walk, but skip those that fail every check and those that are like a failed one (R3)."""
        masks = self._facts.option(want)
        candidates = (self._facts.everything if self._probe is not None else masks.tries) & -(1 << start)
        visit = self._enter(self._facts.number(want), masks, slot, candidates)
        if visit is None:
            return self._tell_pruned(want, slot)
        return self._leave(visit, self._try_each(want, option, slot, in_option, candidates, visit.horizon))

    def _try_each(self, want: Want, option: int, slot: int, in_option: bool, candidates: int, horizon: int) -> int:
        number = self._facts.number(want)
        while candidates:
            bit = candidates & -candidates
            candidates ^= bit
            position = bit.bit_length() - 1
            device = self._space.scan[position]
            if not isinstance(device, PoolDevice):
                raise reached_invalid(device)
            mark = self._ledger.mark()
            refusal = self._refusal(want, slot, device)
            if refusal is not None:
                self._tell_rejected(want, slot, device, refusal)
                continue
            reached, self._reached = self._reached, number
            found = self._below(want, option, slot, in_option, device, mark, position + 1)
            stayed_within = self._reached < horizon
            self._reached = max(self._reached, reached)
            if found != NO:
                return found
            if stayed_within:
                candidates &= ~self._alike(number, horizon, position)
        return NO

    def _alike(self, number: int, horizon: int, position: int) -> int:
        """Return the devices for which the walk would fail as it failed for this one (R3).

        Safe: exchanging two alike devices turns a solution with one into a solution with the other, and the earlier one
        has just been tried with everything that may follow. Where order matters (Q2) no two devices are alike.
        """
        bit = 1 << position
        if "R3" not in self._facts.rules or ("R8" not in self._facts.rules and bit & self._facts.shared):
            return bit
        alike = self._memory.shapes(number, horizon).alike.get(position, bit)
        alike &= self._taken if self._taken & bit else ~self._taken
        if bit & self._facts.shared:
            alike = sum(1 << p for p in self._positions(alike) if self._shares(p) == self._shares(position))
        return alike

    def _positions(self, mask: int) -> Iterator[int]:
        while mask:
            bit = mask & -mask
            mask ^= bit
            yield bit.bit_length() - 1

    def _shares(self, position: int) -> Left:
        device = self._facts.devices[position]
        assert isinstance(device, PoolDevice)
        return self._facts.left(device, self._ledger)
