"""What `explain --moves` says: which running pods would have to leave, so that a pod has a place."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from .base import Amount, DocumentPart, ObjectName, Text
from .placement import PlacedPodClaim

RoomOutcome = Literal["Fits", "Moves", "Preemption", "Impossible", "Undecided"]
"""Fits: nobody has to move. Moves: some pods move, and all that ran goes on running. Preemption: pods of lower priority
have to go, and find no other place. Impossible: it is proved that neither does, with so many pods. Undecided: neither
was found, nor excluded."""

MoveAction = Literal["Move", "Evict", "Place", "Preempt", "Start"]
"""Move: the pod leaves its node, and gets another place at once. Evict: it leaves, and waits for its Place. Preempt: it
leaves, and has no place. Start: the pod that was asked about starts."""


class MoveStep(DocumentPart, frozen=True, kw_only=True):
    """One step, possible as soon as those before it are done."""

    action: MoveAction
    namespace: str
    name: Text
    from_node: Annotated[str, Meta(description="The node that the pod leaves.")] = ""
    node: Annotated[str, Meta(description="The node that the pod gets.")] = ""
    claims: Annotated[list[PlacedPodClaim], Meta(description="What its claims get.")] = []
    devices_matter: Annotated[
        bool, Meta(description="Whether other devices of the node, which the scheduler might choose, would not do.")
    ] = False


class PodsLeftAlone(DocumentPart, frozen=True, kw_only=True):
    """Running pods that can't be asked to move, and why."""

    reason: Annotated[
        Literal["NoController", "DaemonSet", "Static", "DisruptionBudget", "HigherPriority", "Leaving"],
        Meta(description="Leaving: being deleted already."),
    ]
    pods: Amount
    examples: Annotated[list[ObjectName], Meta(description="The first of them.", min_length=1)]


class RoomForPod(DocumentPart, frozen=True, kw_only=True):
    """How room can be made for a pod that waits, or for any one of several that are alike."""

    pods: Annotated[list[ObjectName], Meta(description="The answer is about the first of them.", min_length=1)]
    outcome: RoomOutcome
    limit: Annotated[Amount, Meta(description="No more pods than this are asked to leave.")]
    moved: Amount
    preempted: Amount
    fewest: Annotated[bool, Meta(description="Whether it is proved that fewer do not do.")]
    steps: Annotated[list[MoveStep], Meta(description="In this order.")]
    left_alone: list[PodsLeftAlone]
    tried: Annotated[Amount, Meta(description="How many sets of pods were tried.")]
    message: Annotated[str, Meta(description="What the scheduler says to the pod as things are.")]
