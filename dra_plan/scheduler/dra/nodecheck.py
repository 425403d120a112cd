"""What Filter asks of one node: whether the pod's claims can be satisfied there, and with which devices."""

from __future__ import annotations

from collections.abc import Hashable

from dra_plan.allocator import Allocator, NodeOutcome, Outcome, View
from dra_plan.allocator.appearance import Likeness
from dra_plan.allocator.pools import KnownPools
from dra_plan.api.core import Pod
from dra_plan.api.resource import ResourceClaim
from dra_plan.claims.sets import CANNOT_ALLOCATE, NOT_AVAILABLE, is_in_reach
from dra_plan.remembered import Remembered
from dra_plan.scheduler import pluginnames
from dra_plan.scheduler.handle import Handle
from dra_plan.scheduler.nodeinfo import NodeInfo
from dra_plan.scheduler.obstacles import NoDevices
from dra_plan.scheduler.status import Reason, Status, error, unresolvable

from . import conditions
from .extended import served_names, special_requests, with_requests
from .nodeallocatable import NodeAllocatable, used_elsewhere
from .state import NodeAnswer, PodState

UNAVAILABLE = unresolvable(NOT_AVAILABLE).by(pluginnames.DYNAMIC_RESOURCES)
"""An allocated claim can't be used on the node. Known again as the object that it is."""
_NO_DEVICES = unresolvable(Reason(CANNOT_ALLOCATE, NoDevices()))
_LEFTOVER = unresolvable("cannot schedule extended resource claim")
_CANNOT_FIT = unresolvable("cannot fit resource")
_MOST_LOOKS = 64
"""Sets of claims of which it is known how nodes look to them."""


class NodeCheck:
    """Looks at nodes for pods with claims. A pod's allocators are kept in its state, one per set of served names."""

    def __init__(self, handle: Handle, binding_timeout: float, max_steps: int) -> None:
        self._handle = handle
        self._binding_timeout = binding_timeout
        self._max_steps = max_steps
        self.undecided: dict[str, list[str]] = {}
        """Pod to the nodes on which the step budget ran out."""
        self._taking: NodeAllocatable | None = None
        self._known = _KnownLooks()

    def answer(self, kept: PodState, pod: Pod, node: NodeInfo) -> NodeAnswer:
        """Why the claims can't be satisfied on the node, or what would be allocated there."""
        served: tuple[str, ...] = ()
        if kept.special is not None:
            mapped = self._handle.cluster.extended_names()
            if kept.special.spec.devices.requests:
                return NodeAnswer(_LEFTOVER)
            if any(name not in mapped and name not in node.allocatable for name in kept.names):
                return NodeAnswer(_CANNOT_FIT)
            served = served_names(kept.names, mapped, node.allocatable)
            if not served and not kept.claims:
                return NodeAnswer(None)
        taking = self._node_allocatable()
        refusal = used_elsewhere(pod, kept.allocated, node) if taking is not None else None
        if refusal is not None:
            return NodeAnswer(refusal)
        answer = NodeAnswer(None)
        if kept.pending or kept.special_pending:
            outcome = self._allocator(kept, pod, served).allocate(node.node)
            names_claim = outcome.error is not None and bool(outcome.error.cause.claim)
            only_this = names_claim or outcome.outcome is Outcome.UNDECIDED
            answer = NodeAnswer(self._status(outcome, pod, node), outcome.allocations, only_this)
        if answer.status is None and not all(self.is_available(claim, node) for claim in self._settled(kept)):
            return NodeAnswer(UNAVAILABLE)
        if answer.status is None and taking is not None and answer.allocations:
            status, claimed = taking.check(pod, node, list(zip(self._waiting(kept), answer.allocations, strict=False)))
            return NodeAnswer(status, answer.allocations, claimed=claimed)
        return answer

    def _settled(self, kept: PodState) -> list[ResourceClaim]:
        """The claims whose devices must be in reach. Upstream forgets those that a pod of the group has in flight."""
        if not kept.shared or self._handle.target.quirks.shared_pending_anywhere:
            return kept.allocated
        flying = (self._handle.cluster.claims.pending_allocation(uid) for uid in kept.shared)
        return [*kept.allocated, *(claim for claim in flying if claim is not None)]

    def _node_allocatable(self) -> NodeAllocatable | None:
        """The devices of the cluster, as it is now, that take node resources; None with the gate off."""
        view = self._handle.cluster.view
        if not view.target.features.node_allocatable:
            return None
        if self._taking is None or self._taking.view is not view:
            self._taking = NodeAllocatable(view)
        return self._taking

    @staticmethod
    def _waiting(kept: PodState) -> list[ResourceClaim]:
        """The claims that allocations are for, in their order."""
        return [*kept.pending, *([kept.special] if kept.special is not None else ())]

    def _allocator(self, kept: PodState, pod: Pod, served: tuple[str, ...]) -> Allocator:
        found = kept.allocators.get(served)
        if found is None:
            cluster = self._handle.cluster
            claims = self._claims(kept, pod, served)
            view = cluster.view.with_state(cluster.claims.state)
            deadline = self._handle.deadline
            key = None if kept.key is None else (kept.key, served)
            found = kept.allocators[served] = Allocator(
                claims,
                view,
                max_steps=self._max_steps,
                deadline=deadline,
                likeness=self._known.get(cluster.view, key),
                pools=self._known.pools,
            )
            self._known.keep(key, found.likeness)
        return found

    def _claims(self, kept: PodState, pod: Pod, served: tuple[str, ...]) -> list[ResourceClaim]:
        """The claims that wait for devices; the special one, last, asks for what a node of these names is to serve."""
        if kept.special is None:
            return kept.pending
        requests, _ = special_requests(pod, served, self._handle.cluster.extended_names())
        return [*kept.pending, with_requests(kept.special, requests)]

    def claims_on(self, kept: PodState, pod: Pod, node: NodeInfo) -> list[ResourceClaim]:
        """What the allocator is asked for on the node."""
        served = served_names(kept.names, self._handle.cluster.extended_names(), node.allocatable)
        return self._claims(kept, pod, served)

    def _status(self, outcome: NodeOutcome, pod: Pod, node: NodeInfo) -> Status | None:
        match outcome.outcome:
            case Outcome.FITS:
                return None
            case Outcome.DOES_NOT_FIT:
                return _NO_DEVICES
            case Outcome.NODE_ERROR:
                return unresolvable(outcome.message)
            case Outcome.UNDECIDED:
                self.undecided.setdefault(pod.key, []).append(node.name)
                return error(f"node {node.name}: {outcome.message}")
        return error(outcome.message)

    def is_available(self, claim: ResourceClaim, node: NodeInfo) -> bool:
        """Whether an allocated claim can be used on the node."""
        if not is_in_reach(claim, node.name, node.labels):
            return False
        if not self._handle.target.features.binding_conditions:
            return True
        return conditions.usable(claim, self._binding_timeout, self._handle.clock.now)


class _KnownLooks:
    """What is known of nodes by how they look, for the pods that ask for the same; the least recently asked goes.

    A node that looks as another one did in an earlier cycle is not searched again.
    """

    def __init__(self) -> None:
        self._view: View | None = None
        self._found: Remembered[Hashable, Likeness] = Remembered(_MOST_LOOKS)
        self.pools: KnownPools | None = None
        """The pools of the view that was asked for last."""

    def get(self, view: View, key: Hashable | None) -> Likeness | None:
        """What pods of that key have found out, of the slices and classes of the view; None if there is nothing."""
        if view is not self._view:
            self._view, self.pools = view, KnownPools(view.gatherer)
            self._found.clear()
        return None if key is None else self._found.get(key)

    def keep(self, key: Hashable | None, likeness: Likeness | None) -> None:
        """That is for pods of the same key."""
        if key is not None and likeness is not None:
            self._found.keep(key, likeness)
