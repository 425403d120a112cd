"""Check whether pods on several nodes that share devices can all get devices at the same time.

The allocator works on one node, so it is given a node that stands for several nodes. Devices are marked with the nodes
that can use them, and each request requires the mark of its node. A clash is a set of combinations that do not fit
together; the integer program excludes it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product

from msgspec.structs import replace

from dra_plan.allocator import AllocationError, DeviceID, NodeOutcome, Outcome, View
from dra_plan.allocator.pools import PoolSlice, device_is_on
from dra_plan.api.resource import AllocationResult, DeviceRequest, DeviceSelector, ResourceClaim, ResourceSlice

from .node_capacity import BY_ORDER, Combination, FitAnswer, NodeCapacity
from .node_kinds import AlikeNodes, PlacementCluster, PodKind, PodToPlace, asking, attributes_with, selector_of
from .program import Clash

Assigned = Sequence[tuple[str, Sequence[PodToPlace]]]
"""Nodes, each with the pods to be placed there."""

UsedClaim = tuple[ResourceClaim, list[int]]
"""A claim, and the positions of the nodes with pods that use it."""

MOST_PODS = 200
"""The maximum number of pods checked together."""
_MOST_BASES = 32


@dataclass(frozen=True)
class JointAnswer:
    """The answer to whether pods fit together. If they do, `found` has the allocations of their claims, by UID."""

    answer: FitAnswer
    found: dict[str, AllocationResult]


_OPEN = JointAnswer(FitAnswer.OPEN, {})


class Together:
    """Checks whether pods on several nodes can all get devices at the same time."""

    def __init__(self, ground: PlacementCluster) -> None:
        self._ground = ground

    def ask(self, assigned: Assigned) -> JointAnswer:
        """Return whether these pods can all get devices on their nodes at the same time."""
        ground = self._ground
        if sum(len(pods) for _, pods in assigned) > MOST_PODS or ground.target.features.node_allocatable:
            return _OPEN
        claims = self._claims(assigned)
        if not claims:
            return JointAnswer(FitAnswer.YES, {})
        try:
            seen = _Seen(ground, [name for name, _ in assigned])
        except AllocationError:
            return _OPEN
        answers = [self._asked(seen, claims, bases) for bases in islice(_bases(claims), _MOST_BASES)]
        told = next((each for each in answers if each.answer is FitAnswer.YES), None)
        if told is not None:
            return told
        is_open = len(answers) == _MOST_BASES or any(each.answer is FitAnswer.OPEN for each in answers)
        return _OPEN if is_open else JointAnswer(FitAnswer.NO, {})

    def _claims(self, assigned: Assigned) -> list[UsedClaim]:
        """Return the claims, each with the positions of the nodes whose pods use it."""
        found: dict[str, tuple[ResourceClaim, list[int]]] = {}
        for index, (name, pods) in enumerate(assigned):
            for claim in self._ground.joint_claims(pods, self._ground.cluster.nodes[name]):
                found.setdefault(claim.metadata.uid, (claim, []))[1].append(index)
        return list(found.values())

    def _asked(self, seen: _Seen, claims: Sequence[UsedClaim], bases: Sequence[int]) -> JointAnswer:
        """Return the result if each claim is allocated on its base, which is one of its pods' nodes."""
        marked = [_marked(claim, nodes, base) for (claim, nodes), base in zip(claims, bases, strict=True)]
        outcome = seen.allocated(marked, self._ground.joint)
        if outcome.outcome not in (Outcome.FITS, Outcome.DOES_NOT_FIT):
            outcome = seen.allocated(marked, self._ground.promised)
            if outcome.outcome is not Outcome.FITS:
                return _OPEN
        if outcome.outcome is Outcome.DOES_NOT_FIT:
            by_order = BY_ORDER.intersection(self._ground.target.quirks.among(outcome.sighted))
            return _OPEN if by_order else JointAnswer(FitAnswer.NO, {})
        found = {claim.metadata.uid: got for (claim, _), got in zip(claims, outcome.allocations, strict=True)}
        astray = [claim for claim, nodes in claims if not seen.reaches(nodes, found[claim.metadata.uid])]
        if any(request.first_available for claim in astray for request in claim.spec.devices.requests):
            return _OPEN
        return JointAnswer(FitAnswer.NO, {}) if astray else JointAnswer(FitAnswer.YES, found)


def _bases(claims: Sequence[UsedClaim]) -> Iterator[tuple[int, ...]]:
    """Yield, for each claim, the node on which it is allocated.

    The node matters if pods on other nodes use the claim, and if the claim has a request for All.
    """
    return product(*(nodes if len(nodes) > 1 and _takes_all(claim) else nodes[:1] for claim, nodes in claims))


def _takes_all(claim: ResourceClaim) -> bool:
    return any(
        option.allocation_mode == "All"
        for request in claim.spec.devices.requests
        for option in ([request.exactly] if request.exactly is not None else request.first_available)
    )


def _marked(claim: ResourceClaim, nodes: Collection[int], base: int) -> ResourceClaim:
    return asking(claim, lambda request: _request(request, nodes, base))


def _request(request: DeviceRequest, nodes: Collection[int], base: int) -> DeviceRequest:
    """Return the request for devices that all nodes reach; the meaning of requests for All depends only on the base."""
    if request.exactly is not None:
        marks = _selectors([base] if request.exactly.allocation_mode == "All" else nodes)
        return replace(request, exactly=replace(request.exactly, selectors=[*marks, *request.exactly.selectors]))
    options = [
        replace(
            option, selectors=[*_selectors([base] if option.allocation_mode == "All" else nodes), *option.selectors]
        )
        for option in request.first_available
    ]
    return replace(request, first_available=options)


def _selectors(nodes: Collection[int]) -> list[DeviceSelector]:
    return [selector_of(f"n{node}") for node in nodes]


class _Seen:
    """The devices that nodes see, as if one node represented them. Raises AllocationError if gathering does."""

    def __init__(self, ground: PlacementCluster, names: Sequence[str]) -> None:
        self._ground = ground
        self._nodes = [ground.cluster.nodes[name] for name in names]
        self._by: dict[DeviceID, list[int]] = {}
        slices: dict[PoolSlice, None] = {}
        for index, node in enumerate(self._nodes):
            for pool in ground.view.gatherer.gather(node.node):
                if pool.incomplete or pool.problem is not None:
                    continue
                for slice_ in pool.slices:
                    for device in slice_.devices:
                        if device_is_on(device, node.node):
                            self._by.setdefault(device.id, []).append(index)
                slices.update(dict.fromkeys([*pool.slices, *pool.counter_slices, *pool.elsewhere]))
        ordered = sorted(slices, key=lambda slice_: slice_.position)
        self._slices = [self._slice(slice_) for slice_ in ordered]

    def _slice(self, slice_: PoolSlice) -> ResourceSlice:
        devices = [
            replace(
                device.device,
                attributes=attributes_with(device.device, (f"n{node}" for node in self._by.get(device.id, ()))),
                node_name=None,
                node_selector=None,
                all_nodes=None,
            )
            for device in slice_.devices
        ]
        spec = replace(
            slice_.object.spec,
            devices=devices,
            node_name=None,
            node_selector=None,
            all_nodes=True,
            per_device_node_selection=None,
        )
        return replace(slice_.object, spec=spec)

    def allocated(self, claims: Sequence[ResourceClaim], view: View) -> NodeOutcome:
        """Return the allocator's result."""
        there = view.with_slices(self._slices).with_state(self._ground.view.state)
        return self._ground.allocate(claims, self._nodes[0], there)

    def reaches(self, nodes: Collection[int], allocation: AllocationResult) -> bool:
        """Return whether all of these nodes reach the devices."""
        return all(
            set(nodes) <= set(self._by.get(DeviceID(result.driver, result.pool, result.device), ()))
            for result in allocation.devices.results
        )


# -- clashes between nodes that share devices --------------------------------------------------------------------------
# The program first treats the nodes as independent. Its solution is then checked as a whole (`Together`). If the
# solution does not fit, its smallest part that does not fit is forbidden in the program from then on, for all nodes of
# the same kinds.

MOST_CLASHES = 300
MOST_COLUMNS = 4_000
_MOST_SHAPES = 5
"""The maximum number of different combinations on nodes of one kind in one clash."""

OPEN = JointAnswer(FitAnswer.OPEN, {})


class Coupling:
    """The known clashes between pods on nodes that share devices."""

    def __init__(self, ground: PlacementCluster, kinds: Sequence[PodKind], node_kinds: Sequence[AlikeNodes]) -> None:
        self._together, self._kinds = Together(ground), kinds
        self._node_kinds = {node.name: index for index, kind in enumerate(node_kinds) for node in kind.nodes}
        self._known: dict[tuple[tuple[int, Combination], ...], JointAnswer] = {}
        self.clashes: list[Clash] = []

    def ask(self, assigned: Assigned) -> JointAnswer:
        """Return whether these pods can all get devices on their nodes at the same time. Results are cached."""
        key = tuple(sorted((self._node_kinds[name], self._combination(pods)) for name, pods in assigned))
        known = self._known.get(key)
        if known is None or known.answer is FitAnswer.YES:
            known = self._known[key] = self._together.ask(assigned)
        return known

    def learn(self, assigned: Assigned) -> bool:
        """Add a clash for the smallest part of these pods that does not fit.

        Return False if no new clash can express it.
        """
        left = [(name, list(pods)) for name, pods in assigned]
        for index in reversed(range(len(left))):
            trial = [*left[:index], *left[index + 1 :]]
            if self.ask(trial).answer is FitAnswer.NO:
                left = trial
        for name, pods in left:
            for pod in list(pods):
                fewer = [each for each in pods if each is not pod]
                if self.ask([(n, fewer if n == name else p) for n, p in left]).answer is FitAnswer.NO:
                    pods.remove(pod)
        shapes = Counter((self._node_kinds[name], self._combination(pods)) for name, pods in left if pods)
        by_kind = Counter(kind for kind, _ in shapes)
        if not shapes or max(by_kind.values()) > _MOST_SHAPES or len(self.clashes) >= MOST_CLASHES:
            return False
        clash = Clash(tuple((kind, holds, number) for (kind, holds), number in sorted(shapes.items())))
        if clash in self.clashes:
            return False
        self.clashes.append(clash)
        return True

    def _combination(self, pods: Sequence[PodToPlace]) -> Combination:
        there = {id(pod) for pod in pods}
        return tuple(sum(id(member) in there for member in kind.members) for kind in self._kinds)


def combinations_below(room: NodeCapacity) -> Iterator[Combination]:
    """Yield the combinations of pods that may fit. If there are more than `MOST_COLUMNS`, some are missing."""
    seen: set[Combination] = set()
    for largest in room.outer:
        for each in product(*(range(number, -1, -1) for number in largest)):
            if any(each) and each not in seen:
                seen.add(each)
                yield each
                if len(seen) > MOST_COLUMNS:
                    return
