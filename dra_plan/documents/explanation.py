"""`Explanation`, the document of `explain`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from dra_plan.allocator import Outcome

from .allocation import ClaimSetName, ClaimSetSummary, NodeExclusion
from .base import (
    Amount,
    ClaimName,
    DeviceName,
    DocumentPart,
    Position,
    PrintedDocument,
    PrintedWarning,
    RequestName,
    one_of,
)
from .clauses import FoundValue
from .devices import DETAILS, ClaimHolder, DeviceCheck, PassedOver, RemovedDevices
from .leading import LeadingReason
from .moves import RoomForPod
from .owners import UnplannedOwner
from .podgroups import ExplainedPodGroup
from .reasons import AttemptFault, NotTogether, OwedToDefects, SeenCounterSet, UnusablePool
from .suggestions import SHAPES, TriedChanges

RequestProblem = Annotated[
    str | None,
    one_of(None, "too-few-devices", "all-not-free", "nothing-matches", "too-many-devices"),
    Meta(description="Why the request can't be met even alone."),
]


class RequestDevices(RequestName, frozen=True, kw_only=True):
    """What a request, or alternative, wants, and what its checks leave of the devices of a node."""

    class_: str
    alternative: bool
    mode: Annotated[str, one_of("ExactCount", "All")]
    need: Amount
    devices: Amount
    problem: RequestProblem
    removed: Annotated[list[RemovedDevices], Meta(description="In the order of the allocator's checks.")]
    left: Amount


class PassedAlternative(RequestDevices, frozen=True, kw_only=True):
    """An alternative that was not chosen, while nothing is taken."""

    left_devices: Annotated[list[DeviceName], Meta(description="Some of those left.")]


class StoryRequest(RequestDevices, frozen=True, kw_only=True):
    """A request on the nodes of a story: the least and the most of a number over them."""

    left_from: Annotated[Amount, Meta(description="The least number left over the nodes of the story.")]
    left_to: Amount
    devices_from: Annotated[Amount, Meta(description="The least number of devices over the nodes of the story.")]
    devices_to: Amount
    left_devices: Annotated[list[DeviceName], Meta(description="Some of those left.")]


class ChosenDevice(RequestName, frozen=True, kw_only=True):
    """What a slot of a request got, and what was passed over before."""

    slot: Position
    device: DeviceName | None
    passed_over: Annotated[
        list[PassedOver],
        Meta(description="Devices before it, without those in use that the selectors would not pass anyway."),
    ]
    alternatives_before: Annotated[
        list[PassedAlternative],
        Meta(description="Of a firstAvailable request: the alternatives before the one chosen."),
    ]


class NodeStory(DocumentPart, frozen=True, kw_only=True):
    """What became of a claim set on nodes that are alike."""

    nodes: Annotated[list[str], Meta(min_length=1, description="All details are those of the first.")]
    outcome: Outcome
    message: str
    steps: Amount
    defect: OwedToDefects | None
    fault: AttemptFault | None
    claims_elsewhere: Annotated[list[ClaimName], Meta(description="Claims that are allocated for other nodes.")]
    devices: Annotated[
        int | None, Meta(description="Devices that slices offer to the node; null if its pools can't be told.")
    ]
    pools: list[UnusablePool]
    requests: list[StoryRequest]
    blocking_set: NotTogether | None
    counter_sets: Annotated[
        list[SeenCounterSet], Meta(description="Counter sets of which too little is left, or that the set blocks.")
    ] = []
    choices: Annotated[
        list[ChosenDevice],
        Meta(description="For nodes that fit: what each slot got, and what was passed over before."),
    ]


class AbsentName(RequestName, frozen=True, kw_only=True):
    """What a selector asks for and no device of the cluster has: devices have other values than `wanted` there.

    Counts are over all devices of the input.
    """

    class_: Annotated[str, Meta(description="Whose selector it is; absent for the request's own.")] = ""
    selector: Position
    clause: str
    kind: Annotated[str, one_of("attribute", "driver")]
    domain: str
    name: str
    wanted: Any
    values: Annotated[list[FoundValue], Meta(min_length=1)]
    other_values: Amount


class ExcludedNodes(DocumentPart, frozen=True, kw_only=True):
    """Nodes that the scheduler's rules keep the pod off, whatever devices they have."""

    nodes: Annotated[list[str], Meta(min_length=1)]
    excluded_by: Annotated[list[NodeExclusion], Meta(min_length=1)]
    has_room: Annotated[bool, Meta(description="All claims would get devices there.")] = False


class ExplainedClaimSet(ClaimSetSummary, frozen=True, kw_only=True):
    """Why a claim set fits or does not, and what would make it fit."""

    fault: AttemptFault | None
    absent: Annotated[
        list[AbsentName],
        Meta(description="Why no node is of use, whatever is free: values that no device of the cluster has."),
    ]
    leading: Annotated[
        list[LeadingReason], Meta(description="What is in the way on the nodes that refuse, the commonest first.")
    ]
    stories: Annotated[
        list[NodeStory],
        Meta(description="Nodes with the same story together; what decides about the set comes first."),
    ]
    suggestions: Annotated[
        list[TriedChanges],
        Meta(
            description="Changes that were tried and make the set fit, the most plausible first; two at most together."
        ),
    ]
    tried: Annotated[Amount, Meta(description="How many changes, or combinations of changes, were tried.")]
    excluded: Annotated[list[ExcludedNodes], Meta(description="Nodes that have no story, and why.")] = []


class JudgedRequest(RequestName, frozen=True, kw_only=True):
    """What a device is to a request."""

    passes: bool
    checks: list[DeviceCheck]


class JudgedClaimSet(ClaimSetName, frozen=True, kw_only=True):
    """What a device is to the requests of a claim set."""

    requests: list[JudgedRequest]


class DeviceStory(DocumentPart, frozen=True, kw_only=True):
    """What became of a device."""

    device: DeviceName
    slices: list[str]
    nodes: Annotated[list[str], Meta(description="Those that see it; the story is told for the first.")]
    holders: list[ClaimHolder]
    pool: UnusablePool | None
    claim_sets: list[JudgedClaimSet]


PARTS = (*DETAILS, *SHAPES)
"""The structs of values that their types do not name."""


class ExplanationDocument(PrintedDocument, frozen=True, kw_only=True):
    """Why claim sets fit or do not, down to the device, and what would make them fit."""

    kind: Literal["Explanation"] = "Explanation"
    claim_sets: list[ExplainedClaimSet]
    unplanned: Annotated[
        list[UnplannedOwner] | UnsetType, Meta(description="Owners that were named and have nothing to plan.")
    ] = UNSET
    pod_groups: Annotated[
        list[ExplainedPodGroup] | UnsetType, Meta(description="Pod groups that were named, and why they start or not.")
    ] = UNSET
    moves: Annotated[
        list[RoomForPod] | UnsetType, Meta(description="With --moves: how room can be made for each pod that waits.")
    ] = UNSET
    devices: Annotated[list[DeviceStory], Meta(description="One for each --device.")]
    warnings: list[PrintedWarning]
