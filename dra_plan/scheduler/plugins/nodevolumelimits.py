"""NodeVolumeLimits: how many volumes of a CSI driver a node takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dra_plan.api.core import Pod
from dra_plan.api.storage import CSINode, PersistentVolumeClaim, VolumeAttachment
from dra_plan.scheduler import pluginnames
from dra_plan.scheduler.cyclestate import CycleState
from dra_plan.scheduler.events import Action, Hint, Interest, Resource
from dra_plan.scheduler.framework import EnqueueExtensions, FilterPlugin, PreFilterPlugin, PreFilterResult
from dra_plan.scheduler.handle import Handle
from dra_plan.scheduler.nodeinfo import NodeInfo, PodInfo
from dra_plan.scheduler.podvolumes import pod_volumes
from dra_plan.scheduler.status import SKIP, Status, error, unschedulable
from dra_plan.scheduler.volumemigration import migrated_source, provisioner_driver
from dra_plan.scheduler.volumeobjects import Claim, claim_text

from .volumebinding import not_owner

_TOO_MANY = unschedulable("node(s) exceed max volume count")

CountedVolume = tuple[str, str]
"""(CSI driver, handle) of a volume."""


class _Held(NamedTuple):
    """Of a node: its limits by driver, the volumes of its pods, and how many it has of each driver."""

    limits: dict[str, int]
    by_pods: set[CountedVolume]
    counts: Counter[str]


class _New(NamedTuple):
    """The pod's own volumes, and how many there are of each driver."""

    volumes: frozenset[CountedVolume]
    counts: dict[str, int]


class _NotCountableError(Exception):
    """A pod's volumes can't be counted; the text is upstream's."""


class NodeVolumeLimits(PreFilterPlugin, FilterPlugin, EnqueueExtensions):
    """Counts volumes by driver: those of the pods on a node, those attached to it, and the pod's own."""

    name = pluginnames.NODE_VOLUME_LIMITS

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._store = handle.cluster.volumes
        self._remembered: dict[str, tuple[tuple[int, int], _Held]] = {}

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult | None, Status | None]:
        """Skip pods without anything that counts; what can't be counted is an error, but only once nodes are asked."""
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
        """Reject nodes that would have more volumes of a driver than they take."""
        new: _New | Status = state.read(self.name)
        if isinstance(new, Status):
            return new
        try:
            return self._check(new, node)
        except _NotCountableError as problem:
            return error(str(problem))

    def _check(self, new: _New, node: NodeInfo) -> Status | None:
        held = self._held(node) if new.volumes else None
        if held is None or not held.limits:
            return None
        added = new.counts if new.volumes.isdisjoint(held.by_pods) else _by_driver(new.volumes - held.by_pods)
        for driver, count in added.items():
            limit = held.limits.get(driver)
            if limit is not None and held.counts[driver] + count > limit:
                return _TOO_MANY
        return None

    def _held(self, node: NodeInfo) -> _Held:
        """What the node has and takes, remembered until it or a storage object changes."""
        state = (node.version, self._store.revision)
        known = self._remembered.get(node.name)
        if known is not None and known[0] == state:
            return known[1]
        limits = _limits(self._store.csi_node(node.name))
        found = _Held(limits, set(), Counter())
        if limits:
            for other in node.volume_pods.values():
                found.by_pods.update(self._counted(other, is_new=False))
            # what is only attached counts beside the pod's own volume, even if it is the same
            found.counts.update(driver for driver, _ in found.by_pods | self._attached(node.name))
        self._remembered[node.name] = (state, found)
        return found

    def _counted(self, info: PodInfo, *, is_new: bool) -> set[CountedVolume]:
        """The pod's volumes; a claim that is missing counts nothing for a pod that runs all the same."""
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
        """Nodes that take more, pods and attachments that go, the pod's own claims."""
        return [
            Interest(Resource.CSI_NODE, Action.ADD | Action.UPDATE, _after_csi_node),
            Interest(Resource.ASSIGNED_POD, Action.DELETE, _after_pod),
            Interest(Resource.VOLUME_CLAIM, Action.ADD, _after_claim),
            Interest(Resource.VOLUME_ATTACHMENT, Action.DELETE, _after_attachment),
        ]


def _by_driver(volumes: Iterable[CountedVolume]) -> dict[str, int]:
    return Counter(driver for driver, _ in volumes)


def _limits(node: CSINode | None) -> dict[str, int]:
    """Driver to how many volumes of it the node takes; drivers without a count have no limit."""
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


def _after_pod(_pod: Pod, old: Pod | None, _new: Pod | None) -> Hint:
    if old is None:
        return Hint.SKIP
    volumes = pod_volumes(old)
    return Hint.QUEUE if volumes.claims or volumes.counted else Hint.SKIP


def _after_claim(pod: Pod, _old: PersistentVolumeClaim | None, new: PersistentVolumeClaim) -> Hint:
    own = pod.metadata.namespace == new.metadata.namespace and pod_volumes(pod).uses(new.metadata.name)
    return Hint.QUEUE if own else Hint.SKIP


def _after_attachment(pod: Pod, _old: VolumeAttachment | None, _new: VolumeAttachment | None) -> Hint:
    return Hint.QUEUE if pod_volumes(pod).named else Hint.SKIP
