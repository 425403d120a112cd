"""`ClusterDiff`, the document of `diff`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Literal

from msgspec import Meta

from dra_plan.allocator import Outcome
from dra_plan.documents.base import (
    Amount,
    AnswerTarget,
    AppliedEdit,
    DocumentPart,
    EvictionTime,
    ObjectName,
    PrintedDocument,
    PrintedWarning,
    Text,
    one_of,
)
from dra_plan.documents.claim_sets import ClaimSetName
from dra_plan.documents.devices import ChangedPool, ChangedSelector, ClaimHolder, EvictingDevice
from dra_plan.documents.refusals import OverQuota
from dra_plan.documents.scheduling import PodName

SetChange = Literal[
    "Lost",
    "Gained",
    "FewerNodes",
    "MoreNodes",
    "OtherNodes",
    "OtherDevices",
    "OtherAllocation",
    "OtherMessage",
    "Undecided",
    "New",
    "Gone",
]
"""Lost: the claim set fits on a node before, and on none after. Undecided: a search was cut short in one of the states,
or the input lacks objects that decide the result. OtherNodes: it fits on as many nodes, but not the same ones.
OtherDevices: it gets different devices on a node where it fits before and after. OtherAllocation: it gets the same
devices with a different configuration, capacity or node selector. New, Gone: only one of the states has the claim
set."""


PodChange = Literal[
    "Lost", "Gained", "OtherNode", "OtherDevices", "Restarted", "OtherMessage", "Undecided", "New", "Gone"
]
"""Lost: the pod is bound before, but not after. Restarted: the pod ends, and its replacement gets the same node and
devices. OtherMessage: the pod is bound in neither state, for different reasons. Undecided: in one of the states, the
pod is not bound, and a search was cut short or the input lacks objects that decide the result."""


ComparedOutcome = Literal[
    "Bound",
    "Waiting",
    "Unschedulable",
    "Error",
    "Gated",
    "OverQuota",
    "Skipped",
    "Undecided",
    "Refused",
    "Unknown",
    "Ended",
]
"""The outcome of the pod in `schedule`, or Ended if the pod is gone and nothing recreates it."""


HeldDeviceChange = Literal["Lost", "Gained"]
"""Lost: the device is published before but not after, and still allocated after. Gained: the device is published after
but not before, and already allocated before."""


class DiffReason(DocumentPart, frozen=True, kw_only=True):
    """A reason why two results differ."""

    code: Annotated[
        str,
        one_of(
            "defect-ended",
            "defect-began",
            "gate-on",
            "gate-off",
            "attribute-gone",
            "selector-matches-fewer",
            "selector-matches-more",
        ),
        Meta(
            description=(
                "defect-ended: only the first release has this defect, and it changed the result. "
                "gate-on: the gate is on only in the second state, and the results would be the same "
                "without it. attribute-gone: the selector reads an attribute that the driver's devices "
                "no longer have."
            )
        ),
    ]
    gate: Annotated[str, Meta(description="The name of the feature gate.")] = ""
    defect: Annotated[str, Meta(description="The number of the defect in docs/quirks.md.")] = ""
    title: Annotated[str, Meta(description="The title of the defect.")] = ""
    expression: str = ""
    device_class: Annotated[
        str, Meta(description="The class that has the selector; empty for a selector of a request.")
    ] = ""
    attribute: Annotated[str, Meta(description="The attribute, as DOMAIN/NAME.")] = ""
    before: Annotated[Amount, Meta(description="The number of devices that the selector matches.")] = 0
    after: Amount = 0


class ComparedState(DocumentPart, frozen=True, kw_only=True):
    """One of the two states: its release and its edits."""

    target: AnswerTarget
    what_if: Annotated[list[AppliedEdit], Meta(description="The changes made to the input.")] = []
    unsettled: Annotated[
        str,
        Meta(
            description=("Why the cluster never settles. If it does not, the pods are shown as they are at one moment.")
        ),
    ] = ""
    unsettled_pods: Annotated[
        list[PodName], Meta(description="The pods that are retried, or evicted and recreated, endlessly.")
    ] = []


def new_edits(before: Sequence[AppliedEdit], after: Sequence[AppliedEdit]) -> list[AppliedEdit]:
    """Return the edits that were applied only to the second state."""
    return [edit for edit in after if edit not in before]


class ComparedSet(DocumentPart, frozen=True, kw_only=True):
    """The result for a claim set in one of the states."""

    outcome: Outcome
    fitting_nodes: list[str]
    messages: Annotated[
        list[str],
        Meta(
            description=(
                "The different messages of the nodes where the claim set does not fit, the decisive one first."
            )
        ),
    ]


class ChangedNode(DocumentPart, frozen=True, kw_only=True):
    """The results for a claim set on one node. If only one state has the node, the other result is null."""

    name: Text
    before: Annotated[
        str | None,
        Meta(
            description=(
                "The devices that the claim set gets, or the message. If both states have the same "
                "devices, their difference is in brackets."
            )
        ),
    ]
    after: str | None


class ChangedClaimSet(ClaimSetName, frozen=True, kw_only=True):
    """A claim set whose results differ."""

    change: SetChange
    before: ComparedSet | None
    after: ComparedSet | None
    nodes: list[ChangedNode]
    reasons: Annotated[list[DiffReason], Meta(description="The reasons for the difference, as far as they are known.")]


class PodEnding(DocumentPart, frozen=True, kw_only=True):
    """When and why a pod ends: because of a taint, another pod or the pod's controller."""

    by: Annotated[str, Meta(description="Why the pod ends.")]
    second: Annotated[float, Meta(description="When the pod ends, in seconds from now.")]
    time: EvictionTime = ""
    recreated_as: Annotated[str, Meta(description=("The pod that replaces it, whose name may be a placeholder."))] = ""
    endless: Annotated[bool, Meta(description="Whether the pod's replacements are evicted too, endlessly.")] = False
    device: Annotated[EvictingDevice | None, Meta(description="The device whose taint evicts the pod.")] = None


class ComparedPod(DocumentPart, frozen=True, kw_only=True):
    """A pod, or the pod that replaces it, in one of the states."""

    outcome: ComparedOutcome
    node_name: str | None
    devices: Annotated[list[str], Meta(description="The devices of the pod's claims, as DRIVER/POOL/DEVICE.")]
    message: str | None
    running: Annotated[
        bool,
        Meta(
            description=(
                "Whether the pod runs on its node in this state. Otherwise it is pending, and the scheduler binds it."
            )
        ),
    ] = False
    undecided: Annotated[bool, Meta(description="Whether the pod has no node because a search was cut short.")] = False
    over_quota: Annotated[
        list[OverQuota], Meta(description="The quotas that prevent the pod or one of its claims from being created.")
    ] = []
    ended: Annotated[
        PodEnding | None,
        Meta(description=("How the pod ends in this state. The other fields then describe the pod that replaces it.")),
    ] = None


class ChangedPod(DocumentPart, frozen=True, kw_only=True):
    """A pod whose results differ."""

    namespace: str
    name: Text
    owner: Annotated[str, Meta(description="KIND/NAME of the pod's controller; empty for a bare pod.")] = ""
    change: PodChange
    before: ComparedPod | None
    after: ComparedPod | None
    fits_alone: Annotated[
        bool,
        Meta(
            description=(
                "Whether the lost pod would be bound if no other pod were pending. If so, another pod "
                "took its node or its devices."
            )
        ),
    ] = False
    taken_by: Annotated[
        list[ObjectName],
        Meta(
            description=(
                "The pods that took its devices. If they, or all other pods, were not pending, the pod "
                "would not change."
            )
        ),
    ] = []
    freed_by: Annotated[
        list[ObjectName],
        Meta(
            description=(
                "The pods that had its devices before. If they, or all other pods, had not been "
                "pending, the pod would not change."
            )
        ),
    ] = []


def undecided_outcomes(changes: Iterable[ChangedClaimSet | ChangedPod]) -> Iterator[str]:
    """For each undecided change, yield the reason: missing objects (Unknown), or a search that was cut short."""
    for one in changes:
        for state in (one.before, one.after) if one.change == "Undecided" else ():
            if isinstance(state, ComparedSet):
                if state.outcome in (Outcome.UNDECIDED, Outcome.UNKNOWN):
                    yield state.outcome.value
            elif state is not None and state.undecided:
                yield state.outcome


class HeldDevice(DocumentPart, frozen=True, kw_only=True):
    """A device that is allocated to a claim but published in only one of the states."""

    change: Annotated[
        HeldDeviceChange,
        Meta(
            description=(
                "Lost: the device was removed, but the claim still has it in the second state. Gained: "
                "the device was added, but the claim already had it in the first state."
            )
        ),
    ]
    driver: str
    pool: str
    device: str
    holder: ClaimHolder


class ChangedField(DocumentPart, frozen=True, kw_only=True):
    """A field of an object that differs between the states."""

    field: Annotated[
        str,
        Meta(
            description=(
                "taints, unschedulable, ready, labels.KEY or allocatable.RESOURCE. Each taint has its own entry."
            )
        ),
    ]
    before: Annotated[
        str | None, Meta(description="The value in the first state. Null if the node did not have the field.")
    ]
    after: str | None


class DifferentNode(DocumentPart, frozen=True, kw_only=True):
    """A node that differs, or that only one state has. Nodes changed by what-if options are left out."""

    name: Text
    change: Literal["New", "Gone", "Changed"]
    fields: list[ChangedField] = []


class DiffDocument(PrintedDocument, frozen=True, kw_only=True):
    """How results differ between two states of a cluster, or between two releases.

    `target` is the target of the second state.
    """

    kind: Literal["ClusterDiff"] = "ClusterDiff"
    before: ComparedState
    after: ComparedState
    claim_sets: list[ChangedClaimSet]
    pods: list[ChangedPod]
    nodes: Annotated[
        list[DifferentNode], Meta(description="Nodes that differ in a field that the scheduler reads.")
    ] = []
    pools: list[ChangedPool]
    held_devices: Annotated[list[HeldDevice], Meta(description=("The added or removed devices that claims use."))]
    selectors: list[ChangedSelector]
    warnings: list[PrintedWarning]
