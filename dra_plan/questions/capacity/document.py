"""`CapacityPlan`, the document of `capacity`."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from dra_plan.documents.base import (
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
from dra_plan.documents.obstacles import NextCopy
from dra_plan.documents.refusals import Refusals
from dra_plan.documents.suggestions import SHAPES


class NodeCopies(DocumentPart, frozen=True, kw_only=True):
    """How many copies a node holds; of gangs, how many of their pods."""

    name: Text
    copies: Amount


class ScheduledCopies(DocumentPart, frozen=True, kw_only=True):
    """What kube-scheduler does with copies that are created one after the other, until it refuses one."""

    copies: Amount
    nodes: Annotated[list[NodeCopies], Meta(description="The nodes that hold copies, in the order of the input.")]
    ended: Annotated[
        str,
        one_of(
            *("Unschedulable", "SchedulerError", "Gated", "Waiting", "Undecided"),
            *("Limit", "OtherRefused", "Refused", "EveryNode"),
        ),
        Meta(
            description="Why no further copy was bound. Limit: as many as were asked for. Undecided: the step budget "
            "ran out on some node, so that there may be more. OtherRefused: with --mix, a copy of another owner was. "
            "Refused: the API server does not take one, or creates no more, as of a ResourceQuota. EveryNode: a "
            "DaemonSet has a pod on every node that may have one."
        ),
    ]
    message: Annotated[
        str | None, Meta(description="The scheduler's text for the first copy that it refuses, or the API server's.")
    ]
    undecided_nodes: UndecidedNodes = []
    evicted: Annotated[list[ObjectName], Meta(description="Pods that had to go for copies.")] = []


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
        bool, Meta(description="The search took a few seconds only: with --possible there may be more.")
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


class CopiedGang(DocumentPart, frozen=True, kw_only=True):
    """The gang that a copy is: a pod group of its own with all its pods. It counts when all of them are bound."""

    pod_group: Annotated[Text, Meta(description="The group that is copied, in the owner's namespace.")]
    pods: Annotated[int, Meta(ge=1, description="How many pods a copy has.")]
    min_count: Annotated[int, Meta(ge=1, description="How many of them have to find a place at the same time.")]
    topology_key: Annotated[str, Meta(description="The label in whose value the nodes of one gang agree.")] = ""
    waiting: Annotated[
        Amount, Meta(description="Pods of the group that have no node: they stay aside, and are among the copies.")
    ]
    fitting: Annotated[
        Amount | None,
        Meta(
            description="How many pods of one more gang would find a node, one after the other; `nextCopy` is about "
            "the pod after these. Null where each of them would, or no gang was refused."
        ),
    ] = None


class OwnerCapacity(DocumentPart, frozen=True, kw_only=True):
    """How many copies of one pod, of one workload's pods or of one gang there is room for."""

    owner: CopiedOwner
    gang: Annotated[CopiedGang | None, Meta(description="Null where each pod is scheduled by itself.")] = None
    replicas: Annotated[
        OwnerReplicas | None, Meta(description="Null for a pod, a gang, and for what has no number of replicas.")
    ]
    scheduled: ScheduledCopies
    possible: Annotated[
        PossibleCopies | None,
        Meta(
            description="Null with --no-possible, with --mix, where pods have to go for copies or the API "
            "server creates no more, and for gangs with claims of their own."
        ),
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
    refusals: Refusals = UNSET
    warnings: list[PrintedWarning]


class StrandedFor(DocumentPart, frozen=True, kw_only=True):
    """Why idle devices are of no use to anybody asked about."""

    code: Annotated[
        str,
        one_of("not-wanted", "node", "not-enough"),
        Meta(
            description="not-wanted: no selector passes them. node: their nodes take no copy, for something else than "
            "devices. not-enough: with what is idle beside them no further copy can be put together."
        ),
    ]
    message: Annotated[str, Meta(description="With node: what is in the way there, in the scheduler's words.")] = ""
    devices: Annotated[int, Meta(ge=1)]


class WithheldDevices(DocumentPart, frozen=True, kw_only=True):
    """Devices that are neither idle nor used up."""

    code: Annotated[
        str,
        one_of("shared", "withheld"),
        Meta(description="shared: in use, with room for others. withheld: not for every request, or for none."),
    ]
    message: Annotated[str, Meta(description="With withheld: a taint, a pool that is not complete, a gate.")] = ""
    devices: Annotated[int, Meta(ge=1)]


class IdleDevices(DocumentPart, frozen=True, kw_only=True):
    """The devices of one driver and model."""

    driver: Text
    model: ModelName = ""
    profile: Annotated[
        str, Meta(description="Of parts that share counters: their kind. They count as often as they fit side by side.")
    ] = ""
    devices: Annotated[Amount, Meta(description="All of them, parts that overlap each by itself.")]
    idle: Annotated[Amount, Meta(description="Free to be allocated before any copy is made.")]
    withheld: Annotated[
        list[WithheldDevices],
        Meta(description="Neither idle nor used up. What then is missing is in use; of parts, others of their device."),
    ] = []
    stranded: Annotated[
        Amount | None,
        Meta(
            description="Idle, and still so at the end of every count, though an owner asks for such devices. Null if "
            "that is not known, for a count was ended before the scheduler refused a copy."
        ),
    ]
    reasons: list[StrandedFor]
    most_on_one_node: Annotated[Amount, Meta(description="The largest number that is idle on one node.")]
    node: Annotated[str, Meta(description="The first node that has this number.")] = ""


class FleetFigures(DocumentPart, frozen=True, kw_only=True):
    """Devices that nodes of the cluster reach, by driver, model and profile."""

    kinds: list[IdleDevices]
