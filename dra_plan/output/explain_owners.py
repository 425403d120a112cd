"""`explain` of what was named and has nothing to plan: where it runs and with which devices, or what it asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dra_plan.documents.allocation import PlannedClaim
from dra_plan.documents.owners import AskedResource, UnplannedOwner

from . import explain_words as words
from . import text
from .explain_layout import Lines, indented

SCHEDULE = "`dra-plan schedule`, with the same arguments, says what becomes of it."


def unplanned_lines(of: UnplannedOwner) -> Lines:
    """What is told of one owner: what it is, then what it has, or asks for."""
    name = text.named(of.owner)
    yield f"{name}: {_HEADLINES[of.state](of)}."
    yield from indented(_having(of))
    yield from indented(_asking(of))


_HEADLINES: dict[str, Callable[[UnplannedOwner], str]] = {
    "Bound": lambda of: f"has its node already: {of.node_name}",
    "Finished": lambda of: f"has finished{f' ({of.phase})' if of.phase else ''} and holds no devices",
    "Deleting": lambda of: f"is being deleted{f', on {of.node_name}' if of.node_name else ''}",
    "Allocated": lambda of: f"has its devices already{_users(of)}",
    "WithoutClaims": lambda of: f"uses no resource claims{'' if _is_served(of) else _NO_DEVICES}",
}


_NO_DEVICES = ", so there are no devices to choose for it"


def _is_served(of: UnplannedOwner) -> bool:
    """Whether devices are asked for as extended resources."""
    return any(ask.device_class for ask in of.asks)


def _users(of: UnplannedOwner) -> str:
    users = [f"{user.kind.lower()}/{user.name}" for user in of.used_by]
    return f", reserved for {words.listed(users)}" if users else ", and nobody has reserved it"


def _having(of: UnplannedOwner) -> Iterator[str]:
    for claim in of.claims:
        yield from _devices(claim)
    for pending in of.pending_claims:
        yield f"Claim {pending.name} has no devices."
    for entry in of.missing_claims:
        yield f"The claim of {entry} is not in the input, so its devices are not known (kubectl get resourceclaims -A)."
    if of.state == "Bound" and not (of.claims or of.pending_claims or of.missing_claims):
        yield "It has no claims."


def _devices(claim: PlannedClaim) -> Iterator[str]:
    results = claim.allocation.devices.results
    if not results:
        yield f"Claim {claim.name} is allocated, without any device."
    for result in results:
        taken = text.consumed(result)
        share = f" ({taken})" if taken else ""
        yield f"Request {result.request} of claim {claim.name} has {text.device_name(result)}{share}."


def _asking(of: UnplannedOwner) -> Iterator[str]:
    if not of.asks:
        return
    yield f"It asks its node for {words.listed([f'{ask.name}={ask.amount}' for ask in of.asks], len(of.asks))}."
    for ask in of.asks:
        yield from _extended(ask)
    if of.state == "WithoutClaims":
        yield SCHEDULE


def _extended(of: AskedResource) -> Iterator[str]:
    """Who serves a resource that has a domain of its own."""
    if of.device_class:
        also = f" (a device plugin on {words.counted(of.nodes, 'node')} goes before them)" if of.nodes else ""
        yield f"{of.name} is served by devices of class {of.device_class}{also}."
    elif "/" in of.name and of.nodes:
        has = "has" if of.nodes == 1 else "have"
        nodes = words.counted(of.nodes, "node")
        yield f"{of.name} is not served by any device class; {nodes} {has} it from a device plugin."
    elif "/" in of.name:
        yield f"{of.name} is not served by any device class, and no node has it to allocate."
