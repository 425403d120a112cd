"""Pods on the picture: the node of each, and the devices that it gets there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dra_plan.api.resource import ResourceClaim
from dra_plan.output import explain_words as words
from dra_plan.output import text

from . import picks
from .picks import Mark
from .scene import Scene, ScenePlace

MOST_NAMED = 8
"""Pods of a node that are named; of more, their number is told."""


@dataclass(frozen=True, slots=True)
class DrawnPod:
    """A pod, NAMESPACE/NAME, its node, and the claims that it brings or uses, with their allocations."""

    pod: str
    node: str
    claims: tuple[ResourceClaim, ...] = ()


def of_one(bound: DrawnPod, drawn: Scene, label: str = "bound here") -> dict[int, Mark]:
    """Where the pod is, and what its requests get."""
    made: dict[int, Mark] = {}
    place = drawn.by_node.get(bound.node)
    if place is not None:
        made[place.number] = Mark(picks.GOOD, label)
    for where, at, request in _devices(bound, drawn):
        made.setdefault(where.number, Mark(picks.GOOD, "used")).gets[at] = f"request {request}"
    return made


def of_all(pods: Iterable[DrawnPod], drawn: Scene) -> dict[int, Mark]:
    """What each node holds of the pods, and which of them gets which device."""
    made: dict[int, Mark] = {}
    held: dict[int, list[str]] = {}
    users: dict[tuple[int, int], list[str]] = {}
    for bound in pods:
        place = drawn.by_node.get(bound.node)
        if place is not None:
            held.setdefault(place.number, []).append(bound.pod)
            made.setdefault(place.number, Mark(picks.GOOD, ""))
        for where, at, _ in _devices(bound, drawn):
            made.setdefault(where.number, Mark(picks.GOOD, "used"))
            users.setdefault((where.number, at), []).append(bound.pod)
    for (number, at), given in users.items():
        names = list(dict.fromkeys(given))
        made[number].gets[at] = f"for {'pod' if len(names) == 1 else 'pods'} {words.listed(names, MOST_NAMED)}"
    for number, named in held.items():
        made[number].label = f"holds {words.counted(len(named), 'pod')}"
        made[number].message = words.listed(named, MOST_NAMED)
    return made


def _devices(bound: DrawnPod, drawn: Scene) -> Iterator[tuple[ScenePlace, int, str]]:
    """The devices of a pod, by place and position, with the requests."""
    for claim in bound.claims:
        for result in claim.allocation.devices.results if claim.allocation is not None else ():
            for device in drawn.by_device.get(text.device_name(result), ())[:1]:
                yield drawn.home[id(device)], device.at, result.request
