"""One search on one node: what is prepared before the walk, the plain walk, and the pruned one if that takes long.

Most searches end within a few steps; for those nothing is prepared that only pruning needs. A walk that has taken
`ESCALATE_AFTER` steps is given up and begun again, pruned. `docs/internals/search.md` explains both.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

from dra_plan.api.core import Node
from dra_plan.api.resource import AllocationResult
from dra_plan.interpreter import more_frames
from dra_plan.releases import Features, Quirks, Rules

from .counters import Counters
from .effort import estimate
from .errors import AllocationError, Cause
from .ledger import Ledger
from .pools import Pool, PoolDevice, is_searched
from .probe import Probe
from .pruning_rules import NEVER, USUAL, Pruning
from .requests import RESULTS_LIMIT, ClaimRequests, Want
from .state import AllocatedState
from .taking import Taker
from .walk import Paused, SearchLimits, SearchSpace, Walk

_FRAMES_PER_STEP = 5
"""Python functions that one step of any walk enters before the next."""


class Search:
    """One search on one node. Make it, call `run` once, read `ledger.results` and `chosen`.

    `steps` counts the steps of the walks that were taken: those of the plain walk, and after an escalation also
    those of the pruned one.
    """

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
        limits: SearchLimits,
        probe: Probe | None = None,
        pruning: Pruning = USUAL,
    ) -> None:
        self._claims, self._counters = claims, counters
        self._features, self._rules, self._quirks = features, rules, quirks
        self._limits, self._probe, self._pruning = limits, probe, pruning
        self.pools = pools
        self._all: dict[Want, list[PoolDevice]] = {}
        self._taker = Taker(node, pools, len(claims), state, counters, features, rules, quirks)
        self.chosen: list[dict[int, int]] = [{} for _ in claims]
        self.steps = 0
        self.sighted = self._taker.sighted

    @property
    def ledger(self) -> Ledger:
        """What the search has taken."""
        return self._taker.ledger

    def run(self) -> bool:
        """Whether devices for all claims were found.

        Raises AllocationError (fatal for the pod) and StepsExhaustedError. Pools that were passed over are the
        caller's to report.
        """
        space = self._space()
        try:
            with _room_for(space):
                found = self._walk(space)
        finally:
            self.ledger.settle()
        if found and self._probe is not None:
            self._probe.solved()
        return found

    def effort(self, allocations: Sequence[AllocationResult]) -> float:
        """Estimates the steps of the plain walk to the solution that the allocations are, or to the end without any."""
        space = self._space()
        with _room_for(space):
            return estimate(space, self._taker, allocations)

    def _space(self) -> SearchSpace:
        """What the walk goes through, once all claims are checked."""
        for ready in self._claims:
            self._prepare(ready)
        return SearchSpace(self._claims, _scan_list(self.pools, self._rules), self._all, self._rules, self._quirks)

    def _walk(self, space: SearchSpace) -> bool:
        pruning = NEVER if self._unprunable else self._pruning
        if pruning.after != 0:
            walk = Walk(space, self._taker, self._limits, self._probe)
            try:
                return self._follow(walk, pruning.after or 0)
            except Paused:
                self._taker.restart()
                if self._probe is not None:
                    self._probe.restarted()
        from .pruning import PrunedWalk

        return self._follow(PrunedWalk(space, self._taker, self._limits, pruning.rules, self._probe, steps=self.steps))

    @property
    def _unprunable(self) -> bool:
        """Whether any device may be refused late, which leaves so much behind that nothing can be foretold (C1)."""
        return self._quirks.capacity_of_wrong_device and self._features.consumable_capacity

    def _follow(self, walk: Walk, pause_at: int = 0) -> bool:
        try:
            return walk.run(pause_at)
        finally:
            self.steps, self.chosen = walk.steps, walk.chosen

    # -- before the walk -----------------------------------------------------------------------------------------

    def _prepare(self, ready: ClaimRequests) -> None:
        """Checks a claim's requests and lists the devices of All."""
        least = 0
        for wants in ready.requests:
            counts = []
            for want in wants:
                if want.problem is not None:
                    raise AllocationError(want.problem)
                if want.takes_all:
                    self._all[want] = self._list_all(want)
                counts.append(len(self._all[want]) if want.takes_all else want.count)
            least += min(counts)
        if least > RESULTS_LIMIT:
            asks = f"number of requested devices {least} exceeds the claim limit of {RESULTS_LIMIT}"
            key = ready.claim.key
            raise AllocationError(Cause("too-many-devices", f"claim {key}: {asks}", claim=key))
        if ready.problem is not None:
            raise AllocationError(ready.problem)

    def _list_all(self, want: Want) -> list[PoolDevice]:
        """The devices that All means on this node; a broken pool of any driver is fatal upstream (Q12)."""
        listed = []
        for pool in self.pools:
            if pool.incomplete or pool.problem:
                self.sighted.add("all_with_broken_pool_fatal")
                if not self._quirks.all_with_broken_pool_fatal:
                    return []
                how = "being updated" if pool.incomplete else "invalid"
                text = f"asks for all devices, but resource pool {pool.id} is currently {how}"
                raise AllocationError(want.cause("all-and-broken-pool", text, pool=pool.id))
            listed += [device for device in pool.devices() if self._taker.all_includes(want, device)]
        return listed


def _room_for(space: SearchSpace) -> AbstractContextManager[None]:
    """Walks nest as deep as the claims have devices, and may be deeper than Python's limit."""
    return more_frames(_FRAMES_PER_STEP * space.depth())


def _scan_list(pools: Sequence[Pool], rules: Rules) -> list[PoolDevice | Pool]:
    """All devices in search order. An invalid pool stands for itself where reaching it is fatal."""
    scan: list[PoolDevice | Pool] = []
    for pool in pools:
        if is_searched(pool, rules):
            scan += pool.devices()
        elif pool.problem and not rules.skips_unusable_pools:
            scan.append(pool)
    return scan


__all__ = ["Search", "SearchLimits"]
