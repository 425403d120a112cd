"""core/v1 and storage.k8s.io/v1: volumes, volume claims, storage classes, CSI drivers, capacities and attachments.

Only the fields that scheduling reads are included.
"""

from __future__ import annotations

import msgspec

from .core import NodeSelector
from .meta import LabelSelector, Object, ObjectMeta, QuantityText


class ObjectReference(Object, frozen=True):
    """The claim that a volume is reserved for. Without a UID, any claim of that name may use the volume."""

    namespace: str = ""
    name: str = ""
    uid: str = ""


class VolumeNodeAffinity(Object, frozen=True):
    """The nodes that can use a volume. If `required` is None, every node can use it."""

    required: NodeSelector | None = None


class CSIPersistentVolumeSource(Object, frozen=True):
    """A volume of a CSI driver."""

    driver: str = ""
    volume_handle: str = ""


class GCEPersistentDisk(Object, frozen=True):
    """A Google Compute Engine disk, as an in-tree volume."""

    pd_name: str = ""


class AWSElasticBlockStore(Object, frozen=True):
    """An AWS disk, as an in-tree volume."""

    volume_id: str = msgspec.field(default="", name="volumeID")


class AzureDisk(Object, frozen=True):
    """An Azure disk, as an in-tree volume."""

    disk_uri: str = msgspec.field(default="", name="diskURI")


class IdentifiedVolume(Object, frozen=True):
    """A Cinder or Portworx volume, as an in-tree volume."""

    volume_id: str = msgspec.field(default="", name="volumeID")


class PersistentVolumeSpec(Object, frozen=True):
    """The specification of a volume, with the sources that count towards a node's volume limits."""

    capacity: dict[str, QuantityText] = {}
    access_modes: list[str] = []
    claim_ref: ObjectReference | None = None
    storage_class_name: str = ""
    volume_mode: str | None = None
    node_affinity: VolumeNodeAffinity | None = None
    volume_attributes_class_name: str | None = None
    csi: CSIPersistentVolumeSource | None = None
    gce_persistent_disk: GCEPersistentDisk | None = None
    aws_elastic_block_store: AWSElasticBlockStore | None = None
    azure_disk: AzureDisk | None = None
    cinder: IdentifiedVolume | None = None
    portworx_volume: IdentifiedVolume | None = None


class PersistentVolumeStatus(Object, frozen=True):
    """The status of a volume. Only an Available volume can be bound to a claim."""

    phase: str = ""


class PersistentVolume(Object, frozen=True):
    """A persistent volume."""

    api_version: str = "v1"
    kind: str = "PersistentVolume"
    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeSpec = PersistentVolumeSpec()
    status: PersistentVolumeStatus = PersistentVolumeStatus()


class VolumeResourceRequirements(Object, frozen=True):
    """The storage that a volume claim requests."""

    requests: dict[str, QuantityText] = {}


class PersistentVolumeClaimSpec(Object, frozen=True):
    """The specification of a volume claim, with the volume that it is bound to.

    A missing storage class name does not mean the same as an empty one.
    """

    access_modes: list[str] = []
    selector: LabelSelector | None = None
    resources: VolumeResourceRequirements = VolumeResourceRequirements()
    volume_name: str = ""
    storage_class_name: str | None = None
    volume_mode: str | None = None
    volume_attributes_class_name: str | None = None


class PersistentVolumeClaimStatus(Object, frozen=True):
    """The status of a volume claim. The volume of a Lost claim no longer exists."""

    phase: str = ""


class PersistentVolumeClaim(Object, frozen=True):
    """A persistent volume claim."""

    api_version: str = "v1"
    kind: str = "PersistentVolumeClaim"
    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()
    status: PersistentVolumeClaimStatus = PersistentVolumeClaimStatus()

    @property
    def key(self) -> str:
        """The claim's name, as `NAMESPACE/NAME`."""
        return f"{self.metadata.namespace}/{self.metadata.name}"


class TopologySelectorLabelRequirement(Object, frozen=True):
    """A node label, with the values that are allowed."""

    key: str = ""
    values: list[str] = []


class TopologySelectorTerm(Object, frozen=True):
    """A list of label requirements. A node must meet all of them; an empty term matches no node."""

    match_label_expressions: list[TopologySelectorLabelRequirement] = []


class StorageClass(Object, frozen=True):
    """A storage class, which says how, where and when volumes are created.

    `volume_binding_mode` decides whether a volume is created immediately, or only when a pod uses it.
    """

    api_version: str = "storage.k8s.io/v1"
    kind: str = "StorageClass"
    metadata: ObjectMeta = ObjectMeta()
    provisioner: str = ""
    volume_binding_mode: str | None = None
    allowed_topologies: list[TopologySelectorTerm] = []

    @property
    def provisions(self) -> bool:
        """Return whether volumes of the class are created automatically, rather than by administrators."""
        return self.provisioner not in ("", "kubernetes.io/no-provisioner")


class VolumeNodeResources(Object, frozen=True):
    """The number of a driver's volumes that can be attached to a node. If `count` is None, there is no limit."""

    count: int | None = None


class CSINodeDriver(Object, frozen=True):
    """A CSI driver on a node."""

    name: str = ""
    topology_keys: list[str] = []
    allocatable: VolumeNodeResources | None = None


class CSINodeSpec(Object, frozen=True):
    """The CSI drivers of a node."""

    drivers: list[CSINodeDriver] = []


class CSINode(Object, frozen=True):
    """The CSI drivers on the node with the same name."""

    api_version: str = "storage.k8s.io/v1"
    kind: str = "CSINode"
    metadata: ObjectMeta = ObjectMeta()
    spec: CSINodeSpec = CSINodeSpec()


class CSIDriverSpec(Object, frozen=True):
    """The settings of a CSI driver. If `storage_capacity` is true, the scheduler checks its free capacity."""

    storage_capacity: bool | None = None


class CSIDriver(Object, frozen=True):
    """A CSI driver."""

    api_version: str = "storage.k8s.io/v1"
    kind: str = "CSIDriver"
    metadata: ObjectMeta = ObjectMeta()
    spec: CSIDriverSpec = CSIDriverSpec()


class CSIStorageCapacity(Object, frozen=True):
    """The free capacity for a storage class on the nodes that `node_topology` selects."""

    api_version: str = "storage.k8s.io/v1"
    kind: str = "CSIStorageCapacity"
    metadata: ObjectMeta = ObjectMeta()
    node_topology: LabelSelector | None = None
    storage_class_name: str = ""
    capacity: QuantityText | None = None
    maximum_volume_size: QuantityText | None = None


class VolumeAttachmentSource(Object, frozen=True):
    """The volume of an attachment."""

    persistent_volume_name: str | None = None


class VolumeAttachmentSpec(Object, frozen=True):
    """The specification of an attachment: the volume, the driver that attaches it, and the node."""

    attacher: str = ""
    node_name: str = ""
    source: VolumeAttachmentSource = VolumeAttachmentSource()


class VolumeAttachment(Object, frozen=True):
    """The attachment of a volume to a node, either complete or in progress."""

    api_version: str = "storage.k8s.io/v1"
    kind: str = "VolumeAttachment"
    metadata: ObjectMeta = ObjectMeta()
    spec: VolumeAttachmentSpec = VolumeAttachmentSpec()
