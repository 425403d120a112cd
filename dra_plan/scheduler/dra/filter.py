"""DynamicResources in PreFilter and Filter: on which nodes a pod's claims can be allocated, and with which devices.

Contents: the state of a cycle; the check of a node; the checks of claims and requests that PreFilter makes before any
node is examined; the keys under which a result can be reused for other pods; and what the pods of a group share.
`dra_plan.allocator` allocates the devices. The plugin is in `dra/plugin.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from dra_plan.allocator import Allocator, NodeOutcome, Outcome, View
from dra_plan.allocator.kinds import NodeStates
from dra_plan.allocator.pools import KnownPools
from dra_plan.allocator.signature import Likeness
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
    """The reason why a node is rejected, or the allocations on it. Both are None if no claim needs devices."""

    status: Status | None
    allocations: Allocations | None = None
    only_this_pod: bool = False
    """True if the result is not valid for other pods, because the status names a claim of this pod or the search was
    cut short.
    """
    claimed: Sequence[NodeAllocatableResourceClaimStatus] = ()
    """The node resources that the devices would use."""
    is_of_state: bool = False
    """True if the result is that of another node in the same state. The allocations are then found when needed."""


_FITS = NodeAnswer(None, is_of_state=True)


@dataclass
class PodState:
    """The pod's claims as PreFilter read them. They are empty if PreFilter rejected the pod.

    `special` is the claim for extended resources, and `names` are the resources that it may have to provide. `answers`
    are the results by node name, with the version of the node; they are used if there is no `key` for sharing results
    between pods. `chosen` are the allocations on the reserved node: those of the pending claims, in order, then that of
    the special claim. `uses` are the containers that use requests of the special claim.
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
    """The UIDs of the claims that this pod has put in flight."""
    shared: dict[str, AllocationResult] = field(default_factory=dict)
    """The allocations, by claim UID, that another pod of the group has put in flight in the same cycle."""
    group: PodGroup | None = None
    for_group: frozenset[str] = frozenset()
    """The UIDs of the claims that are reserved for the group instead of the pod."""
    is_plain: bool = False
    """True if the result depends only on the pod's own claims that need devices."""
    taken_from: str = ""
    """The reserved node, if the pod's status lists node resources that devices use."""

    @property
    def waiting(self) -> list[ResourceClaim]:
        """The pod's claims, except the special claim, that have no allocation in the API server.

        Another pod may already be allocating them.
        """
        return [claim for claim in self.claims if claim.allocation is None]

    @property
    def pending(self) -> list[ResourceClaim]:
        """The waiting claims that this pod has to find devices for."""
        return [claim for claim in self.waiting if claim.metadata.uid not in self.shared]

    def for_waiting(self, found: Sequence[AllocationResult], *, mixed_up: bool) -> list[AllocationResult]:
        """Return the allocations of the waiting claims, in the order of the claims.

        `found` are the allocations that this pod found. `mixed_up` reproduces upstream's wrong order, in which the
        allocations of shared claims come last.
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
        """The pod's claims, except the special claim, that have devices."""
        return [claim for claim in self.claims if claim.allocation is not None]

    @property
    def special_pending(self) -> bool:
        """Whether the pod has a special claim that has no devices yet."""
        return self.special is not None and self.special.allocation is None

    @property
    def empty(self) -> bool:
        """Whether the pod has no claims that concern the plugin."""
        return not self.claims and self.special is None


# -- checking a node ---------------------------------------------------------------------------------------------------

UNAVAILABLE = unresolvable(NOT_AVAILABLE).by(plugin_names.DYNAMIC_RESOURCES)
"""The status for an allocated claim that cannot be used on the node. It is compared by identity."""
_NO_DEVICES = unresolvable(Reason(CANNOT_ALLOCATE, NoDevices())).by(plugin_names.DYNAMIC_RESOURCES)
_LEFTOVER = unresolvable("cannot schedule extended resource claim")
_DOES_NOT_FIT = NodeAnswer(_NO_DEVICES)
_CANNOT_FIT = unresolvable("cannot fit resource")
_MOST_LOOKS = 64
"""The number of claim sets for which results are cached by node signature."""


class NodeCheck:
    """A check whether nodes can satisfy the claims of a pod.

    A pod's allocators are kept in its state, one for each set of resources that devices provide.
    """

    def __init__(self, handle: Handle, binding_timeout: float, max_steps: int) -> None:
        self._handle = handle
        self._binding_timeout = binding_timeout
        self._max_steps = max_steps
        self.undecided: dict[str, list[str]] = {}
        """For each pod, the nodes on which the search reached the step limit."""
        self._taking: NodeAllocatable | None = None
        self._known = _KnownLooks()

    def asking(self, kept: PodState, pod: Pod) -> Callable[[NodeInfo], NodeAnswer]:
        """Return a function that returns the result for a node: the reason for a rejection, or the allocations."""
        if kept.is_plain and self._node_allocatable() is None:
            return self._by_state(kept, pod)
        return lambda node: self._answer(kept, pod, node)

    def _answer(self, kept: PodState, pod: Pod, node: NodeInfo) -> NodeAnswer:
        served: tuple[str, ...] = ()
        taking = self._node_allocatable()
        if kept.special is not None:
            mapped = self._handle.cluster.extended_names()
            if kept.special.spec.devices.requests:
                return NodeAnswer(_LEFTOVER)
            if any(name not in mapped and name not in node.allocatable for name in kept.names):
                return NodeAnswer(_CANNOT_FIT)
            served = self._served(kept, node)
            if not served and not kept.claims:
                return NodeAnswer(None)
        refusal = used_elsewhere(pod, kept.allocated, node) if taking is not None else None
        if refusal is not None:
            return NodeAnswer(refusal)
        answer = NodeAnswer(None)
        if kept.pending or kept.special_pending:
            answer = self._allocated(kept, pod, node, served)
        if answer.status is None and not all(self.is_available(claim, node) for claim in self._settled(kept)):
            return NodeAnswer(UNAVAILABLE)
        if answer.status is None and taking is not None and answer.allocations:
            status, claimed = taking.check(pod, node, list(zip(self._waiting(kept), answer.allocations, strict=False)))
            return NodeAnswer(status, answer.allocations, claimed=claimed)
        return answer

    def _by_state(self, kept: PodState, pod: Pod) -> Callable[[NodeInfo], NodeAnswer]:
        """Return the function for a plain pod; a node's result is that of an earlier node in the same state, if any."""
        cluster, looks = self._handle.cluster, self._known
        in_use = cluster.claims.state
        known: KnownAnswers | None = None
        states: NodeStates | None = None

        def of(node: NodeInfo) -> NodeAnswer:
            nonlocal known, states
            if states is None:  # there are none before the first few nodes
                known = looks.get(cluster.view, (kept.key, ())) if kept.key is not None else None
                states = known.likeness.node_states if known is not None else None
            pools = looks.pools
            if known is None or states is None or pools is None:
                return self._allocated(kept, pod, node)
            state = states.get(node.name, node.version, lambda: pools.gather(node.node), in_use)
            if state is None:
                return self._allocated(kept, pod, node)
            return known.by_state.get(state) or self._of_state(kept, pod, node, known, state)

        return of

    def _of_state(self, kept: PodState, pod: Pod, node: NodeInfo, known: KnownAnswers, state: int) -> NodeAnswer:
        """Return the result for a plain pod on the first node in a state, and remember it for the other nodes."""
        fits = known.likeness.fits_in(state)
        if fits is not None:
            answer = known.by_state[state] = _FITS if fits else _DOES_NOT_FIT
            return answer
        answer = self._allocated(kept, pod, node)
        if answer.status is None:
            known.by_state[state] = _FITS
        elif answer.status is _NO_DEVICES:
            known.by_state[state] = answer
        return answer

    def allocations(self, kept: PodState, pod: Pod, node: NodeInfo, answer: NodeAnswer) -> Allocations | None:
        """Return the allocations for the result. The node must not have changed since then."""
        return self._allocated(kept, pod, node).allocations if answer.is_of_state else answer.allocations

    def _allocated(self, kept: PodState, pod: Pod, node: NodeInfo, served: tuple[str, ...] = ()) -> NodeAnswer:
        """Return the allocator's result for the claims that wait for devices."""
        outcome = self._allocator(kept, pod, served).allocate(node.node)
        if outcome.outcome is Outcome.FITS:
            return NodeAnswer(None, outcome.allocations)
        names_claim = outcome.error is not None and bool(outcome.error.cause.claim)
        only_this = names_claim or outcome.outcome is Outcome.UNDECIDED
        return NodeAnswer(self._status(outcome, pod, node), outcome.allocations, only_this)

    def _settled(self, kept: PodState) -> list[ResourceClaim]:
        """Return the claims whose devices must be in reach.

        Upstream forgets claims that a pod in the group has in flight.
        """
        if not kept.shared or self._handle.target.quirks.shared_pending_anywhere:
            return kept.allocated
        flying = (self._handle.cluster.claims.pending_allocation(uid) for uid in kept.shared)
        return [*kept.allocated, *(claim for claim in flying if claim is not None)]

    def _node_allocatable(self) -> NodeAllocatable | None:
        """Return the devices in the current cluster that take node resources; None if the feature gate is off."""
        view = self._handle.cluster.view
        if not view.target.features.node_allocatable:
            return None
        if self._taking is None or self._taking.view is not view:
            self._taking = NodeAllocatable(view)
        return self._taking

    @staticmethod
    def _waiting(kept: PodState) -> list[ResourceClaim]:
        """Return the claims to allocate, in their order."""
        return [*kept.pending, *([kept.special] if kept.special is not None else ())]

    def _allocator(self, kept: PodState, pod: Pod, served: tuple[str, ...]) -> Allocator:
        found = kept.allocators.get(served)
        if found is None:
            cluster = self._handle.cluster
            claims = self._claims(kept, pod, served)
            view = cluster.view.with_state(cluster.claims.state)
            deadline = self._handle.deadline
            key = None if kept.key is None else (kept.key, served)
            known = self._known.get(cluster.view, key)
            found = kept.allocators[served] = Allocator(
                claims,
                view,
                max_steps=self._max_steps,
                deadline=deadline,
                likeness=known.likeness if known is not None else None,
                pools=self._known.pools,
            )
            self._known.keep(key, found.likeness)
        return found

    def _claims(self, kept: PodState, pod: Pod, served: tuple[str, ...]) -> list[ResourceClaim]:
        """Return the claims that wait for devices.

        The special claim, which comes last, requests the names that a node is to serve.
        """
        if kept.special is None:
            return kept.pending
        requests, _ = self._requests_for(pod, served)
        return [*kept.pending, with_requests(kept.special, requests)]

    def _requests_for(self, pod: Pod, served: tuple[str, ...]) -> tuple[list[DeviceRequest], list[Use]]:
        return special_requests(pod, served, self._handle.cluster.extended_names())

    def served_on(self, kept: PodState, pod: Pod, node: NodeInfo) -> tuple[list[DeviceRequest], list[Use]]:
        """Return the requests of the special claim on the node, and the containers that use them."""
        return self._requests_for(pod, self._served(kept, node))

    def _served(self, kept: PodState, node: NodeInfo) -> tuple[str, ...]:
        return served_names(kept.names, self._handle.cluster.extended_names(), node.allocatable)

    def claims_on(self, kept: PodState, pod: Pod, node: NodeInfo) -> list[ResourceClaim]:
        """Return the claims that need devices on the node."""
        return self._claims(kept, pod, self._served(kept, node))

    def _status(self, outcome: NodeOutcome, pod: Pod, node: NodeInfo) -> Status | None:
        match outcome.outcome:
            case Outcome.DOES_NOT_FIT:
                return _NO_DEVICES
            case Outcome.NODE_ERROR:
                return unresolvable(outcome.message)
            case Outcome.UNDECIDED:
                self.undecided.setdefault(pod.key, []).append(node.name)
                return error(f"node {node.name}: {outcome.message}")
        return error(outcome.message)

    def is_available(self, claim: ResourceClaim, node: NodeInfo) -> bool:
        """Return whether an allocated claim can be used on the node."""
        if not is_in_reach(claim, node.name, node.labels):
            return False
        if not self._handle.target.features.binding_conditions:
            return True
        return usable(claim, self._binding_timeout, self._handle.clock.now)


class KnownAnswers(NamedTuple):
    """The results on nodes for all pods with the same requests."""

    likeness: Likeness
    by_state: dict[int, NodeAnswer]


class _KnownLooks:
    """The results by node signature, for pods with the same requests.

    The least recently used results are dropped. A node that looks like a node in an earlier cycle is not searched
    again.
    """

    def __init__(self) -> None:
        self._view: View | None = None
        self._found: Remembered[Hashable, KnownAnswers] = Remembered(_MOST_LOOKS)
        self.pools: KnownPools | None = None
        """The pools of the last view."""

    def get(self, view: View, key: Hashable | None) -> KnownAnswers | None:
        """Return the results for pods with this key and with the view's slices and classes, or None."""
        if view is not self._view:
            self._view, self.pools = view, view.known_pools
            self._found.clear()
        return None if key is None else self._found.get(key)

    def keep(self, key: Hashable | None, likeness: Likeness | None) -> None:
        """Cache the results for pods with the same key."""
        if key is not None and likeness is not None:
            known = self._found.get(key)
            same = known is not None and known.likeness is likeness
            self._found.keep(key, known if same and known is not None else KnownAnswers(likeness, {}))


# -- checking claims before any node is examined -----------------------------------------------------------------------


def check_claim(
    claim: ResourceClaim, cluster: SimulatedCluster, *, is_special: bool, shared: Container[str] = ()
) -> Status | None:
    """Return why the pod cannot be scheduled with this claim, or None if it can.

    `is_special` is set for the claim for extended resources, which has no requests yet. `shared` are the UIDs of claims
    in flight that the pod may use too, because its group is scheduled in the same cycle.
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
    """Return why the claim's requests exclude all nodes, or None.

    Either a request has an unsupported form, or a class is missing.
    """
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
# Pods with the same key get the same result for a node's devices.


def answer_key(kept: PodState, pod: Pod, view: View) -> Hashable:
    """Return a key for everything except the node that determines the result on it, or None if there is none."""
    if view.shared_counter_names or view.target.features.node_allocatable:
        return None  # the node that is examined first decides for all; the pod's requirements for the node decide too
    if any(claims.conditional_results(claim) for claim in kept.allocated):
        return None
    specs = _specs(kept.pending)
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


def plain_key(claims: Iterable[ResourceClaim], view: View) -> Hashable:
    """Return the `answer_key` of a pod that has only these claims, none of which has devices."""
    if view.shared_counter_names or view.target.features.node_allocatable:
        return None
    return _specs(claims), (), (), None


def _specs(claims: Iterable[ResourceClaim]) -> tuple[bytes, ...]:
    return tuple(msgspec.json.encode(claim.spec) for claim in claims)


def known_answer(outcome: NodeOutcome) -> NodeAnswer | None:
    """Return the result for all pods with the same key, or None if the outcome is valid only for one pod."""
    if outcome.outcome is Outcome.FITS:
        return NodeAnswer(None, outcome.allocations)
    return _DOES_NOT_FIT if outcome.outcome is Outcome.DOES_NOT_FIT and not outcome.out_of_reach else None


# -- claims of pod groups ----------------------------------------------------------------------------------------------
# Pods in a group share the devices in flight in the group's cycle, and claims that belong to the group.


def in_flight(claims: Sequence[ResourceClaim], store: ClaimStore) -> dict[str, AllocationResult]:
    """Return the allocations of these claims that other pods of the group have put in flight, by UID.

    Only the group's current scheduling cycle counts.
    """
    found = {}
    for claim in claims:
        flying = store.pending_allocation(claim.metadata.uid)
        if claim.allocation is None and flying is not None and flying.allocation is not None:
            found[claim.metadata.uid] = flying.allocation
    return found


def reserve_for_group(kept: PodState, pod: Pod, entries: Sequence[ResourceClaim | None], handle: Handle) -> None:
    """Record which of the pod's claims are reserved for its group.

    `entries` are the claims in the order of the pod's entries.
    """
    kept.group = handle.cluster.groups.of(pod)
    needed = [claim is not None for claim in entries]
    flags = reservers(pod, kept.group, needed, shifted=handle.target.quirks.group_reservations_shifted)
    kept.for_group = frozenset(c.metadata.uid for c, of_group in zip(kept.claims, flags, strict=True) if of_group)
