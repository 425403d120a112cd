"""`CapacityPlan`, the document of `capacity`."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from .base import Amount, DocumentPart, ObjectName, PrintedDocument, PrintedWarning, Text, one_of


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


class OwnerCapacity(DocumentPart, frozen=True, kw_only=True):
    """How many copies of one pod, or of one workload's pods, there is room for."""

    owner: ObjectName
    scheduled: ScheduledCopies


class CapacityDocument(PrintedDocument, frozen=True, kw_only=True):
    """How many copies of pods there is room for, each owner on its own, beside what is there."""

    kind: Literal["CapacityPlan"] = "CapacityPlan"
    limit: Annotated[int, Meta(ge=1, description="So many copies were tried at most.")]
    items: list[OwnerCapacity]
    warnings: list[PrintedWarning]
