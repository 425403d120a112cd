"""Volumes and volume claims as the scheduler sees them, including what it has assumed about them.

Contents: in-tree disks and the CSI drivers that replace their plugins, a volume, a claim, and the store of all storage
objects. An assumption applies at once to the pods that follow. It is written when the pod is bound, and dropped if that
fails. Upstream has volumebinding's assume caches and the listers of the other plugins. The rules are in
`plugins/volumes.py` and `plugins/volume_binding.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from msgspec.structs import replace

from dra_plan.api.core import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from dra_plan.api.inventory import Inventory
from dra_plan.api.meta import ObjectMeta
from dra_plan.api.quantity import Quantity, parse
from dra_plan.api.selectors import requirement_holds, term_problems
from dra_plan.api.storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
    VolumeNodeAffinity,
)
from dra_plan.api.well_known import (
    BETA_ZONE,
    BIND_COMPLETED,
    BOUND_BY_CONTROLLER,
    CLASS_ANNOTATION,
    HOSTNAME,
    MIGRATED_PLUGINS,
    SELECTED_NODE,
    ZONE,
)
from dra_plan.scheduler.events import Action, Resource

# -- CSI migration -----------------------------------------------------------------------------------------------------
# For disks from providers that were once part of Kubernetes, this is the CSI driver that replaced each provider, and
# the driver's topology key (upstream: csi-translation-lib).

ZONE_SEPARATOR = "__"


class Migrated(NamedTuple):
    """A CSI driver that replaces an in-tree plugin. `zone_key` is its node label for zones."""

    plugin: str
    driver: str
    zone_key: str = ""


_GCE = Migrated("kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "topology.gke.io/zone")
_EBS = Migrated("kubernetes.io/aws-ebs", "ebs.csi.aws.com", "topology.ebs.csi.aws.com/zone")
_AZURE = Migrated("kubernetes.io/azure-disk", "disk.csi.azure.com", "topology.disk.csi.azure.com/zone")
_CINDER = Migrated("kubernetes.io/cinder", "cinder.csi.openstack.org", "topology.cinder.csi.openstack.org/zone")
_PORTWORX = Migrated("kubernetes.io/portworx-volume", "pxd.portworx.com")

_BY_PLUGIN = {entry.plugin: entry for entry in (_GCE, _EBS, _AZURE, _CINDER, _PORTWORX)}

INLINE_DISKS = {
    "gcePersistentDisk": (_GCE.driver, "pdName"),
    "awsElasticBlockStore": (_EBS.driver, "volumeID"),
    "azureDisk": (_AZURE.driver, "diskURI"),
    "cinder": (_CINDER.driver, "volumeID"),
    "portworxVolume": (_PORTWORX.driver, "volumeID"),
}
"""The driver, and the field that identifies the disk, for each kind of inline volume."""


def migrated_source(volume: PersistentVolume) -> tuple[Migrated, str] | None:
    """Return the CSI driver that replaces the plugin of an in-tree volume, and the volume's handle in it.

    Return None for other volumes.
    """
    spec = volume.spec
    if spec.gce_persistent_disk is not None:
        # disk names are unique only within a zone
        return _GCE, "/".join([*_labelled_zones(volume), spec.gce_persistent_disk.pd_name])
    if spec.aws_elastic_block_store is not None:
        # aws://ZONE/ID is the same as ID
        return _EBS, spec.aws_elastic_block_store.volume_id.rpartition("/")[2]
    if spec.azure_disk is not None:
        return _AZURE, spec.azure_disk.disk_uri
    if spec.cinder is not None:
        return _CINDER, spec.cinder.volume_id
    if spec.portworx_volume is not None:
        return _PORTWORX, spec.portworx_volume.volume_id
    return None


def provisioner_driver(provisioner: str) -> str:
    """Return the CSI driver of a provisioner.

    It is the provisioner itself or, for an in-tree provisioner, the driver that replaces it.
    """
    known = _BY_PLUGIN.get(provisioner)
    return known.driver if known is not None else provisioner


def translated(volume: PersistentVolume, node: CSINode | None) -> PersistentVolume:
    """Return the volume in the form of its CSI driver, if the node has migrated the in-tree plugin.

    The zone, from the volume's affinity or else from its label, is stored under the driver's own topology key.
    """
    found = migrated_source(volume)
    if found is None or node is None or found[0].plugin not in _plugins(node):
        return volume
    key = found[0].zone_key
    if not key:
        return volume
    affinity = volume.spec.node_affinity
    terms = affinity.required.node_selector_terms if affinity is not None and affinity.required is not None else []
    zone = next((k for k in (ZONE, BETA_ZONE) if any(_names(term, k) for term in terms)), None)
    if zone is not None:
        changed = [_renamed(term, zone, key) for term in terms]
    else:
        changed = _with_zones(terms, key, _labelled_zones(volume))
    if changed == terms:
        return volume
    required = NodeSelector(node_selector_terms=changed)
    return replace(volume, spec=replace(volume.spec, node_affinity=VolumeNodeAffinity(required=required)))


def _plugins(node: CSINode) -> list[str]:
    return (node.metadata.annotations or {}).get(MIGRATED_PLUGINS, "").split(",")


def _names(term: NodeSelectorTerm, key: str) -> bool:
    return any(requirement.key == key for requirement in term.match_expressions)


def _renamed(term: NodeSelectorTerm, old: str, new: str) -> NodeSelectorTerm:
    expressions = [replace(each, key=new) if each.key == old else each for each in term.match_expressions]
    return replace(term, match_expressions=expressions)


def _labelled_zones(volume: PersistentVolume) -> list[str]:
    labels = volume.metadata.labels or {}
    text = labels.get(ZONE, labels.get(BETA_ZONE, ""))
    return [zone for zone in text.split(ZONE_SEPARATOR) if zone]


def _with_zones(terms: list[NodeSelectorTerm], key: str, zones: list[str]) -> list[NodeSelectorTerm]:
    if not zones:
        return terms
    wanted = NodeSelectorRequirement(key=key, operator="In", values=zones)
    return [
        replace(term, match_expressions=[*term.match_expressions, wanted]) for term in terms or [NodeSelectorTerm()]
    ]


# -- volumes and claims ------------------------------------------------------------------------------------------------
# Each volume and claim is created once from its object, with everything that scheduling derives from it.

READ_WRITE_ONCE_POD = "ReadWriteOncePod"
WAITS = "WaitForFirstConsumer"
_NOTHING = parse("0")

ClaimKey = tuple[str, str]
"""The namespace and name of a claim."""


def claim_text(name: str) -> str:
    """Return the name of a volume claim as in Kubernetes' messages."""
    return f'persistentvolumeclaim "{name}"'


def _class_name(metadata: ObjectMeta, name: str | None) -> str:
    annotated = (metadata.annotations or {}).get(CLASS_ANNOTATION)
    return annotated if annotated is not None else name or ""


class VolumeReach:
    """The nodes that can use a volume. As only labels count, fields such as the node's name are ignored."""

    def __init__(self, required: NodeSelector | None) -> None:
        self._terms: list[Sequence[NodeSelectorRequirement]] | None = None
        if required is not None:
            self._terms = [
                term.match_expressions
                for term in required.node_selector_terms
                if (term.match_expressions or term.match_fields) and next(term_problems(term), None) is None
            ]
        self._keys = sorted({r.key for term in self._terms or () for r in term})
        self._known: dict[object, bool] = {}
        """The results by the values of the requested labels, because nodes have few different values."""

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether a node with these labels can use the volume. Without affinity, every node can."""
        if self._terms is None:
            return True
        if self.hosts is not None and labels.get(HOSTNAME) not in self.hosts:
            return False
        keys = self._keys
        values = labels.get(keys[0]) if len(keys) == 1 else tuple(map(labels.get, keys))
        known = self._known.get(values)
        if known is None:
            known = self._known[values] = any(
                all(requirement_holds(r.operator, r.values, labels.get(r.key)) for r in term) for term in self._terms
            )
        return known

    @cached_property
    def hosts(self) -> frozenset[str] | None:
        """The host names of the nodes that can match, or None if the terms do not name hosts."""
        found: set[str] = set()
        for term in [()] if self._terms is None else self._terms:
            named = next((r.values for r in term if r.key == HOSTNAME and r.operator == "In"), None)
            if named is None:
                return None
            found.update(named)
        return frozenset(found)


class Volume:
    """A PersistentVolume, as the scheduler sees it."""

    def __init__(self, pv: PersistentVolume) -> None:
        self.object = pv
        self.name = pv.metadata.name
        self.class_name = _class_name(pv.metadata, pv.spec.storage_class_name)

    @cached_property
    def size(self) -> Quantity:
        """The capacity of the volume."""
        text = self.object.spec.capacity.get("storage")
        return _NOTHING if text is None else parse(text)

    @cached_property
    def form(self) -> tuple[str, str]:
        """The volume mode and attributes class, which must be equal for a volume and its claim."""
        spec = self.object.spec
        return spec.volume_mode or "Filesystem", spec.volume_attributes_class_name or ""

    @cached_property
    def is_migrated(self) -> bool:
        """Whether a CSI driver replaces the in-tree plugin of this volume."""
        return migrated_source(self.object) is not None

    @cached_property
    def affinity(self) -> VolumeReach:
        """The nodes that can use the volume."""
        affinity = self.object.spec.node_affinity
        return VolumeReach(affinity.required if affinity is not None else None)

    def is_for(self, claim: Claim) -> bool:
        """Return whether the volume is reserved for the claim."""
        reference = self.object.spec.claim_ref
        if reference is None or (reference.namespace, reference.name) != claim.key:
            return False
        return reference.uid in ("", claim.uid)


class Claim:
    """A PersistentVolumeClaim, as the scheduler sees it."""

    def __init__(self, pvc: PersistentVolumeClaim) -> None:
        self.object = pvc
        self.key: ClaimKey = (pvc.metadata.namespace, pvc.metadata.name)
        self.uid = pvc.metadata.uid or f"volumeclaim:{pvc.key}"
        self.class_name = _class_name(pvc.metadata, pvc.spec.storage_class_name)
        self.volume_name = pvc.spec.volume_name

    @cached_property
    def form(self) -> tuple[str, str]:
        """The volume mode and attributes class, which must be equal for a claim and its volume."""
        spec = self.object.spec
        return spec.volume_mode or "Filesystem", spec.volume_attributes_class_name or ""

    @property
    def name(self) -> str:
        """The claim's name, without its namespace."""
        return self.key[1]

    @property
    def annotations(self) -> Mapping[str, str]:
        """The claim's annotations."""
        return self.object.metadata.annotations or {}

    @property
    def is_bound(self) -> bool:
        """Whether the claim is fully bound to its volume. Its phase does not matter."""
        return bool(self.volume_name) and BIND_COMPLETED in self.annotations

    def waits(self, storage_class: StorageClass | None) -> bool:
        """Return whether this storage class delays the claim's volume until a pod uses the claim."""
        return not self.volume_name and storage_class is not None and storage_class.volume_binding_mode == WAITS

    @cached_property
    def selected_node(self) -> str | None:
        """The node for which the claim's volume is being created, or None."""
        return self.annotations.get(SELECTED_NODE)

    @cached_property
    def request(self) -> Quantity | None:
        """The amount of storage that the claim requests, or None."""
        text = self.object.spec.resources.requests.get("storage")
        return None if text is None else parse(text)

    @cached_property
    def size(self) -> Quantity:
        """The amount of storage that the claim requests, or zero."""
        return self.request if self.request is not None else _NOTHING

    @property
    def is_exclusive(self) -> bool:
        """Whether only one pod may use the claim (ReadWriteOncePod)."""
        return READ_WRITE_ONCE_POD in self.object.spec.access_modes


# -- the store of storage objects --------------------------------------------------------------------------------------

TABLES: dict[Resource, str] = {
    Resource.STORAGE_CLASS: "storage_classes",
    Resource.CSI_NODE: "csi_nodes",
    Resource.CSI_DRIVER: "csi_drivers",
    Resource.STORAGE_CAPACITY: "storage_capacities",
    Resource.VOLUME_ATTACHMENT: "volume_attachments",
    Resource.VOLUME: "volumes",
    Resource.VOLUME_CLAIM: "volume_claims",
}
"""The kinds, in the order in which a new state replaces them, and their fields in an inventory."""

Emit = Callable[[Resource, Action, object, object], None]


class Decision(NamedTuple):
    """What was decided for a waiting claim: the volume that it gets, or the node for which one is created."""

    volume: str = ""
    node: str = ""


class NodeVolumes(NamedTuple):
    """The existing and new volumes that a pod's waiting claims would get on a node."""

    static: tuple[tuple[Claim, Volume], ...] = ()
    new: tuple[Claim, ...] = ()


class VolumeStore:
    """The storage objects by kind and name.

    `revision` changes with each change of an object, but not with assumptions.
    """

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
        """The claims that had no volume when the input was read."""
        self.decisions: dict[ClaimKey, Decision] = {}
        """The decisions that were written for claims."""
        for kind, holder in TABLES.items():
            for found in sorted(getattr(inventory, holder), key=_key):
                self._read(kind, _key(found), found)

    counters = ("revision",)

    # Looking up

    def claim(self, namespace: str, name: str) -> Claim | None:
        """Return the claim, including what is assumed about it, or None if it does not exist."""
        key = (namespace, name)
        return self._assumed_claims.get(key) or self._claims.get(key)

    def volume(self, name: str) -> Volume | None:
        """Return the volume, including what is assumed about it, or None if it does not exist."""
        return self._assumed_volumes.get(name) or self._volumes.get(name)

    def volumes_of(self, class_name: str) -> list[Volume]:
        """Return the volumes of a storage class, sorted by name, including what is assumed about them."""
        if self._by_class is None:
            self._by_class = {}
            for name, volume in sorted(self._volumes.items()):
                self._by_class.setdefault(volume.class_name, []).append(name)
        return [self._assumed_volumes.get(name) or self._volumes[name] for name in self._by_class.get(class_name, ())]

    def storage_class(self, name: str) -> StorageClass | None:
        """Return the storage class with this name, or None."""
        found: StorageClass | None = self._objects[Resource.STORAGE_CLASS].get(("", name))
        return found

    def class_of(self, claim: Claim) -> StorageClass | None:
        """Return the storage class of the claim, or None if it has none or the class does not exist."""
        return self.storage_class(claim.class_name) if claim.class_name else None

    def csi_node(self, name: str) -> CSINode | None:
        """Return the CSINode object of a node, or None."""
        found: CSINode | None = self._objects[Resource.CSI_NODE].get(("", name))
        return found

    def csi_driver(self, name: str) -> CSIDriver | None:
        """Return the CSIDriver object with this name, or None."""
        found: CSIDriver | None = self._objects[Resource.CSI_DRIVER].get(("", name))
        return found

    @property
    def capacities(self) -> Iterable[CSIStorageCapacity]:
        """The storage capacities in all namespaces."""
        return self._objects[Resource.STORAGE_CAPACITY].values()

    def attached(self, node: str) -> list[VolumeAttachment]:
        """Return the volume attachments of a node."""
        if self._attached is None:
            self._attached = {}
            for found in self._objects[Resource.VOLUME_ATTACHMENT].values():
                self._attached.setdefault(found.spec.node_name, []).append(found)
        return self._attached.get(node, [])

    # Changing

    def _store(self, kind: Resource, key: tuple[str, str], new: Any) -> None:
        """Store the object under the key, or remove it (None). Assumptions about it are dropped."""
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
        """Apply a change of a storage object. `old` is None for a new object, and `new` is None for a removed one."""
        self._read(kind, _key(new if new is not None else old), new)
        action = Action.UPDATE_OTHER if old is not None and new is not None else Action.DELETE
        self._emit(kind, Action.ADD if old is None else action, old, new)

    def bind(self, pairs: Iterable[tuple[PersistentVolumeClaim, PersistentVolume]]) -> None:
        """Bind claims to volumes, which may be new. All of them are stored before any event is sent."""
        changed: list[tuple[Resource, Any, Any]] = []
        for pvc, pv in pairs:
            old_claim, old_volume = self._claims[_key(pvc)], self._volumes.get(pv.metadata.name)
            self._store(Resource.VOLUME, _key(pv), pv)
            self._store(Resource.VOLUME_CLAIM, _key(pvc), pvc)
            changed.append((Resource.VOLUME, old_volume.object if old_volume is not None else None, pv))
            changed.append((Resource.VOLUME_CLAIM, old_claim.object, pvc))
        for kind, old, new in changed:
            self._emit(kind, Action.ADD if old is None else Action.UPDATE_OTHER, old, new)

    # Assuming, writing, undoing

    def assume(self, chosen: NodeVolumes, node: str) -> None:
        """Reserve the chosen existing volumes for their claims. For other claims, volumes are created for the node."""
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
        """Drop the assumptions about these claims and volumes, unless they have been written."""
        for _, volume in chosen.static:
            self._assumed_volumes.pop(volume.name, None)
        for claim in chosen.new:
            self._assumed_claims.pop(claim.key, None)

    def is_bound(self, claim: Claim) -> bool:
        """Return whether the stored claim is fully bound to its volume."""
        stored = self._claims.get(claim.key)
        return stored is not None and stored.is_bound

    def write(self, chosen: NodeVolumes, node: str) -> str:
        """Write what was assumed: existing volumes are bound, and new ones are created.

        Return a message if an object no longer exists, or else "".
        """
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
