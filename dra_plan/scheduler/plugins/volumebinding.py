"""VolumeBinding: a pod fits where its claims on volumes can be met; reserving a node decides which volumes they get."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from dra_plan.api.core import Pod
from dra_plan.api.storage import CSIDriver, CSINode, CSIStorageCapacity, PersistentVolumeClaim, StorageClass
from dra_plan.api.well_known import MIGRATED_PLUGINS
from dra_plan.claims.owners import controls
from dra_plan.scheduler import pluginnames
from dra_plan.scheduler.cyclestate import CycleState
from dra_plan.scheduler.events import Action, Hint, Interest, Resource
from dra_plan.scheduler.framework import (
    EnqueueExtensions,
    FilterPlugin,
    PreBindPlugin,
    PreFilterPlugin,
    PreFilterResult,
    ReservePlugin,
)
from dra_plan.scheduler.handle import Handle
from dra_plan.scheduler.nodeinfo import NodeInfo
from dra_plan.scheduler.podvolumes import ClaimUse, pod_volumes
from dra_plan.scheduler.status import SKIP, Code, Status, error, unresolvable
from dra_plan.scheduler.volumematching import PodClaims
from dra_plan.scheduler.volumeobjects import Claim, claim_text
from dra_plan.scheduler.volumeprovisioning import largest_volume
from dra_plan.scheduler.volumestore import NodeVolumes

_IMMEDIATE = unresolvable("pod has unbound immediate PersistentVolumeClaims")
_WAITING = Status(Code.WAIT, "waiting for volumes to be bound")


@dataclass
class _BindingState:
    """The pod's claims as PreFilter found them; the same for all trials of one cycle."""

    claims: PodClaims
    by_node: dict[str, NodeVolumes] = field(default_factory=dict)
    chosen: NodeVolumes | None = None
    """What was assumed for the reserved node; None if all claims were bound."""
    written: bool = False


class VolumeBinding(PreFilterPlugin, FilterPlugin, ReservePlugin, PreBindPlugin, EnqueueExtensions):
    """Claims on volumes: bound ones by their volume's nodes, those that wait by what can be had on a node."""

    name = pluginnames.VOLUME_BINDING

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._store = handle.cluster.volumes

    # PreFilter and Filter

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult | None, Status | None]:
        """Skip pods without claims; reject those whose claims are missing, lost or should be bound by now."""
        uses = self._handle.cluster.info(pod).volumes.claims
        if not uses:
            return None, SKIP
        claims: dict[tuple[str, str], Claim] = {}
        for use in uses:
            claim = self._store.claim(pod.metadata.namespace, use.name)
            problem = _problem(pod, use, claim)
            if problem or claim is None:
                return None, unresolvable(problem)
            claims[claim.key] = claim
        bound = [claim for claim in claims.values() if claim.is_bound]
        waiting = [
            claim for claim in claims.values() if not claim.is_bound and claim.waits(self._store.class_of(claim))
        ]
        if len(bound) + len(waiting) < len(claims):
            return None, _IMMEDIATE
        state.write(self.name, _BindingState(PodClaims(self._store, bound, waiting)))
        return None, None

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Reject nodes on which a claim can't be met; remember what the others would give."""
        kept: _BindingState = state.read(self.name)
        chosen, reasons = kept.claims.on_node(node.name, node.labels)
        if reasons:
            return _refusal(tuple(reasons))
        kept.by_node[node.name] = chosen
        return None

    # Reserve and PreBind

    def reserve(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        """Assume what was found for the node, so that the next pods see it."""
        kept: _BindingState | None = state.get(self.name)
        if kept is not None and kept.claims.waiting:
            kept.chosen = kept.by_node.get(node, NodeVolumes())
            self._store.assume(kept.chosen, node)
        return None

    def unreserve(self, state: CycleState, pod: Pod, node: str) -> None:
        """Drop what was assumed; what was written stays."""
        kept: _BindingState | None = state.get(self.name)
        if kept is not None and kept.chosen is not None:
            self._store.restore(kept.chosen)
            kept.chosen = None  # what others assume of the same volumes afterwards is not this pod's to drop

    def pre_bind_pre_flight(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        """Nothing to do if all claims are bound."""
        kept: _BindingState | None = state.get(self.name)
        return SKIP if kept is None or kept.chosen is None else None

    def pre_bind(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        """Write what was assumed; wait until the volumes are there."""
        kept: _BindingState | None = state.get(self.name)
        if kept is None or kept.chosen is None:
            return None
        if not kept.written:
            problem = self._store.write(kept.chosen, node)
            if problem:
                return error(problem)
            kept.written = True
        ready = all(self._store.is_bound(claim) for claim in kept.claims.waiting)
        return None if ready else _WAITING

    # Events

    def events_to_register(self) -> Sequence[Interest]:
        """Classes, claims, volumes, nodes and capacities that come, or change in a way that may help."""
        return [
            Interest(Resource.STORAGE_CLASS, Action.ADD | Action.UPDATE, _after_class),
            Interest(Resource.VOLUME_CLAIM, Action.ADD | Action.UPDATE, _after_claim),
            Interest(Resource.VOLUME, Action.ADD | Action.UPDATE),
            Interest(Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL),
            Interest(Resource.CSI_NODE, Action.ADD | Action.UPDATE, _after_csi_node),
            Interest(Resource.CSI_DRIVER, Action.UPDATE, _after_driver),
            Interest(Resource.STORAGE_CAPACITY, Action.ADD | Action.UPDATE, _after_capacity),
        ]


@cache
def _refusal(reasons: tuple[str, ...]) -> Status:
    """A node's refusal, one object for all nodes: there are few different ones."""
    return unresolvable(*reasons).by(pluginnames.VOLUME_BINDING)


def _problem(pod: Pod, use: ClaimUse, claim: Claim | None) -> str:
    """Why the pod can't have the claim at all, or ""."""
    if claim is None:
        if use.ephemeral:
            return f"waiting for ephemeral volume controller to create the {claim_text(use.name)}"
        return f"{claim_text(use.name)} not found"
    pvc = claim.object
    if pvc.status.phase == "Lost":
        return f'{claim_text(use.name)} bound to non-existent persistentvolume "{pvc.spec.volume_name}"'
    if pvc.metadata.deletion_timestamp is not None:
        return f"{claim_text(use.name)} is being deleted"
    return not_owner(pod, claim) if use.ephemeral else ""


def not_owner(pod: Pod, claim: Claim) -> str:
    """What is said of an ephemeral volume's claim that was made for somebody else; "" for the pod's own."""
    if controls(pod, claim.object.metadata):
        return ""
    return f"PVC {claim.object.key} was not created for pod {pod.key} (pod is not owner)"


def _after_class(_pod: Pod, old: StorageClass | None, new: StorageClass) -> Hint:
    return Hint.QUEUE if old is None or old.allowed_topologies != new.allowed_topologies else Hint.SKIP


def _after_claim(pod: Pod, _old: PersistentVolumeClaim | None, new: PersistentVolumeClaim) -> Hint:
    own = pod.metadata.namespace == new.metadata.namespace and pod_volumes(pod).uses(new.metadata.name)
    return Hint.QUEUE if own else Hint.SKIP


def _after_csi_node(_pod: Pod, old: CSINode | None, new: CSINode) -> Hint:
    if old is None:
        return Hint.QUEUE
    before, after = ((node.metadata.annotations or {}).get(MIGRATED_PLUGINS) for node in (old, new))
    return Hint.QUEUE if before != after else Hint.SKIP


def _after_driver(pod: Pod, old: CSIDriver, new: CSIDriver) -> Hint:
    """Only for in-line volumes of the driver, as upstream has it."""
    inline = [volume.get("csi") for volume in pod.spec.volumes]
    used = any(isinstance(source, dict) and source.get("driver") == new.metadata.name for source in inline)
    freed = old.spec.storage_capacity and not new.spec.storage_capacity
    return Hint.QUEUE if used and freed else Hint.SKIP


def _after_capacity(_pod: Pod, old: CSIStorageCapacity | None, new: CSIStorageCapacity) -> Hint:
    if old is None:
        return Hint.QUEUE
    before, after = largest_volume(old), largest_volume(new)
    return Hint.QUEUE if after is not None and (before is None or after > before) else Hint.SKIP
