"""Which volumes the claims of a pod can have on a node: that of a bound claim, one that is there, or a new one.

The rules of upstream's volume binder (FindPodVolumes). Where new ones can be made is in `volumeprovisioning`. Nothing
is assumed or written here.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence

from dra_plan.api.selectors import labels_match
from dra_plan.api.storage import CSINode
from dra_plan.api.well_known import HOSTNAME

from .volumemigration import translated
from .volumeobjects import Claim, ClaimKey, Volume, VolumeReach
from .volumeprovisioning import BIND_CONFLICT, Provisioning
from .volumestore import NodeVolumes, VolumeStore

NODE_CONFLICT = "node(s) didn't match PersistentVolume's node affinity"
NO_VOLUME = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"

Reasons = list[str]

_NONE = NodeVolumes()


class _Wanted:
    """A waiting claim, and the volumes that it could have as far as the node does not matter, the smallest first."""

    def __init__(self, claim: Claim, volumes: Sequence[Volume]) -> None:
        self.claim = claim
        suitable = [volume for volume in volumes if _suits(volume, claim)]
        self._set_aside = next((volume for volume in suitable if volume.is_for(claim)), None)
        free = [volume for volume in suitable if _is_free(volume, claim)]
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
        """The volume on a node with these labels, without those that other claims of the pod take there.

        A volume that is set aside for the claim is the only one that it gets.
        """
        if self._set_aside is not None:
            return self._set_aside if self._set_aside.affinity.matches(labels) else None
        for volume in self._near(labels):
            if volume.name not in taken and volume.affinity.matches(labels):
                return volume
        return None

    def _near(self, labels: Mapping[str, str]) -> Iterator[Volume]:
        """The volumes that are not on other hosts, in order."""
        here = self._by_host.get(labels.get(HOSTNAME, ""), ())
        near = heapq.merge(self._anywhere, here) if self._anywhere and here else self._anywhere or here
        return map(self._volumes.__getitem__, near)


def _suits(volume: Volume, claim: Claim) -> bool:
    """Whether the volume is not another claim's, large enough and of the right kind."""
    pv = volume.object
    if pv.spec.claim_ref is not None and not volume.is_for(claim):
        return False
    return volume.size >= claim.size and volume.form == claim.form and pv.metadata.deletion_timestamp is None


def _is_free(volume: Volume, claim: Claim) -> bool:
    """What is asked beyond that of a volume which is not set aside for the claim."""
    pv, pvc = volume.object, claim.object
    return (
        pv.status.phase == "Available"
        and (pvc.spec.selector is None or labels_match(pvc.spec.selector, pv.metadata.labels))
        and set(pvc.spec.access_modes) <= set(pv.spec.access_modes)
    )


class PodClaims:
    """The claims of one pod, ready to be asked about many nodes: bound ones and those that wait for a consumer."""

    def __init__(self, store: VolumeStore, bound: Sequence[Claim], waiting: Sequence[Claim]) -> None:
        self._store = store
        self.bound = bound
        self.waiting = waiting
        # what no node changes is found once for the pod
        self._volumes = [store.volume(claim.volume_name) for claim in bound]
        self._selected = [claim for claim in waiting if claim.selected_node is not None]
        self._wanted: list[_Wanted] | None = None
        self._new: dict[ClaimKey, Provisioning] = {}

    def on_node(self, name: str, labels: Mapping[str, str]) -> tuple[NodeVolumes, Reasons]:
        """What the waiting claims would get on the node, or why the node will not do."""
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

    def _for_waiting(self, node: str, labels: Mapping[str, str]) -> tuple[NodeVolumes, str]:
        for claim in self._selected:
            if claim.selected_node != node:
                return _NONE, BIND_CONFLICT
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
        new = (*self._selected, *unmatched)
        for claim in new:
            conflict = self._provisioning(claim).problem(labels)
            if conflict:
                return _NONE, conflict
        return NodeVolumes(tuple(static), new), ""

    def _provisioning(self, claim: Claim) -> Provisioning:
        found = self._new.get(claim.key)
        if found is None:
            found = self._new[claim.key] = Provisioning(self._store, claim)
        return found

    def _searched(self) -> list[_Wanted]:
        """The claims for which volumes are looked for, the smallest request first."""
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
