"""All objects in the input, with notices and the place where each object was read.

In order: ClusterInfo (dra-plan/v1alpha1), which describes the cluster of a snapshot; notices, which are shown in
addition to a result; and the inventory.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

from msgspec import UNSET, Meta, Struct, UnsetType

from .core import (
    LimitRange,
    Namespace,
    Node,
    Pod,
    PodDisruptionBudget,
    PriorityClass,
    ResourceQuota,
    RuntimeClass,
    Service,
)
from .meta import FieldPath, Object
from .resource import DeviceClass, DeviceTaintRule, ResourceClaim, ResourceClaimTemplate, ResourceSlice
from .scheduling import GroupWorkload, PodGroup
from .storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from .workloads import AnyWorkload

# -- the cluster of a snapshot -----------------------------------------------------------------------------------------

API_VERSION, KIND = "dra-plan/v1alpha1", "ClusterInfo"

ADMISSION = "admissionregistration.k8s.io"
"""The API group of admission webhooks and policies, which may reject or change objects."""

FORBIDDEN, NOT_SERVED, FAILED = "Forbidden", "NotServed", "Failed"
"""The reasons why a resource could not be listed: no permission, not served by the cluster, or an incomplete
response."""


class UnlistedKind(Object, frozen=True):
    """A resource, such as `resourceslices.resource.k8s.io`, that could not be listed.

    `message` is the message of the API server.
    """

    resource: str = ""
    reason: str = ""
    message: str = ""


class ClusterInfo(Object, frozen=True):
    """The description of a snapshot's cluster.

    `server_version` is the version of the API server (`v1.36.2`). `emulation_version` (`1.35`) is set if the server
    emulates an earlier minor version. `feature_gates_from` is the component that reported the feature gates. If
    `anonymized` is true, names are pseudonyms.
    """

    api_version: str = API_VERSION
    kind: str = KIND
    server_version: str = ""
    emulation_version: str = ""
    feature_gates: dict[str, bool] = {}
    feature_gates_from: str = ""
    time: str = ""
    anonymized: bool = False
    not_listed: list[UnlistedKind] = []


# -- notices and places in the input -----------------------------------------------------------------------------------


class Origin(NamedTuple):
    """The place where an object was read: the source ("-" for stdin), and the line of the object's first field.

    Lines start at 1; an unknown line is 0.
    """

    source: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.source}:{self.line}" if self.line else self.source


NOTES = frozenset(
    {
        "gate-not-recorded",
        "nothing-running",
        "order-random-upstream",
        "random-deallocation",
        "release-not-recorded",
        "rules-of-another-release",
        "several-best-nodes",
        "taint-rules-taken-as-on",
    }
)
"""The codes of notes, which report facts about a release, an input or random decisions, rather than problems."""


PARTIAL = ("one-namespace", "claims-missing")
"""The codes of warnings that something in use is missing from the input, so that its devices count as free."""


class Notice(Struct, frozen=True, order=True, gc=False):
    """A warning or note with a stable code, as shown in documents."""

    code: Annotated[str, Meta(pattern="^[a-z0-9-]+$")]
    message: Annotated[str, Meta(min_length=1)]
    object: Annotated[
        str, Meta(description="The object that the notice is about, as KIND NAMESPACE/NAME, or empty.")
    ] = ""
    source: Annotated[str, Meta(description="The place where the object was read, as FILE:LINE, or empty.")] = ""
    defects: Annotated[
        tuple[str, ...] | UnsetType,
        Meta(description="The defects of the release that changed the answer (docs/quirks.md), if any."),
    ] = UNSET
    brings: Annotated[
        tuple[str, ...] | UnsetType,
        Meta(description="The resources missing from the input, if any, as arguments for `kubectl get`."),
    ] = UNSET

    @property
    def is_partial(self) -> bool:
        """Return whether the notice says that something in use is missing from the input.

        Its devices count as free, so a pod that fits in the input may not fit in the cluster.
        """
        return self.code in PARTIAL

    @property
    def is_note(self) -> bool:
        """Return whether this is a note, which never affects the exit status."""
        return self.code in NOTES


# -- the inventory -----------------------------------------------------------------------------------------------------

ObjectKey = tuple[str, str, str]
"""The kind, namespace and name of an object."""


class AsWritten(NamedTuple):
    """The form in which an object was written, if it differs from the form that planning reads.

    `version` is the API version, if it is not the usual one. `unknown` are the fields that were dropped because this
    version does not have them. `has_source` is true if a pod lists its claims in `source`, the form that was used
    before Kubernetes 1.31.
    """

    version: str = ""
    unknown: tuple[FieldPath, ...] = ()
    has_source: bool = False


class HeardEvent(NamedTuple):
    """An Event that warns about a pod.

    `said_by` is the component that reported it, and `time` is the time of its last occurrence.
    """

    namespace: str
    pod: str
    uid: str
    reason: str
    message: str
    said_by: str
    time: str
    times: int


class WrittenText(NamedTuple):
    """The JSON text of an object as it was written, with its API version and kind.

    An object in a list may take its API version and kind from the list.
    """

    api_version: str
    kind: str
    data: bytes


@dataclass(slots=True)
class Inventory:
    """All objects in the input, converted to v1 and defaulted as the API server does.

    `cluster_info` is the description of the snapshot; if there are several, the last one counts. `origins` has the
    place of each object, and `as_written` has the objects that were written in an unusual form. `overridden` has the
    objects that a later source replaced, with the earlier and the later place. `template_makers` has the kinds of the
    controllers that create claim templates, by namespace and name of the template.

    `skipped` is the number of objects of kinds that planning does not use. `accounts` are the namespaces and names of
    service accounts, and `queues` those of Kueue's LocalQueues. `queued` has what Kueue's Workloads are waiting for, by
    owner.

    `events` are warnings about pods. `texts` has the text of new objects. `notices` are warnings about the input, such
    as dropped fields and deprecated versions. `returning` has the namespace and name of each pod that an edit removed,
    if its controller has yet to create it again.
    """

    nodes: list[Node] = field(default_factory=list)
    slices: list[ResourceSlice] = field(default_factory=list)
    classes: list[DeviceClass] = field(default_factory=list)
    claims: list[ResourceClaim] = field(default_factory=list)
    templates: list[ResourceClaimTemplate] = field(default_factory=list)
    taint_rules: list[DeviceTaintRule] = field(default_factory=list)
    namespaces: list[Namespace] = field(default_factory=list)
    pods: list[Pod] = field(default_factory=list)
    workloads: list[AnyWorkload] = field(default_factory=list)
    services: list[Service] = field(default_factory=list)
    priority_classes: list[PriorityClass] = field(default_factory=list)
    runtime_classes: list[RuntimeClass] = field(default_factory=list)
    disruption_budgets: list[PodDisruptionBudget] = field(default_factory=list)
    quotas: list[ResourceQuota] = field(default_factory=list)
    limit_ranges: list[LimitRange] = field(default_factory=list)
    pod_groups: list[PodGroup] = field(default_factory=list)
    group_workloads: list[GroupWorkload] = field(default_factory=list)
    volumes: list[PersistentVolume] = field(default_factory=list)
    volume_claims: list[PersistentVolumeClaim] = field(default_factory=list)
    storage_classes: list[StorageClass] = field(default_factory=list)
    csi_nodes: list[CSINode] = field(default_factory=list)
    csi_drivers: list[CSIDriver] = field(default_factory=list)
    storage_capacities: list[CSIStorageCapacity] = field(default_factory=list)
    volume_attachments: list[VolumeAttachment] = field(default_factory=list)
    origins: dict[ObjectKey, Origin] = field(default_factory=dict)
    as_written: dict[ObjectKey, AsWritten] = field(default_factory=dict)
    cluster_info: ClusterInfo | None = None
    overridden: dict[ObjectKey, tuple[Origin, Origin]] = field(default_factory=dict)
    template_makers: dict[tuple[str, str], ObjectKey] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)
    accounts: set[tuple[str, str]] = field(default_factory=set)
    queues: set[tuple[str, str]] = field(default_factory=set)
    queued: dict[ObjectKey, str] = field(default_factory=dict)
    events: list[HeardEvent] = field(default_factory=list)
    texts: dict[ObjectKey, WrittenText] = field(default_factory=dict)
    notices: list[Notice] = field(default_factory=list)
    returning: frozenset[tuple[str, str]] = frozenset()

    def holding(self, pods: list[Pod], claims: list[ResourceClaim]) -> Inventory:
        """Return this inventory with other pods and claims.

        This is ten times as fast as `dataclasses.replace`.
        """
        other = object.__new__(Inventory)
        for name in Inventory.__slots__:
            setattr(other, name, getattr(self, name))
        other.pods, other.claims = pods, claims
        return other

    def source(self, key: ObjectKey) -> str:
        """Return the place where an object was read, as FILE:LINE, or "" if it is not known."""
        return str(self.origins.get(key, Origin("")))
