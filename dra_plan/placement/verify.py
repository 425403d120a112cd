"""Carry out a placement: put pods on their nodes one by one, and verify each as the scheduler would.

The allocator's result for several pods together is only a hint. What counts is its result for one pod, with the devices
of the earlier pods in use. Filters that the integer program does not include are applied afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice

from msgspec.structs import replace

from dra_plan.allocator import AllocatedState, NodeOutcome, Outcome
from dra_plan.api.resource import AllocationResult, ResourceClaim, ResourceClaimStatus
from dra_plan.claims.sets import CANNOT_ALLOCATE, NOT_AVAILABLE, is_in_reach
from dra_plan.scheduler.cluster.nodes import NodeInfo
from dra_plan.scheduler.framework import plugin_names
from dra_plan.scheduler.framework.interface import FilterPlugin, PreFilterPlugin, ReservePlugin
from dra_plan.scheduler.framework.status import CycleState, Status, failed, is_skip, left_out

from . import pinning
from .node_kinds import NODE_AND_POD, PlacementCluster, PodToPlace, UnverifiedPlacementError

Found = Mapping[str, AllocationResult]
"""The allocations of claims, by UID."""


class CarriedOut:
    """A cluster while pods are put on its nodes. `claims` are the claims allocated so far, by UID."""

    def __init__(self, ground: PlacementCluster, only: str = "") -> None:
        """Set up the cluster. If `only` is given, pods can be put on this node only, which takes less time."""
        self._ground = ground
        self._consumable = ground.target.features.consumable_capacity
        claims = ground.holding(only) if only else ground.cluster.claims.seen()
        self._state = AllocatedState.of(claims, consumable_capacity=self._consumable)
        self._view = ground.cluster.view.with_state(self._state)
        self.nodes: dict[str, NodeInfo] = {}
        self.claims: dict[str, ResourceClaim] = {}

    def node(self, name: str) -> NodeInfo:
        """Return the node with the pods that are on it so far."""
        if name not in self.nodes:
            self.nodes[name] = self._ground.cluster.nodes[name].clone()
        return self.nodes[name]

    def newest(self, number: int) -> tuple[ResourceClaim, ...]:
        """Return the claims allocated last, at most `number`, in the order of their allocation."""
        return tuple(reversed([*islice(reversed(self.claims.values()), number)]))

    def hint(self, candidates: Sequence[PodToPlace], name: str) -> Found:
        """Return allocations with which the claims of all these pods fit on the node together.

        If none are found, the result is empty.
        """
        node = self.node(name)
        claims = [c for c in self._ground.joint_claims(candidates, node) if c.metadata.uid not in self.claims]
        for view in (self._ground.joint, self._ground.promised) if claims else ():
            outcome = self._ground.allocate(claims, node, view.with_state(self._state), timed=False)
            if outcome.outcome is Outcome.FITS:
                return {claim.metadata.uid: got for claim, got in zip(claims, outcome.allocations, strict=True)}
        return {}

    def place(self, candidate: PodToPlace, name: str, hint: Found) -> str:
        """Put the pod on the node and return "". If it does not fit, return the reason."""
        node = self.node(name)
        refusal = self._ground.refusal(candidate, node)
        if refusal is not None:
            return refusal.message
        asked = self._ground.claims_on(candidate, node)
        known = [self.claims[claim.metadata.uid] for claim in asked if claim.metadata.uid in self.claims]
        if not all(is_in_reach(claim, node.name, node.labels) for claim in known):
            return NOT_AVAILABLE
        new = [claim for claim in asked if claim.metadata.uid not in self.claims]
        if new:
            outcome = self._allocated(node, new, hint)
            if outcome.outcome is not Outcome.FITS:
                return outcome.message or CANNOT_ALLOCATE
            self._keep(new, outcome.allocations)
        node.add(candidate.info)
        return ""

    def _allocated(self, node: NodeInfo, claims: Sequence[ResourceClaim], hint: Found) -> NodeOutcome:
        """Return the allocator's result, with the hint's devices if there is a hint for every claim."""
        meant = [hint[claim.metadata.uid] for claim in claims if claim.metadata.uid in hint]
        if len(meant) < len(claims):
            return self._ground.allocate(claims, node, self._view, timed=False)
        requests = self._view.requests(claims)
        greedy = [want for ready in requests for wants in ready.requests for want in wants if want.takes_all]
        gatherer = self._view.gatherer
        pools = {pool.id for pool in gatherer.gather(node.node)}
        slices = sorted((s for pool in pools for s in gatherer.slices[pool]), key=lambda slice_: slice_.position)
        marks = pinning.marks_of(meant)
        view = self._view.with_slices([pinning.marked(slice_, marks, self._state, greedy) for slice_ in slices])
        return self._ground.allocate(pinning.pinned(claims, meant), node, view.with_state(self._state), timed=False)

    def _keep(self, claims: Sequence[ResourceClaim], allocations: Sequence[AllocationResult]) -> None:
        for claim, allocation in zip(claims, allocations, strict=True):
            got = replace(claim, status=ResourceClaimStatus(allocation=allocation))
            self.claims[claim.metadata.uid] = got
            self._state.add(got, consumable_capacity=self._consumable)


# -- filters outside the program ---------------------------------------------------------------------------------------
# These filters depend on other pods and on volumes, and are called when the placement is known. A placement passes if
# there is an order in which these filters admit each pod, given the pods before it.


@dataclass(frozen=True)
class LateRefusal:
    """A rejection by a filter that the program does not include."""

    candidate: PodToPlace
    node: str
    status: Status


class Afterwards:
    """The filters that the program does not include, applied to a placement."""

    def __init__(self, ground: PlacementCluster) -> None:
        self._ground = ground
        inside = (*NODE_AND_POD, plugin_names.DYNAMIC_RESOURCES)
        self._plugins = [
            plugin
            for plugin in ground.framework.points["filter"]
            if plugin.name not in inside and isinstance(plugin, FilterPlugin)
        ]

    def refusals(self, placed: Sequence[tuple[PodToPlace, str]]) -> list[LateRefusal]:
        """Return the rejections that remain when all other pods are on their nodes. The cluster stays unchanged."""
        with self.inside() as inside:
            return inside.let_in(placed)

    @contextmanager
    def inside(self) -> Iterator[PodsInside]:
        """Return a context in which pods can be put on nodes. The pods are removed when it ends."""
        inside = PodsInside(self)
        try:
            yield inside
        finally:
            while inside.done:
                inside.take_back()

    def assume(self, candidate: PodToPlace, name: str, state: CycleState) -> Status | None:
        """Put the pod on the node and return None, or return the status with which a filter rejects it."""
        cluster = self._ground.cluster
        status = self._refusal(candidate, cluster.nodes[name], state)
        if status is None:
            cluster.assume(candidate.info, name)
        return status

    def forget(self, candidate: PodToPlace, name: str, state: CycleState) -> None:
        """Remove the pod from the node."""
        self._unreserve(candidate, name, state)
        self._ground.cluster.forget(candidate.info, name)

    def _refusal(self, candidate: PodToPlace, node: NodeInfo, state: CycleState) -> Status | None:
        pod, nodes = candidate.pod, self._ground.nodes
        for plugin in self._plugins:
            if isinstance(plugin, PreFilterPlugin):
                result, status = plugin.pre_filter(state, pod, nodes)
                if is_skip(status):
                    state.skip_filter |= {plugin.name}
                    continue
                if failed(status):
                    return status.by(plugin.name)
                if result is not None and result.node_names is not None and node.name not in result.node_names:
                    return left_out(plugin.name)
            status = plugin.filter(state, pod, node)
            if failed(status):
                return status.by(plugin.name)
        return self._reserve(candidate, node.name, state)

    def _reserve(self, candidate: PodToPlace, node: str, state: CycleState) -> Status | None:
        """Reserve the pod's resources other than devices (its volumes), so that the next pod does not get them."""
        for plugin in self._plugins:
            if isinstance(plugin, ReservePlugin) and plugin.name not in state.skip_filter:
                status = plugin.reserve(state, candidate.pod, node)
                if failed(status):
                    return status.by(plugin.name)
        return None

    def _unreserve(self, candidate: PodToPlace, node: str, state: CycleState) -> None:
        for plugin in self._plugins:
            if isinstance(plugin, ReservePlugin) and plugin.name not in state.skip_filter:
                plugin.unreserve(state, candidate.pod, node)


class PodsInside:
    """Pods put on nodes one after the other, in the order of `done`."""

    def __init__(self, afterwards: Afterwards) -> None:
        self._afterwards = afterwards
        self.done: list[tuple[PodToPlace, str, CycleState]] = []

    def add(self, candidate: PodToPlace, name: str) -> Status | None:
        """Put the pod on the node and return None, or return the status with which a filter rejects it."""
        state = CycleState()
        status = self._afterwards.assume(candidate, name, state)
        if status is None:
            self.done.append((candidate, name, state))
        return status

    def take_back(self) -> None:
        """Remove the pod that was added last."""
        self._afterwards.forget(*self.done.pop())

    def let_in(self, placed: Sequence[tuple[PodToPlace, str]]) -> list[LateRefusal]:
        """Put each pod on its node, trying rejected pods again while others are added.

        Return the remaining rejections.
        """
        waiting, refused = list(placed), list[LateRefusal]()
        while waiting:
            answers = [(candidate, name, self.add(candidate, name)) for candidate, name in waiting]
            refused = [LateRefusal(candidate, name, why) for candidate, name, why in answers if why is not None]
            if len(refused) == len(waiting):
                break
            waiting = [(each.candidate, each.node) for each in refused]
        return refused


# -- carrying out a placement ------------------------------------------------------------------------------------------
# Combinations of pods on nodes become the pods themselves, which `CarriedOut` puts there one by one and verifies.


@dataclass(frozen=True)
class PlacedPod:
    """A pod on its node, with its claims.

    Claims that were allocated with an earlier pod are left out.
    """

    candidate: PodToPlace
    node: str
    claims: tuple[ResourceClaim, ...] = ()
    """The claims, with their allocations."""


class Carrying:
    """A cluster while a placement is carried out.

    If nodes share devices, another pod may have taken a pod's devices (`may_find_devices_gone`). Otherwise, missing
    devices are a bug in dra-plan.
    """

    def __init__(self, ground: PlacementCluster, *, may_find_devices_gone: bool) -> None:
        self._ground, self._standing = ground, CarriedOut(ground)
        self._may_find_devices_gone = may_find_devices_gone

    def on_node(self, name: str, pods: Sequence[PodToPlace], found: Found | None = None) -> Iterator[PlacedPod]:
        """Put pods on a node, and yield those that fit.

        `found` has the allocations to try first. By default, the allocator is asked for allocations for all of the
        pods.
        """
        hint = self._standing.hint(pods, name) if found is None else found
        for candidate in pods:
            why = self._place(candidate, name, hint)
            if isinstance(why, PlacedPod):
                yield why
            elif not self._may_find_devices_gone:
                raise UnverifiedPlacementError(candidate.pod.key, name, why)

    def know(self, name: str) -> None:
        """Record the node with the pods that are on it so far."""
        self._standing.node(name)

    def elsewhere(self, left: list[PodToPlace], allowed: Callable[[PodToPlace, str], bool]) -> Iterator[PlacedPod]:
        """Put each pod on the first allowed node where it fits, remove it from `left`, and yield it."""
        for candidate in list(left):
            nodes = (node.name for node in self._ground.nodes if allowed(candidate, node.name))
            tried = (self._place(candidate, name, {}) for name in nodes)
            placed = next((each for each in tried if isinstance(each, PlacedPod)), None)
            if placed is not None:
                left.remove(candidate)
                yield placed

    def _place(self, candidate: PodToPlace, name: str, hint: Found) -> PlacedPod | str:
        """Return the pod on the node, or the reason why it can't be there."""
        before = len(self._standing.claims)
        why = self._standing.place(candidate, name, hint)
        return why or PlacedPod(candidate, name, self._standing.newest(len(self._standing.claims) - before))
