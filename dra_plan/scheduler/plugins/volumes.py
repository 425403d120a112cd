"""VolumeRestrictions, NodeVolumeLimits and VolumeZone: three filters for the volumes of pods.

VolumeRestrictions checks disks that two pods on a node cannot share, and claims that only one pod may use.
NodeVolumeLimits checks how many volumes of a CSI driver a node accepts. VolumeZone keeps volumes with zone or region
labels in that zone or region. `plugins/volume_binding.py` chooses the volumes of claims.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from dra_plan.api.core import Pod
from dra_plan.api.storage import CSINode, PersistentVolume, PersistentVolumeClaim, StorageClass, VolumeAttachment
from dra_plan.api.well_known import BETA_REGION, BETA_ZONE, NOW_CALLED, REGION, ZONE
from dra_plan.scheduler.cluster.nodes import NodeInfo, PodInfo
from dra_plan.scheduler.cluster.pod_volumes import Disk, pod_volumes
from dra_plan.scheduler.cluster.volumes import (
    WAITS,
    ZONE_SEPARATOR,
    Claim,
    claim_text,
    migrated_source,
    provisioner_driver,
)
from dra_plan.scheduler.events import Action, Hint, Interest, Resource
from dra_plan.scheduler.framework import plugin_names
from dra_plan.scheduler.framework.interface import (
    EnqueueExtensions,
    FilterPlugin,
    Handle,
    PreFilterExtensions,
    PreFilterPlugin,
    PreFilterResult,
)
from dra_plan.scheduler.framework.status import (
    SKIP,
    CycleState,
    LabelUnmet,
    Obstacle,
    Status,
    VolumeInUse,
    VolumesFull,
    error,
    unresolvable,
    unschedulable,
)

from .volume_binding import not_owner

_NO_DISK = unschedulable("node(s) had no available disk")
IN_USE = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)
"""The reason of the rejection while another pod uses the pod's ReadWriteOncePod claim."""

_IN_USE = unschedulable(IN_USE)


@dataclass
class _RestrictionState:
    """The pod's disks, its claims that only one pod may use, and how many of these claims are in use.

    In a trial, a removed pod subtracts as many claims as it names, and an added pod adds them, ignoring namespaces.
    """

    disks: tuple[Disk, ...]
    exclusive: frozenset[str]
    in_use: int

    def clone(self) -> _RestrictionState:
        """Return a copy for a trial."""
        return replace(self)


class VolumeRestrictions(PreFilterPlugin, PreFilterExtensions, FilterPlugin, EnqueueExtensions):
    """The plugin for inline disks and ReadWriteOncePod claims.

    Disks are checked against pods on the same node, and claims against pods on all nodes.
    """

    name = plugin_names.VOLUME_RESTRICTIONS

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._store = handle.cluster.volumes

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult | None, Status | None]:
        """Reject the pod if one of its claims is missing.

        Return Skip if it has neither inline disks nor ReadWriteOncePod claims.
        """
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
        """Return the object that updates the state when a pod is removed in a trial, which may free a claim."""
        return self

    def add_pod(self, state: CycleState, pod: Pod, added: PodInfo, node: NodeInfo) -> Status | None:
        """Mark the claims of the pod `added` as in use."""
        kept: _RestrictionState = state.read(self.name)
        kept.in_use += _shared(kept, added)
        return None

    def remove_pod(self, state: CycleState, pod: Pod, removed: PodInfo, node: NodeInfo) -> Status | None:
        """Mark the claims of the removed pod as free."""
        kept: _RestrictionState = state.read(self.name)
        kept.in_use -= _shared(kept, removed)
        return None

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Reject the node if a pod on it uses a disk that this pod needs.

        While another pod uses one of this pod's ReadWriteOncePod claims, every node is rejected.
        """
        kept: _RestrictionState = state.read(self.name)
        if kept.disks and any(_conflict(kept.disks, info.volumes.disks) for info in node.volume_pods.values()):
            return _NO_DISK
        return _IN_USE if kept.in_use > 0 else None

    def obstacles(self, state: CycleState, pod: Pod, node: NodeInfo) -> Sequence[Obstacle]:
        """Return each disk that a pod on the node uses or, if there is none, each claim that a pod on any node uses."""
        kept: _RestrictionState = state.read(self.name)
        there = list(node.volume_pods.values())
        taken = [(disk, info) for disk in kept.disks for info in there if _conflict((disk,), info.volumes.disks)]
        if taken:
            return tuple({disk: VolumeInUse("", disk.kind, info.pod.key) for disk, info in reversed(taken)}.values())
        users = {
            name: info.pod.key
            for other in self._handle.cluster.nodes.values()
            for info in other.volume_pods.values()
            if info.pod.metadata.namespace == pod.metadata.namespace
            for name in info.volumes.named
        }
        return tuple(VolumeInUse(name, "", users[name]) for name in sorted(kept.exclusive) if name in users)

    def filter_memo(self, state: CycleState, pod: Pod) -> Hashable | None:
        """Return a key with the pod's disks, and whether one of its claims is in use."""
        kept: _RestrictionState = state.read(self.name)
        return kept.disks, kept.in_use > 0

    def events_to_register(self) -> Sequence[Interest]:
        """Return the events after which a rejected pod may become schedulable.

        A pod may free a disk or a claim, the pod's own claims may change, or a node may be added.
        """
        return [
            Interest(Resource.ASSIGNED_POD, Action.DELETE, _after_pod),
            Interest(Resource.NODE, Action.ADD),
            Interest(Resource.VOLUME_CLAIM, Action.ADD, _after_claim),
        ]


def _in_use(namespace: str, exclusive: set[str], nodes: Sequence[NodeInfo]) -> int:
    """Return how many of the claims a pod on one of the nodes uses."""
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


# -- NodeVolumeLimits --------------------------------------------------------------------------------------------------

TOO_MANY = "node(s) exceed max volume count"
_TOO_MANY = unschedulable(TOO_MANY)

CountedVolume = tuple[str, str]
"""The CSI driver and handle of a volume."""


class _Held(NamedTuple):
    """A node's volumes: its limits by driver, its pods' volumes, and the number of volumes by driver."""

    limits: dict[str, int]
    by_pods: set[CountedVolume]
    counts: Counter[str]


class _New(NamedTuple):
    """The pod's own volumes, and their number by driver."""

    volumes: frozenset[CountedVolume]
    counts: dict[str, int]


class _NotCountableError(Exception):
    """An error raised if a pod's volumes can't be counted; the text is upstream's."""


class NodeVolumeLimits(PreFilterPlugin, FilterPlugin, EnqueueExtensions):
    """The plugin that limits the number of volumes of each driver on a node.

    It counts the volumes of pods on the node, the volumes attached to the node, and the volumes of the new pod.
    """

    name = plugin_names.NODE_VOLUME_LIMITS

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._store = handle.cluster.volumes
        self._remembered: dict[str, tuple[tuple[int, int], _Held]] = {}

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult | None, Status | None]:
        """Return Skip if the pod has no volumes that count.

        Volumes that cannot be counted are an error only in Filter.
        """
        info = self._handle.cluster.info(pod)
        if not (info.volumes.claims or info.volumes.counted):
            return None, SKIP
        try:
            volumes = frozenset(self._counted(info, is_new=True))
            state.write(self.name, _New(volumes, _by_driver(volumes)))
        except _NotCountableError as problem:
            state.write(self.name, error(str(problem)))
        return None, None

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Reject the node if it would have more volumes of a driver than it accepts."""
        new: _New | Status = state.read(self.name)
        if isinstance(new, Status):
            return new
        try:
            return self._check(new, node)
        except _NotCountableError as problem:
            return error(str(problem))

    def _check(self, new: _New, node: NodeInfo) -> Status | None:
        return _TOO_MANY if next(self._full(new, node), None) is not None else None

    def _full(self, new: _New, node: NodeInfo) -> Iterator[VolumesFull]:
        """Yield the drivers for which the node would have too many volumes."""
        held = self._held(node) if new.volumes else None
        if held is None or not held.limits:
            return
        added = new.counts if new.volumes.isdisjoint(held.by_pods) else _by_driver(new.volumes - held.by_pods)
        for driver, count in added.items():
            limit = held.limits.get(driver)
            if limit is not None and held.counts[driver] + count > limit:
                yield VolumesFull(driver, count, max(0, limit - held.counts[driver]), limit)

    def obstacles(self, state: CycleState, pod: Pod, node: NodeInfo) -> Sequence[Obstacle]:
        """Return each driver for which the node does not accept the pod's volumes."""
        return tuple(self._full(state.read(self.name), node))

    def _held(self, node: NodeInfo) -> _Held:
        """Return the node's volumes and limits, which are cached until the node or a storage object changes."""
        state = (node.version, self._store.revision)
        known = self._remembered.get(node.name)
        if known is not None and known[0] == state:
            return known[1]
        limits = _limits(self._store.csi_node(node.name))
        found = _Held(limits, set(), Counter())
        if limits:
            for other in node.volume_pods.values():
                found.by_pods.update(self._counted(other, is_new=False))
            # a volume that is only attached counts in addition to the pod's own, even if they are the same
            found.counts.update(driver for driver, _ in found.by_pods | self._attached(node.name))
        self._remembered[node.name] = (state, found)
        return found

    def _counted(self, info: PodInfo, *, is_new: bool) -> set[CountedVolume]:
        """Return the pod's volumes; for a pod that is already running, a missing claim does not count."""
        found = set(info.volumes.counted)
        for use in info.volumes.claims:
            namespace = info.pod.metadata.namespace
            claim = self._store.claim(namespace, use.name)
            if claim is None:
                if is_new:
                    missing = f"{claim_text(use.name)} not found"
                    raise _NotCountableError(f"looking up PVC {namespace}/{use.name}: {missing}")
                continue
            problem = not_owner(info.pod, claim) if use.ephemeral else ""
            if problem:
                raise _NotCountableError(problem)
            volume = self._volume_of(claim)
            if volume is not None and all(volume):
                found.add(volume)
        return found

    def _volume_of(self, claim: Claim) -> CountedVolume | None:
        volume = self._store.volume(claim.volume_name) if claim.volume_name else None
        if volume is None:
            storage_class = self._store.class_of(claim)
            if storage_class is None:
                return None
            return provisioner_driver(storage_class.provisioner), f"claim {claim.object.key}"
        source = volume.object.spec.csi
        if source is not None:
            return source.driver, source.volume_handle
        migrated = migrated_source(volume.object)
        return (migrated[0].driver, migrated[1]) if migrated is not None else None

    def _attached(self, node: str) -> set[CountedVolume]:
        found = set()
        for attachment in self._store.attached(node):
            attacher, name = attachment.spec.attacher, attachment.spec.source.persistent_volume_name
            volume = self._store.volume(name) if attacher and name else None
            if volume is not None and volume.object.spec.csi is not None:
                found.add((attacher, volume.object.spec.csi.volume_handle))
        return found

    def events_to_register(self) -> Sequence[Interest]:
        """Return the events after which a rejected pod may become schedulable.

        A node may accept more volumes, a pod or an attachment may be removed, or the pod's own claims may change.
        """
        return [
            Interest(Resource.CSI_NODE, Action.ADD | Action.UPDATE, _after_csi_node),
            Interest(Resource.ASSIGNED_POD, Action.DELETE, _limit_hint_of_pod),
            Interest(Resource.VOLUME_CLAIM, Action.ADD, _limit_hint_of_claim),
            Interest(Resource.VOLUME_ATTACHMENT, Action.DELETE, _after_attachment),
        ]


def _by_driver(volumes: Iterable[CountedVolume]) -> dict[str, int]:
    return Counter(driver for driver, _ in volumes)


def _limits(node: CSINode | None) -> dict[str, int]:
    """Return how many of each driver's volumes the node accepts; drivers without a number have no limit."""
    if node is None:
        return {}
    return {
        driver.name: driver.allocatable.count
        for driver in node.spec.drivers
        if driver.allocatable is not None and driver.allocatable.count is not None
    }


def _after_csi_node(_pod: Pod, old: CSINode | None, new: CSINode) -> Hint:
    if old is None:
        return Hint.QUEUE
    before = _limits(old)
    raised = any(name in before and count > before[name] for name, count in _limits(new).items())
    return Hint.QUEUE if raised else Hint.SKIP


def _limit_hint_of_pod(_pod: Pod, old: Pod | None, _new: Pod | None) -> Hint:
    if old is None:
        return Hint.SKIP
    volumes = pod_volumes(old)
    return Hint.QUEUE if volumes.claims or volumes.counted else Hint.SKIP


def _limit_hint_of_claim(pod: Pod, _old: PersistentVolumeClaim | None, new: PersistentVolumeClaim) -> Hint:
    own = pod.metadata.namespace == new.metadata.namespace and pod_volumes(pod).uses(new.metadata.name)
    return Hint.QUEUE if own else Hint.SKIP


def _after_attachment(pod: Pod, _old: VolumeAttachment | None, _new: VolumeAttachment | None) -> Hint:
    return Hint.QUEUE if pod_volumes(pod).named else Hint.SKIP


# -- VolumeZone --------------------------------------------------------------------------------------------------------

_KEYS = (BETA_ZONE, BETA_REGION, ZONE, REGION)

_CONFLICT = unresolvable("node(s) had no available volume zone")


class _Topology(NamedTuple):
    """A volume's label, and the values that its nodes may have."""

    key: str
    values: frozenset[str]


def _topologies(volume: PersistentVolume) -> Iterator[_Topology]:
    """Yield the volume's zones and regions; a label with an empty part is ignored."""
    labels = volume.metadata.labels or {}
    for key in _KEYS:
        if key in labels:
            values = [part.strip() for part in labels[key].split(ZONE_SEPARATOR)]
            if all(values):
                yield _Topology(key, frozenset(values))


def _key_on(node: NodeInfo, key: str) -> str:
    """Return the node's key to compare; a volume's old key matches a node's new key, but not the reverse."""
    return key if key in node.labels else NOW_CALLED.get(key, key)


class VolumeZone(PreFilterPlugin, FilterPlugin, EnqueueExtensions):
    """The plugin for the zones of bound claims in the pod's spec. Claims of ephemeral volumes do not count."""

    name = plugin_names.VOLUME_ZONE

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._store = handle.cluster.volumes

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult | None, Status | None]:
        """Read the zone labels of the pod's volumes. Return Skip if there are none."""
        found: list[_Topology] = []
        for name in self._handle.cluster.info(pod).volumes.named:
            claim = self._store.claim(pod.metadata.namespace, name)
            if claim is None:
                return None, unresolvable(f"{claim_text(name)} not found")
            if not claim.volume_name:
                problem = self._unbound_problem(claim)
                if problem:
                    return None, unresolvable(problem)
                continue
            volume = self._store.volume(claim.volume_name)
            if volume is None:
                return None, unresolvable(f'persistentvolume "{claim.volume_name}" not found')
            found += _topologies(volume.object)
        if not found:
            return None, SKIP
        state.write(self.name, tuple(found))
        return None, None

    def _unbound_problem(self, claim: Claim) -> str:
        """Return the reason why an unbound claim is rejected, or "" if it waits for a pod.

        VolumeBinding rejects all other cases earlier.
        """
        if not claim.class_name:
            return "PersistentVolumeClaim had no pv name and storageClass name"
        storage_class = self._store.class_of(claim)
        if storage_class is None:
            return f'storageclass.storage.k8s.io "{claim.class_name}" not found'
        return "" if claim.waits(storage_class) else "PersistentVolume had no name"

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Reject the node if it is in another zone. A node without zone labels matches every volume."""
        labels = node.labels
        if not any(key in labels for key in _KEYS):
            return None
        wanted: tuple[_Topology, ...] = state.read(self.name)
        for key, values in wanted:
            if node.labels.get(_key_on(node, key)) not in values:
                return _CONFLICT
        return None

    def obstacles(self, state: CycleState, pod: Pod, node: NodeInfo) -> Sequence[Obstacle]:
        """Return the zone labels of the volumes that the node does not have."""
        wanted: tuple[_Topology, ...] = state.read(self.name)
        keys = ((_key_on(node, key), values) for key, values in wanted)
        found = ((key, values, node.labels.get(key)) for key, values in keys)
        return tuple(LabelUnmet(key, "In", tuple(sorted(to)), has) for key, to, has in found if has not in to)

    def filter_memo(self, state: CycleState, pod: Pod) -> Hashable | None:
        """Return the zone labels of the pod's volumes as a key."""
        wanted: Hashable = state.read(self.name)
        return wanted

    def events_to_register(self) -> Sequence[Interest]:
        """Return the events after which a rejected pod may become schedulable.

        These are changes to classes whose volumes wait for pods, to nodes and their labels, to the pod's claims, and to
        volumes and their labels.
        """
        return [
            Interest(Resource.STORAGE_CLASS, Action.ADD, _after_class),
            Interest(Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL),
            Interest(Resource.VOLUME_CLAIM, Action.ADD | Action.UPDATE, _after_claim),
            Interest(Resource.VOLUME, Action.ADD | Action.UPDATE, _after_volume),
        ]


def _after_class(_pod: Pod, _old: StorageClass | None, new: StorageClass) -> Hint:
    return Hint.QUEUE if new.volume_binding_mode == WAITS else Hint.SKIP


def _after_volume(_pod: Pod, old: PersistentVolume | None, new: PersistentVolume) -> Hint:
    changed = old is None or [*_topologies(old)] != [*_topologies(new)]
    return Hint.QUEUE if changed else Hint.SKIP
