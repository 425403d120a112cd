"""Bind claims by writing allocations and reservations to the simulated API server, and undo such writes.

The last part has the events that may make a pod rejected by DynamicResources schedulable.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from dra_plan.api.core import NodeAllocatableResourceClaimStatus, Pod, PodExtendedResourceClaimStatus
from dra_plan.api.resource import AllocationResult, ResourceClaim, ResourceClaimConsumerReference, ResourceClaimStatus
from dra_plan.api.well_known import DELETE_PROTECTION
from dra_plan.claims.pod_claims import PodClaimError, named_claims, pod_claims
from dra_plan.scheduler.clock import format_time
from dra_plan.scheduler.cluster import claims
from dra_plan.scheduler.cluster.claims import ClaimStore
from dra_plan.scheduler.cluster.keys import pod_uid
from dra_plan.scheduler.events import Action, Hint, Interest, Resource
from dra_plan.scheduler.framework.interface import Handle
from dra_plan.scheduler.framework.status import Code, Status, error

from .extended import SPECIAL_NAME, stored_name
from .filter import PodState

MOST_CONSUMERS = 256
"""The maximum number of users of a claim that the API server accepts."""


class BindError(Exception):
    """The error raised if a claim cannot be bound. The message is upstream's."""


class Binder:
    """A binder of pods' claims.

    In the recordings, the API server keeps the last write, so a reservation is lost if two pods read a shared claim
    before either writes it. A real API server detects the conflict, and the scheduler reads the claim again; the
    handle's `detects_conflicts` selects this behaviour. `lost` lists the lost reservations.
    """

    def __init__(self, handle: Handle, timeout: float) -> None:
        self._handle = handle
        self._timeout = timeout
        self._conflicts = handle.detects_conflicts
        self.lost: list[tuple[str, str]] = []
        """The lost reservations as (claim, user)."""

    def bind(self, kept: PodState, pod: Pod, node: str) -> Status | None:
        """Allocate all claims of the pod and reserve them for it. Return Wait while their devices are not ready."""
        try:
            self._bind_all(kept, pod)
        except BindError as problem:
            return error(str(problem))
        return self._await(kept, node) if self._handle.target.features.binding_conditions else None

    def _bind_all(self, kept: PodState, pod: Pod) -> None:
        pending = {claim.metadata.uid: index for index, claim in enumerate(kept.waiting)}
        for index, claim in enumerate(kept.claims):
            if self._reserved(kept, claim, pod):
                continue
            place = pending.get(claim.metadata.uid)
            allocation = kept.chosen[place] if place is not None and kept.chosen is not None else None
            kept.claims[index] = self._bind_claim(kept, claim, allocation, pod)
            if place is not None:
                self._remove_pending(kept, claim)
        special = kept.special
        if special is None or kept.chosen is None or len(kept.chosen) <= len(pending) or not kept.special_pending:
            return
        self._bind_special(kept, special, kept.chosen[-1], pod)

    def _bind_special(self, kept: PodState, special: ResourceClaim, allocation: AllocationResult, pod: Pod) -> None:
        created = special
        if special.metadata.name == SPECIAL_NAME:
            name = stored_name(special)
            created = replace(special, metadata=replace(special.metadata, name=name), status=None)
            refusal = self._handle.refuses_claim(created)
            if refusal:
                what = f"create claim for extended resources {created.metadata.namespace}/"
                raise BindError(f"{what}: {refusal}")
            self._handle.cluster.put_claim(created)
        kept.special = self._bind_claim(kept, created, allocation, pod)
        self._remove_pending(kept, special)
        if not kept.uses:
            raise BindError(f"nil or empty request mappings, no update of pod {pod.key} ExtendedResourceClaimStatus")
        status = PodExtendedResourceClaimStatus(
            resource_claim_name=created.metadata.name, request_mappings=[use.to_dict() for use in kept.uses]
        )
        current = self._handle.cluster.pods.get(self._handle.cluster.info(pod).uid, pod)
        self._handle.cluster.update_pod(
            replace(current, status=replace(current.status, extended_resource_claim_status=status))
        )

    def _bind_claim(
        self, kept: PodState, read: ResourceClaim, allocation: AllocationResult | None, pod: Pod
    ) -> ResourceClaim:
        stored = self._stored(read)
        base = read
        if self._conflicts and stored is not read:
            if self._agrees(kept, stored, read, allocation):
                allocation = None
            base = self._reread(stored, read, allocation)
        written = self._with_reservation(base, allocation, self._user(kept, read, pod))
        if stored is not None and stored.status is not None and written.status is not None:
            users = {user.uid for user in written.status.reserved_for}
            self.lost += [(stored.key, u.name) for u in stored.status.reserved_for if u.uid not in users]
        self._handle.cluster.put_claim(written)
        return written

    def _agrees(
        self, kept: PodState, stored: ResourceClaim | None, read: ResourceClaim, allocation: AllocationResult | None
    ) -> bool:
        """Return whether another pod of the group has written the allocation that both were given.

        Upstream treats that as a conflict.
        """
        if self._handle.target.quirks.shared_claims_conflict or stored is None or stored.allocation is None:
            return False
        shared = kept.shared.get(read.metadata.uid)
        return shared is not None and shared is allocation and shared.devices == stored.allocation.devices

    @staticmethod
    def _user(kept: PodState, claim: ResourceClaim, pod: Pod) -> ResourceClaimConsumerReference:
        """Return the user that the claim is reserved for: the pod, or its group."""
        if kept.group is not None and claim.metadata.uid in kept.for_group:
            metadata = kept.group.metadata
            return ResourceClaimConsumerReference(
                api_group="scheduling.k8s.io", resource="podgroups", name=metadata.name, uid=metadata.uid
            )
        return ResourceClaimConsumerReference(resource="pods", name=pod.metadata.name, uid=pod_uid(pod))

    @staticmethod
    def _reread(
        stored: ResourceClaim | None, read: ResourceClaim, allocation: AllocationResult | None
    ) -> ResourceClaim:
        """Return the current claim, unless it changed in a way that makes the allocation useless."""
        if stored is None or stored.metadata.deletion_timestamp is not None:
            raise BindError(f"claim {read.key} got deleted in the meantime")
        if allocation is not None and stored.allocation is not None:
            raise BindError(f"claim {read.key} got allocated elsewhere in the meantime")
        if allocation is None and stored.allocation is None:
            raise BindError(f"claim {read.key} got deallocated elsewhere in the meantime")
        return stored

    def _with_reservation(
        self, claim: ResourceClaim, allocation: AllocationResult | None, user: ResourceClaimConsumerReference
    ) -> ResourceClaim:
        status = claim.status or ResourceClaimStatus()
        metadata = claim.metadata
        what = "add reservation"
        if allocation is not None:
            what = "add allocation and reservation"
            finalizers = metadata.finalizers or []
            if DELETE_PROTECTION not in finalizers:
                metadata = replace(metadata, finalizers=[*finalizers, DELETE_PROTECTION])
            if self._handle.target.features.binding_conditions and allocation.allocation_timestamp is None:
                allocation = replace(allocation, allocation_timestamp=format_time(self._handle.clock.now))
            status = replace(status, allocation=allocation)
        users = [*status.reserved_for, *([] if user in status.reserved_for else [user])]
        if len(users) > MOST_CONSUMERS:
            detail = f"status.reservedFor: Too many: {len(users)}: must have at most {MOST_CONSUMERS} items"
            name = f'ResourceClaim.resource.k8s.io "{metadata.name}" is invalid'
            raise BindError(f"{what} to claim {claim.key}: {name}: {detail}")
        return replace(claim, metadata=metadata, status=replace(status, reserved_for=users))

    def _stored(self, claim: ResourceClaim) -> ResourceClaim | None:
        return self._handle.cluster.claims.get(claim.metadata.namespace, claim.metadata.name)

    @staticmethod
    def _reserved(kept: PodState, claim: ResourceClaim, pod: Pod) -> bool:
        """Return whether the claim, as read by the pod, is reserved for it, or for a group with its group's name."""
        users = claim.reserved_for
        group = kept.group.metadata.name if kept.group is not None else None
        return any(user.uid == pod_uid(pod) or (user.resource == "podgroups" and user.name == group) for user in users)

    def _remove_pending(self, kept: PodState, claim: ResourceClaim) -> None:
        self._handle.cluster.remove_pending_allocation(claim.metadata.uid)
        if claim.metadata.uid in kept.reserved:
            kept.reserved.remove(claim.metadata.uid)

    # Binding conditions

    def _await(self, kept: PodState, node: str) -> Status | None:
        """Return None if the claims' devices are ready, an error if they failed or took too long, or else Wait.

        Wait is returned because the drivers' work is not simulated. The first claim that is not ready decides.
        """
        special = [kept.special] if kept.special is not None else []
        for claim in (*kept.claims, *special):
            current = self._stored(claim) or claim
            ready, failed = claims.preparation(current)
            name = current.metadata.name
            if failed is not None:
                text = f'device binding failed: claim={name}, reason={failed.reason}, message="{failed.message}"'
                return error(text)
            if ready:
                continue
            if claims.timed_out(current, self._timeout, self._handle.clock.now):
                return error(f"device binding timeout: claim={name}")
            return Status(Code.WAIT, f"waiting for binding conditions for device on node {node}")
        return None

    # The node's own resources

    def take_from_node(
        self, kept: PodState, pod: Pod, node: str, claimed: Sequence[NodeAllocatableResourceClaimStatus]
    ) -> None:
        """Count the node resources that the pod's devices use on the node."""
        if claimed:
            kept.taken_from = node
            self._handle.cluster.set_claimed(pod, node, list(claimed))

    # Undoing

    def give_back(self, kept: PodState, pod: Pod) -> None:
        """Stop counting the node resources that the pod's devices use."""
        if kept.taken_from:
            self._handle.cluster.set_claimed(pod, kept.taken_from, [])
            kept.taken_from = ""

    def unreserve_for_group(self, kept: PodState, pod: Pod) -> bool:
        """Remove the group's reservations if no pod of the group has a node. Return whether there were any.

        The next attempt may then deallocate the claims.
        """
        group = kept.group
        if group is None or self._handle.cluster.groups.on_nodes((pod.metadata.namespace, group.metadata.name)):
            return False
        changed = False
        for claim in kept.allocated:
            stored = self._stored(claim)
            if claim.metadata.uid not in kept.for_group or stored is None or stored.status is None:
                continue
            listed = stored.status.reserved_for
            users = [u for u in listed if (u.resource, u.name) != ("podgroups", group.metadata.name)]
            if len(users) != len(listed):
                self._handle.cluster.put_claim(replace(stored, status=replace(stored.status, reserved_for=users)))
                changed = True
        return changed

    def release(self, kept: PodState, pod: Pod) -> None:
        """Remove the pod's reservations, but not those of its group, and delete its claim for extended resources."""
        uid = self._handle.cluster.info(pod).uid
        for claim in kept.claims:
            stored = self._stored(claim)
            if stored is None or stored.status is None or stored.allocation is None:
                continue
            users = [user for user in stored.status.reserved_for if user.uid != uid]
            if len(users) != len(stored.status.reserved_for):
                self._handle.cluster.put_claim(replace(stored, status=replace(stored.status, reserved_for=users)))
        if kept.special is not None:
            stored_special = self._stored(kept.special)
            if stored_special is not None:
                self._handle.cluster.delete_claim(stored_special)


# -- queueing hints ----------------------------------------------------------------------------------------------------


def interests(store: ClaimStore) -> Sequence[Interest]:
    """Return the events that may help a rejected pod: nodes, claims, classes and slices that are added or updated.

    Changes to other pods, and the removal of slices or classes, never help.
    """

    def after_claim(pod: Pod, old: ResourceClaim | None, new: ResourceClaim | None) -> Hint:
        return claim_hint(store, pod, old, new)

    def after_pod(pod: Pod, _old: Pod | None, new: Pod | None) -> Hint:
        return pod_hint(store, pod, new)

    return [
        Interest(Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL | Action.UPDATE_NODE_ALLOCATABLE),
        Interest(Resource.CLAIM, Action.ADD | Action.UPDATE_OTHER, after_claim, users_of=_users_of),
        Interest(Resource.UNSCHEDULED_POD, Action.UPDATE_POD_GENERATED_RESOURCE_CLAIM, after_pod),
        Interest(Resource.CLASS, Action.ADD | Action.UPDATE_OTHER),
        Interest(Resource.SLICE, Action.ADD | Action.UPDATE_OTHER),
    ]


def claim_hint(store: ClaimStore, pod: Pod, old: ResourceClaim | None, new: ResourceClaim | None) -> Hint:
    """Return whether an event about a claim puts the pod back into the queue.

    It does if any claim has lost its allocation, which frees devices. Other events help only if the claim belongs to
    the pod.
    """
    if new is None:
        return Hint.SKIP
    name = _users_of(old, new)
    if name is not None and name not in named_claims(pod):
        return Hint.SKIP
    try:
        claims = pod_claims(pod, store.get)
    except PodClaimError:
        return Hint.SKIP
    if name is None:
        return Hint.QUEUE
    if all(claim.metadata.uid != new.metadata.uid for claim in claims):
        return Hint.SKIP
    if old is None:
        return Hint.QUEUE
    return Hint.SKIP if old.status == new.status else Hint.QUEUE


def _users_of(old: ResourceClaim | None, new: ResourceClaim | None) -> str | None:
    """Return the claim if it concerns only its users; None if it lost its allocation.

    A deleted claim concerns no pods.
    """
    if new is None:
        return ""
    is_freed = old is not None and old.allocation is not None and new.allocation is None
    return None if is_freed else new.metadata.name


def pod_hint(store: ClaimStore, pod: Pod, new: Pod | None) -> Hint:
    """Return Queue if the pod's status now has the names of all its generated claims."""
    if new is None or new.metadata.uid != pod.metadata.uid:
        return Hint.SKIP
    try:
        pod_claims(new, store.get)
    except PodClaimError:
        return Hint.SKIP
    return Hint.QUEUE
