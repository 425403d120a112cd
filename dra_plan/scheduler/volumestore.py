"""All storage objects as the scheduler sees them: stored ones, and what it has assumed of volumes and claims.

What is assumed holds for the pods that follow at once; it is written when the pod is bound, and dropped if it is not.
Upstream: the assume caches of volumebinding, and the listers of the other plugins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from msgspec.structs import replace

from dra_plan.api.inventory import Inventory
from dra_plan.api.storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from dra_plan.api.well_known import BOUND_BY_CONTROLLER, SELECTED_NODE

from .events import Action, Resource
from .volumeobjects import Claim, ClaimKey, Volume

TABLES: dict[Resource, str] = {
    Resource.STORAGE_CLASS: "storage_classes",
    Resource.CSI_NODE: "csi_nodes",
    Resource.CSI_DRIVER: "csi_drivers",
    Resource.STORAGE_CAPACITY: "storage_capacities",
    Resource.VOLUME_ATTACHMENT: "volume_attachments",
    Resource.VOLUME: "volumes",
    Resource.VOLUME_CLAIM: "volume_claims",
}
"""The kinds in the order in which a new state of the cluster takes them over, and where an inventory has them."""

Emit = Callable[[Resource, Action, object, object], None]


class Decision(NamedTuple):
    """What becomes of a claim that waited: the volume that it gets, or the node for which one is made."""

    volume: str = ""
    node: str = ""


class NodeVolumes(NamedTuple):
    """What a pod's waiting claims would get on a node: volumes that are there, or new ones."""

    static: tuple[tuple[Claim, Volume], ...] = ()
    new: tuple[Claim, ...] = ()


class VolumeStore:
    """Storage objects by kind and name. `revision` changes with each of them, but not with what is assumed."""

    def __init__(self, inventory: Inventory, emit: Emit) -> None:
        self._emit = emit
        self.revision = 0
        self._objects: dict[Resource, dict[Any, Any]] = {kind: {} for kind in TABLES}
        self._claims: dict[ClaimKey, Claim] = {}
        self._volumes: dict[str, Volume] = {}
        self._assumed_claims: dict[ClaimKey, Claim] = {}
        self._assumed_volumes: dict[str, Volume] = {}
        self._by_class: dict[str, list[str]] | None = None
        self._attached: dict[str, list[VolumeAttachment]] | None = None
        self.open: dict[ClaimKey, PersistentVolumeClaim] = {}
        """The claims that had no volume when they were read."""
        self.decisions: dict[ClaimKey, Decision] = {}
        """What was written for claims."""
        for kind, holder in TABLES.items():
            for found in sorted(getattr(inventory, holder), key=_key):
                self._read(kind, _key(found), found)

    # Looking up

    def claim(self, namespace: str, name: str) -> Claim | None:
        """The claim, with what is assumed of it."""
        key = (namespace, name)
        return self._assumed_claims.get(key) or self._claims.get(key)

    def volume(self, name: str) -> Volume | None:
        """The volume, with what is assumed of it."""
        return self._assumed_volumes.get(name) or self._volumes.get(name)

    def volumes_of(self, class_name: str) -> list[Volume]:
        """The volumes of a class by name, with what is assumed of them."""
        if self._by_class is None:
            self._by_class = {}
            for name, volume in sorted(self._volumes.items()):
                self._by_class.setdefault(volume.class_name, []).append(name)
        return [self._assumed_volumes.get(name) or self._volumes[name] for name in self._by_class.get(class_name, ())]

    def storage_class(self, name: str) -> StorageClass | None:
        """The class, or None."""
        found: StorageClass | None = self._objects[Resource.STORAGE_CLASS].get(("", name))
        return found

    def class_of(self, claim: Claim) -> StorageClass | None:
        """The class that the claim names; None if it names none, or it is not there."""
        return self.storage_class(claim.class_name) if claim.class_name else None

    def csi_node(self, name: str) -> CSINode | None:
        """What is known of the drivers on a node, or None."""
        found: CSINode | None = self._objects[Resource.CSI_NODE].get(("", name))
        return found

    def csi_driver(self, name: str) -> CSIDriver | None:
        """The driver, or None."""
        found: CSIDriver | None = self._objects[Resource.CSI_DRIVER].get(("", name))
        return found

    @property
    def capacities(self) -> Iterable[CSIStorageCapacity]:
        """All capacities, whatever their namespace."""
        return self._objects[Resource.STORAGE_CAPACITY].values()

    def attached(self, node: str) -> list[VolumeAttachment]:
        """The attachments to a node."""
        if self._attached is None:
            self._attached = {}
            for found in self._objects[Resource.VOLUME_ATTACHMENT].values():
                self._attached.setdefault(found.spec.node_name, []).append(found)
        return self._attached.get(node, [])

    # Changing

    def _store(self, kind: Resource, key: tuple[str, str], new: Any) -> None:
        """The object under the key is this one now; None if it is gone. What was assumed of it is void."""
        self.revision += 1
        if kind is Resource.VOLUME:
            self._assumed_volumes.pop(key[1], None)
            self._by_class = None
            _set(self._volumes, key[1], new and Volume(new))
        elif kind is Resource.VOLUME_CLAIM:
            self._assumed_claims.pop(key, None)
            _set(self._claims, key, new and Claim(new))
        else:
            self._attached = None
            _set(self._objects[kind], key, new)

    def _read(self, kind: Resource, key: tuple[str, str], new: Any) -> None:
        self._store(kind, key, new)
        if kind is Resource.VOLUME_CLAIM:
            self.decisions.pop(key, None)
            _set(self.open, key, new if new is not None and not new.spec.volume_name else None)

    def change(self, kind: Resource, old: Any, new: Any) -> None:
        """In the input an object came (no old one), changed or went (no new one)."""
        self._read(kind, _key(new if new is not None else old), new)
        action = Action.UPDATE_OTHER if old is not None and new is not None else Action.DELETE
        self._emit(kind, Action.ADD if old is None else action, old, new)

    def bind(self, pairs: Iterable[tuple[PersistentVolumeClaim, PersistentVolume]]) -> None:
        """Claims have their volumes for good, which may be new. All are stored before anybody is told of any."""
        changed: list[tuple[Resource, Any, Any]] = []
        for pvc, pv in pairs:
            old_claim, old_volume = self._claims[_key(pvc)], self._volumes.get(pv.metadata.name)
            self._store(Resource.VOLUME, _key(pv), pv)
            self._store(Resource.VOLUME_CLAIM, _key(pvc), pvc)
            changed.append((Resource.VOLUME, old_volume.object if old_volume is not None else None, pv))
            changed.append((Resource.VOLUME_CLAIM, old_claim.object, pvc))
        for kind, old, new in changed:
            self._emit(kind, Action.ADD if old is None else Action.UPDATE_OTHER, old, new)

    # Assuming, writing, taking back

    def assume(self, chosen: NodeVolumes, node: str) -> None:
        """The pod's volumes are set aside for its claims, and its other claims wait for volumes on the node."""
        for claim, volume in chosen.static:
            if not volume.is_for(claim) or not (volume.object.spec.claim_ref or ObjectReference()).uid:
                self._assumed_volumes[volume.name] = Volume(_set_aside(volume, claim))
        for claim in chosen.new:
            pvc = claim.object
            annotations = {**claim.annotations, SELECTED_NODE: node}
            self._assumed_claims[claim.key] = Claim(
                replace(pvc, metadata=replace(pvc.metadata, annotations=annotations))
            )

    def restore(self, chosen: NodeVolumes) -> None:
        """What was assumed and not written is void."""
        for _, volume in chosen.static:
            self._assumed_volumes.pop(volume.name, None)
        for claim in chosen.new:
            self._assumed_claims.pop(claim.key, None)

    def is_bound(self, claim: Claim) -> bool:
        """Whether the claim has its volume for good by now."""
        stored = self._claims.get(claim.key)
        return stored is not None and stored.is_bound

    def write(self, chosen: NodeVolumes, node: str) -> str:
        """What was assumed is stored, so that volumes get bound and made; a text says what is no longer there."""
        for claim, volume in chosen.static:
            if volume.name not in self._volumes:
                return f'persistentvolumes "{volume.name}" not found'
            self._volumes[volume.name] = self._assumed_volumes.pop(volume.name, self._volumes[volume.name])
            self.decisions[claim.key] = Decision(volume=volume.name)
        for claim in chosen.new:
            if claim.key not in self._claims:
                return f'persistentvolumeclaims "{claim.name}" not found'
            assumed = self._assumed_claims.pop(claim.key, None)
            if assumed is not None and not self.is_bound(claim):
                self._claims[claim.key] = assumed
            self.decisions[claim.key] = Decision(node=node)
        return ""


def _key(found: Any) -> tuple[str, str]:
    return found.metadata.namespace, found.metadata.name


def _set(table: dict[Any, Any], key: Any, value: Any) -> None:
    if value is None:
        table.pop(key, None)
    else:
        table[key] = value


def _set_aside(volume: Volume, claim: Claim) -> PersistentVolume:
    pv = volume.object
    reference = ObjectReference(namespace=claim.key[0], name=claim.key[1], uid=claim.uid)
    annotations = {**(pv.metadata.annotations or {}), BOUND_BY_CONTROLLER: "yes"}
    metadata = replace(pv.metadata, annotations=annotations)
    return replace(pv, metadata=metadata, spec=replace(pv.spec, claim_ref=reference))
