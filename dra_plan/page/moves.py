"""Pods that move between nodes, and how the picture shows them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dra_plan.page import picks
from dra_plan.page.content import Page
from dra_plan.page.picks import Mark, Moments
from dra_plan.page.pods import MOST_NAMED
from dra_plan.page.scene import Scene
from dra_plan.text import words


@dataclass(frozen=True, slots=True)
class DrawnMove:
    """A pod's move from one node to another, and the devices that it gets there.

    `pod` is given as NAMESPACE/NAME, and `devices` as DRIVER/POOL/DEVICE. `to_node` is "" if the pod gets no node, and
    `from_node` is "" if the pod starts. `pod` is "" if devices are only freed.
    """

    pod: str
    from_node: str
    to_node: str
    devices: Sequence[str] = ()
    lost: str = "left pending"
    """The text for a pod that gets no node."""


def ways(moves: Iterable[DrawnMove]) -> list[tuple[str, str]]:
    """Return the pairs of nodes between which pods move. Pods that stay, start or get no node are left out."""
    return [
        (one.from_node, one.to_node) for one in moves if one.from_node and one.to_node and one.from_node != one.to_node
    ]


def of_moves(moves: Sequence[DrawnMove], drawn: Scene, now: Moments | None) -> dict[int, Mark]:
    """Return the marks for nodes that pods leave or move to.

    If `now` is given, the devices of the pods that leave are marked too.
    """
    made: dict[int, Mark] = {}
    for one in moves:
        for node, kind in ((one.from_node, picks.OTHER), (one.to_node, picks.GOOD)):
            place = drawn.by_node.get(node)
            if place is not None and (now is not None or node == one.to_node):
                mark = made.setdefault(place.number, Mark(kind, ""))
                mark.tone = picks.BAD if not one.to_node else kind if mark.tone == picks.GOOD else mark.tone
        for device in (found for name in one.devices for found in drawn.by_device.get(name, ())[:1]):
            place = drawn.home[id(device)]
            made.setdefault(place.number, Mark(picks.GOOD, "used")).gets[device.at] = (
                f"for pod {one.pod}" if one.pod else ""
            )
    for number, mark in made.items():
        place = drawn.places[number]
        out = [one for one in moves if now is not None and one.from_node == place.title]
        into = [one for one in moves if one.to_node == place.title and one.from_node != place.title]
        if place.node is not None:
            mark.label = _label(out, into, comes=now is not None)
            mark.message = words.listed([*map(_goes, out), *(one.pod for one in into if one.pod)], MOST_NAMED)
        if now is not None:
            leaving = {one.pod: _goes(one) for one in moves if one.from_node}
            for device in now.devices(place):
                pods = [f"{holder.namespace}/{pod}" for holder in device.drawn.holders for pod in holder.pods]
                said = [leaving[pod] for pod in pods if pod in leaving]
                if said:
                    mark.harms[device.at] = words.listed(said, MOST_NAMED)
    return made


def _label(out: Sequence[DrawnMove], into: Sequence[DrawnMove], *, comes: bool) -> str:
    stay = [one for one in out if one.from_node == one.to_node]
    go = [one for one in out if one.to_node and one not in stay]
    lost = Counter(one.lost for one in out if not one.to_node)
    said = [
        *((number, word, word) for word, number in lost.items()),
        (len(go), "leaves", "leave"),
        (len(stay), "restarts", "restart"),
        (len(into), "comes" if comes else "more", "come" if comes else "more"),
    ]
    return ", ".join(
        f"{words.counted(number, 'pod')} {one if number == 1 else many}" for number, one, many in said if number
    )


def _goes(one: DrawnMove) -> str:
    if not one.to_node:
        return f"{one.pod}: {one.lost}"
    return f"{one.pod} restarts" if one.to_node == one.from_node else f"{one.pod} goes to {one.to_node}"


def through_waves(made: Page) -> None:
    """Make all entries of the page steps of the slider: the waves of moves, and the result."""
    if made.scenes:
        made.slider, made.before, made.steps = "Waves", "before the first wave", len(made.picks)
        made.tiles_when = "Before the first wave."
