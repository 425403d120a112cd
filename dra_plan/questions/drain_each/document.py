"""`DrainList`, the document of `diff --drain each`."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from dra_plan.documents.base import Amount, DocumentPart, HeldDrains, ObjectName, PrintedDocument, PrintedWarning, Text


class LostPod(DocumentPart, frozen=True, kw_only=True):
    """A pod that has a node and would lose it."""

    namespace: str
    name: Text
    running: Annotated[
        bool,
        Meta(
            description=(
                "Whether the pod runs on the node now. Otherwise it is pending, and the scheduler would bind it."
            )
        ),
    ] = False
    message: Annotated[str | None, Meta(description="The message of the scheduler.")]
    undecided: Annotated[bool, Meta(description="Whether the pod may still get a node.")] = False
    ended_by: Annotated[str, Meta(description="Why the pod is terminated, if nothing would recreate it.")] = ""


class DrainedNode(DocumentPart, frozen=True, kw_only=True):
    """What happens to pods if this node, or this group of nodes, is drained."""

    name: Annotated[Text, Meta(description=("The node, or LABEL=VALUE of the nodes that are drained together."))]
    nodes: Annotated[list[str], Meta(description="The nodes that are drained together, if there are several.")] = []
    lost: Annotated[list[LostPod], Meta(description="Pods that would have no node.")]
    gone: Annotated[
        list[ObjectName],
        Meta(description=("Pods that nothing would recreate, or that are evicted to make room for others.")),
    ]
    moved: Annotated[Amount, Meta(description="The number of pods that would be bound to another node.")]
    gained: Annotated[Amount, Meta(description="The number of pods that have no node now, but would have one.")]
    undecided: Annotated[
        list[ObjectName],
        Meta(
            description=(
                "Other pods that may lose their node. In one of the states they are not bound, and a "
                "search was cut short or the input lacks the objects that decide this."
            )
        ),
    ] = []
    held_by: HeldDrains = []
    absent: Annotated[
        list[ObjectName],
        Meta(
            description=(
                "Pods that claims on this node are reserved for, but that the input lacks. They are not checked."
            )
        ),
    ] = []


class DrainsDocument(PrintedDocument, frozen=True, kw_only=True):
    """The effect of draining each node in turn, the most harmful first."""

    kind: Literal["DrainList"] = "DrainList"
    by: Annotated[
        str, Meta(description="The label that groups nodes. Nodes with the same value are drained together.")
    ] = ""
    nodes: list[DrainedNode]
    warnings: list[PrintedWarning]
