"""The depth-first search for devices: claims, requests and slots in order, devices in pool order, first solution wins.

This file is the walk. What a device must pass is asked of the other modules; what is taken is written to the ledger.
The walk is upstream's `allocateOne`, step for step, and `steps` counts its calls.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from dra_plan.api.core import Node
from dra_plan.releases import Features, Quirks, Rules

from . import capacity, taints
from .capacity import Demand
from .counters import Counters
from .errors import AllocationError, StepsExhaustedError
from .identity import DeviceID
from .ledger import Ledger
from .pools import Pool, PoolDevice, PoolSlice, device_is_on
from .probe import Probe
from .reasons import (
    BindingConditionsOff,
    CountersOff,
    DeviceReason,
    InUse,
    NothingMatches,
    OtherNode,
    TooManyDevices,
)
from .requests import RESULTS_LIMIT, ClaimRequests, Want
from .results import Take
from .state import AllocatedState

NO, YES, EXCEEDED = 0, 1, 2
"""How a branch ends: without solution, with one, or because the claim would get more devices than it may have."""

_FRAMES_PER_STEP = 2
_SPARE_FRAMES = 500
_STEPS_PER_CLOCK = 512


class Limits:
    """When to give up: `steps` of one search, and a `deadline` by `time.monotonic` (None: never)."""

    __slots__ = ("deadline", "steps")

    def __init__(self, steps: int, deadline: float | None = None) -> None:
        self.steps = steps
        self.deadline = deadline


class Search:
    """One search on one node. Make it, call `run` once, read `ledger.results` and `chosen`."""

    def __init__(
        self,
        node: Node,
        pools: Sequence[Pool],
        claims: Sequence[ClaimRequests],
        state: AllocatedState,
        counters: Counters,
        features: Features,
        rules: Rules,
        quirks: Quirks,
        limits: Limits,
        probe: Probe | None = None,
    ) -> None:
        self._node, self._claims, self._state, self._counters = node, claims, state, counters
        self._features, self._rules, self._quirks, self._limits, self._probe = features, rules, quirks, limits, probe
        self._pools = {pool.id: pool for pool in pools}
        self._pool_list = pools
        self._scan = _scan_list(pools, rules)
        self._matches: dict[Want, dict[DeviceID, DeviceReason | None]] = {}
        self._demands: dict[tuple[Want, DeviceID], Demand] = {}
        self._all: dict[Want, list[PoolDevice]] = {}
        self.ledger = Ledger(len(claims))
        self.chosen: list[dict[int, int]] = [{} for _ in claims]
        self.steps = 0
        self.sighted: set[str] = set()

    # -- before the search ---------------------------------------------------------------------------------------

    def run(self) -> bool:
        """Whether devices for all claims were found.

        Raises AllocationError (fatal for the pod) and StepsExhaustedError. Pools that were passed over are the
        caller's to report.
        """
        depth = 0
        for ready in self._claims:
            depth += 2 + self._prepare(ready)
        # Pure Python frames cost no C stack from 3.11 on, so a deep search only needs the limit raised.
        needed = _FRAMES_PER_STEP * depth + _SPARE_FRAMES
        if sys.getrecursionlimit() < needed:
            sys.setrecursionlimit(needed)
        found = self._one(0, 0, 0, 0, False, 0) == YES
        if found and self._probe is not None:
            self._probe.solved()
        return found

    def _prepare(self, ready: ClaimRequests) -> int:
        """Checks a claim's requests and lists the devices of All; returns how deep its part of the search can get."""
        least = deepest = 0
        for wants in ready.requests:
            counts = []
            for want in wants:
                if want.problem is not None:
                    raise AllocationError(want.problem)
                if want.takes_all:
                    self._all[want] = self._list_all(want)
                counts.append(self._count(want))
            least += min(counts)
            deepest += 3 + min(max(counts), RESULTS_LIMIT)
        if least > RESULTS_LIMIT:
            raise AllocationError(
                f"claim {ready.claim.key}: number of requested devices {least} "
                f"exceeds the claim limit of {RESULTS_LIMIT}"
            )
        if ready.problem is not None:
            raise AllocationError(ready.problem)
        return deepest

    def _count(self, want: Want) -> int:
        return len(self._all[want]) if want.takes_all else want.count

    def _list_all(self, want: Want) -> list[PoolDevice]:
        """The devices that All means on this node; a broken pool of any driver is fatal upstream (Q12)."""
        listed = []
        for pool in self._pool_list:
            if pool.incomplete or pool.invalid:
                self.sighted.add("all_with_broken_pool_fatal")
                if not self._quirks.all_with_broken_pool_fatal:
                    return []
                how = "being updated" if pool.incomplete else "invalid"
                raise AllocationError(
                    f"claim {want.claim.key}, request {want.name}: asks for all devices, "
                    f"but resource pool {pool.id} is currently {how}"
                )
            listed += [
                d for d in pool.devices() if self._match_refusal(want, d) is None and self._all_includes(want, d)
            ]
        return listed

    def _all_includes(self, want: Want, device: PoolDevice) -> bool:
        """Whether the device's capacity lets All include it; upstream drops exhausted shared devices here (Q10)."""
        if not self._features.consumable_capacity:
            return True
        demand = self._demand(want, device)
        if demand.refusal is not None:
            return False
        refusal = self._capacity_refusal(want, device, demand)
        if refusal is None or capacity.short(demand.portions, None, None) is not None:
            return refusal is None
        self.sighted.add("all_drops_exhausted")
        return not self._quirks.all_drops_exhausted

    # -- the walk ------------------------------------------------------------------------------------------------

    def _one(self, claim: int, request: int, option: int, slot: int, in_option: bool, start: int) -> int:
        """One step: what remains from this slot on. `in_option` is set while one alternative is tried."""
        self.steps += 1
        if self.steps > self._limits.steps:
            raise StepsExhaustedError(f"no answer within {self._limits.steps} steps")
        if not self.steps % _STEPS_PER_CLOCK:
            self._check_clock()
        if claim == len(self._claims):
            return YES
        ready = self._claims[claim]
        if request == len(ready.requests):
            return YES if self._one(claim + 1, 0, 0, 0, False, 0) == YES else NO
        if ready.alternatives[request] and not in_option:
            return self._first_available(claim, request)
        want = ready.requests[request][option]
        count = self._count(want)
        if want.takes_all and count == 0:
            if self._probe is not None:
                self._probe.refused(want, slot, NothingMatches())
            return NO
        if slot >= count:
            return self._one(claim, request + 1, 0, 0, False, 0)
        total = len(self.ledger.results[claim]) + count - slot
        if total > RESULTS_LIMIT:
            if self._probe is not None:
                self._probe.refused(want, slot, TooManyDevices(total, RESULTS_LIMIT))
            return EXCEEDED
        if self._probe is not None:
            self._probe.entered(want, slot)
        if want.takes_all:
            return self._take_listed(want, option, slot, in_option)
        return self._take_any(want, option, slot, in_option, start if self._rules.resumes_scan else 0)

    def _check_clock(self) -> None:
        deadline = self._limits.deadline
        if deadline is not None and time.monotonic() > deadline:
            raise StepsExhaustedError("no answer within the time given")

    def _first_available(self, claim: int, request: int) -> int:
        """The alternatives in order; the first that leads to a complete solution is chosen."""
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
        """All: the slot must get the device listed for it."""
        device = self._all[want][slot]
        mark = self.ledger.mark()
        refusal = self._in_use(want, device) or self._take(want, device)
        if refusal is not None:
            self._tell_rejected(want, slot, device, refusal)
            return NO
        if want.option_index and self._quirks.all_alternative_loses_index:
            self.sighted.add("all_alternative_loses_index")
            option = 0
        return self._below(want, option, slot, in_option, device, mark, 0)

    def _take_any(self, want: Want, option: int, slot: int, in_option: bool, start: int) -> int:
        """ExactCount: every device from the start position on, until one leads to a solution."""
        scan = self._scan
        left_out: PoolSlice | None = None
        for position in range(start, len(scan)):
            device = scan[position]
            if not isinstance(device, PoolDevice):
                raise AllocationError(f"pool {device.id.pool} is invalid: {device.invalid}")
            if device.slice is left_out:
                continue
            refusal = self._in_use(want, device) or self._match_refusal(want, device)
            if refusal is None and self._features.consumable_capacity:
                refusal = self._capacity_refusal(want, device, self._demand(want, device))
                if refusal is not None and self._quirks.capacity_refusal_ends_slice:
                    self.sighted.add("capacity_refusal_ends_slice")
                    left_out = device.slice
            mark = self.ledger.mark()
            if refusal is None:
                refusal = self._take(want, device)
            if refusal is not None:
                self._tell_rejected(want, slot, device, refusal)
                continue
            found = self._below(want, option, slot, in_option, device, mark, position + 1)
            if found != NO:
                return found
        return NO

    def _below(
        self, want: Want, option: int, slot: int, in_option: bool, device: PoolDevice, mark: int, start: int
    ) -> int:
        """Goes on with the next slot; gives the device back unless that solves everything."""
        probe = self._probe
        if probe is not None:
            probe.taken(want, slot, device)
        found = self._one(want.claim_index, want.request_index, option, slot + 1, in_option, start)
        if found != YES:
            self.ledger.rewind(mark)
            if probe is not None:
                probe.retreated(want, slot, device)
        return found

    def _tell_rejected(self, want: Want, slot: int, device: PoolDevice, reason: DeviceReason) -> None:
        if self._probe is not None:
            self._probe.rejected(want, slot, device, reason)

    # -- checks, in upstream's order -----------------------------------------------------------------------------

    def _in_use(self, want: Want, device: PoolDevice) -> InUse | None:
        takers = self.ledger.taken.get(device.id, ())
        if want.admin:
            mine = (*takers, *self.ledger.admin_taken.get(device.id, ()))
            return InUse(None) if want.claim_index in mine else None
        if device.id in self._state.dedicated:
            return InUse(self._state.dedicated[device.id])
        if takers:
            if not all(claim == want.claim_index for claim in takers):
                self.sighted.add("admin_take_blocks")
            return InUse(None)
        if want.claim_index in self.ledger.admin_taken.get(device.id, ()):
            return InUse(None)
        return None

    def _match_refusal(self, want: Want, device: PoolDevice) -> DeviceReason | None:
        """Whether the device is of the wanted kind; remembered, because it does not depend on what is taken."""
        known = self._matches.get(want)
        if known is None:
            known = self._matches[want] = {}
        if device.id not in known:
            known[device.id] = self._find_match_refusal(want, device)
        return known[device.id]

    def _find_match_refusal(self, want: Want, device: PoolDevice) -> DeviceReason | None:
        if device.device.binding_conditions and not self._features.binding_conditions:
            return BindingConditionsOff()
        refused = want.selector_refusal(device)
        if refused is not None:
            return refused
        return None if device_is_on(device, self._node) else OtherNode()

    def _demand(self, want: Want, device: PoolDevice) -> Demand:
        key = (want, device.id)
        demand = self._demands.get(key)
        if demand is None:
            demand = self._demands[key] = capacity.demand(want.capacity, device, self._quirks)
            self.sighted.update(demand.sighted)
        return demand

    def _capacity_refusal(self, want: Want, device: PoolDevice, demand: Demand) -> DeviceReason | None:
        if demand.refusal is not None:
            return demand.refusal
        if want.admin:
            full = capacity.short(demand.portions, None, None)
            if not self._quirks.admin_pays:
                return full
        short = capacity.short(demand.portions, self._state.aggregate.get(device.id), self.ledger.shares.get(device.id))
        if short is not None and want.admin:
            self.sighted.add("admin_pays")
        return short

    def _is_shared(self, device: PoolDevice) -> bool:
        return self._features.consumable_capacity and bool(device.device.allow_multiple_allocations)

    def _capacity_in_use(self, device: PoolDevice) -> bool:
        """Whether a share of the device exists, so that its counters are paid (Q19: only one that has capacity)."""
        if device.id in self._state.aggregate or device.id in self.ledger.shares:
            return True
        if device.id in self._state.shared:
            self.sighted.add("share_without_capacity_pays_twice")
            return not self._quirks.share_without_capacity_pays_twice
        return False

    # -- taking --------------------------------------------------------------------------------------------------

    def _take(self, want: Want, device: PoolDevice) -> DeviceReason | None:
        """Checks what depends on other devices, then takes the device; or the reason why not, with nothing taken."""
        consumes = bool(device.device.consumes_counters)
        if consumes and not self._features.partitionable_devices:
            return CountersOff()
        pays = consumes and self._pays_counters(want, device)
        if pays:
            refusal = self._counters.refuses(self.ledger, device, self._pools[device.id.pool_id], self.sighted)
            if refusal is not None:
                return refusal
        if self._features.device_taints and device.taints:
            untolerated = taints.first_untolerated(device.taints, want.tolerations, self._rules)
            if untolerated is not None:
                self._leak_counters(device, pays, "rejection_leaks_counters")
                return untolerated
        constrained = self._constraint_refusal(want, device, pays)
        if constrained is not None:
            return constrained
        return self._write(want, device, pays)

    def _pays_counters(self, want: Want, device: PoolDevice) -> bool:
        if self._is_shared(device) and self._capacity_in_use(device):
            return False
        if want.admin:
            self.sighted.add("admin_pays")
            return self._quirks.admin_pays
        return True

    def _leak_counters(self, device: PoolDevice, pays: bool, quirk: str) -> None:
        """Upstream has charged the counters by now and does not give them back (Q4, Q21)."""
        if pays:
            self.sighted.add(quirk)
            if getattr(self._quirks, quirk):
                self.ledger.leak_charge(self._counters.key(device), device.consumption)

    def _constraint_refusal(self, want: Want, device: PoolDevice, pays: bool) -> DeviceReason | None:
        for position, constraint in enumerate(want.constraints):
            if constraint.misreads(device):
                self.sighted.add("list_constraints_as_scalars")
            refusal = constraint.refuses(self.ledger, device)
            if refusal is None:
                continue
            if want.takes_all:
                self.sighted.add("all_with_constraint_fatal")
                if self._quirks.all_with_constraint_fatal:
                    raise AllocationError(
                        f"claim {want.claim.key}, request {want.name}: cannot add device {device.id} "
                        "because a claim constraint would not be satisfied"
                    )
            self._leak_counters(device, pays, "rejection_leaks_counters")
            for earlier in want.constraints[:position]:
                if earlier.rolled_back(self.ledger, want.request_name):
                    self.sighted.add("distinct_remembers_last")
            return refusal
        return None

    def _write(self, want: Want, device: PoolDevice, pays: bool) -> DeviceReason | None:
        """All that taking a device changes. Only All can still fail here, on capacity used up meanwhile (Q21)."""
        ledger, shared = self.ledger, self._is_shared(device)
        demand = self._demand(want, device) if self._features.consumable_capacity else None
        if want.takes_all and demand is not None:
            refusal = self._capacity_refusal(want, device, demand)
            if refusal is not None:
                self._leak_late_failure(want, device, pays)
                return refusal
        for constraint in want.constraints:
            if constraint.overwrites(ledger, want.request_name):
                self.sighted.add("distinct_remembers_last")
            constraint.take(ledger, device, want.request_name)
        if pays:
            self._charge(device, shared)
        share = None
        if not shared or demand is None:
            if want.admin and not self._quirks.admin_take_blocks:
                ledger.take_as_admin(device.id, want.claim_index)
            else:
                ledger.take(device.id, want.claim_index)
        elif not want.admin or self._quirks.admin_pays:
            share = demand.portions
            amounts = tuple((portion.name, portion.amount) for portion in share)
            ledger.share(device.id, amounts, keeps_empty=self._quirks.shared_undo_keeps_counters)
        ledger.record(want.claim_index, Take(want, device, share))
        return None

    def _charge(self, device: PoolDevice, shared: bool) -> None:
        key = self._counters.key(device)
        if shared:
            self.sighted.add("shared_undo_keeps_counters")
            if self._quirks.shared_undo_keeps_counters:
                self.ledger.leak_charge(key, device.consumption)
                return
        self.ledger.charge(key, device.consumption)

    def _leak_late_failure(self, want: Want, device: PoolDevice, pays: bool) -> None:
        self.sighted.add("late_all_failure_leaks")
        if self._quirks.late_all_failure_leaks:
            for constraint in want.constraints:
                constraint.leak_take(self.ledger, device, want.request_name)
            self._leak_counters(device, pays, "late_all_failure_leaks")


def _scan_list(pools: Sequence[Pool], rules: Rules) -> list[PoolDevice | Pool]:
    """All devices in search order. An invalid pool stands for itself where reaching it is fatal."""
    scan: list[PoolDevice | Pool] = []
    for pool in pools:
        if rules.skips_unusable_pools:
            if pool.usable:
                scan += pool.devices()
        elif pool.invalid:
            scan.append(pool)
        else:
            scan += pool.devices()
    return scan


__all__ = ["EXCEEDED", "NO", "YES", "Limits", "Search"]
