"""DynamicResources: a pod fits on a node where its claims can be satisfied. Reserving the node allocates them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence

from msgspec.structs import replace

from dra_plan.allocator import NodeOutcome
from dra_plan.api.core import Pod
from dra_plan.api.resource import AllocationResult, DeviceRequest, ResourceClaim, ResourceClaimStatus
from dra_plan.claims.pod_claims import PodClaimError, entry_claim
from dra_plan.remembered import Remembered
from dra_plan.scheduler.cluster.memo import MOST_SHAPES, NodeTables
from dra_plan.scheduler.cluster.nodes import NodeInfo
from dra_plan.scheduler.events import Interest
from dra_plan.scheduler.framework import plugin_names
from dra_plan.scheduler.framework.interface import (
    EnqueueExtensions,
    FilterPlugin,
    Handle,
    NominatingInfo,
    PostFilterPlugin,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    PreFilterResult,
    ReservePlugin,
    ScorePlugin,
)
from dra_plan.scheduler.framework.runtime import normalize
from dra_plan.scheduler.framework.status import (
    SKIP,
    CycleState,
    StateNotFoundError,
    Status,
    error,
    unresolvable,
    unschedulable,
)

from . import binding
from .binding import Binder
from .extended import (
    Use,
    is_ranked,
    new_special_claim,
    rank,
    served_names,
    special_requests,
    wanted_names,
    with_requests,
)
from .filter import (
    UNAVAILABLE,
    Allocations,
    NodeAnswer,
    NodeCheck,
    PodState,
    answer_key,
    check_claim,
    in_flight,
    known_answer,
    plain_key,
    reserve_for_group,
)

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
    """The plugin that allocates the claims of pods."""

    name = plugin_names.DYNAMIC_RESOURCES

    def __init__(
        self,
        handle: Handle,
        *,
        binding_timeout: float = DEFAULT_BINDING_TIMEOUT,
        max_steps: int,
    ) -> None:
        self._handle = handle
        self._target = handle.target
        self._check = NodeCheck(handle, binding_timeout, max_steps)
        self._binder = Binder(handle, binding_timeout)
        arguments = (self.name, binding_timeout, max_steps)
        self._memo: NodeTables[NodeAnswer] = handle.answers.setdefault(arguments, Remembered(MOST_SHAPES))
        self.deallocations: list[tuple[str, list[str]]] = []
        """The pods for which upstream would deallocate a claim at random, each with the claims to choose from."""

    def parts(self) -> Iterable[object]:
        """Return the parts that a fork of the simulation has to save."""
        return self._check, self._binder

    @property
    def undecided(self) -> dict[str, list[str]]:
        """For each pod, the nodes on which the search reached the step limit."""
        return self._check.undecided

    @property
    def lost_reservations(self) -> list[tuple[str, str]]:
        """The reservations that a later write has overwritten, as (claim, user)."""
        return self._binder.lost

    def _kept(self, state: CycleState) -> PodState | None:
        """Return the data that PreFilter stored in the state; None if there is nothing to do."""
        kept: PodState | None = state.get(self.name)
        return None if kept is None or kept.empty else kept

    # Queue

    def pre_enqueue(self, pod: Pod) -> Status | None:
        """Keep the pod out of the queue while its claims are unknown."""
        try:
            self._claims(pod)
        except PodClaimError as problem:
            return unresolvable(str(problem))
        return None

    def _claims(self, pod: Pod) -> list[ResourceClaim | None]:
        """Return the claim for each of the pod's entries, or None where none is needed. Raises PodClaimError."""
        find, of_groups = self._handle.cluster.claims.get, self._target.features.group_claims
        return [entry_claim(pod, entry, find, of_groups=of_groups) for entry in pod.spec.resource_claims]

    def events_to_register(self) -> Sequence[Interest]:
        """Return the events that may make a rejected pod schedulable. See `binding.interests`."""
        return binding.interests(self._handle.cluster.claims)

    # PreFilter

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult | None, Status | None]:
        """Find the pod's claims, check that their classes exist, and prepare the allocator."""
        kept = PodState()
        state.write(self.name, kept)
        cluster = self._handle.cluster
        try:
            entries = self._claims(pod)
        except PodClaimError as problem:
            return None, unresolvable(str(problem))
        listed = wanted_names(cluster.info(pod).requests)
        mapped = cluster.extended_names()
        special = None
        if any(name in mapped for name in listed):
            special = cluster.claims.special(pod) or new_special_claim(pod)
        claims = [claim for claim in entries if claim is not None]
        if not claims and special is None:
            return None, SKIP
        of_cycle = state.group.in_flight if state.group is not None else frozenset[str]()
        for claim in claims if special is None else (*claims, special):
            status = check_claim(claim, cluster, is_special=claim is special, shared=of_cycle)
            if status is not None:
                return None, status
        kept.claims, kept.special, kept.names = claims, special, listed
        if of_cycle:
            kept.shared = in_flight(claims, cluster.claims)
        if self._target.features.group_claims:
            reserve_for_group(kept, pod, entries, self._handle)
        kept.is_plain = special is None and not kept.shared and not kept.allocated
        kept.key = answer_key(kept, pod, cluster.view)
        return None, None

    # Filter

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Reject the node if it cannot satisfy the claims, or else store what would be allocated."""
        return self.filter_each(state, pod, [node])[0]

    def filter_each(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Sequence[Status | None]:
        """Return the results of `filter` for these nodes."""
        kept: PodState = state.read(self.name)
        if kept.empty:
            return [None] * len(nodes)
        answers, ask = self._answers(kept), self._check.asking(kept, pod)
        found = []
        for node in nodes:
            name, version = node.name, node.version
            known = answers.get(name)
            if known is not None and known[0] == version:
                answer = known[1]
            else:
                answer = ask(node)
                if not answer.only_this_pod:
                    answers[name] = (version, answer)
            found.append(answer.status)
        return found

    def take_over(self, claims: Sequence[ResourceClaim], outcomes: Iterable[NodeOutcome]) -> None:
        """Store the allocator's outcomes for these claims. They must have been found with the devices now in use."""
        cluster = self._handle.cluster
        key = plain_key(claims, cluster.view)
        if key is None or self._memo.get(key):
            return
        table = self._memo.of(key, dict)
        for outcome in outcomes:
            node, answer = cluster.nodes.get(outcome.node), known_answer(outcome)
            if node is not None and answer is not None:
                table[node.name] = (node.version, answer)

    def claims_asked_for(self, kept: PodState, pod: Pod, node: NodeInfo) -> list[ResourceClaim]:
        """Return the claims that need devices on the node."""
        return [] if kept.empty else self._check.claims_on(kept, pod, node)

    def served_on(self, kept: PodState, pod: Pod, node: NodeInfo) -> tuple[list[DeviceRequest], list[Use]]:
        """Return the requests of the special claim on the node, and the containers that use them."""
        return self._check.served_on(kept, pod, node)

    def _answers(self, kept: PodState) -> dict[str, tuple[int, NodeAnswer]]:
        """Return each node's version and the result for pods like this one, by node name.

        If no other pod is alike, the results are valid only in this cycle.
        """
        return self._memo.of(kept.key, dict) if kept.key is not None else kept.answers

    def filter_memo(self, state: CycleState, pod: Pod) -> Hashable | None:
        """Return a key with the specs of the claims and the nodes that can use the allocated claims."""
        kept: PodState = state.read(self.name)
        return kept.key

    # PostFilter

    def post_filter(
        self, state: CycleState, pod: Pod, statuses: Mapping[str, Status]
    ) -> tuple[NominatingInfo | None, Status | None]:
        """Deallocate a claim that keeps the pod off every node, or delete the pod's claim for extended resources."""
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
        if kept.for_group and self._binder.unreserve_for_group(kept, pod):
            return None, unschedulable("ResourceClaim unreserved for PodGroup")
        if kept.special is not None and self._stored(kept.special) is not None:
            self._handle.cluster.delete_claim(kept.special)
            return None, unschedulable("deletion of ResourceClaim completed")
        return None, unschedulable("still not schedulable")

    def _freeable(self, kept: PodState, pod: Pod, statuses: Mapping[str, Status]) -> list[ResourceClaim]:
        """Return unavailable claims that only this pod uses. Only nodes on which the allocator succeeded count (P2)."""
        if not kept.allocated:
            return []
        blocked = [self._handle.snapshot[name] for name, status in statuses.items() if status is UNAVAILABLE]
        uid = self._handle.cluster.info(pod).uid
        found = []
        for claim in kept.allocated:
            users = claim.reserved_for
            alone = not users or (len(users) == 1 and users[0].uid == uid)
            if alone and any(not self._check.is_available(claim, node) for node in blocked):
                found.append(claim)
        return found

    def _stored(self, claim: ResourceClaim) -> ResourceClaim | None:
        return self._handle.cluster.claims.get(claim.metadata.namespace, claim.metadata.name)

    # Score

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int | Status:
        """Return the score of the node. It is higher if earlier alternatives of requests are allocated."""
        kept = self._kept(state)
        if kept is None or not self._ranks(kept):
            return 0
        total = sum(rank(claim, claim.allocation) for claim in kept.allocated)
        results = kept.for_waiting(self._results(kept, pod, node.name) or (), mixed_up=self._mixes_up)
        for claim, allocation in zip(kept.waiting, results, strict=False):
            total += rank(claim, allocation)
        return total

    def score_memo(self, state: CycleState, pod: Pod) -> Hashable | None:
        """Return the same key as `filter_memo`."""
        kept = self._kept(state)
        return None if kept is None else kept.key

    def score_everywhere(self, state: CycleState, pod: Pod) -> int | None:
        """Return 0 if alternatives do not matter to the score, or else None."""
        kept = self._kept(state)
        return None if kept is not None and self._ranks(kept) else 0

    def _ranks(self, kept: PodState) -> bool:
        """Return whether nodes are scored by the alternatives in claims."""
        counts = self._target.rules.scores_devices and self._target.features.prioritized_list
        return counts and any(map(is_ranked, kept.claims))

    def normalize(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo], scores: list[int]) -> Status | None:
        """Scale the scores so that nodes with the best alternatives get 100."""
        normalize(scores)
        return None

    # Reserve

    def _results(self, kept: PodState, pod: Pod, node: str) -> Allocations | None:
        known = self._answers(kept).get(node)
        if known is None:
            return None
        return self._check.allocations(kept, pod, self._handle.snapshot[node], known[1])

    def reserve(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        """Put the allocations on the node in flight. Their devices count as used from now on."""
        kept = self._kept(state)
        if kept is None:
            return None
        waiting = kept.waiting
        if not waiting and not kept.special_pending:
            return None
        if kept.chosen is None:
            results = self._results(kept, pod, node)
            if results is None and self._memo.has_dropped and kept.key is not None:
                self.filter(state, pod, self._handle.snapshot[node])
                results = self._results(kept, pod, node)
            if results is None and kept.pending:
                return error("claim allocation not found for node")
            if results is None and not kept.shared:
                return None
            self._choose(kept, results or ())
        results = kept.chosen or ()
        known = self._answers(kept).get(node)
        self._binder.take_from_node(kept, pod, node, known[1].claimed if known is not None else ())
        for claim, allocation in zip(waiting, results, strict=False):
            self._signal(kept, claim, allocation)
        if state.group is not None:
            state.group.in_flight.update(kept.reserved)
        if kept.special is not None and kept.special_pending and len(results) > len(waiting):
            mapped = self._handle.cluster.extended_names()
            served = served_names(kept.names, mapped, self._handle.snapshot[node].allocatable)
            requests, kept.uses = special_requests(pod, served, mapped)
            kept.special = with_requests(kept.special, requests)
            self._signal(kept, kept.special, results[-1])
        return None

    def _choose(self, kept: PodState, results: Allocations) -> None:
        """Decide each waiting claim's allocation, the special claim's last.

        It stays the same if the pod is reserved again.
        """
        own = len(kept.pending)
        kept.chosen = [*kept.for_waiting(results[:own], mixed_up=self._mixes_up), *results[own:]]

    @property
    def _mixes_up(self) -> bool:
        return self._target.quirks.shared_allocations_mixed_up

    def _signal(self, kept: PodState, claim: ResourceClaim, allocation: AllocationResult) -> None:
        self._handle.cluster.signal_pending_allocation(
            replace(claim, status=ResourceClaimStatus(allocation=allocation))
        )
        kept.reserved.append(claim.metadata.uid)

    def unreserve(self, state: CycleState, pod: Pod, node: str) -> None:
        """Drop the pod's allocations in flight and its reservations, but keep allocations that were written."""
        kept = self._kept(state)
        if kept is None:
            return
        for uid in kept.reserved:
            self._handle.cluster.remove_pending_allocation(uid)
        kept.reserved = []
        self._binder.give_back(kept, pod)
        if state.group is None or not state.group.tentative:
            self._binder.release(kept, pod)

    # PreBind

    def pre_bind_pre_flight(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        """Return Skip if the pod has no claims."""
        return SKIP if self._kept(state) is None else None

    def pre_bind(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        """Write the allocations and reservations. Return Wait while binding conditions are not met."""
        kept = self._kept(state)
        if kept is None:
            return None
        return self._binder.bind(kept, pod, node)
