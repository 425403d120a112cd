"""The plain walk: upstream's `allocateOne`, step for step, without pruning.

The walk is depth-first. It goes through claims, requests and slots in order, and tries devices in pool order; the first
solution wins. A probe can observe the walk. `steps` counts the calls of `allocateOne`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from dra_plan import allotted
from dra_plan.releases import Quirks, Rules

from .pools import Pool, PoolDevice
from .reasons import (
    AllocationError,
    Cause,
    DeviceReason,
    NothingMatches,
    RequestReason,
    StepsExhaustedError,
    TooManyDevices,
)
from .requests import RESULTS_LIMIT, ClaimRequests, Want
from .taking import Taker

# -- the observer of a search ------------------------------------------------------------------------------------------


class Probe:
    """Observes a search without changing it. Subclasses override the methods that they need.

    `slot` is the index of a device in its request or alternative.
    """

    def entered(self, want: Want, slot: int) -> None:
        """Called when the search looks for a device for this slot."""

    def refused(self, want: Want, slot: int, reason: RequestReason) -> None:
        """Called when the search rejects a request or alternative before it checks any device."""

    def rejected(self, want: Want, slot: int, device: PoolDevice, reason: DeviceReason) -> None:
        """Called when the search rejects a device for this slot."""

    def taken(self, want: Want, slot: int, device: PoolDevice) -> None:
        """Called when the search has taken a device and goes on to the next slot."""

    def retreated(self, want: Want, slot: int, device: PoolDevice) -> None:
        """Called when the search has given back a device, because it found no solution with it."""

    def restarted(self) -> None:
        """Called when the search starts again with pruning. Earlier calls no longer count."""

    def pruned(self, want: Want, slot: int) -> None:
        """Called when pruning has proved that there is no solution from this slot on."""

    def solved(self) -> None:
        """Called when the search has found devices for all claims."""


# -- the walk ----------------------------------------------------------------------------------------------------------

NO, YES, EXCEEDED = 0, 1, 2
"""The ways in which a branch of the search ends: no solution, a solution, or more devices than the claim may have."""

_STEPS_PER_CLOCK = 512


class SearchLimits:
    """The limits of a search: a number of `steps`, and a `deadline` (`time.monotonic`) or None."""

    __slots__ = ("deadline", "steps")

    def __init__(self, steps: int, deadline: float | None = None) -> None:
        self.steps = steps
        self.deadline = deadline


class Paused(Exception):  # noqa: N818 - no error: the caller asked for it
    """Raised when the walk reaches the step at which it should pause."""


class SearchSpace:
    """The claims of a search, and the devices in search order.

    `listed` are the devices that each request for all devices must get. If a pool is invalid, `scan` has the pool
    instead of its devices; the search ends with an error when it reaches the pool.
    """

    __slots__ = ("claims", "listed", "quirks", "rules", "scan")

    def __init__(
        self,
        claims: Sequence[ClaimRequests],
        scan: Sequence[PoolDevice | Pool],
        listed: Mapping[Want, Sequence[PoolDevice]],
        rules: Rules,
        quirks: Quirks,
    ) -> None:
        self.claims, self.scan, self.listed = claims, scan, listed
        self.rules, self.quirks = rules, quirks

    def count(self, want: Want) -> int:
        """Return the number of devices that the request needs."""
        return len(self.listed[want]) if want.takes_all else want.count

    def depth(self) -> int:
        """Return the largest number of nested calls of the walk."""
        depth = 2 * len(self.claims)
        for ready in self.claims:
            for wants in ready.requests:
                most = max(self.count(want) for want in wants)
                depth += 3 + max(0, min(most, RESULTS_LIMIT))  # a count below 0 can be decoded as well
        return depth


class Walk:
    """One walk through the search space, from its start. Call `run` only once."""

    def __init__(self, space: SearchSpace, taker: Taker, limits: SearchLimits, probe: Probe | None = None) -> None:
        self._space, self._taker, self._limits, self._probe = space, taker, limits, probe
        self._claims, self._listed = space.claims, space.listed
        self._ledger = taker.ledger
        self._look_up_at = self._pause_at = 0
        self.chosen: list[dict[int, int]] = [{} for _ in space.claims]
        self.steps = 0

    def run(self, pause_at: int = 0) -> bool:
        """Run the walk, and return whether it found devices for all claims.

        Raises AllocationError, which ends the scheduling attempt of the pod, StepsExhaustedError, and Paused after
        `pause_at` steps (0: never).
        """
        self._pause_at = pause_at or self._limits.steps + 1
        self._look_up()
        return self._one(0, 0, 0, 0, False, 0) == YES

    def _look_up(self) -> None:
        """Stop the walk if a limit is reached; set the next check."""
        if self.steps > self._limits.steps:
            steps = self._limits.steps
            raise StepsExhaustedError(f"no result within {steps} step{'s' if steps != 1 else ''}")
        if self.steps > self._pause_at:
            raise Paused
        allotted.check()
        deadline = self._limits.deadline
        if deadline is not None and time.monotonic() > deadline:
            raise StepsExhaustedError("no result within the time limit")
        is_timed = deadline is not None or allotted.is_timed()
        clock = self.steps + _STEPS_PER_CLOCK if is_timed else self._limits.steps
        self._look_up_at = min(clock, self._limits.steps, self._pause_at)

    def _one(self, claim: int, request: int, option: int, slot: int, in_option: bool, start: int) -> int:
        """Take one step, which searches everything from this slot on.

        `in_option` is set while one alternative is tried.
        """
        self.steps += 1
        if self.steps > self._look_up_at:
            self._look_up()
        if claim == len(self._claims):
            return YES
        ready = self._claims[claim]
        if request == len(ready.requests):
            return YES if self._one(claim + 1, 0, 0, 0, False, 0) == YES else NO
        if ready.alternatives[request] and not in_option:
            return self._first_available(claim, request)
        want = ready.requests[request][option]
        count = self._space.count(want)
        if want.takes_all and count == 0:
            if self._probe is not None:
                self._probe.refused(want, slot, NothingMatches())
            return NO
        if slot >= count:
            return self._one(claim, request + 1, 0, 0, False, 0)
        total = len(self._ledger.results[claim]) + count - slot
        if total > RESULTS_LIMIT:
            if self._probe is not None:
                self._probe.refused(want, slot, TooManyDevices(total, RESULTS_LIMIT))
            return EXCEEDED
        if self._probe is not None:
            self._probe.entered(want, slot)
        if want.takes_all:
            return self._take_listed(want, option, slot, in_option)
        return self._take_any(want, option, slot, in_option, start if self._space.rules.resumes_scan else 0)

    def _first_available(self, claim: int, request: int) -> int:
        """Try the alternatives in order; the first that leads to a complete solution is chosen."""
        ended = EXCEEDED
        for option in range(len(self._claims[claim].requests[request])):
            found = self._one(claim, request, option, 0, True, 0)
            if found == YES:
                self.chosen[claim][request] = option
                return YES
            if found == NO:
                ended = NO
        return ended

    def _take_listed(self, want: Want, option: int, slot: int, in_option: bool) -> int:
        """Take the device listed for the slot, as All requires."""
        device = self._listed[want][slot]
        mark = self._ledger.mark()
        refusal = self._taker.in_use(want, device) or self._taker.take(want, device)
        if refusal is not None:
            self._tell_rejected(want, slot, device, refusal)
            return NO
        if want.option_index and self._space.quirks.all_alternative_loses_index:
            self._taker.sighted.add("all_alternative_loses_index")
            option = 0
        return self._below(want, option, slot, in_option, device, mark, 0)

    def _take_any(self, want: Want, option: int, slot: int, in_option: bool, start: int) -> int:
        """Try every device from the start position on until one leads to a solution (ExactCount)."""
        scan = self._space.scan
        for position in range(start, len(scan)):
            device = scan[position]
            if not isinstance(device, PoolDevice):
                raise reached_invalid(device)
            mark = self._ledger.mark()
            refusal = self._refusal(want, slot, device)
            if refusal is not None:
                self._tell_rejected(want, slot, device, refusal)
                continue
            found = self._below(want, option, slot, in_option, device, mark, position + 1)
            if found != NO:
                return found
        return NO

    def _refusal(self, want: Want, slot: int, device: PoolDevice) -> DeviceReason | None:
        """Take the device, or return why not."""
        taker = self._taker
        refusal = taker.in_use(want, device) or taker.match_refusal(want, device)
        if refusal is None and taker.capacity_counts:
            refusal = taker.capacity_refusal(want, taker.judged(slot, device))
        return taker.take(want, device) if refusal is None else refusal

    def _below(
        self, want: Want, option: int, slot: int, in_option: bool, device: PoolDevice, mark: int, start: int
    ) -> int:
        """Continue with the next slot; release the device unless that solves everything."""
        probe = self._probe
        if probe is not None:
            probe.taken(want, slot, device)
        found = self._one(want.claim_index, want.request_index, option, slot + 1, in_option, start)
        if found != YES:
            self._ledger.rewind(mark)
            if probe is not None:
                probe.retreated(want, slot, device)
        return found

    def _tell_rejected(self, want: Want, slot: int, device: PoolDevice, reason: DeviceReason) -> None:
        if self._probe is not None:
            self._probe.rejected(want, slot, device, reason)


def reached_invalid(pool: Pool) -> AllocationError:
    """Return the error that ends the search at an invalid pool, in releases that do not skip invalid pools."""
    return AllocationError(Cause("invalid-pool", f"pool {pool.id.pool} is invalid: {pool.problem}", pool=pool.id))
