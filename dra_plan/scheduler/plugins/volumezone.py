"""VolumeZone: a volume with zone or region labels is used only on nodes of that zone or region."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

from dra_plan.api.core import Pod
from dra_plan.api.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from dra_plan.api.well_known import BETA_REGION, BETA_ZONE, REGION, ZONE
from dra_plan.scheduler import pluginnames
from dra_plan.scheduler.cyclestate import CycleState
from dra_plan.scheduler.events import Action, Hint, Interest, Resource
from dra_plan.scheduler.framework import EnqueueExtensions, FilterPlugin, PreFilterPlugin, PreFilterResult
from dra_plan.scheduler.handle import Handle
from dra_plan.scheduler.nodeinfo import NodeInfo
from dra_plan.scheduler.podvolumes import pod_volumes
from dra_plan.scheduler.status import SKIP, Status, unresolvable
from dra_plan.scheduler.volumemigration import ZONE_SEPARATOR
from dra_plan.scheduler.volumeobjects import WAITS, Claim, claim_text

_KEYS = (BETA_ZONE, BETA_REGION, ZONE, REGION)
_NOW_CALLED = {BETA_ZONE: ZONE, BETA_REGION: REGION}

_CONFLICT = unresolvable("node(s) had no available volume zone")


class _Topology(NamedTuple):
    """A label of a volume, and the values that its nodes may have."""

    key: str
    values: frozenset[str]


def _topologies(volume: PersistentVolume) -> Iterator[_Topology]:
    """The volume's zones and regions; a label with an empty part is ignored."""
    labels = volume.metadata.labels or {}
    for key in _KEYS:
        if key in labels:
            values = [part.strip() for part in labels[key].split(ZONE_SEPARATOR)]
            if all(values):
                yield _Topology(key, frozenset(values))


class VolumeZone(PreFilterPlugin, FilterPlugin, EnqueueExtensions):
    """Looks at the volumes of bound claims that the pod names itself; never at those of ephemeral volumes."""

    name = pluginnames.VOLUME_ZONE

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._store = handle.cluster.volumes

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult | None, Status | None]:
        """Gather the labels of the pod's volumes; Skip if there are none."""
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
        """Why a claim without volume is refused, or "" if it waits for a pod; VolumeBinding has spoken before."""
        if not claim.class_name:
            return "PersistentVolumeClaim had no pv name and storageClass name"
        storage_class = self._store.class_of(claim)
        if storage_class is None:
            return f'storageclass.storage.k8s.io "{claim.class_name}" not found'
        return "" if claim.waits(storage_class) else "PersistentVolume had no name"

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Reject nodes elsewhere; nodes without any such label are everywhere."""
        labels = node.labels
        if not any(key in labels for key in _KEYS):
            return None
        wanted: tuple[_Topology, ...] = state.read(self.name)
        for key, values in wanted:
            # the old label of a volume is compared with the new one of a node, not the other way
            value = labels.get(key) if key in labels else labels.get(_NOW_CALLED.get(key, key))
            if value not in values:
                return _CONFLICT
        return None

    def filter_memo(self, state: CycleState, pod: Pod) -> Hashable | None:
        """The labels of the volumes."""
        wanted: Hashable = state.read(self.name)
        return wanted

    def events_to_register(self) -> Sequence[Interest]:
        """Classes that wait for pods, nodes and their labels, the pod's claims, volumes and their labels."""
        return [
            Interest(Resource.STORAGE_CLASS, Action.ADD, _after_class),
            Interest(Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL),
            Interest(Resource.VOLUME_CLAIM, Action.ADD | Action.UPDATE, _after_claim),
            Interest(Resource.VOLUME, Action.ADD | Action.UPDATE, _after_volume),
        ]


def _after_class(_pod: Pod, _old: StorageClass | None, new: StorageClass) -> Hint:
    return Hint.QUEUE if new.volume_binding_mode == WAITS else Hint.SKIP


def _after_claim(pod: Pod, _old: PersistentVolumeClaim | None, new: PersistentVolumeClaim) -> Hint:
    own = pod.metadata.namespace == new.metadata.namespace and new.metadata.name in pod_volumes(pod).named
    return Hint.QUEUE if own else Hint.SKIP


def _after_volume(_pod: Pod, old: PersistentVolume | None, new: PersistentVolume) -> Hint:
    changed = old is None or [*_topologies(old)] != [*_topologies(new)]
    return Hint.QUEUE if changed else Hint.SKIP
