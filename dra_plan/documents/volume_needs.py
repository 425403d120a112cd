"""Volumes that keep a pod away from nodes, or from starting on its node: parts of a verdict."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from .base import DocumentPart, one_of
from .reasons import UnreadyPod


class UnmatchedVolume(DocumentPart, frozen=True, kw_only=True):
    """A volume of a claim's class, and the reasons why the volume controller does not bind it to the claim.

    If `faults` is empty, the controller binds it.
    """

    name: str
    faults: list[
        Annotated[str, one_of("held", "small", "form", "deleted", "class", "phase", "selector", "access-modes")]
    ] = []
    phase: str = ""
    size: str = ""
    holder: Annotated[str, Meta(description="held: the claim in spec.claimRef, as NAMESPACE/NAME.")] = ""
    uid: Annotated[
        str, Meta(description="held: the UID in spec.claimRef, if this is an earlier claim with the same name.")
    ] = ""
    storage_class: Annotated[str, Meta(description="class: the StorageClass of the volume.")] = ""
    labels: Annotated[list[str], Meta(description="The node labels that the volume requires.")] = []


class PodlessWorkload(DocumentPart, frozen=True, kw_only=True):
    """A workload that should run something, and has no pods."""

    kind: str
    namespace: str
    name: str
    replicas: Annotated[int, Meta(description="The number of pods that it should have.")]


class VolumeClaimNeeds(DocumentPart, frozen=True, kw_only=True):
    """A PersistentVolumeClaim whose volume or StorageClass keeps a pod away from nodes."""

    name: str
    missing: Annotated[bool, Meta(description="True if there is no such claim in the namespace.")] = False
    volume: Annotated[
        str, Meta(description="The volume that the claim names, to which it is usually bound; empty if it names none.")
    ] = ""
    pending: Annotated[
        bool,
        Meta(description="True if the claim is not bound to the volume that it names; `volumes` contains this volume."),
    ] = False
    volume_missing: Annotated[
        bool, Meta(description="True if that volume is not in the input, although other volumes are.")
    ] = False
    storage_class: str = ""
    class_missing: Annotated[
        bool, Meta(description="True if the StorageClass is not in the input, although other classes are.")
    ] = False
    near: Annotated[str, Meta(description="A StorageClass or a claim that has a similar name.")] = ""
    classes: Annotated[
        list[str], Meta(description="The existing StorageClasses, if the claim names none, or one that is missing.")
    ] = []
    classless: Annotated[bool, Meta(description="True if the claim names no StorageClass, not even the empty one.")] = (
        False
    )
    default_class: Annotated[
        str, Meta(description="The default StorageClass, which applies to claims that name none.")
    ] = ""
    size: Annotated[str, Meta(description="The amount of storage that the claim requests, if it has no volume.")] = ""
    provisions: Annotated[
        bool | None,
        Meta(description="True if the class has a provisioner, which creates volumes; null if this is not known."),
    ] = None
    provisioner: Annotated[str, Meta(description="The provisioner of the class, if it creates volumes.")] = ""
    provisioner_pods: Annotated[
        list[UnreadyPod],
        Meta(description="The provisioner's pods that were found, if none of them is ready."),
    ] = []
    provisioner_workload: Annotated[
        PodlessWorkload | None,
        Meta(description="The workload whose pods would be the provisioner's, if no such pod was found."),
    ] = None
    given_up: Annotated[
        bool,
        Meta(description="True if the scheduler's last message about the pod is that it could not bind its volumes."),
    ] = False
    volumes: Annotated[
        list[UnmatchedVolume],
        Meta(description="If the claim has no volume: the existing volumes of its class, the best match first."),
    ] = []
    waits: Annotated[
        bool, Meta(description=("True if the volume is created only when the pod has a node (WaitForFirstConsumer)."))
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
            description="If the volume is missing or no node can use it: whether an equal claim would get a volume. It "
            "is created by the class, or a volume is free; or none is, the class creates none on any node, or does not "
            "exist."
        ),
    ] = ""
    free: Annotated[str, Meta(description="free-volume: the volume.")] = ""
    selected_node: Annotated[
        str, Meta(description="The node for which the volume is being created, if the scheduler has chosen one.")
    ] = ""
    stateful_set: Annotated[
        str, Meta(description="The StatefulSet that creates the claim from one of its templates.")
    ] = ""
    template_class: Annotated[
        str,
        Meta(description="The StorageClass in this template, if it is not in the input, although other classes are."),
    ] = ""

    @property
    def is_open(self) -> bool:
        """True if the claim is not bound to a volume that exists."""
        return not self.volume or self.pending or self.volume_missing

    @property
    def is_awaited(self) -> bool:
        """True if the pod has to wait for the volume: it is being created, or probably is not."""
        return bool(self.selected_node) or self.is_stalled

    @property
    def is_stalled(self) -> bool:
        """True if the volume is probably not being created: what creates it is not ready, or did not in time."""
        return bool(self.provisioner_pods) or self.provisioner_workload is not None or self.given_up

    @property
    def is_told(self) -> bool:
        """True if it says more than that the volume is created on whichever node the pod gets."""
        return not (self.waits and self.provisions) or bool(self.labels) or self.is_awaited


class VolumePlace(DocumentPart, frozen=True, kw_only=True):
    """A PersistentVolumeClaim, and the label values that a node must have to use the claim's volume."""

    claim: str
    values: list[str]


class VolumesApart(DocumentPart, frozen=True, kw_only=True):
    """Two PersistentVolumeClaims of a pod, with volumes that no single node can use together."""

    label: Annotated[str, Meta(description="The node label for which the two volumes require different values.")]
    places: list[VolumePlace]
    at_once: Annotated[
        list[str], Meta(description="The StorageClasses that create volumes before the pod has a node (Immediate).")
    ] = []
    waiting: Annotated[
        list[str], Meta(description="The StorageClasses of the same provisioner that wait until the pod has a node.")
    ] = []


class VolumeElsewhere(DocumentPart, frozen=True, kw_only=True):
    """A PersistentVolumeClaim that only one node may use, and that is used by a pod on another node.

    The explained pod is bound to a node and uses the claim as well.
    """

    claim: str
    pod: str
    node_name: str
    deleted: Annotated[bool, Meta(description="True if the other pod is being deleted.")] = False
    unreachable: Annotated[
        bool, Meta(description="True if the node of the other pod does not exist, or its kubelet does not report.")
    ] = False
