"""Placements in which filters outside the program refuse pods: these are tried on other nodes, the others stay.

First come, first served, so that what is left in the end may still have a place in another placement.
"""

from __future__ import annotations

from collections.abc import Sequence

from .afterwards import Afterwards, PodsInside
from .candidates import PodToPlace
from .carrying import Carrying, PlacedPod
from .ground import Ground

MOST_TRIES = 5_000
"""So many times a pod is tried on a node."""


class Repair:
    """Adds pods to a placement that all filters let in."""

    def __init__(self, ground: Ground, placed: Sequence[PlacedPod]) -> None:
        self._ground, self._placed = ground, list(placed)
        self._carrying = Carrying(ground, may_find_devices_gone=True)
        self._tries = 0

    def with_more(self, left: Sequence[PodToPlace]) -> tuple[list[PlacedPod], list[PodToPlace]]:
        """The placement with those of the pods that can be somewhere, the most important first; and those left."""
        waiting = sorted(left, key=lambda candidate: -candidate.info.priority)
        with Afterwards(self._ground).inside() as inside:
            if not self._stands(inside):
                return self._placed, list(left)
            before = len(waiting) + 1
            while len(waiting) < before:  # who came in may be whom others wait to be beside of
                before = len(waiting)
                for candidate in list(waiting):
                    self._add(candidate, inside, waiting)
        return self._placed, waiting

    def _stands(self, inside: PodsInside) -> bool:
        """Puts the placement up as it is, with its devices."""
        again: list[PlacedPod] = []
        for each in self._placed:
            found = {claim.metadata.uid: claim.allocation for claim in each.claims if claim.allocation is not None}
            again += self._carrying.on_node(each.node, [each.candidate], found)
        return len(again) == len(self._placed) and not inside.let_in([(e.candidate, e.node) for e in self._placed])

    def _add(self, candidate: PodToPlace, inside: PodsInside, waiting: list[PodToPlace]) -> None:
        """The pod is no longer among those that wait, if there is a node for it."""
        for node in self._ground.nodes:
            if self._tries >= MOST_TRIES:
                return
            self._tries += 1
            self._carrying.know(node.name)
            if inside.add(candidate, node.name) is not None:
                continue
            placed = next(self._carrying.on_node(node.name, [candidate], {}), None)
            if placed is not None:
                self._placed.append(placed)
                waiting.remove(candidate)
                return
            inside.take_back()
