"""The VolumeBinding plugin: a pod fits where its claims can get volumes. Reserving a node decides which volumes.

Contents: provisioning of new volumes, the volumes that a pod's claims can get on a node, and the plugin.
`cluster/volumes.py` keeps its assumptions, and `volume_controller.py` writes them.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from dra_plan.api.core import Pod
from dra_plan.api.meta import LabelSelector
from dra_plan.api.quantity import parse
from dra_plan.api.selectors import labels_match
from dra_plan.api.storage import CSIDriver, CSINode, CSIStorageCapacity, PersistentVolumeClaim, StorageClass
from dra_plan.api.well_known import HOSTNAME, MIGRATED_PLUGINS
from dra_plan.claims.owners import controls
from dra_plan.scheduler.cluster.nodes import NodeInfo
from dra_plan.scheduler.cluster.pod_volumes import ClaimUse, pod_volumes
from dra_plan.scheduler.cluster.volumes import (
    Claim,
    ClaimKey,
    NodeVolumes,
    Volume,
    VolumeReach,
    VolumeStore,
    claim_text,
    translated,
)
from dra_plan.scheduler.events import Action, Hint, Interest, Resource
from dra_plan.scheduler.framework import plugin_names
from dra_plan.scheduler.framework.interface import (
    EnqueueExtensions,
    FilterPlugin,
    Handle,
    PreBindPlugin,
    PreFilterPlugin,
    PreFilterResult,
    ReservePlugin,
)
from dra_plan.scheduler.framework.status import (
    SKIP,
    Code,
    CycleState,
    Obstacle,
    Status,
    VolumeUnfit,
    error,
    unresolvable,
)

# -- provisioning ------------------------------------------------------------------------------------------------------
# The nodes on which a new volume can be created for a claim depend on its class, allowed topologies and published
# capacities.

BIND_CONFLICT = "node(s) didn't find available persistent volumes to bind"
NO_SPACE = "node(s) did not have enough free storage"


class Provisioning:
    """The nodes on which a volume can be created for a claim. Other claims and pods do not reduce the capacity."""

    def __init__(self, store: VolumeStore, claim: Claim) -> None:
        storage_class = store.class_of(claim)
        self._class = storage_class
        self.size = 0
        """The requested amount, if the driver publishes capacities."""
        self._room: _Room | None = None
        """The nodes with enough capacity, or None if the driver does not publish capacities."""
        self._published: list[CSIStorageCapacity] = []
        """The capacities of the class, if they matter."""
        if storage_class is None:
            return
        driver = store.csi_driver(storage_class.provisioner)
        if claim.request is not None and driver is not None and driver.spec.storage_capacity:
            self.size, name = claim.request.units, storage_class.metadata.name
            self._published = [one for one in store.capacities if one.storage_class_name == name]
            self._room = _Room(
                one.node_topology
                for one in self._published
                if _most(one) >= self.size and one.node_topology is not None
            )

    def problem(self, labels: Mapping[str, str]) -> str:
        """Return why no volume can be created on a node with these labels, or ""."""
        if self._class is None or not self._class.provisions:
            return BIND_CONFLICT
        if not allows(self._class, labels):
            return BIND_CONFLICT
        return "" if self._room is None or self._room.is_on(labels) else NO_SPACE

    def largest(self, labels: Mapping[str, str]) -> int:
        """Return the size of the largest volume that can be created on a node with these labels, or 0."""
        selected = ((one, one.node_topology) for one in self._published)
        return max([0, *(_most(one) for one, there in selected if there is not None and labels_match(there, labels))])


class _Room:
    """The nodes selected by any of several selectors. Selectors for a single label, the usual case, are looked up."""

    def __init__(self, selectors: Iterable[LabelSelector]) -> None:
        self._values: dict[str, set[str]] = {}
        self._others: list[LabelSelector] = []
        for selector in selectors:
            wanted = selector.match_labels or {}
            if len(wanted) == 1 and not selector.match_expressions:
                [(key, value)] = wanted.items()
                self._values.setdefault(key, set()).add(value)
            else:
                self._others.append(selector)

    def is_on(self, labels: Mapping[str, str]) -> bool:
        """Return whether a node with these labels is selected."""
        return any(labels.get(key) in values for key, values in self._values.items()) or any(
            labels_match(selector, labels) for selector in self._others
        )


def allows(storage_class: StorageClass, labels: Mapping[str, str]) -> bool:
    """Return whether the class may create volumes on a node with these labels (allowedTopologies)."""
    terms = storage_class.allowed_topologies
    return not terms or any(
        term.match_label_expressions and all(labels.get(e.key) in e.values for e in term.match_label_expressions)
        for term in terms
    )


def largest_volume(capacity: CSIStorageCapacity) -> int | None:
    """Return the size of the largest volume that can be created, or None if the capacity does not give a size."""
    limit = capacity.maximum_volume_size if capacity.maximum_volume_size is not None else capacity.capacity
    return None if limit is None else parse(limit).units


def _most(capacity: CSIStorageCapacity) -> int:
    most = largest_volume(capacity)
    return -1 if most is None else most


# -- matching claims and volumes ---------------------------------------------------------------------------------------
# On a node, a pod's claim can have the volume that it is bound to, another existing volume, or a new volume. The rules
# are those of upstream's volume binder (FindPodVolumes). Nothing is assumed or written here.

NODE_CONFLICT = "node(s) didn't match PersistentVolume's node affinity"
NO_VOLUME = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"

Reasons = list[str]

_NONE = NodeVolumes()


class _Wanted:
    """A waiting claim, and the volumes that it could have if the node is ignored, smallest first."""

    def __init__(self, claim: Claim, volumes: Sequence[Volume]) -> None:
        self.claim = claim
        suitable = [volume for volume in volumes if not any(unsuited(volume, claim))]
        self._set_aside = next((volume for volume in suitable if volume.is_for(claim)), None)
        free = [volume for volume in suitable if not any(unavailable(volume, claim))]
        self._volumes = sorted(free, key=lambda volume: (volume.size.nano, volume.name))
        self._anywhere: list[int] = []
        self._by_host: dict[str, list[int]] = {}
        for position, volume in enumerate(self._volumes):
            hosts = volume.affinity.hosts
            if hosts is None:
                self._anywhere.append(position)
            for host in hosts or ():
                self._by_host.setdefault(host, []).append(position)

    def volume_on(self, labels: Mapping[str, str], taken: Mapping[str, Volume]) -> Volume | None:
        """Return the volume for a node with these labels, or None.

        Volumes that the pod's other claims take are left out.

        If a volume is reserved for the claim, only this volume is considered.
        """
        if self._set_aside is not None:
            return self._set_aside if self._set_aside.affinity.matches(labels) else None
        for volume in self._near(labels):
            if volume.name not in taken and volume.affinity.matches(labels):
                return volume
        return None

    def _near(self, labels: Mapping[str, str]) -> Iterator[Volume]:
        """Yield the volumes that are not on other hosts, in order."""
        here = self._by_host.get(labels.get(HOSTNAME, ""), ())
        near = heapq.merge(self._anywhere, here) if self._anywhere and here else self._anywhere or here
        return map(self._volumes.__getitem__, near)


def unsuited(volume: Volume, claim: Claim) -> Iterator[str]:
    """Yield the reasons why the claim cannot have a volume, even one that is reserved for it.

    These are `held` (by another claim, possibly a deleted one of the same name), `small`, `form` (volume mode or
    attributes class) and `deleted`. The rules are those of `FindMatchingVolume`, which upstream's volume controller and
    scheduler share.
    """
    pv = volume.object
    if pv.spec.claim_ref is not None and not volume.is_for(claim):
        yield "held"
    if volume.size < claim.size:
        yield "small"
    if volume.form != claim.form:
        yield "form"
    if pv.metadata.deletion_timestamp is not None:
        yield "deleted"


def unavailable(volume: Volume, claim: Claim) -> Iterator[str]:
    """Yield the additional reasons why the claim cannot have a volume that is not reserved for it.

    These are `phase` (the volume is not Available), `selector` (the labels do not match) and `access-modes`.
    """
    pv, pvc = volume.object, claim.object
    if pv.status.phase != "Available":
        yield "phase"
    if pvc.spec.selector is not None and not labels_match(pvc.spec.selector, pv.metadata.labels):
        yield "selector"
    if not set(pvc.spec.access_modes) <= set(pv.spec.access_modes):
        yield "access-modes"


class PodClaims:
    """The volume claims of a pod, prepared for checks on many nodes.

    Each claim is either bound or waiting for a consumer.
    """

    def __init__(self, store: VolumeStore, bound: Sequence[Claim], waiting: Sequence[Claim]) -> None:
        self._store = store
        self.bound = bound
        self.waiting = waiting
        # everything that does not depend on the node is found once for the pod
        self._volumes = [store.volume(claim.volume_name) for claim in bound]
        self._selected = [claim for claim in waiting if claim.selected_node is not None]
        self._wanted: list[_Wanted] | None = None
        self._new: dict[ClaimKey, Provisioning] = {}

    def on_node(self, name: str, labels: Mapping[str, str]) -> tuple[NodeVolumes, Reasons]:
        """Return the volumes that the waiting claims would get on the node, or the reasons why the pod does not fit."""
        csi_node = self._store.csi_node(name) if self._volumes else None
        reasons: Reasons = []
        missing = ""
        for volume in self._volumes:
            if volume is None:
                missing = NO_VOLUME
                break
            if not _affinity(volume, csi_node).matches(labels):
                reasons.append(NODE_CONFLICT)
                break
        chosen = _NONE
        if self.waiting:
            chosen, conflict = self._for_waiting(name, labels)
            if conflict:
                reasons.append(conflict)
        if missing:
            reasons.append(missing)
        return chosen, reasons

    def unfit_on(self, name: str, labels: Mapping[str, str]) -> Iterator[VolumeUnfit]:
        """Yield the claims that keep the pod off the node. Bound claims come with their volumes."""
        csi_node = self._store.csi_node(name) if self._volumes else None
        for claim, volume in zip(self.bound, self._volumes, strict=True):
            if volume is None or not _affinity(volume, csi_node).matches(labels):
                yield VolumeUnfit(claim.object.metadata.name, claim.volume_name)
        yield from self._unfit_waiting(name, labels) if self.waiting else ()

    def _unfit_waiting(self, node: str, labels: Mapping[str, str]) -> Iterator[VolumeUnfit]:
        """Yield the waiting claims that get no volume on the node; with amounts if only the free space is too small."""
        elsewhere = [claim for claim in self._selected if claim.selected_node != node]
        yield from (VolumeUnfit(claim.name, "") for claim in elsewhere)
        for claim in () if elsewhere else self._found(labels).new:
            made = self._provisioning(claim)
            problem = made.problem(labels)
            if problem:
                is_small = problem is NO_SPACE
                yield VolumeUnfit(claim.name, "", *((made.size, made.largest(labels)) if is_small else ()))

    def _for_waiting(self, node: str, labels: Mapping[str, str]) -> tuple[NodeVolumes, str]:
        for claim in self._selected:
            if claim.selected_node != node:
                return _NONE, BIND_CONFLICT
        found = self._found(labels)
        for claim in found.new:
            conflict = self._provisioning(claim).problem(labels)
            if conflict:
                return _NONE, conflict
        return found, ""

    def _found(self, labels: Mapping[str, str]) -> NodeVolumes:
        """Return the existing volumes that the waiting claims get on such a node, and the claims that need new ones."""
        static: list[tuple[Claim, Volume]] = []
        taken: dict[str, Volume] = {}
        unmatched: list[Claim] = []
        for wanted in self._searched():
            volume = wanted.volume_on(labels, taken)
            if volume is None:
                unmatched.append(wanted.claim)
            else:
                taken[volume.name] = volume
                static.append((wanted.claim, volume))
        return NodeVolumes(tuple(static), (*self._selected, *unmatched))

    def _provisioning(self, claim: Claim) -> Provisioning:
        found = self._new.get(claim.key)
        if found is None:
            found = self._new[claim.key] = Provisioning(self._store, claim)
        return found

    def _searched(self) -> list[_Wanted]:
        """Return the claims that need a search for volumes, smallest request first."""
        if self._wanted is None:
            open_claims = [claim for claim in self.waiting if claim.selected_node is None]
            ordered = sorted(open_claims, key=lambda claim: claim.size.nano)
            self._wanted = [_Wanted(claim, self._store.volumes_of(claim.class_name)) for claim in ordered]
        return self._wanted


def _affinity(volume: Volume, csi_node: CSINode | None) -> VolumeReach:
    if not volume.is_migrated:
        return volume.affinity
    pv = translated(volume.object, csi_node)
    if pv is volume.object:
        return volume.affinity
    return VolumeReach(pv.spec.node_affinity.required if pv.spec.node_affinity is not None else None)


# -- the plugin --------------------------------------------------------------------------------------------------------

_IMMEDIATE = unresolvable("pod has unbound immediate PersistentVolumeClaims")
_WAITING = Status(Code.WAIT, "waiting for volumes to be bound")


@dataclass
class _BindingState:
    """The pod's claims as PreFilter found them; they are the same for all trials in one cycle."""

    claims: PodClaims
    by_node: dict[str, NodeVolumes] = field(default_factory=dict)
    chosen: NodeVolumes | None = None
    """The volumes assumed for the reserved node; None if all claims were bound."""
    written: bool = False


class VolumeBinding(PreFilterPlugin, FilterPlugin, ReservePlugin, PreBindPlugin, EnqueueExtensions):
    """The plugin for volume claims.

    It checks which nodes can use the volume of a bound claim, and which volumes a waiting claim can get on a node.
    """

    name = plugin_names.VOLUME_BINDING

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._store = handle.cluster.volumes

    # PreFilter and Filter

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult | None, Status | None]:
        """Return Skip if the pod has no volume claims.

        Reject the pod if a claim is missing, is lost or should already be bound.
        """
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
        """Reject the node if it cannot satisfy a claim, or else store the volumes that the claims would get."""
        kept: _BindingState = state.read(self.name)
        chosen, reasons = kept.claims.on_node(node.name, node.labels)
        if reasons:
            return _refusal(tuple(reasons))
        kept.by_node[node.name] = chosen
        return None

    def obstacles(self, state: CycleState, pod: Pod, node: NodeInfo) -> Sequence[Obstacle]:
        """Return the claims that the node cannot satisfy."""
        kept: _BindingState = state.read(self.name)
        return tuple(kept.claims.unfit_on(node.name, node.labels))

    # Reserve and PreBind

    def reserve(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        """Assume that the claims get the volumes found for the node. Later pods see them as taken."""
        kept: _BindingState | None = state.get(self.name)
        if kept is not None and kept.claims.waiting:
            kept.chosen = kept.by_node.get(node, NodeVolumes())
            self._store.assume(kept.chosen, node)
        return None

    def unreserve(self, state: CycleState, pod: Pod, node: str) -> None:
        """Drop the assumptions about volumes. Objects that were already written do not change."""
        kept: _BindingState | None = state.get(self.name)
        if kept is not None and kept.chosen is not None:
            self._store.restore(kept.chosen)
            kept.chosen = None  # what others assume of the same volumes afterwards must not be dropped for this pod

    def pre_bind_pre_flight(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        """Return Skip if all claims are bound."""
        kept: _BindingState | None = state.get(self.name)
        return SKIP if kept is None or kept.chosen is None else None

    def pre_bind(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        """Write the assumptions. Return Wait until the volumes exist."""
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
        """Return the events after which a rejected pod may become schedulable.

        A class, claim, volume, node or capacity may be added or may change in a way that helps.
        """
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
    """Return a node's rejection; nodes share one object, because there are few different rejections."""
    return unresolvable(*reasons).by(plugin_names.VOLUME_BINDING)


def _problem(pod: Pod, use: ClaimUse, claim: Claim | None) -> str:
    """Return the reason why the pod can't have the claim at all, or ""."""
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
    """Return the message for an ephemeral volume's claim that belongs to another pod, or ""."""
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
    """Queue the pod only if it has inline volumes from the driver, as upstream does."""
    inline = [volume.get("csi") for volume in pod.spec.volumes]
    used = any(isinstance(source, dict) and source.get("driver") == new.metadata.name for source in inline)
    freed = old.spec.storage_capacity and not new.spec.storage_capacity
    return Hint.QUEUE if used and freed else Hint.SKIP


def _after_capacity(_pod: Pod, old: CSIStorageCapacity | None, new: CSIStorageCapacity) -> Hint:
    if old is None:
        return Hint.QUEUE
    before, after = largest_volume(old), largest_volume(new)
    return Hint.QUEUE if after is not None and (before is None or after > before) else Hint.SKIP
