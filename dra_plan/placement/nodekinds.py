"""Nodes that look the same to the pods that are to be placed: what one of a kind can hold, all of it can.

Devices are compared as the allocator compares them (`allocator/appearance.py`); of the rest counts what the filters
that look at node and pod read: whether they let each kind of pod pass, and how much room there is, as far as the pods
could use it up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

from dra_plan.allocator import AllocationError, Pool
from dra_plan.allocator.appearance import Observer
from dra_plan.allocator.capacity import Counters
from dra_plan.allocator.pools import PoolSlice
from dra_plan.scheduler.cluster.nodes import PODS, NodeInfo
from dra_plan.scheduler.dra.extended import served_names
from dra_plan.scheduler.framework.status import Status

from .candidates import PodKind
from .ground import Ground, encoded


@dataclass(eq=False)
class AlikeNodes:
    """Nodes that look the same, in the order of the input. `refusals` says of each kind of pod what keeps it away."""

    nodes: list[NodeInfo]
    refusals: tuple[Status | None, ...]
    shared: frozenset[str] = field(default_factory=frozenset)
    """The names of the slices with devices for these pods that other nodes see as well."""

    @property
    def first(self) -> NodeInfo:
        """The one that stands for all."""
        return self.nodes[0]


def node_kinds(ground: Ground, kinds: Sequence[PodKind]) -> list[AlikeNodes]:
    """The nodes by kind, in the order of the first of each."""
    sorter = _Sorter(ground, kinds)
    looks = [(node, *sorter.look(node)) for node in ground.nodes]
    seen = Counter(slice_ for *_, slices in looks for slice_ in slices)
    found: dict[Hashable, AlikeNodes] = {}
    for node, key, refusals, slices in looks:
        shared = frozenset(slice_.name for slice_ in slices if seen[slice_] > 1)
        found.setdefault((key, shared), AlikeNodes([], refusals, shared)).nodes.append(node)
    return list(found.values())


class _Sorter:
    """Looks at nodes with the eyes of all kinds of pods."""

    def __init__(self, ground: Ground, kinds: Sequence[PodKind]) -> None:
        self._ground, self._kinds, self._view = ground, kinds, ground.joint
        self._observers: dict[Hashable, Observer] = {}
        self._wanted: Counter[str] = Counter()
        for kind in kinds:
            for name, value in kind.first.info.requests.items():
                self._wanted[name] += value * kind.count
        self._wanted[PODS] = sum(kind.count for kind in kinds)
        self._names = sorted(
            {name for kind in kinds for name in (kind.first.devices.names if kind.first.devices else ())}
        )
        self._mapped = ground.cluster.extended_names()

    def look(self, node: NodeInfo) -> tuple[Hashable, tuple[Status | None, ...], list[PoolSlice]]:
        """What the kinds can tell of the node, what refuses them there, and the slices that are not the node's own."""
        refusals = tuple(self._ground.refusal(kind.first, node) for kind in self._kinds)
        if all(refusal is not None for refusal in refusals):
            return tuple((r.plugin, r.message) for r in refusals if r is not None), refusals, []
        devices, slices = self._devices(node)
        passes = tuple((r.plugin, r.message) if r is not None else None for r in refusals)
        return (passes, self._room(node), devices), refusals, slices

    def _room(self, node: NodeInfo) -> Hashable:
        """What is left of what the pods ask for, as far as they could take it, and which names devices serve."""
        left = {name: node.allocatable.get(name, 0) - node.requested.get(name, 0) for name in self._wanted}
        left[PODS] = node.allowed_pods - len(node.pods)
        amounts = tuple(min(max(left[name], -1), self._wanted[name]) for name in sorted(self._wanted))
        return amounts, served_names(self._names, self._mapped, node.allocatable)

    def _devices(self, node: NodeInfo) -> tuple[Hashable, list[PoolSlice]]:
        claims = [claim for kind in self._kinds for claim in self._ground.claims_on(kind.first, node)]
        if not claims:
            return None, []
        try:
            pools = self._view.gatherer.gather(node.node)
        except AllocationError:
            return node.name, []
        observer = self._observer(encoded(claims), claims)
        appearance = observer.appearance(pools) if observer.is_able else None
        if appearance is None or self._ground.target.features.node_allocatable:
            return node.name, _not_local(pools)
        slices = {slice_: None for slice_, _ in appearance.places if not slice_.object.spec.node_name}
        return appearance.key, list(slices)

    def _observer(self, key: Hashable, claims: Iterable) -> Observer:  # type: ignore[type-arg]
        if key not in self._observers:
            view = self._view
            names = lambda: view.shared_counter_names  # noqa: E731
            counters = Counters(view.state, view.target, view.gatherer.slices, names)
            self._observers[key] = Observer(view.requests(claims), view.state, counters, view.target)
        return self._observers[key]


def _not_local(pools: Sequence[Pool]) -> list[PoolSlice]:
    return [slice_ for pool in pools for slice_ in pool.slices if not slice_.object.spec.node_name and slice_.devices]
