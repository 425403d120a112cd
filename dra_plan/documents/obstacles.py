"""What is in the way of one more pod, in documents."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from dra_plan.documents.base import Amount, DocumentPart, ModelName, Text, one_of
from dra_plan.documents.reasons import LeadingReason
from dra_plan.documents.suggestions import TriedChanges


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
        bool, Meta(description="Whether such changes were tried: not where something other than devices is missing.")
    ] = False
    own_claims: Annotated[
        Amount, Meta(description="Claims of pods that the owner has: no suggestion gives one of them up.")
    ] = 0
