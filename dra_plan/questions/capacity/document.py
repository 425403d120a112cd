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
    """The number of copies on a node. If the copies are gangs, this is the number of their pods."""

    name: Text
    copies: Amount


class ScheduledCopies(DocumentPart, frozen=True, kw_only=True):
    """What happens when copies are created one after another until kube-scheduler rejects one."""

    copies: Amount
    nodes: Annotated[list[NodeCopies], Meta(description="The nodes that have copies, in input order.")]
    ended: Annotated[
        str,
        one_of(
            *("Unschedulable", "SchedulerError", "Gated", "Waiting", "Undecided"),
            *("Limit", "OtherRefused", "Refused", "EveryNode"),
        ),
        Meta(
            description=(
                "Why no further copy was bound. Limit: the limit was reached. Undecided: the step "
                "limit was reached on a node, so more copies may fit. OtherRefused: with --mix, a copy "
                "of another owner was rejected. Refused: the API server rejects a copy, for example "
                "because of a ResourceQuota. EveryNode: a DaemonSet has a pod on every node that may "
                "have one."
            )
        ),
    ]
    message: Annotated[
        str | None,
        Meta(description=("The message of the scheduler or the API server for the first rejected copy.")),
    ]
    undecided_nodes: UndecidedNodes = []
    evicted: Annotated[list[ObjectName], Meta(description="Pods that were evicted to make room for copies.")] = []


class CopiedOwner(ObjectName, frozen=True, kw_only=True):
    """The owner of a copied pod."""

    part: TemplatePart = ""


class PlacedCopy(DocumentPart, frozen=True, kw_only=True):
    """A copy and the node and devices that it gets."""

    owner: CopiedOwner
    node: Text
    devices: Annotated[
        list[DeviceName], Meta(description="The devices that the copy's claims get, in the order of the claims.")
    ]


class PossibleCopies(DocumentPart, frozen=True, kw_only=True):
    """The largest number of copies that fit in addition to running pods, with the best nodes and devices."""

    copies: Annotated[
        Amount, Meta(description=("The number of copies in the placement or, with --mix, of whole sets."))
    ]
    at_most: Annotated[
        Amount | None,
        Meta(
            description=(
                "A proved upper bound. If it equals `copies`, the number is exact. Null if unknown, "
                "for example because a limit ended the count."
            )
        ),
    ]
    nodes: list[NodeCopies]
    placement: Annotated[
        list[PlacedCopy],
        Meta(
            description=(
                "The placement, in the order in which its pods were checked. If no better one was "
                "found, this is the scheduler's own."
            )
        ),
    ]
    brief: Annotated[
        bool,
        Meta(
            description=("Whether the search was limited to a few seconds. With --possible, more copies may be found.")
        ),
    ] = False
    besides: Annotated[
        list[str],
        Meta(description="Plugins that depend on other pods or on volumes, which the upper bound ignores."),
    ] = []


class MixedShare(DocumentPart, frozen=True, kw_only=True):
    """The number of copies of one owner in a set."""

    owner: CopiedOwner
    copies: Annotated[int, Meta(ge=1)]


class MixCapacity(DocumentPart, frozen=True, kw_only=True):
    """How many whole sets of copies fit if all owners are counted together, in proportion to their replicas."""

    shares: list[MixedShare]
    sets: Annotated[
        Amount, Meta(description="The number of whole sets that the scheduler binds, if sets are created in turn.")
    ]
    more: Annotated[Amount, Meta(description="The number of whole sets in addition to the owners' own pods.")]
    possible: PossibleCopies | None


class OwnerReplicas(DocumentPart, frozen=True, kw_only=True):
    """The number of replicas that a workload should have, and how many of them have no node."""

    wanted: Amount
    missing: Annotated[
        Amount, Meta(description=("The number of replicas without a node. They are included in the copies that fit."))
    ]


class CopiedGang(DocumentPart, frozen=True, kw_only=True):
    """A gang that is copied as a whole.

    A copy is a new pod group with all its pods, and is counted if all its pods are bound.
    """

    pod_group: Annotated[Text, Meta(description="The group that is copied. It is in the owner's namespace.")]
    pods: Annotated[int, Meta(ge=1, description="The number of pods in a copy.")]
    min_count: Annotated[int, Meta(ge=1, description="The number of pods of a copy that must fit at the same time.")]
    topology_key: Annotated[
        str, Meta(description="The node label whose value must be the same for all nodes of a gang.")
    ] = ""
    waiting: Annotated[
        Amount,
        Meta(description="The number of pending pods of the group. They are ignored, and included in the copies."),
    ]
    fitting: Annotated[
        Amount | None,
        Meta(
            description=(
                "How many pods of one more gang fit, one after another. `nextCopy` describes the pod "
                "after them. Null if all of them fit, or if no gang was rejected."
            )
        ),
    ] = None


class OwnerDevices(DocumentPart, frozen=True, kw_only=True):
    """The devices of one driver and model that an owner's copies use, and those that they leave idle."""

    driver: Text
    model: ModelName = ""
    profile: Annotated[str, Meta(description="The kind of partitions, which are counted as often as they fit.")] = ""
    used: Annotated[Amount, Meta(description="The number of devices that the copies use.")]
    stranded: Annotated[
        Amount,
        Meta(
            description=(
                "The number of devices that stay idle although they match a request, because one more "
                "copy was rejected."
            )
        ),
    ]


class OwnerCapacity(DocumentPart, frozen=True, kw_only=True):
    """How many copies of an owner (a pod, a workload or a gang) fit."""

    owner: CopiedOwner
    gang: Annotated[
        CopiedGang | None, Meta(description="The gang that the pod belongs to. Null if each pod is scheduled alone.")
    ] = None
    replicas: Annotated[
        OwnerReplicas | None,
        Meta(description="The replicas of the owner. Null for a pod, a gang, and for kinds without replicas."),
    ]
    more: Annotated[
        Amount,
        Meta(description="The number of scheduled copies that do not take the place of the owner's pending pods."),
    ]
    scheduled: ScheduledCopies
    possible: Annotated[
        PossibleCopies | None,
        Meta(
            description=(
                "Null with --no-possible, with --mix, if copies evict pods, if the API server rejects "
                "more copies, and for gangs with their own claims."
            )
        ),
    ]
    next_copy: Annotated[
        NextCopy | None, Meta(description="Why one more copy does not fit. Null if the scheduler rejected no copy.")
    ]
    devices: Annotated[
        list[OwnerDevices],
        Meta(
            description=("The devices that match a request. Empty with --mix, and if the scheduler rejected no copy.")
        ),
    ] = []

    @property
    def pending(self) -> int:
        """Return how many copies take the place of the owner's pending pods."""
        return pending_copies(self.gang, self.replicas)


def pending_copies(gang: CopiedGang | None, replicas: OwnerReplicas | None) -> int:
    """Return how many copies take the place of the owner's pending pods."""
    if gang is not None:
        return int(gang.waiting == gang.pods)
    return replicas.missing if replicas is not None else 0


PARTS = SHAPES
"""Structs that are part of the document but do not appear in the types of its fields."""


class CapacityDocument(PrintedDocument, frozen=True, kw_only=True):
    """How many copies of each owner's pod fit in addition to the existing pods. Owners are counted separately."""

    kind: Literal["CapacityPlan"] = "CapacityPlan"
    limit: Annotated[int, Meta(ge=1, description="The maximum number of copies that were tried.")]
    items: list[OwnerCapacity]
    mix: Annotated[
        MixCapacity | UnsetType, Meta(description="The result for all owners together; only with --mix.")
    ] = UNSET
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
                "not-wanted: no selector matches the devices. node: the nodes of the devices reject "
                "copies for a reason other than devices. not-enough: even with the other idle devices, "
                "there are not enough for one more copy."
            )
        ),
    ]
    message: Annotated[
        str, Meta(description="For code `node`: the scheduler's reason for rejecting a copy on the node.")
    ] = ""
    devices: Annotated[int, Meta(ge=1)]
    node: Annotated[str, Meta(description="The node that can access most of the devices.")] = ""
    other_nodes: Annotated[
        Amount, Meta(description="The number of other nodes that can access some of the devices.")
    ] = 0
    resource: Annotated[str, Meta(description="For code `node`: the resource that the node has too little of.")] = ""
    left: Annotated[str, Meta(description="How much of the resource is left on the node.")] = ""
    pod: LargestPod = ""
    used: Annotated[str, Meta(description="How much of the resource `pod` requests.")] = ""


class WithheldDevices(DocumentPart, frozen=True, kw_only=True):
    """Devices that are neither idle nor used up, and why."""

    code: Annotated[
        str,
        one_of("shared", "withheld"),
        Meta(
            description=(
                "shared: the devices are in use, but can be shared by further claims. withheld: the "
                "devices cannot be used for some requests, or for any."
            )
        ),
    ]
    message: Annotated[str, Meta(description="For code `withheld`: a taint, an incomplete pool or a feature gate.")] = (
        ""
    )
    devices: Annotated[int, Meta(ge=1)]


class IdleDevices(DocumentPart, frozen=True, kw_only=True):
    """The devices of one driver and model."""

    driver: Text
    model: ModelName = ""
    profile: Annotated[
        str,
        Meta(
            description=(
                "The kind of partitions that share counters. They are counted as often as they fit at the same time."
            )
        ),
    ] = ""
    devices: Annotated[
        Amount, Meta(description=("The number of all devices. Overlapping partitions are counted separately."))
    ]
    idle: Annotated[Amount, Meta(description="The number of devices that are available before any copy is created.")]
    withheld: Annotated[
        list[WithheldDevices],
        Meta(
            description=(
                "Devices that are neither idle nor in use, and why. Partitions may also be blocked by "
                "other partitions of their device."
            )
        ),
    ] = []
    stranded: Annotated[
        Amount | None,
        Meta(
            description=(
                "The number of devices that stay idle in every count although an owner requests such "
                "devices. Null if unknown, because a count ended before the scheduler rejected a copy."
            )
        ),
    ]
    reasons: list[StrandedFor]
    most_on_one_node: Annotated[Amount, Meta(description=("The largest number of idle devices on one node."))]
    node: Annotated[str, Meta(description="The first node with the largest number of idle devices.")] = ""


class FleetFigures(DocumentPart, frozen=True, kw_only=True):
    """The devices that the cluster's nodes can access, by driver, model and profile."""

    kinds: list[IdleDevices]
