"""DynamicResources: a pod fits where its claims can be satisfied; reserving a node allocates them there."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from dra_plan.allocator import Allocator, NodeOutcome, Outcome, PoolGatherer, View
from dra_plan.allocator.requests import Compile
from dra_plan.api.core import NodeSelector, Pod
from dra_plan.api.resource import AllocationResult, DeviceRequest, ResourceClaim, ResourceClaimStatus
from dra_plan.api.selectors import node_matches, selector_problem
from dra_plan.claimsets.podclaims import PodClaimError, pod_claims
from dra_plan.scheduler import pluginnames
from dra_plan.scheduler.claimstore import allocated
from dra_plan.scheduler.cyclestate import CycleState, StateNotFoundError
from dra_plan.scheduler.events import Interest
from dra_plan.scheduler.framework import (
    EnqueueExtensions,
    FilterPlugin,
    NominatingInfo,
    PostFilterPlugin,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    PreFilterResult,
    ReservePlugin,
    ScorePlugin,
)
from dra_plan.scheduler.handle import Handle
from dra_plan.scheduler.memo import Memo
from dra_plan.scheduler.nodeinfo import NodeInfo
from dra_plan.scheduler.scoring import normalize
from dra_plan.scheduler.status import SKIP, Status, error, unresolvable, unschedulable

from . import conditions, hints
from .binding import Binder
from .extended import new_special_claim, special_claim, special_requests, special_spec, wanted_names
from .state import Allocations, PodState

FINALIZER = "resource.kubernetes.io/delete-protection"
_UNAVAILABLE = unresolvable("resourceclaim not available on the node").by(pluginnames.DYNAMIC_RESOURCES)
"""Known again as the object that it is."""
_NO_DEVICES = unresolvable("cannot allocate all claims")
_LEFTOVER = unresolvable("cannot schedule extended resource claim")
_CANNOT_FIT = unresolvable("cannot fit resource")
_BEST_RANK = 8
"""The score of a firstAvailable request's first alternative; one less for each further one."""
DEFAULT_BINDING_TIMEOUT = 600.0


class DynamicResources(
    PreEnqueuePlugin,
    EnqueueExtensions,
    PreFilterPlugin,
    FilterPlugin,
    PostFilterPlugin,
    ScorePlugin,
    ReservePlugin,
    PreBindPlugin,
):
    """Claims of pods."""

    name = pluginnames.DYNAMIC_RESOURCES

    def __init__(
        self,
        handle: Handle,
        compile_selector: Compile,
        *,
        binding_timeout: float = DEFAULT_BINDING_TIMEOUT,
        max_steps: int,
    ) -> None:
        self._handle = handle
        self._compile = compile_selector
        self._binding_timeout = binding_timeout
        self._max_steps = max_steps
        self._target = handle.target
        self._binder = Binder(handle, binding_timeout)
        self._memo: Memo[tuple[Status | None, Allocations | None]] = Memo()
        self.undecided: dict[str, list[str]] = {}
        """Pod to the nodes on which the step budget ran out."""
        self.deallocations: list[tuple[str, list[str]]] = []
        """(pod, the claims one of which upstream would deallocate): it takes one at random."""
        self.refresh()

    def refresh(self) -> None:
        """Slices, classes or rules have changed."""
        cluster = self._handle.cluster
        self._view = View(self._target, classes=cluster.classes, slices=cluster.slices, given_rules=cluster.taint_rules)
        self._memo = Memo()
        self._shares_counters = _counters_cross_drivers(self._view.gatherer)

    @property
    def lost_reservations(self) -> list[tuple[str, str]]:
        """(claim, user) of reservations that a later write overwrote."""
        return self._binder.lost

    # Queue

    def pre_enqueue(self, pod: Pod) -> Status | None:
        """Pods whose claims can't be resolved stay out of the queue."""
        try:
            pod_claims(pod, self._handle.cluster.claims.get)
        except PodClaimError as problem:
            return unresolvable(str(problem))
        return None

    def events_to_register(self) -> Sequence[Interest]:
        """See `hints`."""
        return hints.interests(self._handle.cluster.claims)

    # PreFilter

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult | None, Status | None]:
        """Resolve claims, check that their classes exist, prepare the allocator."""
        kept = PodState()
        state.write(self.name, kept)
        cluster = self._handle.cluster
        try:
            claims = pod_claims(pod, cluster.claims.get)
        except PodClaimError as problem:
            return None, unresolvable(str(problem))
        requests = cluster.info(pod).requests
        listed = wanted_names(requests)
        mapped = cluster.extended_names()
        special = None
        if any(name in mapped for name in listed):
            special = special_claim(pod, cluster.claims) or new_special_claim(pod)
        if not claims and special is None:
            return None, SKIP
        for claim in claims if special is None else (*claims, special):
            status = self._check(claim, is_special=claim is special)
            if status is not None:
                return None, status
        kept.claims, kept.special, kept.names = claims, special, listed
        kept.key = self._key(kept, requests)
        return None, None

    def _check(self, claim: ResourceClaim, *, is_special: bool) -> Status | None:
        if allocated(claim):
            assert claim.status is not None
            assert claim.status.allocation is not None
            selector = claim.status.allocation.node_selector
            problem = selector_problem(selector) if selector is not None else None
            return error(problem) if problem else None
        if self._handle.cluster.claims.pending_allocation(claim.metadata.uid) is not None:
            return unresolvable(f"resource claim {claim.key} is in the process of being allocated")
        if is_special:
            return None
        for request in claim.spec.devices.requests:
            status = self._check_request(claim, request)
            if status is not None:
                return status
        return None

    def _check_request(self, claim: ResourceClaim, request: DeviceRequest) -> Status | None:
        where = f"resource claim {claim.key}, request {request.name}"
        if request.exactly is not None:
            return self._check_class(request.exactly.device_class_name, request.name)
        if request.first_available:
            if not self._target.features.prioritized_list:
                return unresolvable(f"{where}: has subrequests, but the DRAPrioritizedList feature is disabled")
            for option in request.first_available:
                status = self._check_class(option.device_class_name, f"{request.name}/{option.name}")
                if status is not None:
                    return status
            return None
        return unresolvable(f"{where}: unknown request type")

    def _check_class(self, name: str, request: str) -> Status | None:
        if not name:
            return error(f"request {request}: unsupported request type")
        if name not in self._handle.cluster.classes:
            return unresolvable(f"request {request}: device class {name} does not exist")
        return None

    def _key(self, kept: PodState, requests: Mapping[str, int]) -> Hashable:
        """What the answer for a node depends on beside the node; None if that can't be said in a key."""
        if self._shares_counters or any(conditions.conditional_results(claim) for claim in kept.allocated):
            return None
        specs = tuple(msgspec.json.encode(claim.spec) for claim in kept.pending)
        where = tuple(msgspec.json.encode(_selector(claim)) for claim in kept.allocated)
        ranks = tuple(self._rank_of(claim, None) for claim in kept.allocated)
        if kept.special is None:
            return specs, where, ranks, None
        # the special claim's requests follow from containers, which the summed requests don't tell apart
        return specs, where, ranks, (kept.special.metadata.uid, tuple(requests.items()))

    # Filter

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Reject nodes where the claims can't be satisfied; remember what would be allocated."""
        kept: PodState = state.read(self.name)
        if kept.empty:
            return None
        table = self._memo.table(kept.key) if kept.key is not None else kept_table(state)
        known = table.get(node.name)
        if known is not None and known[0] == node.version:
            return known[1][0]
        status, allocations = self._examine(kept, pod, node)
        table[node.name] = (node.version, (status, allocations))
        return status

    def _examine(self, kept: PodState, pod: Pod, node: NodeInfo) -> tuple[Status | None, Allocations | None]:
        served: tuple[str, ...] = ()
        if kept.special is not None:
            refusal, served = self._served(kept, node)
            if refusal is not None:
                return refusal, None
            if not served and not kept.claims:
                return None, None
        allocations: Allocations | None = None
        if kept.pending or (kept.special is not None and not allocated(kept.special)):
            outcome = self._allocator(kept, pod, served).allocate(node.node)
            status = self._status(outcome, pod, node)
            if status is not None:
                return status, None
            allocations = outcome.allocations
        if any(not self._available(claim, node) for claim in kept.allocated):
            return _UNAVAILABLE, None
        return None, allocations

    def _served(self, kept: PodState, node: NodeInfo) -> tuple[Status | None, tuple[str, ...]]:
        """The names that devices serve on this node."""
        assert kept.special is not None
        if kept.special.spec.devices.requests:
            return _LEFTOVER, ()
        mapped = self._handle.cluster.extended_names()
        served = []
        for name in kept.names:
            offered = node.allocatable.get(name, 0)
            if name in mapped:
                if offered <= 0:
                    served.append(name)
            elif name not in node.allocatable:
                return _CANNOT_FIT, ()
        return None, tuple(served)

    def _allocator(self, kept: PodState, pod: Pod, served: tuple[str, ...]) -> Allocator:
        found = kept.allocators.get(served)
        if found is None:
            claims = kept.pending
            if kept.special is not None:
                requests, _ = special_requests(pod, served, self._handle.cluster.extended_names())
                claims = [*claims, replace(kept.special, spec=special_spec(requests))]
            view = self._view.with_state(self._handle.cluster.claims.state)
            found = kept.allocators[served] = Allocator(claims, view, max_steps=self._max_steps)
        return found

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

    def _available(self, claim: ResourceClaim, node: NodeInfo) -> bool:
        selector = _selector(claim)
        if selector is not None and not node_matches(selector, node.name, node.labels):
            return False
        if not self._target.features.binding_conditions:
            return True
        return conditions.usable(claim, self._binding_timeout, self._handle.clock.now)

    def filter_memo(self, state: CycleState, pod: Pod) -> Hashable | None:
        """The claims' specifications and where allocated ones can be used."""
        kept: PodState = state.read(self.name)
        return kept.key

    # PostFilter

    def post_filter(
        self, state: CycleState, pod: Pod, statuses: Mapping[str, Status]
    ) -> tuple[NominatingInfo | None, Status | None]:
        """Deallocate a claim that keeps the pod from every node, or delete the special claim."""
        try:
            kept: PodState = state.read(self.name)
        except StateNotFoundError as problem:
            return None, error(str(problem))
        if kept.empty:
            return None, unschedulable("no new claims to deallocate")
        candidates = self._freeable(kept, pod, statuses)
        if candidates:
            self.deallocations.append((pod.key, [claim.key for claim in candidates]))
            claim = candidates[0]
            self._handle.cluster.put_claim(replace(claim, status=ResourceClaimStatus()))
            return None, unschedulable("deallocation of ResourceClaim completed")
        if kept.special is not None and self._stored(kept.special) is not None:
            self._handle.cluster.delete_claim(kept.special)
            return None, unschedulable("deletion of ResourceClaim completed")
        return None, unschedulable("still not schedulable")

    def _freeable(self, kept: PodState, pod: Pod, statuses: Mapping[str, Status]) -> list[ResourceClaim]:
        """Unavailable claims that nobody but this pod uses. Only nodes on which the allocator succeeded tell (P2)."""
        blocked = [self._handle.snapshot[name] for name, status in statuses.items() if status is _UNAVAILABLE]
        uid = self._handle.cluster.info(pod).uid
        found = []
        for claim in kept.allocated:
            users = claim.status.reserved_for if claim.status is not None else []
            alone = not users or (len(users) == 1 and users[0].uid == uid)
            if alone and any(not self._available(claim, node) for node in blocked):
                found.append(claim)
        return found

    def _stored(self, claim: ResourceClaim) -> ResourceClaim | None:
        return self._handle.cluster.claims.get(claim.metadata.namespace, claim.metadata.name)

    # Score

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int | Status:
        """Earlier alternatives of firstAvailable requests score higher."""
        kept: PodState | None = state.get(self.name)
        ranks = self._target.rules.scores_devices and self._target.features.prioritized_list
        if kept is None or kept.empty or not ranks:
            return 0
        total = sum(self._rank_of(claim, None) for claim in kept.allocated)
        results = self._results(state, kept, node.name)
        for claim, allocation in zip(kept.pending, results or (), strict=False):
            total += self._rank_of(claim, allocation)
        return total

    @staticmethod
    def _rank_of(claim: ResourceClaim, allocation: AllocationResult | None) -> int:
        if allocation is None and claim.status is not None:
            allocation = claim.status.allocation
        ranked = [request for request in claim.spec.devices.requests if request.first_available]
        if allocation is None or not ranked:
            return 0
        given = {result.request for result in allocation.devices.results}
        total = 0
        for request in ranked:
            for index, option in enumerate(request.first_available):
                if f"{request.name}/{option.name}" in given:
                    total += _BEST_RANK - index
                    break
        return total

    def score_memo(self, state: CycleState, pod: Pod) -> Hashable | None:
        """As for Filter."""
        kept: PodState | None = state.get(self.name)
        return "none" if kept is None or kept.empty else kept.key

    def normalize(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo], scores: list[int]) -> Status | None:
        """The best alternatives score 100."""
        normalize(scores)
        return None

    # Reserve

    def _results(self, state: CycleState, kept: PodState, node: str) -> Allocations | None:
        table = self._memo.table(kept.key) if kept.key is not None else kept_table(state)
        known = table.get(node)
        return known[1][1] if known is not None else None

    def reserve(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        """Put the node's allocations in flight."""
        kept: PodState | None = state.get(self.name)
        if kept is None or kept.empty:
            return None
        pending = kept.pending
        special_pending = kept.special is not None and not allocated(kept.special)
        if not pending and not special_pending:
            return None
        results = self._results(state, kept, node)
        if results is None:
            return error("claim allocation not found for node") if pending else None
        kept.chosen = results
        for claim, allocation in zip(pending, results, strict=False):
            self._signal(kept, claim, allocation)
        if special_pending and len(results) > len(pending):
            assert kept.special is not None
            _, served = self._served(kept, self._handle.snapshot[node])
            requests, _ = special_requests(pod, served, self._handle.cluster.extended_names())
            kept.special = replace(kept.special, spec=special_spec(requests))
            self._signal(kept, kept.special, results[-1])
        return None

    def _signal(self, kept: PodState, claim: ResourceClaim, allocation: AllocationResult) -> None:
        self._handle.cluster.signal_pending_allocation(
            replace(claim, status=ResourceClaimStatus(allocation=allocation))
        )
        kept.reserved.append(claim.metadata.uid)

    def unreserve(self, state: CycleState, pod: Pod, node: str) -> None:
        """Drop what is in flight and the pod's reservations; allocations that were written stay."""
        kept: PodState | None = state.get(self.name)
        if kept is None or kept.empty:
            return
        for uid in kept.reserved:
            self._handle.cluster.remove_pending_allocation(uid)
        kept.reserved = []
        self._binder.release(kept, pod)

    # PreBind

    def pre_bind_pre_flight(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        """Nothing to do without claims."""
        kept: PodState | None = state.get(self.name)
        return SKIP if kept is None or kept.empty else None

    def pre_bind(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        """Write allocations and reservations; wait for binding conditions."""
        kept: PodState | None = state.get(self.name)
        if kept is None or kept.empty:
            return None
        return self._binder.bind(kept, pod, node)


def kept_table(state: CycleState) -> dict[str, tuple[int, tuple[Status | None, Allocations | None]]]:
    """Answers that hold for this cycle only."""
    key = f"{pluginnames.DYNAMIC_RESOURCES}/nodes"
    table: dict[str, tuple[int, tuple[Status | None, Allocations | None]]] | None = state.get(key)
    if table is None:
        table = {}
        state.write(key, table)
    return table


def _selector(claim: ResourceClaim) -> NodeSelector | None:
    assert claim.status is not None
    assert claim.status.allocation is not None
    return claim.status.allocation.node_selector


def _counters_cross_drivers(gatherer: PoolGatherer) -> bool:
    """Whether pools of several drivers share a name and counters: then one node's answer may depend on another's."""
    drivers: dict[str, set[str]] = {}
    counting: set[str] = set()
    for pool_id, slices in gatherer.slices.items():
        drivers.setdefault(pool_id.pool, set()).add(pool_id.driver)
        if any(slice_.object.spec.shared_counters for slice_ in slices):
            counting.add(pool_id.pool)
    return any(len(drivers[pool]) > 1 for pool in counting)
