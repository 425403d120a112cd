"""How many idle devices the pods in a mix cannot use, measured as in fragmentation gradient descent.

Weng, Yang, Yu and others, "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation Gradient
Descent", USENIX ATC 2023. For each kind of pod, all idle units of a node count if the pod does not fit on the node, or
else only the units that have too little left for it. The measure of a node is the mean over the pods in the mix. A pod
that requests no devices can use none. Each request is examined alone: constraints between devices are ignored, and of a
firstAvailable request only the first alternative counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from dra_plan.allocator.requests import Want
from dra_plan.api.meta import ObjectMeta
from dra_plan.api.resource import ResourceClaim, ResourceClaimSpec
from dra_plan.scheduler.cluster.cluster import SimulatedCluster
from dra_plan.scheduler.cluster.nodes import NodeInfo
from dra_plan.scheduler.cluster.pod_requests import Amounts

from .units import Left, Units, needed

_encode = msgspec.json.Encoder(decimal_format="string").encode

MOST_KNOWN = 400_000
"""The number of node states whose measure is cached. All are dropped when it is reached."""


class Ask(NamedTuple):
    """A device request: its number among all different requests, and how many devices it asks for, or -1 for all."""

    number: int
    devices: int


class Shape(NamedTuple):
    """What a pod requests: amounts of node resources by name, and devices."""

    requests: tuple[tuple[str, int], ...]
    asks: tuple[Ask, ...]


@dataclass
class _AlikeShapes:
    """The shapes that request the same devices, with their requests of nodes, and their number of pods in the mix."""

    asks: tuple[Ask, ...]
    weight: float
    sizes: list[tuple[tuple[tuple[str, int], ...], float]]


class Measure:
    """The fragmentation of a cluster's nodes for a mix of pods."""

    def __init__(self, cluster: SimulatedCluster) -> None:
        self._cluster = cluster
        self.units = Units(cluster)
        self._wants: list[Want] = []
        self._numbers: dict[bytes, tuple[Ask, ...]] = {}
        self._needs: list[list[int | None]] = []
        """The needs, by the number of the request and the number of the kind of unit."""
        self._groups: list[_AlikeShapes] = []
        self._names: tuple[str, ...] = ()
        self._known: dict[tuple[Left, tuple[int, ...]], float] = {}

    def mix(self, shapes: Iterable[Shape]) -> None:
        """Set the mix of pods. A shape counts as often as it occurs."""
        counts = Counter(shapes)
        whole = sum(counts.values())
        groups: dict[tuple[Ask, ...], _AlikeShapes] = {}
        for shape, count in counts.items():
            group = groups.setdefault(shape.asks, _AlikeShapes(shape.asks, 0.0, []))
            group.weight += count / whole
            group.sizes.append((shape.requests, count / whole))
        self._groups = list(groups.values())
        self._names = tuple(sorted({name for shape in counts for name, _ in shape.requests}))
        self._known.clear()

    def shape(self, requests: Amounts, specs: Iterable[ResourceClaimSpec]) -> Shape:
        """Return the shape of a pod with these requests and claims."""
        asked = tuple((name, amount) for name, amount in sorted(requests.items()) if amount > 0)
        return Shape(asked, tuple(ask for spec in specs for ask in self._asks(spec)))

    def _asks(self, spec: ResourceClaimSpec) -> tuple[Ask, ...]:
        key = _encode(spec)
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = tuple(self._read(spec))
        return found

    def _read(self, spec: ResourceClaimSpec) -> Iterable[Ask]:
        claim = ResourceClaim(metadata=ObjectMeta(name="shape", namespace="default"), spec=spec)
        [ready] = self._cluster.view.requests([claim])
        for wants in ready.requests:
            want = wants[0]
            if not want.admin:
                self._wants.append(want)
                self._needs.append([])
                yield Ask(len(self._wants) - 1, -1 if want.takes_all else want.count)

    def needs(self, number: int) -> Sequence[int | None]:
        """Return how much of a unit of each kind this request takes. None means that no device in the unit matches."""
        known = self._needs[number]
        kinds = self.units.kinds
        while len(known) < len(kinds):
            known.append(needed(self._wants[number], kinds[len(known)], self._cluster.view.target))
        return known

    # The measure

    def node(self, node: NodeInfo) -> float:
        """Return how many thousandths of the node's units are free but cannot be used, on average over the mix."""
        return self.state(self.units.left(node), self.free(node))

    def free(self, node: NodeInfo) -> tuple[int, ...]:
        """Return the free amounts of those node resources that pods in the mix request."""
        allocatable, requested = node.allocatable, node.requested
        return tuple([allocatable.get(name, 0) - requested.get(name, 0) for name in self._names])

    def without(self, free: tuple[int, ...], shape: Shape) -> tuple[int, ...]:
        """Return the free amounts of the node's resources after another pod of this shape has been placed."""
        taken = dict(shape.requests)
        return tuple([left - taken.get(name, 0) for name, left in zip(self._names, free, strict=True)])

    def state(self, left: Left, free: tuple[int, ...]) -> float:
        """Return the fragmentation of a node on which these units and resources are free."""
        key = (tuple(sorted(left)), free)
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            found = self._known[key] = self._find(left, dict(zip(self._names, free, strict=True)))
        return found

    def _find(self, left: Left, free: dict[str, int]) -> float:
        idle = sum([rest for _, rest in left])
        if not idle:
            return 0.0
        lost = 0.0
        for group in self._groups:
            useless = self._useless(group.asks, left, idle)
            if useless == idle:
                lost += group.weight * idle
                continue
            for requests, weight in group.sizes:
                fits = all(free[name] >= amount for name, amount in requests)
                lost += weight * (useless if fits else idle)
        return lost

    def _useless(self, asks: tuple[Ask, ...], left: Left, idle: int) -> int:
        """Return the number of unusable thousandths; all of them if a request finds too few units."""
        if not asks:
            return idle
        useful: set[int] = set()
        for ask in asks:
            needs = self.needs(ask.number)
            fitting = []
            for at, (kind, rest) in enumerate(left):
                need = needs[kind]
                if need is not None and rest and need <= rest:
                    fitting.append(at)
            if len(fitting) < max(ask.devices, 1):
                return idle
            useful.update(fitting)
        if len(useful) == len(left):
            return 0
        return idle - sum([left[at][1] for at in useful])

    # Placing

    def placed(self, shape: Shape, left: Left, *, fullest_first: bool) -> Left | None:
        """Return the free units after a pod of this shape has got its devices, or None if there are too few.

        Units are used in order or, if `fullest_first` is set, the fullest ones first.
        """
        rest = list(left)
        for ask in shape.asks:
            needs = self.needs(ask.number)
            order = sorted(range(len(rest)), key=lambda at: rest[at][1]) if fullest_first else range(len(rest))
            missing = ask.devices
            for at in order:
                kind, some = rest[at]
                need = needs[kind]
                if missing and need is not None and some and need <= some:
                    rest[at] = (kind, some - need)
                    missing -= 1
            if missing > 0:
                return None
        return tuple(rest)
