"""`RepackPlan`, the document of `repack`."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from dra_plan.documents.base import Amount, DocumentPart, HeldDevices, ObjectName, PrintedDocument, PrintedWarning, Text

RepackOutcome = Literal["Fits", "Moves", "Impossible", "Undecided"]
"""Fits: no move is needed. Moves: the waves make enough room. Impossible: it is proved that no allowed moves make
enough room. Undecided: neither moves nor a proof were found."""

AskedRoom = Literal["Free", "For", "Most"]

AloneReason = Literal[
    "NoController",
    "HigherPriority",
    "DisruptionBudget",
    "SharedClaim",
    "SharedDevices",
    "PodGroup",
    "OtherScheduler",
    "DaemonSet",
    "Static",
    "Leaving",
]
"""SharedDevices: the pod uses devices of a pool that several nodes can access. Leaving: the pod is already being
deleted."""


class RepackedPod(DocumentPart, frozen=True, kw_only=True):
    """A pod that leaves its node, and its replacement's node."""

    namespace: str
    name: Text
    owner: Annotated[ObjectName | None, Meta(description="The controller that recreates the pod. Null for a bare pod.")]
    replicas: Annotated[
        int | None, Meta(description=("The number of pods of the controller, if the input contains it."))
    ] = None
    from_node: str
    to_node: str
    devices: HeldDevices = []
    price: Annotated[int, Meta(ge=1)] = 1


class RepackWave(DocumentPart, frozen=True, kw_only=True):
    """Pods that leave their nodes together.

    All of them except the `waiting` pods have new nodes before the next wave.
    """

    cordoned: Annotated[
        list[str], Meta(description=("Nodes to cordon during the wave, in addition to already cordoned ones."))
    ]
    moved: list[RepackedPod]
    waiting: Annotated[
        list[ObjectName],
        Meta(
            description=(
                "Pods that are evicted after the moved ones, and stay pending until they get a node in a later wave."
            )
        ),
    ] = []


class RoomPlace(DocumentPart, frozen=True, kw_only=True):
    """A wanted pod or set of devices, and its node in the end."""

    namespace: Annotated[
        str, Meta(description="The namespace of the pod that needs the devices; empty if there is no such pod.")
    ]
    name: Text
    node: str
    devices: HeldDevices = []


class PodsKept(DocumentPart, frozen=True, kw_only=True):
    """Running pods that stay on their nodes, and why."""

    reason: AloneReason
    pods: Amount
    examples: Annotated[list[ObjectName], Meta(description="The first of the pods.", min_length=1)]


class AllowedMoves(DocumentPart, frozen=True, kw_only=True):
    """What would be gained if more pods could move. These moves are not simulated."""

    options: Annotated[list[str], Meta(description="The options that allow these moves.")]
    outcome: RepackOutcome
    moves: Amount
    cost: Amount
    rooms: Amount


class RepackDocument(PrintedDocument, frozen=True, kw_only=True):
    """The cheapest moves that free the wanted devices, in waves that have been simulated."""

    kind: Literal["RepackPlan"] = "RepackPlan"
    outcome: RepackOutcome
    asked: AskedRoom
    room: Annotated[str, Meta(description="The goal as given: the devices or pods that need room.")]
    rooms: Annotated[
        Amount,
        Meta(description="The number of wanted pods or sets of devices. With --most, the number of pending pods."),
    ]
    found: Annotated[
        Amount, Meta(description="The number of wanted pods or sets of devices that have room in the end.")
    ]
    at_most: Annotated[Amount, Meta(description="A proved upper bound on `found`.")]
    moves: Annotated[Amount, Meta(description="The number of moves.")]
    cost: Annotated[
        Amount, Meta(description=("The total price of the moves. Without prices, this is the number of moves."))
    ]
    at_least: Annotated[Amount, Meta(description="A proved lower bound on `cost`.")]
    most_moves: Annotated[int | None, Meta(description="The limit on the number of moves.")]
    movable: Annotated[Amount, Meta(description="The number of running pods that may move.")]
    waves: list[RepackWave]
    places: Annotated[
        list[RoomPlace], Meta(description=("Where the scheduler puts the wanted pods or devices in the end."))
    ]
    left_alone: list[PodsKept]
    allowing: list[AllowedMoves]
    message: Annotated[str, Meta(description="Where the search stopped, if the outcome is Undecided.")] = ""
    warnings: list[PrintedWarning]
