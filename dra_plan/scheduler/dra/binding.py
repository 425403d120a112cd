"""Binding claims: writing allocations and reservations to the (simulated) API server, and taking them back."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from dra_plan.api.core import NodeAllocatableResourceClaimStatus, Pod, PodExtendedResourceClaimStatus
from dra_plan.api.resource import AllocationResult, ResourceClaim, ResourceClaimConsumerReference, ResourceClaimStatus
from dra_plan.scheduler.clock import format_time
from dra_plan.scheduler.handle import Handle
from dra_plan.scheduler.status import Code, Status, error

from . import conditions
from .extended import SPECIAL_NAME, stored_name
from .state import PodState

MOST_CONSUMERS = 256
"""The API server refuses more users of one claim."""
_FINALIZER = "resource.kubernetes.io/delete-protection"


class BindError(Exception):
    """Binding a claim failed; the text is upstream's."""


class Binder:
    """Binds the claims of pods.

    The API server of the recordings keeps the last write, so two pods that read a shared claim before either wrote
    to it lose one reservation. A real one detects the conflict and the scheduler reads again; the handle's
    `detects_conflicts` says which one it is. `lost` lists the reservations that were overwritten.
    """

    def __init__(self, handle: Handle, timeout: float) -> None:
        self._handle = handle
        self._timeout = timeout
        self._conflicts = handle.detects_conflicts
        self.lost: list[tuple[str, str]] = []
        """(claim, user whose reservation was overwritten)."""

    def bind(self, kept: PodState, pod: Pod, node: str) -> Status | None:
        """All claims are allocated and reserved for the pod, and their devices ready; Wait while they are not."""
        try:
            self._bind_all(kept, pod)
        except BindError as problem:
            return error(str(problem))
        return self._await(kept, node) if self._handle.target.features.binding_conditions else None

    def _bind_all(self, kept: PodState, pod: Pod) -> None:
        pending = {claim.metadata.uid: index for index, claim in enumerate(kept.pending)}
        for index, claim in enumerate(kept.claims):
            stored = self._stored(claim)
            if stored is not None and self._reserved(stored, pod):
                continue
            place = pending.get(claim.metadata.uid)
            allocation = kept.chosen[place] if place is not None and kept.chosen is not None else None
            kept.claims[index] = self._bind_claim(claim, allocation, pod)
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
            self._handle.cluster.put_claim(created)
        kept.special = self._bind_claim(created, allocation, pod)
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

    def _bind_claim(self, read: ResourceClaim, allocation: AllocationResult | None, pod: Pod) -> ResourceClaim:
        stored = self._stored(read)
        base = read
        if self._conflicts and stored is not read:
            base = self._reread(stored, read, allocation)
        written = self._with_reservation(base, allocation, pod)
        if stored is not None and stored.status is not None and written.status is not None:
            kept = {user.uid for user in written.status.reserved_for}
            self.lost += [(stored.key, u.name) for u in stored.status.reserved_for if u.uid not in kept]
        self._handle.cluster.put_claim(written)
        return written

    @staticmethod
    def _reread(
        stored: ResourceClaim | None, read: ResourceClaim, allocation: AllocationResult | None
    ) -> ResourceClaim:
        """The claim as it is now, unless it changed in a way that makes the allocation useless."""
        if stored is None or stored.metadata.deletion_timestamp is not None:
            raise BindError(f"claim {read.key} got deleted in the meantime")
        if allocation is not None and stored.allocation is not None:
            raise BindError(f"claim {read.key} got allocated elsewhere in the meantime")
        if allocation is None and stored.allocation is None:
            raise BindError(f"claim {read.key} got deallocated elsewhere in the meantime")
        return stored

    def _with_reservation(self, claim: ResourceClaim, allocation: AllocationResult | None, pod: Pod) -> ResourceClaim:
        status = claim.status or ResourceClaimStatus()
        metadata = claim.metadata
        what = "add reservation"
        if allocation is not None:
            what = "add allocation and reservation"
            finalizers = metadata.finalizers or []
            if _FINALIZER not in finalizers:
                metadata = replace(metadata, finalizers=[*finalizers, _FINALIZER])
            if self._handle.target.features.binding_conditions and allocation.allocation_timestamp is None:
                allocation = replace(allocation, allocation_timestamp=format_time(self._handle.clock.now))
            status = replace(status, allocation=allocation)
        uid = self._handle.cluster.info(pod).uid
        user = ResourceClaimConsumerReference(resource="pods", name=pod.metadata.name, uid=uid)
        users = [*status.reserved_for, user]
        if len(users) > MOST_CONSUMERS:
            detail = f"status.reservedFor: Too many: {len(users)}: must have at most {MOST_CONSUMERS} items"
            name = f'ResourceClaim.resource.k8s.io "{metadata.name}" is invalid'
            raise BindError(f"{what} to claim {claim.key}: {name}: {detail}")
        return replace(claim, metadata=metadata, status=replace(status, reserved_for=users))

    def _stored(self, claim: ResourceClaim) -> ResourceClaim | None:
        return self._handle.cluster.claims.get(claim.metadata.namespace, claim.metadata.name)

    def _reserved(self, claim: ResourceClaim, pod: Pod) -> bool:
        uid = self._handle.cluster.info(pod).uid
        return claim.status is not None and any(user.uid == uid for user in claim.status.reserved_for)

    def _remove_pending(self, kept: PodState, claim: ResourceClaim) -> None:
        self._handle.cluster.remove_pending_allocation(claim.metadata.uid)
        if claim.metadata.uid in kept.reserved:
            kept.reserved.remove(claim.metadata.uid)

    # Binding conditions

    def _await(self, kept: PodState, node: str) -> Status | None:
        """Ready, failed, too late, or Wait, for what drivers do is not simulated; the first unready claim decides."""
        special = [kept.special] if kept.special is not None else []
        for claim in (*kept.claims, *special):
            current = self._stored(claim) or claim
            ready, failed = conditions.preparation(current)
            name = current.metadata.name
            if failed is not None:
                text = f'device binding failed: claim={name}, reason={failed.reason}, message="{failed.message}"'
                return error(text)
            if ready:
                continue
            if conditions.timed_out(current, self._timeout, self._handle.clock.now):
                return error(f"device binding timeout: claim={name}")
            return Status(Code.WAIT, f"waiting for binding conditions for device on node {node}")
        return None

    # The node's own resources

    def take_from_node(
        self, kept: PodState, pod: Pod, node: str, claimed: Sequence[NodeAllocatableResourceClaimStatus]
    ) -> None:
        """What the devices take from the node counts from now on."""
        if claimed:
            kept.taken_from = node
            self._handle.cluster.set_claimed(pod, node, list(claimed))

    # Taking back

    def release(self, kept: PodState, pod: Pod) -> None:
        """The pod no longer uses its claims, nor anything of its node for them; the special claim is deleted."""
        if kept.taken_from:
            self._handle.cluster.set_claimed(pod, kept.taken_from, [])
            kept.taken_from = ""
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
