"""DynamicResources in PreFilter and Filter: whether a pod's claims can be allocated on a node, and from which devices.

First what the plugin keeps during one cycle, then the check of one node, then the checks of claims and requests that
PreFilter makes before any node is examined. Then for which pods an answer about a node can be reused, and what pods of
one group share. Devices are allocated by `dra_plan.allocator`; the plugin itself is in `dra/plugin.py`.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from dra_plan.allocator import Allocator, NodeOutcome, Outcome, View
from dra_plan.allocator.appearance import Likeness
from dra_plan.allocator.pools import KnownPools
from dra_plan.api.core import NodeAllocatableResourceClaimStatus, Pod
from dra_plan.api.resource import AllocationResult, DeviceRequest, ResourceClaim
from dra_plan.api.scheduling import PodGroup
from dra_plan.api.selectors import selector_problem
from dra_plan.claims.expand import reservers
from dra_plan.claims.sets import CANNOT_ALLOCATE, NOT_AVAILABLE, is_in_reach
from dra_plan.remembered import Remembered
from dra_plan.scheduler.cluster import claims
from dra_plan.scheduler.cluster.claims import ClaimStore, usable
from dra_plan.scheduler.cluster.nodes import NodeInfo
from dra_plan.scheduler.framework import plugin_names
from dra_plan.scheduler.framework.interface import Handle
from dra_plan.scheduler.framework.status import NoDevices, Reason, Status, error, unresolvable

from .extended import Use, container_shape, rank, served_names, special_requests, with_requests
from .node_allocatable import NodeAllocatable, used_elsewhere

if TYPE_CHECKING:
    from dra_plan.scheduler.cluster.cluster import SimulatedCluster


# -- state of one cycle ------------------------------------------------------------------------------------------------

Allocations = Sequence[AllocationResult]


class NodeAnswer(NamedTuple):
    """Why a node is rejected, or what would be allocated there: None if no claim waits for devices."""

    status: Status | None
    allocations: Allocations | None = None
    only_this_pod: bool = False
    """Whether it is no answer for another pod: the status names a claim of the pod, or the search was cut short."""
    claimed: Sequence[NodeAllocatableResourceClaimStatus] = ()
    """What the devices would take from the node itself."""


@dataclass
class PodState:
    """The pod's claims as PreFilter read them; empty if PreFilter rejected the pod.

    `special` is the claim for extended resources, `names` those that it may have to serve. `answers` are those of
    nodes, by name and with the node's version, where `key` can't say for which pods they hold. `chosen` are the results
    for the reserved node, for the pending claims in order, the special one last, and `uses` says which containers use
    the special one's requests.
    """

    claims: list[ResourceClaim] = field(default_factory=list)
    special: ResourceClaim | None = None
    names: list[str] = field(default_factory=list)
    key: Hashable = None
    allocators: dict[tuple[str, ...], Allocator] = field(default_factory=dict)
    answers: dict[str, tuple[int, NodeAnswer]] = field(default_factory=dict)
    chosen: Allocations | None = None
    uses: list[Use] = field(default_factory=list)
    reserved: list[str] = field(default_factory=list)
    """Uids of the claims that this pod put in flight."""
    shared: dict[str, AllocationResult] = field(default_factory=dict)
    """Uid to allocation of the claims that another pod of the group has put in flight in the same cycle."""
    group: PodGroup | None = None
    for_group: frozenset[str] = frozenset()
    """Uids of the claims that are reserved for the group instead of the pod."""
    taken_from: str = ""
    """The reserved node, if the pod's status says that devices take something from it."""

    @property
    def waiting(self) -> list[ResourceClaim]:
        """The user's claims that are not allocated in the API server, even if another pod is allocating them."""
        return [claim for claim in self.claims if claim.allocation is None]

    @property
    def pending(self) -> list[ResourceClaim]:
        """The waiting claims for which this pod has to find devices."""
        return [claim for claim in self.waiting if claim.metadata.uid not in self.shared]

    def for_waiting(self, found: Sequence[AllocationResult], *, mixed_up: bool) -> list[AllocationResult]:
        """The allocations of the waiting claims in their order; `found` are those that this pod found.

        `mixed_up`: upstream puts those of shared claims behind the new ones, and then goes by the order of the claims.
        """
        if not self.shared:
            return list(found)
        if mixed_up:
            known = (self.shared.get(claim.metadata.uid) for claim in self.waiting)
            return [*found[: len(self.pending)], *(each for each in known if each is not None)]
        new = iter(found)
        return [self.shared.get(claim.metadata.uid) or next(new) for claim in self.waiting]

    @property
    def allocated(self) -> list[ResourceClaim]:
        """The user's claims that have their devices."""
        return [claim for claim in self.claims if claim.allocation is not None]

    @property
    def special_pending(self) -> bool:
        """Whether there is a special claim without devices."""
        return self.special is not None and self.special.allocation is None

    @property
    def empty(self) -> bool:
        """Whether there is nothing to do."""
        return not self.claims and self.special is None


# -- checking a node ---------------------------------------------------------------------------------------------------

UNAVAILABLE = unresolvable(NOT_AVAILABLE).by(plugin_names.DYNAMIC_RESOURCES)
"""An allocated claim can't be used on the node. Known again as the object that it is."""
_NO_DEVICES = unresolvable(Reason(CANNOT_ALLOCATE, NoDevices()))
_LEFTOVER = unresolvable("cannot schedule extended resource claim")
_CANNOT_FIT = unresolvable("cannot fit resource")
_MOST_LOOKS = 64
"""Sets of claims of which it is known how nodes look to them."""


class NodeCheck:
    """Checks nodes for pods with claims. A pod's allocators are kept in its state, one per set of served names."""

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
        return usable(claim, self._binding_timeout, self._handle.clock.now)


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


# -- checking claims before any node is examined -----------------------------------------------------------------------


def check_claim(
    claim: ResourceClaim, cluster: SimulatedCluster, *, is_special: bool, shared: Container[str] = ()
) -> Status | None:
    """Why the pod can't be scheduled with this claim; the special claim for extended resources has no requests yet.

    `shared` are the uids of claims in flight whose allocation the pod may use as well: those of its group's cycle.
    """
    if claim.allocation is not None:
        selector = claim.allocation.node_selector
        problem = selector_problem(selector) if selector is not None else None
        return error(problem) if problem else None
    if cluster.claims.pending_allocation(claim.metadata.uid) is not None and claim.metadata.uid not in shared:
        return unresolvable(f"resource claim {claim.key} is in the process of being allocated")
    if is_special:
        return None
    return check_requests(claim, cluster.view)


def check_requests(claim: ResourceClaim, view: View) -> Status | None:
    """Why the claim's requests rule out every node at once: unknown forms of requests, and missing classes."""
    statuses = (_check_request(claim, request, view) for request in claim.spec.devices.requests)
    return next((status for status in statuses if status is not None), None)


def _check_request(claim: ResourceClaim, request: DeviceRequest, view: View) -> Status | None:
    where = f"resource claim {claim.key}, request {request.name}"
    if request.exactly is not None:
        return _check_class(request.exactly.device_class_name, request.name, view)
    if not request.first_available:
        return unresolvable(f"{where}: unknown request type")
    if not view.target.features.prioritized_list:
        return unresolvable(f"{where}: has subrequests, but the DRAPrioritizedList feature is disabled")
    statuses = (
        _check_class(option.device_class_name, f"{request.name}/{option.name}", view)
        for option in request.first_available
    )
    return next((status for status in statuses if status is not None), None)


def _check_class(name: str, request: str, view: View) -> Status | None:
    if not name:
        return error(f"request {request}: unsupported request type")
    if name not in view.classes:
        return unresolvable(f"request {request}: device class {name} does not exist")
    return None


# -- keys under which answers are reused -------------------------------------------------------------------------------
# Pods with the same key get the same answer for a node's devices.


def answer_key(kept: PodState, pod: Pod, view: View) -> Hashable:
    """What the answer for a node depends on besides the node; None if it can't be put into a key."""
    if view.shared_counter_names or view.target.features.node_allocatable:
        return None  # the node that is asked first decides for all; what the pod asks of the node decides too
    if any(claims.conditional_results(claim) for claim in kept.allocated):
        return None
    specs = tuple(msgspec.json.encode(claim.spec) for claim in kept.pending)
    allocations = [claim.allocation for claim in kept.allocated if claim.allocation is not None]
    where = tuple(msgspec.json.encode(allocation.node_selector) for allocation in allocations)
    ranks: tuple[int | bytes, ...] = tuple(rank(claim, claim.allocation) for claim in kept.allocated)
    if kept.shared:
        found = (kept.shared.get(claim.metadata.uid) for claim in kept.waiting)
        ranks = (*ranks, *(-1 if each is None else msgspec.json.encode(each) for each in found))
    if kept.special is None:
        return specs, where, ranks, None
    special = (msgspec.json.encode(kept.special.spec), kept.special_pending, tuple(kept.names))
    return specs, where, ranks, (*special, container_shape(pod))


# -- claims of pod groups ----------------------------------------------------------------------------------------------
# What pods of a group share: devices in flight in the group's cycle, and claims that are the group's own.


def in_flight(claims: Sequence[ResourceClaim], store: ClaimStore) -> dict[str, AllocationResult]:
    """The allocations that other pods of the group have put in flight for these claims in this cycle, by uid."""
    found = {}
    for claim in claims:
        flying = store.pending_allocation(claim.metadata.uid)
        if claim.allocation is None and flying is not None and flying.allocation is not None:
            found[claim.metadata.uid] = flying.allocation
    return found


def reserve_for_group(kept: PodState, pod: Pod, entries: Sequence[ResourceClaim | None], handle: Handle) -> None:
    """Note which of the pod's claims are reserved for its group; `entries` are the claims of its entries."""
    kept.group = handle.cluster.groups.of(pod)
    needed = [claim is not None for claim in entries]
    flags = reservers(pod, kept.group, needed, shifted=handle.target.quirks.group_reservations_shifted)
    kept.for_group = frozenset(c.metadata.uid for c, of_group in zip(kept.claims, flags, strict=True) if of_group)
