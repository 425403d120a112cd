"""Figures of the whole fleet: which devices are idle, and which of these are of no use. A part of a CapacityPlan."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from .base import Amount, DocumentPart, ModelName, Text, one_of


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
            description="Idle, and still so at the end of every count: of no use to any of the owners. Null if that "
            "is not known, for a count was ended before the scheduler refused a copy."
        ),
    ]
    reasons: list[StrandedFor]
    most_on_one_node: Annotated[Amount, Meta(description="The largest number that is idle on one node.")]
    node: Annotated[str, Meta(description="The first node that has so many.")] = ""


class FleetFigures(DocumentPart, frozen=True, kw_only=True):
    """Devices that nodes of the cluster reach, by driver, model and profile."""

    kinds: list[IdleDevices]
