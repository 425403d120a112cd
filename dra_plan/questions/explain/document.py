"""`Explanation`, the document of `explain`."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from dra_plan.documents.base import (
    Amount,
    DocumentPart,
    FailedScheduling,
    GroupPods,
    MinCount,
    ObjectName,
    PrintedDocument,
    PrintedWarning,
    Text,
    one_of,
)
from dra_plan.documents.claim_sets import DeviceStory, ExplainedClaimSet, PlacedPodClaim, UnplannedOwner
from dra_plan.documents.devices import DETAILS
from dra_plan.documents.refusals import Refusals
from dra_plan.documents.suggestions import SHAPES
from dra_plan.documents.verdicts import OwnerVerdict

PARTS = (*DETAILS, *SHAPES)
"""The structs of values that their types do not name."""


class ExplanationDocument(PrintedDocument, frozen=True, kw_only=True):
    """The reasons why claim sets fit or do not fit, for each device, and the changes that would make them fit."""

    kind: Literal["Explanation"] = "Explanation"
    verdicts: Annotated[
        list[OwnerVerdict] | UnsetType,
        Meta(
            description=(
                "The verdict on each explained pod, workload and claim, with the reasons; "
                "absent with --devices-only and --together."
            )
        ),
    ] = UNSET
    claim_sets: list[ExplainedClaimSet]
    unplanned: Annotated[
        list[UnplannedOwner] | UnsetType, Meta(description="Owners that were named and have nothing to plan.")
    ] = UNSET
    pod_groups: Annotated[
        list[ExplainedPodGroup] | UnsetType, Meta(description="Pod groups that were named, and why they start or not.")
    ] = UNSET
    moves: Annotated[
        list[RoomForPod] | UnsetType, Meta(description=("With --moves: how to make room for each pending pod."))
    ] = UNSET
    autoscaler: Annotated[
        list[AutoscaledPod] | UnsetType,
        Meta(description="With node groups: what the Cluster Autoscaler does for each pending pod."),
    ] = UNSET
    devices: Annotated[list[DeviceStory], Meta(description="One for each --device.")]
    not_pending: Annotated[
        Amount | UnsetType,
        Meta(description="If -n or -l choose nothing that is pending: the pods with nodes that they choose."),
    ] = UNSET
    refusals: Refusals = UNSET
    warnings: list[PrintedWarning]


AutoscalerOutcome = Literal["Triggered", "NotTriggered", "Awaiting", "FitsExisting", "FilteredOut", "NotSeen", "Error"]
"""As in `autoscale`. NotSeen: kube-scheduler has not marked the pod unschedulable yet. Error: the loop stops."""


class AutoscaledPod(DocumentPart, frozen=True, kw_only=True):
    """A pending pod, and its result in one loop of the Cluster Autoscaler."""

    namespace: str
    name: Text
    outcome: AutoscalerOutcome
    reasons: Annotated[dict[str, str], Meta(description="By node group; under no name, that of the whole loop.")] = {}
    where: Annotated[list[str], Meta(description="The groups that grow, or the node that has room.")] = []


GroupState = Literal["Scheduled", "Unschedulable", "Error", "Gated", "Empty", "Alone"]
"""As in `schedule`. Alone: the gate is off, so the pods are scheduled without regard to the group."""


class TriedPod(DocumentPart, frozen=True, kw_only=True):
    """A pod in the last scheduling cycle of its group, with its node or the reason why no node was found for it."""

    pod: Text
    node: str = ""
    message: Annotated[str, FailedScheduling] = ""


class ExplainedPodGroup(DocumentPart, frozen=True, kw_only=True):
    """A named pod group, and the reason why it starts or does not start when all pods of the input compete."""

    namespace: str
    name: Text
    state: GroupState
    policy: Annotated[str, one_of("gang", "basic", "")]
    min_count: Annotated[Amount, MinCount]
    pods: Annotated[Amount, GroupPods]
    bound: Annotated[Amount, Meta(description="Those of them that have a node in the end.")]
    message: Annotated[str, Meta(description="The message of the scheduler for the group.")]
    last_cycle: Annotated[list[TriedPod], Meta(description="In the order in which the pods were tried.")]
    waiting: Annotated[list[TriedPod], Meta(description="Pods that are not in the queue, and why.")]


RoomOutcome = Literal["Fits", "Moves", "Preemption", "Impossible", "Undecided"]
"""Fits: no pod has to move. Moves: some pods move, and all running pods keep running. Preemption: pods of lower
priority must be evicted and get no other node. Impossible: a proof that neither works with this number of pods.
Undecided: neither was found nor excluded."""


MoveAction = Literal["Move", "Evict", "Place", "Preempt", "Start"]
"""Move: the pod leaves its node, and gets another one at once. Evict: it leaves, and waits for its Place. Preempt: it
leaves, and gets no node. Start: the pod in question starts."""


class MoveStep(DocumentPart, frozen=True, kw_only=True):
    """A step that is possible as soon as all earlier steps are done."""

    action: MoveAction
    namespace: str
    name: Text
    from_node: Annotated[str, Meta(description="The node that the pod leaves.")] = ""
    node: Annotated[str, Meta(description="The node that the pod gets.")] = ""
    claims: Annotated[list[PlacedPodClaim], Meta(description="The allocations of its claims.")] = []
    devices_matter: Annotated[
        bool, Meta(description=("Whether other devices of the node, which the scheduler might choose, would not work."))
    ] = False


AllowedReason = Literal["NoController", "HigherPriority"]
"""The reasons to leave pods alone that a user may decide to ignore."""


class PodsLeftAlone(DocumentPart, frozen=True, kw_only=True):
    """Running pods that cannot be moved, and the reason."""

    reason: Annotated[
        Literal["NoController", "DaemonSet", "Static", "DisruptionBudget", "HigherPriority", "Leaving"],
        Meta(description="Leaving: being deleted already."),
    ]
    pods: Amount
    examples: Annotated[list[ObjectName], Meta(description="The first of them.", min_length=1)]


class AllowedRoom(DocumentPart, frozen=True, kw_only=True):
    """The result if some of the pods that are left alone may move too.

    A user must recreate the moved pods that have no controller.
    """

    kinds: Annotated[list[AllowedReason], Meta(description="Pods left alone for these reasons are moved.")]
    outcome: RoomOutcome
    moved: Amount
    preempted: Amount
    steps: Annotated[list[MoveStep], Meta(description="In this order.")]


class RoomForPod(DocumentPart, frozen=True, kw_only=True):
    """The moves that make a pending pod fit. If several pods are equal, the moves make any one of them fit."""

    pods: Annotated[list[ObjectName], Meta(description="The answer is about the first of them.", min_length=1)]
    outcome: RoomOutcome
    limit: Annotated[Amount, Meta(description="No more pods than this are asked to leave.")]
    moved: Amount
    preempted: Amount
    fewest: Annotated[bool, Meta(description="Whether it is proved that fewer are not enough.")]
    steps: Annotated[list[MoveStep], Meta(description="In this order.")]
    left_alone: list[PodsLeftAlone]
    movable: Annotated[Amount, Meta(description="Running pods that may be moved or evicted.")] = 0
    allowing: Annotated[
        list[AllowedRoom], Meta(description="If no moves are known: the results with pods that are left alone.")
    ] = []
    tried: Annotated[Amount, Meta(description="The number of sets of pods that were tried.")]
    message: Annotated[str, Meta(description="The message of the scheduler for the pod now.")]
