"""One generation of a pool in the whole cluster: what holds for it whichever node looks, and whether it is valid.

Found once for all nodes, where a pool has several slices. Which slices a node sees, and what that makes of the pool
there, is `gathering`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dra_plan.api.resource import Device

from .poolproblem import PoolProblem
from .pools import PoolSlice


class Generation:
    """The slices of one generation of a pool, in input order; `newest` is the pool's newest generation."""

    __slots__ = ("_agrees", "_counters", "_repeats", "newest", "slices")

    def __init__(self, slices: Sequence[PoolSlice], newest: int) -> None:
        self.slices = slices
        self.newest = newest
        self._counters: _Counters | None = None
        self._agrees: bool | None = None
        self._repeats: bool | None = None
        """Whether any device name stands twice, on whichever nodes; None before that was asked, as for the others."""

    @property
    def agrees(self) -> bool:
        """Whether all slices state the same number of slices."""
        if len(self.slices) == 1:
            return True
        if self._agrees is None:
            self._agrees = len({slice_.object.spec.pool.resource_slice_count for slice_ in self.slices}) <= 1
        return self._agrees

    def duplicate_device(self, slices: Sequence[PoolSlice]) -> PoolProblem | None:
        """A device name that stands twice in these slices of the generation."""
        if self._repeats is None:
            names = [device.name for slice_ in self.slices for device in slice_.object.spec.devices]
            self._repeats = len(set(names)) < len(names)
        name = repeated_device(slices) if self._repeats else None
        return None if name is None else PoolProblem(device=name)

    def counter_problem(
        self, counter_slices: Sequence[PoolSlice], slices: Sequence[PoolSlice], *, elsewhere: bool
    ) -> PoolProblem | None:
        """What is wrong with the counter sets, or with the devices that consume them.

        Devices are looked at in `slices`, those that a node sees, then `elsewhere`, if these count there.
        `counter_slices` are those with counter sets, the same for every node.
        """
        if self._counters is None:
            self._counters = _Counters(counter_slices, self.slices)
        if self._counters.twice is not None:
            return self._counters.twice
        dangling = self._counters.dangling
        for slice_ in slices if dangling else ():
            if slice_ in dangling:
                return dangling[slice_]
        return next(iter(dangling.values()), None) if elsewhere else None


class _Counters:
    """The counter sets of a generation: the one that is there twice, and the slices with devices that dangle."""

    def __init__(self, counter_slices: Iterable[PoolSlice], slices: Iterable[PoolSlice]) -> None:
        self.twice: PoolProblem | None = None
        self.dangling: dict[PoolSlice, PoolProblem] = {}
        sets: dict[str, set[str]] = {}
        for slice_ in counter_slices:
            for counter_set in slice_.object.spec.shared_counters:
                if counter_set.name in sets:
                    self.twice = self.twice or PoolProblem(counter_set=counter_set.name, twice=True)
                sets[counter_set.name] = set(counter_set.counters)
        for slice_ in slices:
            found = None if slice_.object.spec.shared_counters else _first_dangling(slice_, sets)
            if found is not None:
                self.dangling[slice_] = found


def repeated_device(slices: Iterable[PoolSlice]) -> str | None:
    """The first device name that has stood in the slices before, or None."""
    names: set[str] = set()
    for slice_ in slices:
        for device in slice_.object.spec.devices:
            if device.name in names:
                return device.name
            names.add(device.name)
    return None


def _first_dangling(slice_: PoolSlice, sets: Mapping[str, set[str]]) -> PoolProblem | None:
    for device in slice_.object.spec.devices:
        problem = _dangling(device, sets) if device.consumes_counters else None
        if problem is not None:
            return problem
    return None


def _dangling(device: Device, sets: Mapping[str, set[str]]) -> PoolProblem | None:
    for entry in device.consumes_counters:
        if entry.counter_set not in sets:
            return PoolProblem(counter_set=entry.counter_set)
        for name in entry.counters:
            if name not in sets[entry.counter_set]:
                return PoolProblem(counter_set=entry.counter_set, counter=name)
    return None
