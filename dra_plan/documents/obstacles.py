"""Why a cluster has no room for one more copy of a pod, in documents."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from dra_plan.documents.base import Amount, DocumentPart, ModelName, Text, one_of
from dra_plan.documents.reasons import LeadingReason
from dra_plan.documents.suggestions import TriedChanges

LargestPod = Annotated[
    str,
    Meta(
        description=(
            "The largest pod on the node other than the copies, as NAMESPACE/NAME, if removing it would "
            "make room for a copy."
        )
    ),
]


class CopyObstacle(DocumentPart, frozen=True, kw_only=True):
    """A reason why nodes accept no more copies. A node may have several reasons."""

    plugin: Text
    kind: Annotated[
        str,
        one_of("Resource", "Devices", "Other"),
        Meta(description=("The kind of reason: a resource of the node, devices for the claims, or something else.")),
    ]
    resource: Annotated[
        str, Meta(description="The resource that is short, or `pods` if the node accepts no more pods.")
    ] = ""
    message: Annotated[str, Meta(description="The scheduler's message for this reason.")]
    nodes_with_copies: Annotated[
        Amount, Meta(description="The number of nodes with copies to which this reason applies.")
    ]
    other_nodes: Annotated[Amount, Meta(description="The number of nodes without copies to which this reason applies.")]
    alone: Annotated[Amount, Meta(description="The number of nodes for which this is the only reason.")]
    need: Annotated[str, Meta(description=("For a resource of the node: the amount that a copy requests."))] = ""
    left: Annotated[
        str,
        Meta(
            description=(
                "The largest amount left. If this is the only reason on some nodes, only these nodes are considered."
            )
        ),
    ] = ""
    node: Annotated[str, Meta(description="For a resource of the node: the first node that has `left`.")] = ""
    pod: LargestPod = ""
    used: Annotated[str, Meta(description="The amount that the pod requests.")] = ""


class DevicesInUse(DocumentPart, frozen=True, kw_only=True):
    """Devices of one driver, model and profile that are in use but would otherwise suit a copy."""

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
        Amount, Meta(description=("The number of the devices that are on nodes with copies."))
    ]
    by_copies: Annotated[Amount, Meta(description="The number of the devices that only the counted copies use.")] = 0


class ShortResource(DocumentPart, frozen=True, kw_only=True):
    """A resource of which a node has too little left for one more copy."""

    resource: Text
    need: Annotated[str, Meta(description="The amount that a copy requests.")]
    left: Annotated[str, Meta(description="The amount left on the node.")]
    pod: LargestPod = ""
    used: Annotated[str, Meta(description="The amount that the pod requests.")] = ""


class NodeShortage(DocumentPart, frozen=True, kw_only=True):
    """What nodes lack for one more copy. Nodes with the same number of copies and the same shortages share an entry."""

    nodes: list[str]
    copies: Annotated[Amount, Meta(description="The number of copies on each node.")] = 0
    devices: Annotated[
        LeadingReason | None, Meta(description="The main reason why the claims get no devices, if they get none.")
    ] = None
    resources: list[ShortResource] = []
    messages: Annotated[
        list[str],
        Meta(description="The scheduler's messages for other reasons, and for nodes that were not examined in detail."),
    ] = []


class NextCopy(DocumentPart, frozen=True, kw_only=True):
    """Why one more copy does not fit, and the changes that would make it fit."""

    obstacles: Annotated[
        list[CopyObstacle],
        Meta(description="The reasons. Those that apply to the most nodes with copies come first."),
    ]
    by_node: Annotated[
        list[NodeShortage],
        Meta(
            description=(
                "What each node lacks. Nodes with the most copies come first, and nodes without devices come last."
            )
        ),
    ] = []
    looked_at: Annotated[
        Amount,
        Meta(
            description=(
                "The number of examined nodes without suitable devices. If there are many such nodes, only "
                "some are examined, starting with nodes that have copies."
            )
        ),
    ]
    nodes: Annotated[Amount, Meta(description="All nodes that reject one more copy.")] = 0
    ran_out: Annotated[
        list[LeadingReason],
        Meta(description=("Why the claims get no devices on the examined nodes with copies.")),
    ]
    leading: Annotated[list[LeadingReason], Meta(description="Why the claims get no devices on all examined nodes.")]
    in_use: Annotated[
        list[DevicesInUse],
        Meta(description="The suitable devices in use on all examined nodes."),
    ]
    suggestions: Annotated[
        list[TriedChanges],
        Meta(description=("Tested changes that make room for one more copy without losing another.")),
    ]
    sought: Annotated[
        bool,
        Meta(description=("Whether changes were tried. They are not tried if something other than devices is short.")),
    ] = False
    own_claims: Annotated[
        Amount, Meta(description="The number of claims that the owner's own pods hold. No suggestion releases them.")
    ] = 0
