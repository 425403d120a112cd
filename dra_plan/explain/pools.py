"""Pools that are not looked at, and the slices that cause it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dra_plan.allocator import Pool, PoolGatherer, PoolState
from dra_plan.allocator.pools import PoolSlice
from dra_plan.api.resource import ResourceSliceSpec


@dataclass(slots=True)
class PoolFinding:
    """A pool that is not looked at. `devices` are those it would give this node; `slices` cause it, if any does."""

    pool: Pool
    devices: int
    slices: tuple[str, ...] = ()

    @property
    def code(self) -> str:
        """The code of the reason."""
        return f"pool-{self.pool.state.value.lower()}"


def count(pool: Pool) -> int:
    """The devices that the pool offers to its node."""
    return sum(len(slice_.object.spec.devices) for slice_ in pool.slices)


def finding(pool: Pool, gatherer: PoolGatherer) -> PoolFinding:
    """The pool, which is not complete, with the slices that cause it."""
    peers = gatherer.slices[pool.id]
    if pool.state is PoolState.OBSOLETE:
        causes = [slice_ for slice_ in peers if slice_.generation == pool.superseded_by]
    elif pool.state is PoolState.INCOMPLETE:
        causes = _disagreeing([slice_ for slice_ in peers if slice_.generation == pool.generation])
    else:
        causes = [s for s in (*pool.slices, *pool.elsewhere, *pool.counter_slices) if _at_fault(s, pool.invalid)]
    return PoolFinding(pool, count(pool), tuple(dict.fromkeys(slice_.name for slice_ in causes)))


def _disagreeing(slices: list[PoolSlice]) -> list[PoolSlice]:
    """The slices that give another number of slices than the first does; all of them when they agree."""
    expected = slices[0].object.spec.pool.resource_slice_count
    return [s for s in slices if s.object.spec.pool.resource_slice_count != expected] or slices


def _at_fault(slice_: PoolSlice, problem: str) -> bool:
    """Whether the slice has what the allocator's text complains of."""
    words = problem.split()
    kinds: tuple[tuple[tuple[str, ...], Callable[[ResourceSliceSpec], bool]], ...] = (
        (("duplicate", "device"), lambda spec: any(d.name == words[-1] for d in spec.devices)),
        (("duplicate", "counter"), lambda spec: any(c.name == words[-1] for c in spec.shared_counters)),
        (("counter", "set"), lambda spec: _consumes(spec, words[2], None)),
        (("counter",), lambda spec: _consumes(spec, words[-1], words[1])),
    )
    return next(holds(slice_.object.spec) for start, holds in kinds if tuple(words[: len(start)]) == start)


def _consumes(spec: ResourceSliceSpec, counter_set: str, counter: str | None) -> bool:
    return any(
        entry.counter_set == counter_set and (counter is None or counter in entry.counters)
        for device in spec.devices
        for entry in device.consumes_counters
    )
