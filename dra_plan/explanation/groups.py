"""Groups of nodes with the same findings, which are the known reasons why claims do not fit."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, field
from msgspec.structs import replace

from dra_plan.allocator import NodeOutcome
from dra_plan.api.core import Node
from dra_plan.api.resource import ResourceClaim

from .elements import BlockingSet
from .errors import ErrorDetails
from .funnel import DeviceChoice, Funnel, NodeOffer
from .names import DecisiveDefects
from .placement import Placement
from .selectors import DecisivePart


class NodeGroup(Struct):
    """Nodes with the same findings. `answer`, `offer` and `placement` belong to the first node.

    `answers` and `offers` contain an entry for every node, in order. `decisive_parts` covers the devices of all nodes.
    """

    nodes: list[Node]
    answers: list[NodeOutcome]
    offers: list[NodeOffer | None]
    decisive_parts: dict[tuple[int, int], list[DecisivePart]] = field(default_factory=dict)
    blocking: BlockingSet | None = None
    defect: DecisiveDefects | None = None
    error: ErrorDetails | None = None
    choices: list[DeviceChoice] = field(default_factory=list)
    elsewhere: list[ResourceClaim] = field(default_factory=list)
    placement: Placement | None = None

    @property
    def answer(self) -> NodeOutcome:
        """The result for the first node."""
        return self.answers[0]

    @property
    def offer(self) -> NodeOffer | None:
        """What the first node offers to the claims."""
        return self.offers[0]

    def add(self, node: Node, answer: NodeOutcome, offer: NodeOffer | None) -> None:
        """Add a node, which must have the same findings as the group."""
        self.nodes.append(node)
        self.answers.append(answer)
        self.offers.append(offer)

    def led_by(self, name: str) -> NodeGroup | None:
        """Return the group with this node moved to the front.

        Return None if the node is already at the front, or is not in the group.
        """
        names = [node.metadata.name for node in self.nodes]
        if name not in names[1:]:
            return None
        at = names.index(name)
        order = [at, *(other for other in range(len(names)) if other != at)]
        return replace(
            self,
            nodes=[self.nodes[other] for other in order],
            answers=[self.answers[other] for other in order],
            offers=[self.offers[other] for other in order],
        )

    def lead(self) -> None:
        """Move the node with the most findings to the front, so that it represents the group.

        If several nodes have the most findings, the one with the most devices left is moved.
        """
        told = [_weight(offer) for offer in self.offers]
        position = told.index(max(told))
        self.nodes.insert(0, self.nodes.pop(position))
        self.answers.insert(0, self.answers.pop(position))
        self.offers.insert(0, self.offers.pop(position))

    def funnels(self, want: int) -> Iterator[Funnel]:
        """Yield the funnel on each node for the request with the index `want`."""
        return (offer.funnels[want] for offer in self.offers if offer is not None)

    def removed(self, want: int, key: tuple[object, ...]) -> tuple[int, int]:
        """Return the smallest and the largest number of devices that a reason removes on a node of the group.

        `want` is the index of the request, and `key` is the key of the reason.
        """
        counts = [next((len(r.devices) for r in funnel.removals if r.key == key), 0) for funnel in self.funnels(want)]
        return min(counts), max(counts)

    def left(self, want: int) -> tuple[int, int]:
        """Return the smallest and the largest number of devices left on a node of the group.

        `want` is the index of the request.
        """
        counts = [len(funnel.left) for funnel in self.funnels(want)]
        return min(counts), max(counts)

    def devices(self, want: int) -> tuple[int, int]:
        """Return the smallest and the largest number of devices checked on a node of the group.

        `want` is the index of the request.
        """
        counts = [funnel.devices for funnel in self.funnels(want)]
        return min(counts), max(counts)


def _weight(offer: NodeOffer | None) -> tuple[int, int]:
    """Return the number of checks that remove devices of a node, and of the devices that are left."""
    funnels = offer.funnels if offer is not None else []
    return sum(len(funnel.removals) for funnel in funnels), sum(len(funnel.left) for funnel in funnels)
