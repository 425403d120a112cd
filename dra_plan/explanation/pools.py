"""Pools that are not looked at, and the slices that cause it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dra_plan.allocator import Pool, PoolGatherer
from dra_plan.allocator.pools import PoolSlice


@dataclass(slots=True)
class SkippedPool:
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


def finding(pool: Pool, gatherer: PoolGatherer) -> SkippedPool:
    """The pool, which is not complete, with the slices that cause it."""
    if pool.superseded_by is not None:
        causes = gatherer.generation(pool.id, pool.superseded_by).slices
    elif pool.incomplete:
        causes = _disagreeing(gatherer.generation(pool.id, pool.generation).slices)
    else:
        every = (*pool.slices, *pool.elsewhere, *pool.counter_slices)
        causes = [s for s in every if pool.problem is not None and pool.problem.concerns(s.object.spec)]
    return SkippedPool(pool, count(pool), tuple(dict.fromkeys(slice_.name for slice_ in causes)))


def _disagreeing(slices: Sequence[PoolSlice]) -> Sequence[PoolSlice]:
    """The slices that give another number of slices than the first does; all of them when they agree."""
    expected = slices[0].object.spec.pool.resource_slice_count
    return [s for s in slices if s.object.spec.pool.resource_slice_count != expected] or slices
