"""One search on one node: the plain walk and, if it takes long, the pruned walk.

In order: an estimate of the length of the plain walk; the search; and its outcome, with an encoding for other
processes. After `ESCALATE_AFTER` steps, the plain walk is abandoned and the search starts again with pruning, as
`docs/internals/search.md` explains.
"""

from __future__ import annotations

import enum
import math
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager

import msgspec

from dra_plan.api.core import Node
from dra_plan.api.resource import AllocationResult
from dra_plan.interpreter import more_frames
from dra_plan.releases import Features, Quirk, Quirks, Rules

from .capacity import Counters
from .identity import DeviceID
from .ledger import AllocatedState, Ledger
from .pools import Pool, PoolDevice, is_searched
from .pruning_rules import NEVER, USUAL, Pruning
from .reasons import AllocationError, Cause, NodeAllocationError
from .requests import RESULTS_LIMIT, ClaimRequests, Want
from .taking import Taker
from .walk import NO, YES, Paused, Probe, SearchLimits, SearchSpace, Walk, reached_invalid

# -- the estimated length of the plain walk ----------------------------------------------------------------------------
# The plain walk can be too long to run, so its length is estimated. Random paths lead to the bottom of its tree, and
# every step is weighted by the number of its siblings (Knuth 1975, "Estimating the efficiency of backtrack programs").
# The mean over many paths is an unbiased estimate; a few dozen paths distinguish thousands of steps from millions.
# `docs/decisions/0010-plain-search-estimate.md` describes the accuracy. Nothing here finds or changes a result.

DIVES = 200
LOOKS = 50_000
"""An estimate ends after `DIVES` random descents, or once it has examined more than `LOOKS` devices."""

SolutionPath = Mapping[tuple[int, int], tuple[int, Sequence[DeviceID]]]
"""A solution as a path in the search tree: the alternative and the devices of each request, by claim and request
index."""


def path_of(claims: Sequence[ClaimRequests], allocations: Sequence[AllocationResult]) -> SolutionPath:
    """Return the path in the search tree that leads to these allocations."""
    path: dict[tuple[int, int], tuple[int, list[DeviceID]]] = {}
    for claim, (ready, allocation) in enumerate(zip(claims, allocations, strict=True)):
        places = {want.full_name: want for wants in ready.requests for want in wants}
        for result in allocation.devices.results:
            want = places[result.request]
            _, devices = path.setdefault((claim, want.request_index), (want.option_index, []))
            devices.append(DeviceID(result.driver, result.pool, result.device))
    return path


def estimate(space: SearchSpace, taker: Taker, allocations: Sequence[AllocationResult] = ()) -> float:
    """Estimate the number of steps that the plain walk takes to reach these allocations.

    If there are no allocations, this is the number of steps to try everything. The estimate is the same in every run.
    The taker cannot be used afterwards.
    """
    dives = _Dives(space, taker, path_of(space.claims, allocations) if allocations else {})
    for _ in range(DIVES):
        dives.once()
        if dives.looked > LOOKS:
            break
    return dives.mean()


class _Dives(Walk):
    """Walks that try one device per slot, chosen at random from the available devices before the solution."""

    def __init__(self, space: SearchSpace, taker: Taker, path: SolutionPath) -> None:
        super().__init__(space, taker, SearchLimits(sys.maxsize))
        self._path = path
        self._lot = random.Random(1975)
        self._weight, self._on_path = 1.0, False
        self._dives = self.looked = 0
        self._steps = 0.0

    def once(self) -> None:
        """Make one random descent into the search tree, and record the estimate of the descent."""
        self._taker.restart()
        self._ledger = self._taker.ledger
        self._weight, self._on_path = 1.0, bool(self._path)
        self._dives += 1
        try:
            self.run()
        except AllocationError:
            return  # a branch that the real search may not have reached

    def mean(self) -> float:
        """Return the average estimate of all descents."""
        return self._steps / self._dives

    def _one(self, claim: int, request: int, option: int, slot: int, in_option: bool, start: int) -> int:
        self._steps += self._weight
        return super()._one(claim, request, option, slot, in_option, start)

    def _first_available(self, claim: int, request: int) -> int:
        last = len(self._claims[claim].requests[request]) - 1
        if self._on_path:
            last, _ = self._path[claim, request]
        option = self._draw(last + 1)
        self._on_path = self._on_path and option == last
        return self._one(claim, request, option, 0, True, 0)

    def _take_any(self, want: Want, option: int, slot: int, in_option: bool, start: int) -> int:
        scan = self._space.scan
        goal = self._path[want.claim_index, want.request_index][1][slot] if self._on_path else None
        open_: list[int] = []
        for position in range(start, len(scan)):
            device = scan[position]
            if not isinstance(device, PoolDevice):
                raise reached_invalid(device)
            self.looked += 1
            mark = self._ledger.mark()
            refusal = self._refusal(want, slot, device)
            if refusal is None:
                self._ledger.rewind(mark)
                open_.append(position)
            if device.id == goal:
                break
        if not open_:
            return NO
        below = self._space.count(want) - slot - 1 if self._space.rules.resumes_scan else 0
        position = open_[self._draw_ahead(len(open_), below)]
        device = scan[position]
        assert isinstance(device, PoolDevice)  # only devices were gathered
        self._on_path = self._on_path and device.id == goal
        if self._refusal(want, slot, device) is not None:
            return NO  # leaks from later devices (Q4) would not yet exist
        found = self._one(want.claim_index, want.request_index, option, slot + 1, in_option, position + 1)
        return YES if found == YES else NO

    def _draw_ahead(self, choices: int, slots: int) -> int:
        """Return a choice at random, preferring choices that leave more ways to fill that many slots from what follows.

        A weight compensates for the preference, which only makes the estimate more stable, because most of the tree
        lies below early choices.
        """
        if not slots:
            return self._draw(choices)
        shares = [1 + math.comb(choices - 1 - choice, slots) for choice in range(choices)]
        whole = sum(shares)
        [choice] = self._lot.choices(range(choices), shares)
        self._weight *= whole / shares[choice]
        return choice

    def _draw(self, choices: int) -> int:
        self._weight *= choices
        return int(self._lot.random() * choices)


DeviceOrder = Callable[[Sequence[PoolDevice], AllocatedState], Sequence[PoolDevice]]
"""A function that returns the devices of a node in the order to try them. It must treat nodes with equal signatures
alike."""


# -- the search --------------------------------------------------------------------------------------------------------

_FRAMES_PER_STEP = 5
"""The number of Python functions that one step of any walk enters before the next step."""


class Search:
    """One search on one node. Call `run` once, and then read `ledger.results` and `chosen`.

    `steps` is the number of steps of all walks.
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
        order: DeviceOrder | None = None,
    ) -> None:
        self._order, self._state = order, state
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
        """The record of the devices that the search has taken."""
        return self._taker.ledger

    def run(self) -> bool:
        """Run the search, and return whether it found devices for all claims.

        Raises AllocationError, which ends the scheduling attempt of the pod, and StepsExhaustedError. A skipped pool is
        not an error here; callers report it.
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
        """Estimate the number of steps that the plain walk takes to reach these allocations.

        If there are no allocations, this is the number of steps to try everything.
        """
        space = self._space()
        with _room_for(space):
            return estimate(space, self._taker, allocations)

    def _space(self) -> SearchSpace:
        """Check all claims, and return the space that the walk searches."""
        for ready in self._claims:
            self._prepare(ready)
        scan = _scan_list(self.pools, self._rules)
        if self._order is not None and all(isinstance(each, PoolDevice) for each in scan):
            scan = [*self._order([each for each in scan if isinstance(each, PoolDevice)], self._state)]
        return SearchSpace(self._claims, scan, self._all, self._rules, self._quirks)

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
        """Return whether any device may be rejected late, which leaves too many effects behind for any proof (C1)."""
        return self._quirks.capacity_of_wrong_device and self._features.consumable_capacity

    def _follow(self, walk: Walk, pause_at: int = 0) -> bool:
        try:
            return walk.run(pause_at)
        finally:
            self.steps, self.chosen = walk.steps, walk.chosen

    # -- before the walk -----------------------------------------------------------------------------------------

    def _prepare(self, ready: ClaimRequests) -> None:
        """Check a claim's requests, and list the devices that All selects."""
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
        """Return the devices that All selects on this node.

        In upstream, a broken pool from any driver is fatal (Q12).
        """
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
    """Raise Python's recursion limit if needed, because walks nest as deeply as the claims have devices."""
    return more_frames(_FRAMES_PER_STEP * space.depth())


def _scan_list(pools: Sequence[Pool], rules: Rules) -> list[PoolDevice | Pool]:
    """Return all devices in search order. If reaching an invalid pool is fatal, the pool itself is in the list."""
    scan: list[PoolDevice | Pool] = []
    for pool in pools:
        if is_searched(pool, rules):
            scan += pool.devices()
        elif pool.problem and not rules.skips_unusable_pools:
            scan.append(pool)
    return scan


# -- the outcome for one node ------------------------------------------------------------------------------------------

NOTHING_SIGHTED: frozenset[Quirk] = frozenset()
"""The empty set of quirks, shared by most results."""


class Outcome(enum.Enum):
    """The possible outcomes for a search or for a claim set.

    Refused (the API server rejects the claims) and Unknown (the input lacks objects that decide the outcome) apply only
    to claim sets.
    """

    FITS = "Fits"
    DOES_NOT_FIT = "DoesNotFit"
    NODE_ERROR = "NodeError"
    ERROR = "Error"
    UNDECIDED = "Undecided"
    REFUSED = "Refused"
    UNKNOWN = "Unknown"


class NodeOutcome(msgspec.Struct, frozen=True):
    """The outcome of a search on one node.

    If the claims fit, `allocations` contains the results in the order of the claims. Otherwise, `message` is
    kube-scheduler's message, if there is one. `sighted` contains the release defects that may have affected the
    outcome. `out_of_reach` is true if an allocated claim cannot be used on the node. This field is set by callers, not
    by the allocator.
    """

    node: str
    outcome: Outcome
    allocations: Sequence[AllocationResult] = ()
    message: str = ""
    steps: int = 0
    sighted: frozenset[Quirk] = NOTHING_SIGHTED
    error: AllocationError | NodeAllocationError | None = None
    out_of_reach: bool = False

    def __repr__(self) -> str:
        return f"<NodeOutcome on {self.node}: {self.outcome.value}>"


def pack(outcomes: Sequence[NodeOutcome]) -> bytes | None:
    """Encode the outcomes for another process, or return None if they cannot be encoded.

    Errors cannot be encoded, nor can driver configuration, which may contain numbers that are too large.
    """
    if any(each.error or any(given.devices.config for given in each.allocations) for each in outcomes):
        return None
    return _encode([_values(each) for each in outcomes])


def unpack(packed: bytes) -> tuple[NodeOutcome, ...]:
    """Decode the outcomes that `pack` encoded."""
    return tuple(
        [
            NodeOutcome(
                node,
                outcome,
                given,
                message,
                steps,
                frozenset(sighted) if sighted else NOTHING_SIGHTED,
                out_of_reach=out_of_reach,
            )
            for node, outcome, given, message, steps, sighted, out_of_reach in _decode(packed)
        ]
    )


_Values = tuple[str, Outcome, list[AllocationResult], str, int, list[Quirk], bool]


def _values(answer: NodeOutcome) -> _Values:
    given, sighted = answer.allocations, answer.sighted
    defects = sorted(sighted) if sighted else []
    return answer.node, answer.outcome, [*given], answer.message, answer.steps, defects, answer.out_of_reach


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[_Values]).decode
