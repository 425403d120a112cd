"""What one device must pass to serve one request while nothing is taken yet, in the allocator's order.

The allocator's `Taker` decides and says in which order; here every check can be asked, not just the first that fails.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from dra_plan.allocator import AllocationError, Pool, PoolDevice, SelectorError
from dra_plan.allocator.capacity import Counters
from dra_plan.allocator.pools import is_searched
from dra_plan.allocator.reasons import DeviceReason
from dra_plan.allocator.requests import Want
from dra_plan.allocator.taking import Taker

from .placement import Placement
from .reasons import PoolUnusable, Refusal, SelectorFailed


class CheckResult(NamedTuple):
    """What one check says of a device: its name in documents, and the reason why the device fails it, or None."""

    name: str
    refusal: Refusal | None


class Checks:
    """The checks of one placement."""

    def __init__(self, placement: Placement) -> None:
        view = placement.view
        target = view.target
        pools, obsolete = placement.gathered
        self.counters = Counters(view.state, target)
        self._rules = target.rules
        self._taker = Taker(
            placement.node,
            (*pools, *obsolete),
            len(placement.claims),
            view.state,
            self.counters,
            target.features,
            target.rules,
            target.quirks,
        )

    def every(self, want: Want, device: PoolDevice, pool: Pool) -> list[CheckResult]:
        """What each check says, in the order in which the want meets them."""
        found = [
            CheckResult(check.name, self._asked(check.refusal, want, device)) for check in self._taker.checks(want)
        ]
        return [CheckResult("pool", self._pool(pool)), *found]

    def first(self, want: Want, device: PoolDevice, pool: Pool) -> Refusal | None:
        """The first reason against the device, or None."""
        refused = self._pool(pool)
        if refused is not None:
            return refused
        for _, refusal in self._taker.checks(want):
            found = self._asked(refusal, want, device)
            if found is not None:
                return found
        return None

    def names(self, want: Want) -> list[str]:
        """The names of the checks in order, each where it first comes."""
        return list(dict.fromkeys(("pool", *(check.name for check in self._taker.checks(want)))))

    def matches(self, want: Want, device: PoolDevice, pool: Pool) -> bool:
        """Whether All includes the device."""
        try:
            return self._pool(pool) is None and self._taker.all_includes(want, device)
        except AllocationError:
            return False

    def selector(self, want: Want, device: PoolDevice) -> Refusal | None:
        """The first selector of the class, then of the request, that is false for the device or fails on it."""
        return self._asked(Taker.selector_refusal, want, device)

    def _pool(self, pool: Pool) -> PoolUnusable | None:
        return None if is_searched(pool, self._rules) else PoolUnusable(pool.state.value.lower())

    def _asked(
        self, refusal: Callable[[Taker, Want, PoolDevice], DeviceReason | None], want: Want, device: PoolDevice
    ) -> Refusal | None:
        """What the check says; an error of a selector is a reason too."""
        try:
            return refusal(self._taker, want, device)
        except SelectorError as error:
            place = (error.cause.device_class or None, error.position, error.expression)
            return SelectorFailed(*place, str(error), error.device is not None, error.of_device)
        except AllocationError:  # an amount that can't be counted with ends the attempt before anything is refused
            return self._taker.demand(want, device).refusal
