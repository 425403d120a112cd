"""A placement carried out: each pod by itself, one after the other, as the scheduler takes them.

What the allocator found for several pods together is only a hint here, which devices to leave to each of them: what
counts is its answer for one pod, with what the pods before it have in use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice

from msgspec.structs import replace

from dra_plan.allocator import AllocatedState, NodeOutcome, Outcome
from dra_plan.api.resource import AllocationResult, ResourceClaim, ResourceClaimStatus
from dra_plan.claims.sets import CANNOT_ALLOCATE, NOT_AVAILABLE, is_in_reach
from dra_plan.scheduler.cluster.nodes import NodeInfo

from . import pinning
from .candidates import PodToPlace
from .ground import Ground

Found = Mapping[str, AllocationResult]
"""Claim uid to what the claim gets."""


class CarriedOut:
    """The cluster while pods are put on it. `claims` are those that got devices, by uid, with their allocation."""

    def __init__(self, ground: Ground, only: str = "") -> None:
        """`only` is the one node that pods will be put on, if there is but one: that is cheaper."""
        self._ground = ground
        self._consumable = ground.target.features.consumable_capacity
        claims = ground.holding(only) if only else ground.cluster.claims.seen()
        self._state = AllocatedState.of(claims, consumable_capacity=self._consumable)
        self._view = ground.cluster.view.with_state(self._state)
        self.nodes: dict[str, NodeInfo] = {}
        self.claims: dict[str, ResourceClaim] = {}

    def node(self, name: str) -> NodeInfo:
        """The node as it is by now."""
        if name not in self.nodes:
            self.nodes[name] = self._ground.cluster.nodes[name].clone()
        return self.nodes[name]

    def newest(self, number: int) -> tuple[ResourceClaim, ...]:
        """The claims that got devices last, so many of them, in the order in which they did."""
        return tuple(reversed([*islice(reversed(self.claims.values()), number)]))

    def hint(self, candidates: Sequence[PodToPlace], name: str) -> Found:
        """What the claims of all these pods could get on the node together; empty if they can't be there together."""
        node = self.node(name)
        claims = [c for c in self._ground.joint_claims(candidates, node) if c.metadata.uid not in self.claims]
        for view in (self._ground.joint, self._ground.promised) if claims else ():
            outcome = self._ground.allocate(claims, node, view.with_state(self._state))
            if outcome.outcome is Outcome.FITS:
                return {claim.metadata.uid: got for claim, got in zip(claims, outcome.allocations, strict=True)}
        return {}

    def place(self, candidate: PodToPlace, name: str, hint: Found) -> str:
        """Puts the pod on the node; if it does not fit there, nothing changes, and this says why."""
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
        """The allocator's answer: with the devices of the hint, if all claims have one."""
        meant = [hint[claim.metadata.uid] for claim in claims if claim.metadata.uid in hint]
        if len(meant) < len(claims):
            return self._ground.allocate(claims, node, self._view)
        requests = self._view.requests(claims)
        greedy = [want for ready in requests for wants in ready.requests for want in wants if want.takes_all]
        gatherer = self._view.gatherer
        pools = {pool.id for pool in gatherer.gather(node.node)}
        slices = sorted((s for pool in pools for s in gatherer.slices[pool]), key=lambda slice_: slice_.position)
        marks = pinning.marks_of(meant)
        view = self._view.with_slices([pinning.marked(slice_, marks, self._state, greedy) for slice_ in slices])
        return self._ground.allocate(pinning.pinned(claims, meant), node, view.with_state(self._state))

    def _keep(self, claims: Sequence[ResourceClaim], allocations: Sequence[AllocationResult]) -> None:
        for claim, allocation in zip(claims, allocations, strict=True):
            got = replace(claim, status=ResourceClaimStatus(allocation=allocation))
            self.claims[claim.metadata.uid] = got
            self._state.add(got, consumable_capacity=self._consumable)
