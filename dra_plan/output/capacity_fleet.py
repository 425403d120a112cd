"""The figures of the fleet below `capacity`: which devices are idle, and which of these nobody asked about can use."""

from __future__ import annotations

from dra_plan.documents.fleet import FleetFigures, IdleDevices, StrandedFor

from .columns import Part, Table


def parts(fleet: FleetFigures) -> list[Part]:
    """One row per driver and model, and nothing for a cluster without devices."""
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
        made.add(kind.driver, kind.model, *profile, str(kind.devices), str(kind.idle), *_rest(kind))
    return [made] if made.rows else []


def _rest(kind: IdleDevices) -> tuple[str, str, str]:
    most = f"{kind.most_on_one_node} ({kind.node})" if kind.most_on_one_node else "0"
    stranded = "not known" if kind.stranded is None else str(kind.stranded)
    return most, stranded, ", ".join(f"{reason.devices} {why_stranded(reason)}" for reason in kind.reasons)


def why_stranded(reason: StrandedFor) -> str:
    """Why idle devices are of no use, in words."""
    match reason.code:
        case "not-wanted":
            return "not asked for"
        case "node":
            return reason.message
    return "too few for one more"
