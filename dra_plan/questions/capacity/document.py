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
from dra_plan.documents.obstacles import LargestPod, NextCopy
from dra_plan.documents.refusals import Refusals
from dra_plan.documents.suggestions import SHAPES

MOST_GAINED = 20
"""The maximum number of additional copies that are counted to see how much a change helps."""


class NodeCopies(DocumentPart, frozen=True, kw_only=True):
    """The number of copies on a node, or of their pods if the copies are gangs."""

    name: Text
    copies: Amount


class ScheduledCopies(DocumentPart, frozen=True, kw_only=True):
    """What happens when copies are created one after another until kube-scheduler rejects one."""

    copies: Amount
    nodes: Annotated[list[NodeCopies], Meta(description="The nodes that hold copies, in the order of the input.")]
    ended: Annotated[
        str,
        one_of(
            *("Unschedulable", "SchedulerError", "Gated", "Waiting", "Undecided"),
            *("Limit", "OtherRefused", "Refused", "EveryNode"),
        ),
        Meta(
            description=(
                "Why no further copy was bound. Limit: the limit was reached. Undecided: the "
                "step budget ran out on a node, so there may be more. OtherRefused: with "
                "--mix, a copy of another owner was rejected. Refused: the API server rejects "
                "a copy, for example because of a ResourceQuota. EveryNode: a DaemonSet has "
                "a pod on every node that may have one."
            )
        ),
    ]
    message: Annotated[
        str | None,
        Meta(description=("The message of the scheduler, or of the API server, for the first rejected copy.")),
    ]
    undecided_nodes: UndecidedNodes = []
    evicted: Annotated[list[ObjectName], Meta(description="Pods that were evicted for copies.")] = []


class CopiedOwner(ObjectName, frozen=True, kw_only=True):
    """The owner of a copied pod."""

    part: TemplatePart = ""


class PlacedCopy(DocumentPart, frozen=True, kw_only=True):
    """A copy and the node and devices that it gets."""

    owner: CopiedOwner
    node: Text
    devices: Annotated[list[DeviceName], Meta(description="What its claims get, in their order.")]


class PossibleCopies(DocumentPart, frozen=True, kw_only=True):
    """The largest number of copies that fit in addition to running pods, for any choice of nodes and devices."""

    copies: Annotated[Amount, Meta(description=("The number of copies in the placement; with --mix, of whole sets."))]
    at_most: Annotated[
        Amount | None,
        Meta(
            description=(
                "Proved upper bound; if it equals `copies`, the number is exact. Null if "
                "unknown, for example because a limit ended the count."
            )
        ),
    ]
    nodes: list[NodeCopies]
    placement: Annotated[
        list[PlacedCopy],
        Meta(
            description=(
                "The placement, checked pod by pod in this order; the scheduler's own if no better one was found."
            )
        ),
    ]
    brief: Annotated[
        bool, Meta(description="The search took a few seconds only: with --possible there may be more.")
    ] = False
    besides: Annotated[
        list[str],
        Meta(description="Plugins that look at other pods or volumes, which the bound ignores."),
    ] = []


class MixedShare(DocumentPart, frozen=True, kw_only=True):
    """The number of copies of one owner in a set."""

    owner: CopiedOwner
    copies: Annotated[int, Meta(ge=1)]


class MixCapacity(DocumentPart, frozen=True, kw_only=True):
    """How many whole sets of copies fit if all owners are counted together, in proportion to their replicas."""

    shares: list[MixedShare]
    sets: Annotated[Amount, Meta(description="Whole sets that the scheduler binds, created in turn.")]
    more: Annotated[Amount, Meta(description="Whole sets of the copies beyond the owners' own pods.")]
    possible: PossibleCopies | None


class OwnerReplicas(DocumentPart, frozen=True, kw_only=True):
    """The number of replicas that a workload should have, and how many of them have no node."""

    wanted: Amount
    missing: Annotated[
        Amount, Meta(description=("The number of these without a node; they are included in the copies that fit."))
    ]


class CopiedGang(DocumentPart, frozen=True, kw_only=True):
    """A gang that is copied as a whole.

    A copy is a new pod group with all its pods, and is counted if all its pods are bound.
    """

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
            "the pod after these. Null where each of them would, or no gang was rejected."
        ),
    ] = None


class OwnerDevices(DocumentPart, frozen=True, kw_only=True):
    """The devices of one driver and model that an owner's copies use, and those that they leave idle."""

    driver: Text
    model: ModelName = ""
    profile: Annotated[str, Meta(description="The kind of partitions; they count as often as they fit.")] = ""
    used: Annotated[Amount, Meta(description="In use by the copies.")]
    stranded: Annotated[
        Amount, Meta(description="Still idle although they match a request: one more copy was rejected.")
    ]


class OwnerCapacity(DocumentPart, frozen=True, kw_only=True):
    """How many copies fit of an owner, which is a pod, a workload or a gang."""

    owner: CopiedOwner
    gang: Annotated[CopiedGang | None, Meta(description="Null if each pod is scheduled alone.")] = None
    replicas: Annotated[
        OwnerReplicas | None, Meta(description="Null for a pod, a gang, and for kinds without replicas.")
    ]
    more: Annotated[
        Amount,
        Meta(
            description="The scheduled copies beyond the owner's own replicas or gang: without those that take the "
            "place of pending ones."
        ),
    ]
    scheduled: ScheduledCopies
    possible: Annotated[
        PossibleCopies | None,
        Meta(
            description="Null with --no-possible, with --mix, if copies evict pods or the API server rejects more, "
            "and for gangs with their own claims."
        ),
    ]
    next_copy: Annotated[NextCopy | None, Meta(description="Null if the scheduler rejected no copy.")]
    devices: Annotated[
        list[OwnerDevices],
        Meta(
            description="Without kinds that no request matches; empty with --mix and if the scheduler rejected no copy."
        ),
    ] = []

    @property
    def pending(self) -> int:
        """Return how many copies take the place of pods that the owner already has and that are pending."""
        return pending_copies(self.gang, self.replicas)


def pending_copies(gang: CopiedGang | None, replicas: OwnerReplicas | None) -> int:
    """Return how many copies take the place of pods that the owner already has and that are pending."""
    if gang is not None:
        return int(gang.waiting == gang.pods)
    return replicas.missing if replicas is not None else 0


PARTS = SHAPES
"""Structs that are part of the document but do not appear in the types of its fields."""


class CapacityDocument(PrintedDocument, frozen=True, kw_only=True):
    """How many copies of each owner's pod fit in addition to the existing pods. Each owner is counted alone."""

    kind: Literal["CapacityPlan"] = "CapacityPlan"
    limit: Annotated[int, Meta(ge=1, description="The largest number of copies that was tried.")]
    items: list[OwnerCapacity]
    mix: Annotated[MixCapacity | UnsetType, Meta(description="With --mix: the items are counted together.")] = UNSET
    fleet: FleetFigures
    refusals: Refusals = UNSET
    warnings: list[PrintedWarning]


class StrandedFor(DocumentPart, frozen=True, kw_only=True):
    """Why idle devices cannot be used for any counted owner."""

    code: Annotated[
        str,
        one_of("not-wanted", "node", "not-enough"),
        Meta(
            description=(
                "not-wanted: no selector matches them. node: their nodes take no copy, for a "
                "reason other than devices. not-enough: together with the other idle "
                "devices, they are not enough for one more copy."
            )
        ),
    ]
    message: Annotated[str, Meta(description="For node: the scheduler's reason there.")] = ""
    devices: Annotated[int, Meta(ge=1)]
    node: Annotated[str, Meta(description="The node that reaches most of them.")] = ""
    other_nodes: Annotated[Amount, Meta(description="The number of other nodes that reach some of them.")] = 0
    resource: Annotated[str, Meta(description="For node: the resource of which that node has too little left.")] = ""
    left: Annotated[str, Meta(description="What is left of it there.")] = ""
    pod: LargestPod = ""
    used: Annotated[str, Meta(description="What this pod requests of it.")] = ""


class WithheldDevices(DocumentPart, frozen=True, kw_only=True):
    """Devices that are neither idle nor used up, and why."""

    code: Annotated[
        str,
        one_of("shared", "withheld"),
        Meta(description="shared: in use, with room for others. withheld: not for every request, or for none."),
    ]
    message: Annotated[str, Meta(description="For withheld: a taint, an incomplete pool, a gate.")] = ""
    devices: Annotated[int, Meta(ge=1)]


class IdleDevices(DocumentPart, frozen=True, kw_only=True):
    """The devices of one driver and model."""

    driver: Text
    model: ModelName = ""
    profile: Annotated[
        str,
        Meta(
            description=(
                "The kind of partitions that share counters. They count as often as they fit at the same time."
            )
        ),
    ] = ""
    devices: Annotated[Amount, Meta(description=("All of them; overlapping partitions count separately."))]
    idle: Annotated[Amount, Meta(description="Available before any copy is created.")]
    withheld: Annotated[
        list[WithheldDevices],
        Meta(
            description=(
                "Neither idle nor used up. The rest is in use, or for partitions, blocked by others of the same device."
            )
        ),
    ] = []
    stranded: Annotated[
        Amount | None,
        Meta(
            description=(
                "Idle at the end of every count although an owner requests such devices. "
                "Null if unknown, because a count ended before the scheduler rejected a copy."
            )
        ),
    ]
    reasons: list[StrandedFor]
    most_on_one_node: Annotated[Amount, Meta(description=("The largest number of idle ones on one node."))]
    node: Annotated[str, Meta(description="The first node that has this number.")] = ""


class FleetFigures(DocumentPart, frozen=True, kw_only=True):
    """The devices that the cluster's nodes can access, by driver, model and profile."""

    kinds: list[IdleDevices]
