"""The one reason that matters most on a node, and on how many nodes it does: a summary of many."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from .base import Amount, DocumentPart, Text


class LeadingReason(DocumentPart, frozen=True, kw_only=True):
    """What is in the way on so many nodes. docs/reasons.md describes the codes."""

    code: Text
    class_: Annotated[str, Meta(description="Whose selector refuses, if it is not the request's own.")] = ""
    name: Annotated[
        str, Meta(description="The attribute, capacity, counter or taint that it is about, if there is one.")
    ] = ""
    request: str = ""
    need: Annotated[Amount | None, Meta(description="Devices that the request needs there.")] = None
    left: Annotated[Amount | None, Meta(description="The most that are left for it on any of the nodes.")] = None
    left_from: Annotated[
        Amount | None, Meta(description="The fewest that are left, where that is not the same on all of the nodes.")
    ] = None
    need_from: Annotated[
        Amount | None, Meta(description="The fewest that it needs, where that is not the same on all of the nodes.")
    ] = None
    need_to: Annotated[Amount | None, Meta(description="And the most.")] = None
    nodes: Annotated[int, Meta(ge=1)]
