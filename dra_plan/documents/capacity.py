"""`CapacityPlan`, the document of `capacity`."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from .base import (
    Amount,
    DeviceName,
    DocumentPart,
    ModelName,
    ObjectName,
    PrintedDocument,
    PrintedWarning,
    TemplatePart,
    Text,
    UndecidedNodes,
    one_of,
)
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
        one_of("Unschedulable", "SchedulerError", "Gated", "Waiting", "Undecided", "Limit", "OtherRefused"),
        Meta(
            description="Why no further copy was bound. Limit: as many as were asked for. Undecided: the step budget "
            "ran out on some node, so that there may be more. OtherRefused: with --mix, a copy of another owner was."
        ),
    ]
    message: Annotated[str | None, Meta(description="The scheduler's text for the first copy that it refuses.")]
    undecided_nodes: UndecidedNodes = []
    evicted: Annotated[list[ObjectName], Meta(description="Pods that had to go for copies.")] = []


class CopyObstacle(DocumentPart, frozen=True, kw_only=True):
    """One reason why nodes take no more copies. A node may have several."""

    plugin: Text
    kind: Annotated[
        str,
        one_of("Resource", "Devices", "Other"),
        Meta(description="What is lacking: a resource of the node, devices for the claims, or something else."),
    ]
    resource: Annotated[
        str, Meta(description="The resource that is short; `pods` where the node takes no more pods.")
    ] = ""
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
    """Devices of one driver, model and profile that a copy could have if they were not in use."""

    driver: Text
    model: ModelName = ""
    profile: Annotated[str, Meta(description="Of parts that share counters: their kind. Each part counts.")] = ""
    devices: Amount
    on_nodes_with_copies: Annotated[Amount, Meta(description="Of these, on nodes that hold copies.")]


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
        Meta(description="Devices that would do but are in use, on all of them."),
    ]
    suggestions: Annotated[
        list[TriedChanges],
        Meta(description="Changes with which, as was tried, one more copy gets its devices; no copy less for it."),
    ]
    sought: Annotated[
        bool, Meta(description="Whether such changes were sought: not where something else than devices is in the way.")
    ] = False
    own_claims: Annotated[
        Amount, Meta(description="Claims of pods that the owner has: no suggestion gives one of them up.")
    ] = 0


class CopiedOwner(ObjectName, frozen=True, kw_only=True):
    """Whose pod is copied."""

    part: TemplatePart = ""


class PlacedCopy(DocumentPart, frozen=True, kw_only=True):
    """A copy in a placement that exists."""

    owner: CopiedOwner
    node: Text
    devices: Annotated[list[DeviceName], Meta(description="What its claims get, in their order.")]


class PossibleCopies(DocumentPart, frozen=True, kw_only=True):
    """What the best choice of nodes and devices could hold beside what runs, whatever the scheduler does."""

    copies: Annotated[Amount, Meta(description="So many there are in the placement; with --mix, whole sets.")]
    at_most: Annotated[
        Amount | None,
        Meta(
            description="No placement has more, which is proved: equal to `copies`, that is exact. Null if it is not "
            "known, as where a limit ended the count."
        ),
    ]
    nodes: list[NodeCopies]
    placement: Annotated[
        list[PlacedCopy],
        Meta(description="Verified pod by pod, in this order: the scheduler's own where no better one was found."),
    ]
    brief: Annotated[
        bool, Meta(description="It was sought for a few seconds only: with --possible more may come to light.")
    ] = False
    besides: Annotated[
        list[str],
        Meta(description="Plugins, looking at other pods or volumes, whose refusals the bound does not count with."),
    ] = []


class MixedShare(DocumentPart, frozen=True, kw_only=True):
    """How many copies of an owner make a set."""

    owner: CopiedOwner
    copies: Annotated[int, Meta(ge=1)]


class MixCapacity(DocumentPart, frozen=True, kw_only=True):
    """All owners together, in the proportion of their replicas."""

    shares: list[MixedShare]
    sets: Annotated[Amount, Meta(description="Whole sets that the scheduler binds, created in turn.")]
    possible: PossibleCopies | None


class OwnerReplicas(DocumentPart, frozen=True, kw_only=True):
    """How many pods a workload is to have."""

    wanted: Amount
    missing: Annotated[
        Amount, Meta(description="Of these, without a node: they stay aside, and are among the copies that fit.")
    ]


class OwnerCapacity(DocumentPart, frozen=True, kw_only=True):
    """How many copies of one pod, or of one workload's pods, there is room for."""

    owner: CopiedOwner
    replicas: Annotated[
        OwnerReplicas | None, Meta(description="Null for a pod, and for what has no number of replicas.")
    ]
    scheduled: ScheduledCopies
    possible: Annotated[
        PossibleCopies | None,
        Meta(description="Null with --no-possible, with --mix, and where pods have to go for copies."),
    ]
    next_copy: Annotated[NextCopy | None, Meta(description="Null where the scheduler refused no copy.")]


PARTS = SHAPES
"""The structs of values that their types do not name."""


class CapacityDocument(PrintedDocument, frozen=True, kw_only=True):
    """How many copies of pods there is room for, each owner on its own, beside what is there."""

    kind: Literal["CapacityPlan"] = "CapacityPlan"
    limit: Annotated[int, Meta(ge=1, description="So many copies were tried at most.")]
    items: list[OwnerCapacity]
    mix: Annotated[MixCapacity | UnsetType, Meta(description="With --mix: the items are counted together.")] = UNSET
    fleet: FleetFigures
    warnings: list[PrintedWarning]
