"""The obstacles of one more pod, in documents."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from dra_plan.documents.base import Amount, DocumentPart, ModelName, Text, one_of
from dra_plan.documents.reasons import LeadingReason
from dra_plan.documents.suggestions import TriedChanges

LargestPod = Annotated[
    str,
    Meta(description="NAMESPACE/NAME of the largest pod there, copies excluded, if its removal makes room for a copy."),
]


class CopyObstacle(DocumentPart, frozen=True, kw_only=True):
    """One reason why nodes accept no more copies. A node may have several reasons."""

    plugin: Text
    kind: Annotated[
        str,
        one_of("Resource", "Devices", "Other"),
        Meta(description=("The kind of reason: a resource of the node, devices for the claims, or something else.")),
    ]
    resource: Annotated[
        str, Meta(description="The resource of which too little is left; `pods` if the node accepts no more pods.")
    ] = ""
    message: Annotated[str, Meta(description="The scheduler's message for this reason.")]
    nodes_with_copies: Annotated[Amount, Meta(description="The number of nodes with copies that have this reason.")]
    other_nodes: Annotated[Amount, Meta(description="The number of nodes without copies that have this reason.")]
    alone: Annotated[Amount, Meta(description="The number of nodes that have only this reason.")]
    need: Annotated[str, Meta(description=("For a resource of the node: the amount that a copy requests."))] = ""
    left: Annotated[
        str,
        Meta(
            description=(
                "The largest amount that is left. If there are nodes that have only this reason, only they count."
            )
        ),
    ] = ""
    node: Annotated[str, Meta(description="For a resource of the node: the first node with this amount left.")] = ""
    pod: LargestPod = ""
    used: Annotated[str, Meta(description="The amount that this pod requests.")] = ""


class DevicesInUse(DocumentPart, frozen=True, kw_only=True):
    """Devices of one driver, model and profile that are in use, and that a copy could get if they were free."""

    driver: Text
    model: ModelName = ""
    profile: Annotated[
        str,
        Meta(
            description=(
                "The kind of partition, if the devices are partitions that share counters. Each partition "
                "counts as a device."
            )
        ),
    ] = ""
    devices: Amount
    on_nodes_with_copies: Annotated[
        Amount, Meta(description=("The number of these devices that are on nodes with copies."))
    ]
    by_copies: Annotated[Amount, Meta(description="The number of these devices that only the counted copies use.")] = 0


class ShortResource(DocumentPart, frozen=True, kw_only=True):
    """A resource of which a node has too little left for one more copy."""

    resource: Text
    need: Annotated[str, Meta(description="The amount that a copy requests.")]
    left: Annotated[str, Meta(description="The amount that is left on the node.")]
    pod: LargestPod = ""
    used: Annotated[str, Meta(description="The amount that this pod requests.")] = ""


class NodeShortage(DocumentPart, frozen=True, kw_only=True):
    """What nodes lack for one more copy. Nodes with equally many copies that lack the same share an entry."""

    nodes: list[str]
    copies: Annotated[Amount, Meta(description="The number of copies on each of the nodes.")] = 0
    devices: Annotated[LeadingReason | None, Meta(description="The main reason about devices, if they fail.")] = None
    resources: list[ShortResource] = []
    messages: Annotated[
        list[str], Meta(description="The scheduler's messages for other reasons, and on nodes that were not examined.")
    ] = []


class NextCopy(DocumentPart, frozen=True, kw_only=True):
    """The reasons why one more copy does not fit, and the changes that would make it fit."""

    obstacles: Annotated[
        list[CopyObstacle],
        Meta(description="The reasons. Those of most nodes with copies come first."),
    ]
    by_node: Annotated[
        list[NodeShortage],
        Meta(description="What each node lacks. Nodes with the most copies come first, nodes without devices last."),
    ] = []
    looked_at: Annotated[
        Amount,
        Meta(
            description=(
                "The number of nodes that reject because of devices and were checked in detail. If there are "
                "many, only some are checked, those with copies first."
            )
        ),
    ]
    nodes: Annotated[Amount, Meta(description="All nodes that reject one more copy.")] = 0
    ran_out: Annotated[
        list[LeadingReason],
        Meta(description=("The reasons about devices on those of the checked nodes that have copies.")),
    ]
    leading: Annotated[list[LeadingReason], Meta(description="The reasons about devices on all checked nodes.")]
    in_use: Annotated[
        list[DevicesInUse],
        Meta(description="The suitable devices on all checked nodes that are in use."),
    ]
    suggestions: Annotated[
        list[TriedChanges],
        Meta(
            description=("Changes that were tried and that make room for one more copy, without losing another copy.")
        ),
    ]
    sought: Annotated[
        bool,
        Meta(
            description=("True if changes were tried. They are not tried if something other than devices is missing.")
        ),
    ] = False
    own_claims: Annotated[
        Amount, Meta(description="The number of claims of the owner's own pods. No suggestion releases such a claim.")
    ] = 0
