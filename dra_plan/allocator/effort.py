"""How long the plain search would have taken where the pruned one gave the answer.

The plain walk can be too long to be taken, so its length is estimated: random dives to the bottom of its tree, in
which every step counts as often as it had siblings to choose from (Knuth 1975, "Estimating the efficiency of backtrack
programs"). The mean over many dives is an unbiased estimate; a few dozen tell thousands of steps from millions.
`docs/decisions/0010-plain-search-estimate.md` says how good that is. Nothing here finds or changes an answer.
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Mapping, Sequence

from dra_plan.api.resource import AllocationResult

from .errors import AllocationError
from .identity import DeviceID
from .pools import PoolDevice
from .requests import ClaimRequests, Want
from .taking import Taker
from .walk import NO, YES, SearchLimits, SearchSpace, Walk, reached_invalid

DIVES = 200
LOOKS = 50_000
"""An estimate ends after so many dives, or looks at a device in them."""

SolutionPath = Mapping[tuple[int, int], tuple[int, Sequence[DeviceID]]]
"""What each request, by claim and position, got: the alternative, and the devices slot by slot."""


def path_of(claims: Sequence[ClaimRequests], allocations: Sequence[AllocationResult]) -> SolutionPath:
    """The way to the solution that the allocations are."""
    path: dict[tuple[int, int], tuple[int, list[DeviceID]]] = {}
    for claim, (ready, allocation) in enumerate(zip(claims, allocations, strict=True)):
        places = {want.full_name: want for wants in ready.requests for want in wants}
        for result in allocation.devices.results:
            want = places[result.request]
            _, devices = path.setdefault((claim, want.request_index), (want.option_index, []))
            devices.append(DeviceID(result.driver, result.pool, result.device))
    return path


def estimate(space: SearchSpace, taker: Taker, allocations: Sequence[AllocationResult] = ()) -> float:
    """The steps of the plain walk to the first solution, which the allocations are; to the end without any.

    The same on every run. The taker's ledger is left in no particular state.
    """
    dives = _Dives(space, taker, path_of(space.claims, allocations) if allocations else {})
    for _ in range(DIVES):
        dives.once()
        if dives.looked > LOOKS:
            break
    return dives.mean()


class _Dives(Walk):
    """Walks that try one device a slot, chosen by lot among those that can be taken and lie before the solution."""

    def __init__(self, space: SearchSpace, taker: Taker, path: SolutionPath) -> None:
        super().__init__(space, taker, SearchLimits(sys.maxsize))
        self._path = path
        self._lot = random.Random(1975)
        self._weight, self._on_path = 1.0, False
        self._dives = self.looked = 0
        self._steps = 0.0

    def once(self) -> None:
        """One dive."""
        self._taker.restart()
        self._ledger = self._taker.ledger
        self._weight, self._on_path = 1.0, bool(self._path)
        self._dives += 1
        try:
            self.run()
        except AllocationError:
            return  # a branch that the real search need not have come to

    def mean(self) -> float:
        """The mean of all dives."""
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
            return NO  # what leaked from the devices behind it (Q4) would not have been there yet
        found = self._one(want.claim_index, want.request_index, option, slot + 1, in_option, position + 1)
        return YES if found == YES else NO

    def _draw_ahead(self, choices: int, slots: int) -> int:
        """A choice that is the likelier the more ways it leaves to fill that many slots from what follows it.

        The weight makes up for it; it only keeps the estimate steady, for most of the tree lies below early choices.
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
