"""The shared parts of documents: field types, the header, warnings, and the names of objects and devices."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from dra_plan.api.core import NodeSelector
from dra_plan.api.inventory import Notice
from dra_plan.api.resource import AllocationResult, DeviceAllocationResult
from dra_plan.interpreter import uncollected
from dra_plan.releases import QUIRK_MODES, Target

API_VERSION: Literal["dra-plan/v1alpha1"] = "dra-plan/v1alpha1"

Amount = Annotated[int, Meta(ge=0)]
"""A count."""

Position = Annotated[int, Meta(ge=0)]
"""An index in a list, starting at 0."""

Text = Annotated[str, Meta(min_length=1)]
"""A non-empty string."""

SchedulerText = Annotated[str, Meta(description="The scheduler's message.")]

FailedScheduling = Meta(description="The message of the scheduler's FailedScheduling event, unchanged.")

UndecidedNodes = Annotated[list[str], Meta(description="The nodes on which the search ran out of steps.")]

HeldDevices = Annotated[list[str], Meta(description="The assigned devices, as DRIVER/POOL/DEVICE.")]

ModelName = Annotated[str, Meta(description="The model of the devices, if the driver publishes one.")]

TemplatePart = Annotated[
    str, Meta(description=("The field that contains the pod template, if the owner has several templates."))
]

MinCount = Meta(description="The number of pods in the gang that must find a node at the same time.")

GroupPods = Meta(description="The number of the group's pods that the scheduler knows.")


def _written(name: str) -> str:
    first, *others = name.rstrip("_").split("_")
    return first + "".join(word.capitalize() for word in others)


def one_of(*words: str | None) -> Meta:
    """Return the schema for a string that is one of these words, or null."""
    return Meta(extra_json_schema={"enum": list(words)})


def any_of(*parts: type[DocumentPart]) -> dict[str, Any]:
    """Return the schema of a value that is one of several structs, distinguished by their codes."""
    return {"anyOf": [{"$ref": f"#/$defs/{part.__name__}"} for part in parts]}


class DocumentPart(msgspec.Struct, frozen=True, kw_only=True, gc=False, rename=_written, omit_defaults=True):
    """A part of a document. Its fields are written in the order of definition.

    A field with its default value is omitted. A nullable field therefore has no default, and a field whose default is
    None may be absent.
    """


INCOMPLETE = "input-incomplete"
"""The code of the warning that shows the command for collecting all missing objects."""
_TUPLES = {"defects", "brings"}

PrintedWarning = Annotated[Notice, Meta(extra_json_schema={"required": ["code", "message", "object", "source"]})]
"""A warning, with all of its fields present."""


class AnswerTarget(DocumentPart, frozen=True, kw_only=True):
    """The release, feature gates and quirks that the answer is for."""

    kubernetes_version: Annotated[str, Meta(pattern=r"^1\.[0-9]+$")]
    release: Annotated[
        str,
        Meta(
            description="The patch release with the recorded outcomes that the answer is based on.",
            pattern=r"^1\.[0-9]+\.[0-9]+$",
        ),
    ]
    variant: Annotated[
        str,
        one_of("stable", "incubating", "experimental"),
        Meta(description="The allocator implementation that the feature gates select."),
    ]
    feature_gates: dict[str, bool]
    quirks: Annotated[str, one_of(*QUIRK_MODES)]
    basis: Annotated[
        str | UnsetType, Meta(description=("What the answer is based on, if this release was not recorded."))
    ] = UNSET
    why: Annotated[
        str | UnsetType, Meta(description="What in the input determined the release, if it is not the newest one.")
    ] = UNSET


class ClaimName(DocumentPart, frozen=True, kw_only=True):
    """The name of a claim."""

    namespace: str
    name: str
    template: Annotated[
        str | UnsetType, Meta(description="The template to change, if the claim is created from a template.")
    ] = UNSET
    is_template_absent: Annotated[bool, Meta(description="Whether the template is missing from the input.")] = False


class ObjectName(DocumentPart, frozen=True, kw_only=True):
    """The kind and name of an object. The namespace of a cluster-scoped object is empty."""

    kind: Text
    namespace: str
    name: str


class HeldDrain(DocumentPart, frozen=True, kw_only=True):
    """Disruption budgets that make `kubectl drain` wait, because they allow fewer evictions than the drain needs."""

    namespace: str
    budgets: Annotated[
        list[str],
        Meta(
            description=(
                "The name of the budget. There are several names if the pods have several budgets; such "
                "pods are never evicted."
            )
        ),
    ]
    allowed: Annotated[
        Amount, Meta(description="The number of evictions that the budget still allows at the start of the drain.")
    ]
    pods: Annotated[list[str], Meta(description="The pods with this budget that the drain has to evict.")]


HeldDrains = Annotated[
    list[HeldDrain],
    Meta(description=("The disruption budgets for which `kubectl drain` would wait. This drain ignores them.")),
]


class AppliedObject(ObjectName, frozen=True, kw_only=True):
    """An object that was applied, and how the cluster changed."""

    change: Annotated[str, one_of("Created", "Changed", "Unchanged")]


class AppliedEdit(DocumentPart, frozen=True, kw_only=True):
    """A what-if change and its effect."""

    edit: Annotated[str, one_of("AddNodes", "Apply", "Bind", "Cordon", "Drain", "Evict", "Restart", "Without")]
    node: Annotated[str, Meta(description="The node that was cordoned or drained, or to which the pod was bound.")] = ""
    object: Annotated[
        ObjectName | None,
        Meta(description="The object that was removed, or the pod that was evicted or bound."),
    ] = None
    count: Annotated[Amount, Meta(description="The number of nodes that were added.")] = 0
    like: Annotated[str, Meta(description="The node that was copied.")] = ""
    added: Annotated[list[str], Meta(description="The names of the added nodes.")] = []
    pending: Annotated[
        list[ObjectName],
        Meta(description=("The pods that left their nodes and are pending again under the same names.")),
    ] = []
    gone: Annotated[
        list[ObjectName], Meta(description=("Other objects that were removed as a result and are not recreated."))
    ] = []
    deallocated: Annotated[
        list[ClaimName], Meta(description="The claims that lost their devices because no pod uses them any more.")
    ] = []
    held_by: HeldDrains = []
    applied: Annotated[
        list[AppliedObject], Meta(description="The objects that were applied, each with its result.")
    ] = []


class PrintedDocument(DocumentPart, frozen=True, kw_only=True, gc=False, omit_defaults=False):
    """A printed document. Only fields that are UNSET are omitted."""

    api_version: Literal["dra-plan/v1alpha1"] = API_VERSION
    kind: str
    target: AnswerTarget
    what_if: Annotated[
        list[AppliedEdit] | UnsetType,
        Meta(
            description=(
                "The changes made to the cluster before the question was answered, in order. Absent if there are none."
            )
        ),
    ] = UNSET
    if TYPE_CHECKING:
        warnings: list[PrintedWarning]  # a field of every kind of document, but declared further down

    def to_dict(self) -> dict[str, Any]:
        """Return the document as the plain values that `-o json` prints."""
        with uncollected():
            plain: dict[str, Any] = msgspec.to_builtins(self)
        for warning in plain["warnings"]:
            for field in _TUPLES & warning.keys():  # tuples, because notices are compared by hash
                warning[field] = list(warning[field])
        return plain


def answer_target(target: Target) -> AnswerTarget:
    """Return the `target` of a document."""
    return AnswerTarget(
        kubernetes_version=target.version,
        release=target.release,
        variant=target.variant,
        feature_gates=dict(target.gates),
        quirks=target.quirk_mode,
        basis=target.coverage.basis or UNSET,
        why=target.why or UNSET,
    )


def warnings(notices: Iterable[Notice]) -> list[PrintedWarning]:
    """Return the notices as a document's warnings, in order and without duplicates.

    If several notices report missing objects, an additional warning contains the command that collects all of them.
    """
    told = list(dict.fromkeys(notices))
    lacking = [one for one in told if one.brings]
    if len({one.code for one in lacking}) > 1:
        told.append(Notice(INCOMPLETE, f"`{bringing(lacking)}` brings all that is missing"))
    return told


def bringing(lacking: Iterable[Notice]) -> str:
    """Return the command that collects the objects that these notices report as missing."""
    resources = dict.fromkeys(resource for one in lacking for resource in one.brings or ())
    return listing(resources)


_WITHOUT_NAMESPACE = frozenset(
    [
        "csidrivers",
        "csinodes",
        "deviceclasses",
        "namespaces",
        "nodes",
        "persistentvolumes",
        "priorityclasses",
        "resourceslices",
        "runtimeclasses",
        "storageclasses",
        "volumeattachments",
    ]
)
"""Cluster-scoped resources that an answer may ask for."""


def listing(resources: Collection[str]) -> str:
    """Return the command that lists these resources, with `-A` if any of them is namespaced."""
    everywhere = "" if _WITHOUT_NAMESPACE.issuperset(resources) else " -A"
    return f"kubectl get {','.join(resources)}{everywhere} -o yaml"


class RequestName(DocumentPart, frozen=True, kw_only=True):
    """The name of a claim's request, or REQUEST/ALTERNATIVE."""

    claim: ClaimName
    request: str


class ServedResource(DocumentPart, frozen=True, kw_only=True):
    """A pod's request for an extended resource that devices provide.

    The scheduler turns it into a request for devices.
    """

    resource: Text
    amount: Amount
    containers: Annotated[list[str], Meta(description="The containers that request the resource.", min_length=1)]
    class_: Annotated[Text, Meta(description="The device class that provides the resource.")]


class PoolName(DocumentPart, frozen=True, kw_only=True):
    """The driver and the name of a pool."""

    driver: str
    pool: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}"


EvictionSecond = Annotated[
    float, Meta(description="The time in seconds, counted from the newest object in the input. 0 means immediately.")
]
EvictionTime = Annotated[
    str, Meta(description="The time in RFC 3339 format. Absent if no object in the input has a time.")
]


class DeviceName(DocumentPart, frozen=True, kw_only=True):
    """The driver, pool and name of a device."""

    driver: str
    pool: str
    device: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}/{self.device}"


class ClaimAllocation(DocumentPart, frozen=True, kw_only=True):
    """An AllocationResult of resource.k8s.io/v1. Unlike upstream, `devices` is present even if it is empty."""

    devices: DeviceAllocationResult
    node_selector: NodeSelector | None = None
    allocation_timestamp: str | None = None


def claim_allocation(result: AllocationResult, *, timestamp: bool = True) -> ClaimAllocation:
    """Return an allocation as part of a document."""
    return ClaimAllocation(
        devices=result.devices,
        node_selector=result.node_selector,
        allocation_timestamp=result.allocation_timestamp if timestamp else None,
    )
