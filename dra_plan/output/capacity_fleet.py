"""The figures of the fleet below `capacity`: which devices are idle, and which of these nobody asked about can use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from msgspec import UNSET

from dra_plan.documents.capacity import CapacityDocument
from dra_plan.documents.fleet import FleetFigures, IdleDevices, StrandedFor

from .columns import Paragraph, Part, Table
from .explain_words import listed


def parts(document: CapacityDocument) -> list[Part]:
    """One row per driver and model, and nothing for a cluster without devices."""
    fleet = document.fleet
    profiles = any(kind.profile for kind in fleet.kinds)
    headers = (
        "DRIVER",
        "MODEL",
        *(("PROFILE",) if profiles else ()),
        "DEVICES",
        "IDLE",
        "MOST ON A NODE",
        "STRANDED",
        "WHY",
    )
    made = Table(headers, grouped=1, flexible=(1, len(headers) - 1))
    for kind in fleet.kinds:
        profile = (kind.profile,) if profiles else ()
        made.add(kind.driver, kind.model, *profile, f"{kind.devices:,}", f"{kind.idle:,}", *_rest(kind, document))
    return [made, *_notes(fleet)] if made.rows else []


def _notes(fleet: FleetFigures) -> Iterator[Part]:
    """What the numbers leave out: devices that are neither idle nor used up, and that parts exclude each other."""
    lines = [
        f"  {' '.join(part for part in (kind.driver, kind.model, kind.profile) if part)}: {withheld(kind)}"
        for kind in fleet.kinds
        if kind.withheld
    ]
    if lines:
        yield Paragraph(["Neither idle nor used up:", *lines])
    kinds = Counter((kind.driver, kind.model) for kind in fleet.kinds if kind.profile)
    if any(number > 1 for number in kinds.values()):
        yield "Parts of one device exclude each other: a profile is counted as if no other one were taken."


def withheld(of: IdleDevices) -> str:
    """Devices that are neither idle nor used up, in words."""
    told = [f"{one.devices:,} {f'({one.message})' if one.message else 'shared, with room left'}" for one in of.withheld]
    return listed(told)


def _rest(kind: IdleDevices, document: CapacityDocument) -> tuple[str, str, str]:
    most = f"{kind.most_on_one_node:,} ({kind.node})" if kind.most_on_one_node else "0"
    stranded = "not known" if kind.stranded is None else f"{kind.stranded:,}"
    return most, stranded, why_stranded(kind, document)


def why_stranded(of: IdleDevices, document: CapacityDocument) -> str:
    """Why idle devices are of no use, each reason with their number."""
    what = "more" if document.mix is UNSET else "more set"
    return ", ".join(f"{reason.devices:,} {_why(reason, what)}" for reason in of.reasons)


def _why(reason: StrandedFor, what: str) -> str:
    match reason.code:
        case "not-wanted":
            return "not asked for"
        case "node":
            return reason.message
    return f"too few for one {what}"
