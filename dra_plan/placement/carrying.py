"""From nodes with pods to a placement: the pods are put on them one by one, each verified (`verify`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dra_plan.api.resource import ResourceClaim

from .candidates import PodToPlace
from .errors import UnverifiedPlacementError
from .ground import Ground
from .verify import CarriedOut, Found


@dataclass(frozen=True)
class PlacedPod:
    """A pod, its node, and what the claims get that it brings: those of pods placed before it are not repeated."""

    candidate: PodToPlace
    node: str
    claims: tuple[ResourceClaim, ...] = ()
    """With their allocations."""


class Carrying:
    """The cluster while a placement is carried out.

    Where nodes share devices, pods may find theirs gone (`may_find_devices_gone`); else that is an internal error.
    """

    def __init__(self, ground: Ground, *, may_find_devices_gone: bool) -> None:
        self._ground, self._standing = ground, CarriedOut(ground)
        self._may_find_devices_gone = may_find_devices_gone

    def on_node(self, name: str, pods: Sequence[PodToPlace], found: Found | None = None) -> Iterator[PlacedPod]:
        """Puts pods on a node, with the devices that were found for them, or with such as they can have together."""
        hint = self._standing.hint(pods, name) if found is None else found
        for candidate in pods:
            why = self._place(candidate, name, hint)
            if isinstance(why, PlacedPod):
                yield why
            elif not self._may_find_devices_gone:
                raise UnverifiedPlacementError(candidate.pod.key, name, why)

    def know(self, name: str) -> None:
        """The node counts as it is now, whatever others put on it before pods are put on it here."""
        self._standing.node(name)

    def elsewhere(self, left: list[PodToPlace]) -> Iterator[PlacedPod]:
        """Pods that found their devices gone, on the first node that takes them; they are no longer `left`."""
        for candidate in list(left):
            tried = (self._place(candidate, node.name, {}) for node in self._ground.nodes)
            placed = next((each for each in tried if isinstance(each, PlacedPod)), None)
            if placed is not None:
                left.remove(candidate)
                yield placed

    def _place(self, candidate: PodToPlace, name: str, hint: Found) -> PlacedPod | str:
        """The pod on the node, or why it can't be there."""
        before = len(self._standing.claims)
        why = self._standing.place(candidate, name, hint)
        return why or PlacedPod(candidate, name, self._standing.newest(len(self._standing.claims) - before))
