"""Whether pods on several nodes have their devices at the same time, where nodes share some: one question for all.

The allocator answers for one node. Here it is asked about a node that stands for all that are meant: it sees the
devices of each, marked with the nodes that reach them, and every request asks for the mark of its own node.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product

from msgspec.structs import replace

from dra_plan.allocator import AllocationError, DeviceID, NodeOutcome, Outcome, View
from dra_plan.allocator.pools import PoolSlice, device_is_on
from dra_plan.api.resource import AllocationResult, DeviceRequest, DeviceSelector, ResourceClaim, ResourceSlice

from .candidates import PodToPlace
from .ground import Ground
from .marks import asking, attributes_with, selector_of
from .rooms import BY_ORDER, RoomAnswer

Assigned = Sequence[tuple[str, Sequence[PodToPlace]]]
"""Nodes, each with the pods that are meant for it."""

UsedClaim = tuple[ResourceClaim, list[int]]
"""A claim, and the places of the nodes whose pods use it."""

MOST_PODS = 200
"""So many pods at most are asked about together."""
_MOST_BASES = 32


@dataclass(frozen=True)
class JointAnswer:
    """The answer, and what each claim gets, by uid."""

    answer: RoomAnswer
    found: dict[str, AllocationResult]


_OPEN = JointAnswer(RoomAnswer.OPEN, {})


class Together:
    """Asks about pods on several nodes."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground

    def ask(self, assigned: Assigned) -> JointAnswer:
        """Whether all of these pods can have devices on their nodes at the same time; devices alone are looked at."""
        ground = self._ground
        if sum(len(pods) for _, pods in assigned) > MOST_PODS or ground.target.features.node_allocatable:
            return _OPEN
        claims = self._claims(assigned)
        if not claims:
            return JointAnswer(RoomAnswer.YES, {})
        try:
            seen = _Seen(ground, [name for name, _ in assigned])
        except AllocationError:
            return _OPEN
        answers = [self._asked(seen, claims, bases) for bases in islice(_bases(claims), _MOST_BASES)]
        told = next((each for each in answers if each.answer is RoomAnswer.YES), None)
        if told is not None:
            return told
        is_open = len(answers) == _MOST_BASES or any(each.answer is RoomAnswer.OPEN for each in answers)
        return _OPEN if is_open else JointAnswer(RoomAnswer.NO, {})

    def _claims(self, assigned: Assigned) -> list[UsedClaim]:
        """The claims, each with the places of the nodes whose pods use it."""
        found: dict[str, tuple[ResourceClaim, list[int]]] = {}
        for index, (name, pods) in enumerate(assigned):
            for claim in self._ground.joint_claims(pods, self._ground.cluster.nodes[name]):
                found.setdefault(claim.metadata.uid, (claim, []))[1].append(index)
        return list(found.values())

    def _asked(self, seen: _Seen, claims: Sequence[UsedClaim], bases: Sequence[int]) -> JointAnswer:
        """The answer if each claim is allocated on its base, one of the nodes of its pods."""
        marked = [_marked(claim, nodes, base) for (claim, nodes), base in zip(claims, bases, strict=True)]
        outcome = seen.allocated(marked, self._ground.joint)
        if outcome.outcome not in (Outcome.FITS, Outcome.DOES_NOT_FIT):
            outcome = seen.allocated(marked, self._ground.promised)
            if outcome.outcome is not Outcome.FITS:
                return _OPEN
        if outcome.outcome is Outcome.DOES_NOT_FIT:
            by_order = BY_ORDER.intersection(self._ground.target.quirks.among(outcome.sighted))
            return _OPEN if by_order else JointAnswer(RoomAnswer.NO, {})
        found = {claim.metadata.uid: got for (claim, _), got in zip(claims, outcome.allocations, strict=True)}
        astray = [claim for claim, nodes in claims if not seen.reaches(nodes, found[claim.metadata.uid])]
        if any(request.first_available for claim in astray for request in claim.spec.devices.requests):
            return _OPEN
        return JointAnswer(RoomAnswer.NO, {}) if astray else JointAnswer(RoomAnswer.YES, found)


def _bases(claims: Sequence[UsedClaim]) -> Iterator[tuple[int, ...]]:
    """For each claim the node that it is allocated on: it matters where pods elsewhere use it, and it asks for All."""
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
    """The request, asking for devices that all nodes reach; those for All take what the base alone makes of it."""
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
    """The devices that nodes see, as one node would that stands for them. Raises AllocationError as gathering does."""

    def __init__(self, ground: Ground, names: Sequence[str]) -> None:
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
        """What the allocator says."""
        there = view.with_slices(self._slices).with_state(self._ground.view.state)
        return self._ground.allocate(claims, self._nodes[0], there)

    def reaches(self, nodes: Collection[int], allocation: AllocationResult) -> bool:
        """Whether all of these nodes reach the devices."""
        return all(
            set(nodes) <= set(self._by.get(DeviceID(result.driver, result.pool, result.device), ()))
            for result in allocation.devices.results
        )
