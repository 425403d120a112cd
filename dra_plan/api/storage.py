"""core/v1 and storage.k8s.io/v1: volume claims, volumes, classes, drivers, capacities and attachments.

Only the fields that scheduling reads are included. `scheduler` decides which claim gets which volume.
"""

from __future__ import annotations

import msgspec

from .core import NodeSelector
from .meta import LabelSelector, Object, ObjectMeta, QuantityText


class ObjectReference(Object, frozen=True):
    """The claim for which a volume is reserved. If there is no UID, it is reserved for any claim with that name."""

    namespace: str = ""
    name: str = ""
    uid: str = ""


class VolumeNodeAffinity(Object, frozen=True):
    """The nodes from which a volume can be used. If `required` is missing, it can be used from every node."""

    required: NodeSelector | None = None


class CSIPersistentVolumeSource(Object, frozen=True):
    """A volume of a CSI driver."""

    driver: str = ""
    volume_handle: str = ""


class GCEPersistentDisk(Object, frozen=True):
    """A Google Compute Engine disk, in the in-tree form."""

    pd_name: str = ""


class AWSElasticBlockStore(Object, frozen=True):
    """An AWS disk, in the in-tree form."""

    volume_id: str = msgspec.field(default="", name="volumeID")


class AzureDisk(Object, frozen=True):
    """An Azure disk, in the in-tree form."""

    disk_uri: str = msgspec.field(default="", name="diskURI")


class IdentifiedVolume(Object, frozen=True):
    """A Cinder or Portworx volume, in the in-tree form."""

    volume_id: str = msgspec.field(default="", name="volumeID")


class PersistentVolumeSpec(Object, frozen=True):
    """The specification of a volume.

    Only sources that count against the limits of nodes are read.
    """

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
    """The status of a volume. Only a volume with the phase Available is bound to a claim."""

    phase: str = ""


class PersistentVolume(Object, frozen=True):
    """A persistent volume of the cluster."""

    api_version: str = "v1"
    kind: str = "PersistentVolume"
    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeSpec = PersistentVolumeSpec()
    status: PersistentVolumeStatus = PersistentVolumeStatus()


class VolumeResourceRequirements(Object, frozen=True):
    """The amount of storage that a claim on a volume requests."""

    requests: dict[str, QuantityText] = {}


class PersistentVolumeClaimSpec(Object, frozen=True):
    """What a claim on a volume requests, and the volume bound to it.

    A missing storage class name has a different meaning from an empty one.
    """

    access_modes: list[str] = []
    selector: LabelSelector | None = None
    resources: VolumeResourceRequirements = VolumeResourceRequirements()
    volume_name: str = ""
    storage_class_name: str | None = None
    volume_mode: str | None = None
    volume_attributes_class_name: str | None = None


class PersistentVolumeClaimStatus(Object, frozen=True):
    """The phase of a claim on a volume. A Lost claim names a volume that no longer exists."""

    phase: str = ""


class PersistentVolumeClaim(Object, frozen=True):
    """A claim on a persistent volume."""

    api_version: str = "v1"
    kind: str = "PersistentVolumeClaim"
    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()
    status: PersistentVolumeClaimStatus = PersistentVolumeClaimStatus()

    @property
    def key(self) -> str:
        """The namespace and name of the claim, as `NAMESPACE/NAME`."""
        return f"{self.metadata.namespace}/{self.metadata.name}"


class TopologySelectorLabelRequirement(Object, frozen=True):
    """A node label, with the values that it may have."""

    key: str = ""
    values: list[str] = []


class TopologySelectorTerm(Object, frozen=True):
    """A list of label requirements that must all be met. An empty term matches nothing."""

    match_label_expressions: list[TopologySelectorLabelRequirement] = []


class StorageClass(Object, frozen=True):
    """A storage class. It says how and where volumes are created for claims.

    It also says whether a volume is created immediately, or only when a pod needs it.
    """

    api_version: str = "storage.k8s.io/v1"
    kind: str = "StorageClass"
    metadata: ObjectMeta = ObjectMeta()
    provisioner: str = ""
    volume_binding_mode: str | None = None
    allowed_topologies: list[TopologySelectorTerm] = []

    @property
    def provisions(self) -> bool:
        """Return whether the class creates volumes. For other classes, administrators create them."""
        return self.provisioner not in ("", "kubernetes.io/no-provisioner")


class VolumeNodeResources(Object, frozen=True):
    """The number of a driver's volumes that fit on a node. If the number is missing, there is no limit."""

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
    """The CSI drivers on the node that has the same name as this object."""

    api_version: str = "storage.k8s.io/v1"
    kind: str = "CSINode"
    metadata: ObjectMeta = ObjectMeta()
    spec: CSINodeSpec = CSINodeSpec()


class CSIDriverSpec(Object, frozen=True):
    """The settings of a CSI driver. If `storage_capacity` is set, the scheduler checks the driver's free capacity."""

    storage_capacity: bool | None = None


class CSIDriver(Object, frozen=True):
    """A CSI driver of the cluster."""

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
    """The volume that is attached."""

    persistent_volume_name: str | None = None


class VolumeAttachmentSpec(Object, frozen=True):
    """A volume, the driver that attaches it, and the node that it is attached to."""

    attacher: str = ""
    node_name: str = ""
    source: VolumeAttachmentSource = VolumeAttachmentSource()


class VolumeAttachment(Object, frozen=True):
    """A volume that is attached to a node, or that is being attached."""

    api_version: str = "storage.k8s.io/v1"
    kind: str = "VolumeAttachment"
    metadata: ObjectMeta = ObjectMeta()
    spec: VolumeAttachmentSpec = VolumeAttachmentSpec()
