"""What an earlier look at nodes found, for claims that ask for the same in the cluster as it is later.

Kept are the funnels of nodes, which follow from what is asked for and from who has which devices in the node's pools,
and what devices are published with. What is said of several nodes together is found anew.
"""

from __future__ import annotations

from dataclasses import replace

from dra_plan.api.core import Node

from .absent import Published
from .funnel import Funnel, NodeOffer, offer
from .placement import Placement
from .reasons import SelectorFailed

Holders = tuple[tuple[str, object], ...]
"""The claims that have devices in a node's pools, by NAMESPACE/NAME, each with what it has."""


class KnownFindings:
    """What was found for one `claimsets.alike.asked` in one cluster, of which only claims change."""

    def __init__(self) -> None:
        self._funnels: dict[str, tuple[Node, Holders, list[Funnel]]] = {}
        self.published: Published = {}
        """What devices have under the names that selectors read."""

    def offer(self, placement: Placement) -> NodeOffer:
        """As `funnel.offer`, which looks only where a device of the node's pools has changed hands.

        Counters that pools of one name share (Q1) may change with devices of other nodes, and words of errors name
        claims: such funnels are not kept.
        """
        if placement.view.shared_counter_names:
            return offer(placement)
        name = placement.node.metadata.name
        holders = tuple(
            (claim.key, claim.allocation.devices.results) for claim in placement.allocated if claim.allocation
        )
        known = self._funnels.get(name)
        if known is not None and known[0] is placement.node and known[1] == holders:
            wants = placement.wants()
            return offer(placement, [replace(old, want=want) for old, want in zip(known[2], wants, strict=True)])
        made = offer(placement)
        if not any(map(_names_claims, made.funnels)):
            self._funnels[name] = (placement.node, holders, made.funnels)
        return made


def _names_claims(funnel: Funnel) -> bool:
    return any(isinstance(refusal, SelectorFailed) for removal in funnel.removals for refusal in removal.refusals)
