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
"""Structs that are part of the document but do not appear in the types of its fields."""


class ExplanationDocument(PrintedDocument, frozen=True, kw_only=True):
    """Why claim sets fit or do not fit, and which changes would make them fit."""

    kind: Literal["Explanation"] = "Explanation"
    verdicts: Annotated[
        list[OwnerVerdict] | UnsetType,
        Meta(
            description=(
                "The verdict on each explained pod, workload and claim, with the reasons. Absent with "
                "--devices-only and --together."
            )
        ),
    ] = UNSET
    claim_sets: list[ExplainedClaimSet]
    unplanned: Annotated[
        list[UnplannedOwner] | UnsetType, Meta(description="The named owners for which there is nothing to plan.")
    ] = UNSET
    pod_groups: Annotated[
        list[ExplainedPodGroup] | UnsetType,
        Meta(description="The named pod groups, and why they start or do not start."),
    ] = UNSET
    moves: Annotated[
        list[RoomForPod] | UnsetType, Meta(description=("How to make room for each pending pod; only with --moves."))
    ] = UNSET
    autoscaler: Annotated[
        list[AutoscaledPod] | UnsetType,
        Meta(description="What the Cluster Autoscaler does for each pending pod; only if node groups are given."),
    ] = UNSET
    devices: Annotated[list[DeviceStory], Meta(description="The checks of each device given with --device.")]
    not_pending: Annotated[
        Amount | UnsetType,
        Meta(
            description=("The number of pods with nodes that -n or -l select, if they select nothing that is pending.")
        ),
    ] = UNSET
    refusals: Refusals = UNSET
    warnings: list[PrintedWarning]


AutoscalerOutcome = Literal["Triggered", "NotTriggered", "Awaiting", "FitsExisting", "FilteredOut", "NotSeen", "Error"]
"""The outcome in `autoscale`. NotSeen: kube-scheduler has not marked the pod unschedulable yet. Error: the loop ended
with an error."""


class AutoscaledPod(DocumentPart, frozen=True, kw_only=True):
    """The result for a pending pod in one loop of the Cluster Autoscaler."""

    namespace: str
    name: Text
    outcome: AutoscalerOutcome
    reasons: Annotated[
        dict[str, str], Meta(description="The reason for each node group. The empty name stands for the whole loop.")
    ] = {}
    where: Annotated[list[str], Meta(description="The groups that grow, or the existing node that has room.")] = []


GroupState = Literal["Scheduled", "Unschedulable", "Error", "Gated", "Empty", "Alone"]
"""The outcome in `schedule`, or Alone if the feature gate is off, so that the pods are scheduled one by one."""


class TriedPod(DocumentPart, frozen=True, kw_only=True):
    """A pod in the last scheduling cycle of its group, and its node or why it got none."""

    pod: Text
    node: str = ""
    message: Annotated[str, FailedScheduling] = ""


class ExplainedPodGroup(DocumentPart, frozen=True, kw_only=True):
    """A pod group, and why it starts or does not start when all pods of the input compete."""

    namespace: str
    name: Text
    state: GroupState
    policy: Annotated[str, one_of("gang", "basic", "")]
    min_count: Annotated[Amount, MinCount]
    pods: Annotated[Amount, GroupPods]
    bound: Annotated[Amount, Meta(description="The number of pods that have a node in the end.")]
    message: Annotated[str, Meta(description="The scheduler's message for the group.")]
    last_cycle: Annotated[
        list[TriedPod],
        Meta(description="The pods of the last scheduling cycle, in the order in which they were tried."),
    ]
    waiting: Annotated[list[TriedPod], Meta(description="Pods that are not in the scheduling queue, and why.")]


RoomOutcome = Literal["Fits", "Moves", "Preemption", "Impossible", "Undecided"]
"""Fits: no pod has to move. Moves: some pods move, and all running pods keep running. Preemption: pods of lower
priority must be evicted without getting another node. Impossible: it is proved that neither is possible with this
number of pods. Undecided: there is neither a solution nor a proof."""


MoveAction = Literal["Move", "Evict", "Place", "Preempt", "Start"]
"""Move: the pod leaves its node and gets another one at once. Evict: the pod leaves its node and gets another one in a
later step, Place. Preempt: the pod leaves its node and gets no other. Start: the pending pod starts."""


class MoveStep(DocumentPart, frozen=True, kw_only=True):
    """A step that is possible once all earlier steps are done."""

    action: MoveAction
    namespace: str
    name: Text
    from_node: Annotated[str, Meta(description="The node that the pod leaves.")] = ""
    node: Annotated[str, Meta(description="The node that the pod gets.")] = ""
    claims: Annotated[list[PlacedPodClaim], Meta(description="The allocations of the pod's claims.")] = []
    devices_matter: Annotated[
        bool,
        Meta(
            description=(
                "Whether the step works only with these devices, and not with others that the "
                "scheduler might choose on the node."
            )
        ),
    ] = False


AllowedReason = Literal["NoController", "HigherPriority"]
"""The reasons for leaving pods alone that a user can override."""


class PodsLeftAlone(DocumentPart, frozen=True, kw_only=True):
    """Running pods that cannot be moved, and why."""

    reason: Annotated[
        Literal["NoController", "DaemonSet", "Static", "DisruptionBudget", "HigherPriority", "Leaving"],
        Meta(description="Why the pods are left alone. Leaving: the pods are already being deleted."),
    ]
    pods: Amount
    examples: Annotated[list[ObjectName], Meta(description="The first pods, as examples.", min_length=1)]


class AllowedRoom(DocumentPart, frozen=True, kw_only=True):
    """The result if some of the pods that are left alone could move too.

    A moved pod that has no controller must be recreated by the user.
    """

    kinds: Annotated[
        list[AllowedReason], Meta(description="The reasons that were overridden, so that the pods may move.")
    ]
    outcome: RoomOutcome
    moved: Amount
    preempted: Amount
    steps: Annotated[list[MoveStep], Meta(description="The steps in order.")]


class RoomForPod(DocumentPart, frozen=True, kw_only=True):
    """The moves that make a pending pod fit, or any one of several equal pods."""

    pods: Annotated[
        list[ObjectName], Meta(description="Equal pending pods. The result is for the first of them.", min_length=1)
    ]
    outcome: RoomOutcome
    limit: Annotated[Amount, Meta(description="The maximum number of pods that may leave.")]
    moved: Amount
    preempted: Amount
    fewest: Annotated[bool, Meta(description="Whether it is proved that fewer pods are not enough.")]
    steps: Annotated[list[MoveStep], Meta(description="The steps, which must be taken in this order.")]
    left_alone: list[PodsLeftAlone]
    movable: Annotated[Amount, Meta(description="The number of running pods that may be moved or evicted.")] = 0
    allowing: Annotated[
        list[AllowedRoom], Meta(description="The results if more pods could move. Empty if moves are known.")
    ] = []
    tried: Annotated[Amount, Meta(description="The number of sets of pods that were tried.")]
    message: Annotated[str, Meta(description="The scheduler's present message for the pod.")]
