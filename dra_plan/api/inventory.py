"""All typed objects in the input, in input order, and what is known about them. Every command works on this.

In order: ClusterInfo (dra-plan/v1alpha1), which is a snapshot's description of its cluster; notices for the user in
addition to the result, with the place where an object was read; and the inventory of all objects.
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
"""The API group of webhooks and policies that may reject or change created objects."""

FORBIDDEN, NOT_SERVED, FAILED = "Forbidden", "NotServed", "Failed"
"""The reasons why a resource was not listed: no permission, not served, or an incomplete response."""


class UnlistedKind(Object, frozen=True):
    """A resource, such as `resourceslices.resource.k8s.io`, that could not be listed.

    `reason` says why, and `message` is the server's message.
    """

    resource: str = ""
    reason: str = ""
    message: str = ""


class ClusterInfo(Object, frozen=True):
    """What a snapshot says about its cluster.

    It contains the version of the API server (`v1.36.2`), the reported feature gates, the time of the snapshot, and the
    resources that could not be listed. `emulation_version` (`1.35`) is set if the server emulates an older minor
    version than its own. `feature_gates_from` names the component that reported the gates. `anonymized` is set if names
    are pseudonyms.
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
    """The place where an object was read.

    It consists of the name of the source ("-" for stdin) and the line of the object's first field. Lines are counted
    from 1; if the line is not known, it is 0.
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
"""The codes of facts about a release or an input, and about random decisions in a cluster.

They do not mean that an input is wrong.
"""


PARTIAL = ("one-namespace", "claims-missing")
"""The codes of warnings that something in use is missing from the input and so counts as free."""


class Notice(Struct, frozen=True, order=True, gc=False):
    """A warning with a stable code, in the form used in documents."""

    code: Annotated[str, Meta(pattern="^[a-z0-9-]+$")]
    message: Annotated[str, Meta(min_length=1)]
    object: Annotated[
        str, Meta(description="The object that the notice is about, as KIND NAMESPACE/NAME, or empty.")
    ] = ""
    source: Annotated[str, Meta(description="The place of the object, as FILE:LINE, or empty.")] = ""
    defects: Annotated[
        tuple[str, ...] | UnsetType,
        Meta(description="The release defects (docs/quirks.md) that changed the answer, if the notice is about any."),
    ] = UNSET
    brings: Annotated[
        tuple[str, ...] | UnsetType,
        Meta(description="The resources that are missing from the input, if any, as `kubectl get` accepts them."),
    ] = UNSET

    @property
    def is_partial(self) -> bool:
        """Return whether the notice says that something in use is missing from the input.

        Whatever is missing counts as free. A pod or claim that fits in the input may therefore not fit in the cluster.
        """
        return self.code in PARTIAL

    @property
    def is_note(self) -> bool:
        """Return whether the notice only states a fact about the release.

        Such a notice never affects the exit status.
        """
        return self.code in NOTES


# -- the inventory -----------------------------------------------------------------------------------------------------

ObjectKey = tuple[str, str, str]
"""An object's (kind, namespace, name)."""


class AsWritten(NamedTuple):
    """The form in which an object was written, if it differs from the form that planning reads.

    `version` is the object's API version, or "" for the usual version. `unknown` are the fields that were dropped
    because the version does not have them. `has_source` is set if a pod names its claims in `source`, the form used
    before Kubernetes 1.31.
    """

    version: str = ""
    unknown: tuple[FieldPath, ...] = ()
    has_source: bool = False


class HeardEvent(NamedTuple):
    """A warning about a pod, read from an Event.

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
    """An object as it was written, in JSON, with its API version and kind.

    An object in a list may inherit its API version and kind from the list.
    """

    api_version: str
    kind: str
    data: bytes


@dataclass(slots=True)
class Inventory:
    """All objects in the input, converted to v1 and defaulted as the API server does.

    `cluster_info` is the snapshot's description of its cluster, or the last description if there are several. `origins`
    contains the place where each object was read. `as_written` contains the form of each object that was written in an
    unusual form. `overridden` contains the objects that a later source replaced, each with the earlier and the later
    place. `template_makers` contains the kinds whose controllers create claim templates, by namespace and name of the
    template.

    `skipped` is the number of objects whose kinds planning does not use. Three fields describe some of these objects.
    `accounts` contains the namespaces and names of service accounts. `queues` contains the namespaces and names of
    Kueue's LocalQueues. `queued` says what Kueue's Workloads wait for, by owner.

    `events` are the warnings about pods. `texts` contains the written text of new objects about which a question can be
    asked. `notices` are the warnings from loading, for example about dropped fields and deprecated versions.
    `returning` contains the namespaces and names of pods that an edit removed and that are pending again, because their
    controllers still have to create them.
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

        The call takes a tenth of the time of `dataclasses.replace`.
        """
        other = object.__new__(Inventory)
        for name in Inventory.__slots__:
            setattr(other, name, getattr(self, name))
        other.pods, other.claims = pods, claims
        return other

    def source(self, key: ObjectKey) -> str:
        """Return the place where an object was read as FILE:LINE, or "" if it is not known."""
        return str(self.origins.get(key, Origin("")))
