"""Volumes that keep a pod from nodes, or from starting on its node, as parts of a verdict."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from .base import DocumentPart, one_of
from .reasons import UnreadyPod


class UnmatchedVolume(DocumentPart, frozen=True, kw_only=True):
    """A volume of a claim's class, and what keeps the volume controller from binding it to the claim, if anything."""

    name: str
    faults: list[
        Annotated[str, one_of("held", "small", "form", "deleted", "class", "phase", "selector", "access-modes")]
    ] = []
    phase: str = ""
    size: str = ""
    holder: Annotated[str, Meta(description="held: the claim in spec.claimRef, as NAMESPACE/NAME.")] = ""
    uid: Annotated[
        str, Meta(description="held: the UID in spec.claimRef, if it belongs to an earlier claim of the same name.")
    ] = ""
    storage_class: Annotated[str, Meta(description="class: the StorageClass of the volume.")] = ""
    labels: Annotated[list[str], Meta(description="The node labels that the volume requires.")] = []


class PodlessWorkload(DocumentPart, frozen=True, kw_only=True):
    """A workload that should have pods but has none."""

    kind: str
    namespace: str
    name: str
    replicas: Annotated[int, Meta(description="The number of pods that the workload should have.")]


class VolumeClaimNeeds(DocumentPart, frozen=True, kw_only=True):
    """A PersistentVolumeClaim whose volume or StorageClass keeps a pod from nodes."""

    name: str
    missing: Annotated[bool, Meta(description="True if the namespace has no such claim.")] = False
    volume: Annotated[
        str,
        Meta(
            description="The volume that the claim names, and to which it is usually bound, or empty if it names none."
        ),
    ] = ""
    pending: Annotated[
        bool,
        Meta(description="True if the claim is not bound to the volume that it names. `volumes` contains this volume."),
    ] = False
    volume_missing: Annotated[
        bool,
        Meta(description="True if the volume that the claim names is not in the input, although other volumes are."),
    ] = False
    storage_class: str = ""
    class_missing: Annotated[
        bool, Meta(description="True if the StorageClass is not in the input, although other classes are.")
    ] = False
    near: Annotated[str, Meta(description="A StorageClass or claim with a similar name.")] = ""
    classes: Annotated[
        list[str], Meta(description="The existing StorageClasses, if the claim names none or one that does not exist.")
    ] = []
    classless: Annotated[
        bool, Meta(description="True if the claim does not set the StorageClass, not even to the empty name.")
    ] = False
    default_class: Annotated[str, Meta(description="The default StorageClass, for claims that do not set one.")] = ""
    size: Annotated[str, Meta(description="The storage that the claim requests, if it has no volume.")] = ""
    provisions: Annotated[
        bool | None,
        Meta(description="Whether the class has a provisioner, which creates volumes. Null if this is not known."),
    ] = None
    provisioner: Annotated[str, Meta(description="The provisioner of the class, if it creates volumes.")] = ""
    provisioner_pods: Annotated[
        list[UnreadyPod],
        Meta(description="The pods of the provisioner that were found, if none of them is ready."),
    ] = []
    provisioner_workload: Annotated[
        PodlessWorkload | None,
        Meta(description="The workload that should run the provisioner, if none of its pods was found."),
    ] = None
    given_up: Annotated[
        bool,
        Meta(description="True if the scheduler's last message about the pod says that binding its volumes failed."),
    ] = False
    volumes: Annotated[
        list[UnmatchedVolume],
        Meta(description="If the claim has no volume: the existing volumes of its class, best match first."),
    ] = []
    waits: Annotated[
        bool, Meta(description=("True if the volume is not created until the pod has a node (WaitForFirstConsumer)."))
    ] = False
    labels: Annotated[list[str], Meta(description="The node labels that the volume or the class requires.")] = []
    nowhere: Annotated[
        bool,
        Meta(description="True if no node in the input can use the volume, or if `selectedNode` is not in the input."),
    ] = False
    again: Annotated[
        str,
        one_of("", "provisioned", "free-volume", "no-volume", "no-node", "class-missing", "unknown"),
        Meta(
            description=(
                "If the volume is missing or no node can use it: whether a new claim with the same spec "
                "would get a volume. The class creates one, another volume is free, no volume is free, the "
                "class creates none for any node, or the class does not exist."
            )
        ),
    ] = ""
    free: Annotated[str, Meta(description="free-volume: the name of the free volume.")] = ""
    selected_node: Annotated[
        str, Meta(description="The node that the volume is being created for, if the scheduler has chosen one.")
    ] = ""
    stateful_set: Annotated[
        str, Meta(description="The StatefulSet that creates the claim from one of its templates.")
    ] = ""
    template_class: Annotated[
        str,
        Meta(
            description=(
                "The StorageClass in the StatefulSet's template, if it is not in the input although other classes are."
            )
        ),
    ] = ""

    @property
    def awaits_default(self) -> bool:
        """Whether the volume controller is about to give the claim the default StorageClass."""
        return self.classless and bool(self.default_class)

    @property
    def is_open(self) -> bool:
        """Whether the claim is not bound to an existing volume."""
        return not self.volume or self.pending or self.volume_missing

    @property
    def is_awaited(self) -> bool:
        """Whether the pod has to wait for the volume, which is being created or is stalled."""
        return bool(self.selected_node) or self.is_stalled

    @property
    def is_stalled(self) -> bool:
        """Whether the volume is probably not being created, because its provisioner is not ready or is overdue."""
        return bool(self.provisioner_pods) or self.provisioner_workload is not None or self.given_up

    @property
    def is_told(self) -> bool:
        """Whether there is more to say than that the volume will be created on the node that the pod gets."""
        return not (self.waits and self.provisions) or bool(self.labels) or self.is_awaited


class VolumePlace(DocumentPart, frozen=True, kw_only=True):
    """A PersistentVolumeClaim, and the label values that a node needs to use its volume."""

    claim: str
    values: list[str]


class VolumesApart(DocumentPart, frozen=True, kw_only=True):
    """Two PersistentVolumeClaims of a pod whose volumes no node can use together."""

    label: Annotated[str, Meta(description="The node label for which the volumes require different values.")]
    places: list[VolumePlace]
    at_once: Annotated[
        list[str], Meta(description="The StorageClasses that create volumes before the pod has a node (Immediate).")
    ] = []
    waiting: Annotated[
        list[str], Meta(description="The StorageClasses of the same provisioner that wait until the pod has a node.")
    ] = []


class VolumeElsewhere(DocumentPart, frozen=True, kw_only=True):
    """A PersistentVolumeClaim that only one node at a time may use, and that a pod on another node uses.

    The explained pod is bound to a node and uses the claim as well.
    """

    claim: str
    pod: str
    node_name: str
    deleted: Annotated[bool, Meta(description="True if the other pod is being deleted.")] = False
    unreachable: Annotated[
        bool, Meta(description="True if the other pod's node does not exist or its kubelet does not report.")
    ] = False
