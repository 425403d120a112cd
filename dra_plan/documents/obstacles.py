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
    """One reason why nodes accept no more copies. A node may have several."""

    plugin: Text
    kind: Annotated[
        str,
        one_of("Resource", "Devices", "Other"),
        Meta(description=("The kind of reason: a resource of the node, devices for the claims, or something else.")),
    ]
    resource: Annotated[str, Meta(description="The resource that is short; `pods` if the node takes no more pods.")] = (
        ""
    )
    message: Annotated[str, Meta(description="The message of the scheduler for this obstacle.")]
    nodes_with_copies: Annotated[Amount, Meta(description="The number of nodes with copies.")]
    other_nodes: Annotated[Amount, Meta(description="The number of nodes without copies.")]
    alone: Annotated[Amount, Meta(description="Nodes where this is the only reason.")]
    need: Annotated[str, Meta(description=("For a resource of the node: the amount that a copy requests."))] = ""
    left: Annotated[
        str,
        Meta(description=("The largest amount left, on nodes where this is the only reason if there are any.")),
    ] = ""
    node: Annotated[str, Meta(description="For a resource of the node: the first node with this amount left.")] = ""
    pod: LargestPod = ""
    used: Annotated[str, Meta(description="The amount that this pod requests.")] = ""


class DevicesInUse(DocumentPart, frozen=True, kw_only=True):
    """Devices of one driver, model and profile that a copy could get if they were not in use."""

    driver: Text
    model: ModelName = ""
    profile: Annotated[
        str, Meta(description=("The kind of partitions that share counters. Each partition counts."))
    ] = ""
    devices: Amount
    on_nodes_with_copies: Annotated[Amount, Meta(description=("The number of these on nodes with copies."))]
    by_copies: Annotated[Amount, Meta(description="The number of these that only the counted copies use.")] = 0


class NextCopy(DocumentPart, frozen=True, kw_only=True):
    """The obstacles of one more copy, and the changes that would make it fit."""

    obstacles: Annotated[
        list[CopyObstacle],
        Meta(description="Sorted: the reason of most nodes with copies first."),
    ]
    looked_at: Annotated[
        Amount,
        Meta(
            description=(
                "Nodes that reject devices and were checked in detail; of many nodes only "
                "some, those with copies first."
            )
        ),
    ]
    nodes: Annotated[Amount, Meta(description="All nodes that reject one more copy.")] = 0
    ran_out: Annotated[
        list[LeadingReason], Meta(description=("The reasons of devices on those nodes that have copies."))
    ]
    leading: Annotated[list[LeadingReason], Meta(description="The reasons of devices on all of them.")]
    in_use: Annotated[
        list[DevicesInUse],
        Meta(description="Suitable devices that are in use, on all of them."),
    ]
    suggestions: Annotated[
        list[TriedChanges],
        Meta(description=("Changes that were tried and make room for one more copy, without losing another.")),
    ]
    sought: Annotated[
        bool, Meta(description=("Whether such changes were tried: not if something other than devices is missing."))
    ] = False
    own_claims: Annotated[Amount, Meta(description="Claims of the owner's pods, which no suggestion releases.")] = 0
