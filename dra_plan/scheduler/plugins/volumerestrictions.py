"""VolumeRestrictions: disks that pods on one node can't both have, and claims that only one pod may use."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from dra_plan.api.core import Pod
from dra_plan.api.storage import PersistentVolumeClaim
from dra_plan.scheduler import pluginnames
from dra_plan.scheduler.cyclestate import CycleState
from dra_plan.scheduler.events import Action, Hint, Interest, Resource
from dra_plan.scheduler.framework import (
    EnqueueExtensions,
    FilterPlugin,
    PreFilterExtensions,
    PreFilterPlugin,
    PreFilterResult,
)
from dra_plan.scheduler.handle import Handle
from dra_plan.scheduler.nodeinfo import NodeInfo, PodInfo
from dra_plan.scheduler.podvolumes import Disk, pod_volumes
from dra_plan.scheduler.status import SKIP, Status, unresolvable, unschedulable
from dra_plan.scheduler.volumeobjects import claim_text

_NO_DISK = unschedulable("node(s) had no available disk")
_IN_USE = unschedulable(
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)


@dataclass
class _RestrictionState:
    """The pod's disks, its claims that only one pod may use, and how many of these are in use.

    On trial a pod that goes takes away as many as it names, one that comes adds them; of namespaces nobody asks then.
    """

    disks: tuple[Disk, ...]
    exclusive: frozenset[str]
    in_use: int

    def clone(self) -> _RestrictionState:
        """A copy for a trial."""
        return replace(self)


class VolumeRestrictions(PreFilterPlugin, PreFilterExtensions, FilterPlugin, EnqueueExtensions):
    """Disks of providers, in-line, by what pods on the node have; ReadWriteOncePod by all placed pods."""

    name = pluginnames.VOLUME_RESTRICTIONS

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._store = handle.cluster.volumes

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult | None, Status | None]:
        """Reject a pod whose claim is missing; Skip one with neither disks nor claims of its own."""
        volumes = self._handle.cluster.info(pod).volumes
        namespace = pod.metadata.namespace
        exclusive = set()
        for name in volumes.named:
            claim = self._store.claim(namespace, name)
            if claim is None:
                return None, unresolvable(f"{claim_text(name)} not found")
            if claim.is_exclusive:
                exclusive.add(name)
        if not exclusive and not volumes.disks:
            return None, SKIP
        state.write(
            self.name, _RestrictionState(volumes.disks, frozenset(exclusive), _in_use(namespace, exclusive, nodes))
        )
        return None, None

    def pre_filter_extensions(self) -> PreFilterExtensions | None:
        """Pods that go may leave a claim to this one."""
        return self

    def add_pod(self, state: CycleState, pod: Pod, added: PodInfo, node: NodeInfo) -> Status | None:
        """Count the claims that the pod uses."""
        kept: _RestrictionState = state.read(self.name)
        kept.in_use += _shared(kept, added)
        return None

    def remove_pod(self, state: CycleState, pod: Pod, removed: PodInfo, node: NodeInfo) -> Status | None:
        """The claims that the pod used are free, as far as it is concerned."""
        kept: _RestrictionState = state.read(self.name)
        kept.in_use -= _shared(kept, removed)
        return None

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Reject nodes where a disk is taken, and all nodes while a claim is in use."""
        kept: _RestrictionState = state.read(self.name)
        if kept.disks and any(_conflict(kept.disks, info.volumes.disks) for info in node.volume_pods.values()):
            return _NO_DISK
        return _IN_USE if kept.in_use > 0 else None

    def filter_memo(self, state: CycleState, pod: Pod) -> Hashable | None:
        """The disks, and whether a claim is in use."""
        kept: _RestrictionState = state.read(self.name)
        return kept.disks, kept.in_use > 0

    def events_to_register(self) -> Sequence[Interest]:
        """Pods that leave a disk or a claim, the pod's own claims, new nodes."""
        return [
            Interest(Resource.ASSIGNED_POD, Action.DELETE, _after_pod),
            Interest(Resource.NODE, Action.ADD),
            Interest(Resource.VOLUME_CLAIM, Action.ADD, _after_claim),
        ]


def _in_use(namespace: str, exclusive: set[str], nodes: Sequence[NodeInfo]) -> int:
    """How many of the claims a pod on one of the nodes uses."""
    if not exclusive:
        return 0
    used = {
        name
        for node in nodes
        for info in node.volume_pods.values()
        if info.pod.metadata.namespace == namespace
        for name in info.volumes.named
    }
    return len(exclusive & used)


def _shared(kept: _RestrictionState, other: PodInfo) -> int:
    return sum(name in kept.exclusive for name in other.volumes.named) if kept.exclusive else 0


def _conflict(ours: Sequence[Disk], theirs: Sequence[Disk]) -> bool:
    return any(one.conflicts(other) for one in ours for other in theirs)


def _after_pod(pod: Pod, old: Pod | None, _new: Pod | None) -> Hint:
    if old is None:
        return Hint.SKIP
    ours, theirs = pod_volumes(pod), pod_volumes(old)
    shares = pod.metadata.namespace == old.metadata.namespace and bool(set(ours.named) & set(theirs.named))
    return Hint.QUEUE if shares or _conflict(ours.disks, theirs.disks) else Hint.SKIP


def _after_claim(pod: Pod, _old: PersistentVolumeClaim | None, new: PersistentVolumeClaim) -> Hint:
    own = pod.metadata.namespace == new.metadata.namespace and new.metadata.name in pod_volumes(pod).named
    return Hint.QUEUE if own else Hint.SKIP
