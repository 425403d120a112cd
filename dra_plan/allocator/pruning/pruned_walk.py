"""The walk with pruning: the plain walk, which leaves out what is proven to hold no solution.

What is left out lies within the horizon, so leaving it out changes neither errors nor anything that lasts; and as it
holds no solution, the first solution in the walk's order stays the first.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from dra_plan.allocator.ledger import Ledger
from dra_plan.allocator.pools import PoolDevice
from dra_plan.allocator.probe import Probe
from dra_plan.allocator.pruning_rules import ALL_RULES, PruningRule
from dra_plan.allocator.requests import Want
from dra_plan.allocator.taking import Taker
from dra_plan.allocator.walk import NO, YES, SearchLimits, SearchSpace, Walk, reached_invalid

from .facts import Facts, Option
from .horizon import Horizon
from .memory import Memory
from .outlook import Moment
from .refutation import Refuter
from .shapes import depends_on_order


class _Visit(NamedTuple):
    """A place that the walk has entered: its state, the horizon then, and how far the walk had come before."""

    state: Hashable | None
    horizon: int
    reached: int


class _Hopeless(Exception):  # noqa: N818 - no error: the answer is known
    """What has leaked by now leaves no solution anywhere."""


class PrunedWalk(Walk):
    """One pruned walk. The taker must have taken nothing; `steps` are those of walks before."""

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
        self._watches_leaks = "R0b" in rules and self._horizon.only_rejections_leak
        self._refuter = Refuter(self._facts)
        self._memory = Memory(self._facts)
        self._reached = 0
        """The furthest request that was entered, or had a say in leaving it out, since somebody last looked."""
        self._leaks_seen = self._leaked = 0
        self._taken = 0
        self._mine = [0] * len(space.claims)
        self._barred = 0
        """Devices that deeper slots of the current request need not try (R3b)."""
        self._kept = 0
        """How many shared devices had been kept for good when `_barred` was made."""

    def run(self, pause_at: int = 0) -> bool:
        """As in Walk. R0: the whole search may be refuted before it begins."""
        hopeless = "R0" in self._facts.rules and self._facts.requests and self._is_hopeless(self._ledger, begun=False)
        try:
            if not hopeless:
                return super().run(pause_at)
        except _Hopeless:
            pass
        self._tell_pruned(self._facts.requests[0].options[0].want, 0)
        return False

    def _is_hopeless(self, ledger: Ledger, *, begun: bool) -> bool:
        """Whether a search that begins with this ledger, or has begun and comes to it, finds nothing."""
        first = Moment(ledger, 0, None, 0, self._facts.everything, 0, [0] * len(self._mine))
        return self._refuter.refutes(first, self._horizon.for_errors(), begun=begun)

    def _mind_leaks(self) -> None:
        """R0b, once more has leaked: whatever is still to come has to do with what is left by now.

        Safe: nothing runs after it, as with R0. All that is taken at a time and all that has leaked by then passed
        the counters together; so a solution would fit beside what has leaked by now.
        """
        leaked = sum(self._ledger.leaked.values())
        if leaked == self._leaked:
            return
        self._leaked = leaked
        left = Ledger(len(self._claims))
        left.counters.update(self._ledger.leaked)
        if self._is_hopeless(left, begun=True):
            raise _Hopeless

    # -- entering and leaving ------------------------------------------------------------------------------------

    def _enter(self, number: int, option: Option | None, slot: int, candidates: int) -> _Visit | None:
        """Notes where the walk is; None if nothing can be found from here on."""
        reached, self._reached = self._reached, number
        if self._watches_leaks and self._ledger.leaks != self._leaks_seen:
            self._leaks_seen = self._ledger.leaks
            self._mind_leaks()
        horizon = self._horizon.reach(self._ledger)
        if number >= horizon:
            return _Visit(None, horizon, reached)
        moment = Moment(self._ledger, number, option, slot, candidates, self._taken, self._mine)
        state = self._memory.key(moment, horizon)
        if (state is not None and self._memory.knows(state)) or self._refuter.refutes(moment, horizon):
            # All requests before the horizon had a say in that; it may have moved since other places were entered.
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
        """As in Walk, with the masks kept up."""
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
        """As in Walk, without devices that fail every check, and without those like one that failed (R3)."""
        masks = self._facts.option(want)
        barred = self._barred
        if slot == 0 or len(self._ledger.kept) != self._kept:
            self._barred = 0
        candidates = (self._facts.everything if self._probe is not None else masks.tries) & -(1 << start)
        candidates &= ~self._barred
        visit = self._enter(self._facts.number(want), masks, slot, candidates)
        if visit is None:
            found = self._tell_pruned(want, slot)
        else:
            found = self._leave(visit, self._try_each(want, option, slot, in_option, candidates, visit.horizon))
        self._barred = barred
        return found

    def _try_each(self, want: Want, option: int, slot: int, in_option: bool, candidates: int, horizon: int) -> int:
        number = self._facts.number(want)
        in_order = depends_on_order(self._facts.option(want), self._facts)
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
                alike = self._alike(number, horizon, position)
                candidates &= ~alike
                if not in_order and "R3b" in self._facts.rules:
                    self._bar(alike)
        return NO

    def _alike(self, number: int, horizon: int, position: int) -> int:
        """R3: the devices for which the walk would fail as it failed for this one.

        Safe: exchanging two alike devices turns a solution with one into a solution with the other, and the earlier
        one has just been tried with everything that may follow. That holds for this slot and, since a request's
        devices may come in any order, for its deeper slots. Where order matters (Q2) no two devices are alike, and
        deeper slots are not spared the device.
        """
        bit = 1 << position
        if "R3" not in self._facts.rules:
            return bit
        alike = self._memory.shapes(number, horizon).alike.get(position, bit)
        return alike & (self._taken if self._taken & bit else ~self._taken)

    def _bar(self, alike: int) -> None:
        """R3b: keeps devices from deeper slots until a share is kept for good, which can only help (Q5)."""
        kept = len(self._ledger.kept)
        self._barred = alike if kept != self._kept else self._barred | alike
        self._kept = kept
