"""`CapacityPlan`, the document of `capacity`."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from .base import Amount, DocumentPart, ObjectName, PrintedDocument, PrintedWarning, Text, one_of
from .fleet import FleetFigures
from .leading import LeadingReason
from .suggestions import SHAPES, TriedChanges


class NodeCopies(DocumentPart, frozen=True, kw_only=True):
    """How many copies a node holds."""

    name: Text
    copies: Amount


class ScheduledCopies(DocumentPart, frozen=True, kw_only=True):
    """What kube-scheduler does with copies that are created one after the other, until it refuses one."""

    copies: Amount
    nodes: Annotated[list[NodeCopies], Meta(description="The nodes that hold copies, in the order of the input.")]
    ended: Annotated[
        str,
        one_of("Unschedulable", "SchedulerError", "Gated", "Waiting", "Undecided", "Limit"),
        Meta(
            description="Why no further copy was bound. Limit: as many as were asked for. Undecided: the step budget "
            "ran out on some node, so that there may be more."
        ),
    ]
    message: Annotated[str | None, Meta(description="The scheduler's text for the first copy that it refuses.")]
    undecided_nodes: Annotated[list[str], Meta(description="Nodes on which the step budget ran out.")] = []
    evicted: Annotated[list[ObjectName], Meta(description="Pods that had to go for copies.")] = []


class CopyObstacle(DocumentPart, frozen=True, kw_only=True):
    """One reason why nodes take no more copies. A node may have several."""

    plugin: Text
    message: Annotated[str, Meta(description="The scheduler's words.")]
    nodes_with_copies: Annotated[Amount, Meta(description="Of the nodes that hold copies.")]
    other_nodes: Annotated[Amount, Meta(description="Of the nodes that hold none.")]
    alone: Annotated[Amount, Meta(description="Nodes on which nothing else is in the way.")]
    need: Annotated[str, Meta(description="Of a resource of the node: what a copy asks for.")] = ""
    left: Annotated[
        str,
        Meta(description="The most that is left of it, on nodes where nothing else is in the way if there are any."),
    ] = ""


class DevicesInUse(DocumentPart, frozen=True, kw_only=True):
    """Devices of one driver and model that a copy could have if they were not in use."""

    driver: Text
    model: Annotated[str, Meta(description="What they are, as far as the driver says so.")] = ""
    devices: Amount


class NextCopy(DocumentPart, frozen=True, kw_only=True):
    """What is in the way of one more copy, and what would let one more fit."""

    obstacles: Annotated[
        list[CopyObstacle],
        Meta(description="What runs out first stands first: what most of the nodes with copies lack, then the others."),
    ]
    looked_at: Annotated[
        Amount,
        Meta(
            description="Nodes that refuse devices and were looked at closely: of many, some, those with copies first."
        ),
    ]
    ran_out: Annotated[
        list[LeadingReason], Meta(description="What of the devices is in the way on those of them that hold copies.")
    ]
    leading: Annotated[list[LeadingReason], Meta(description="What of the devices is in the way on all of them.")]
    in_use: Annotated[
        list[DevicesInUse],
        Meta(description="Devices that would do but are in use: on those of them that hold copies, if there are any."),
    ]
    suggestions: Annotated[
        list[TriedChanges], Meta(description="Changes with which, as was tried, one more copy gets its devices.")
    ]


class OwnerCapacity(DocumentPart, frozen=True, kw_only=True):
    """How many copies of one pod, or of one workload's pods, there is room for."""

    owner: ObjectName
    scheduled: ScheduledCopies
    next_copy: Annotated[NextCopy | None, Meta(description="Null where the scheduler refused no copy.")]


PARTS = SHAPES
"""The structs of values that their types do not name."""


class CapacityDocument(PrintedDocument, frozen=True, kw_only=True):
    """How many copies of pods there is room for, each owner on its own, beside what is there."""

    kind: Literal["CapacityPlan"] = "CapacityPlan"
    limit: Annotated[int, Meta(ge=1, description="So many copies were tried at most.")]
    items: list[OwnerCapacity]
    fleet: FleetFigures
    warnings: list[PrintedWarning]
