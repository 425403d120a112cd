"""Drivers that a request wants, and that publish devices for other nodes, but none for a node."""

from __future__ import annotations

from dra_plan.allocator.requests import Want
from dra_plan.cel.parts import strings
from dra_plan.documents.stories import MissingDriver
from dra_plan.explanation.funnel import NodeOffer


def missing_drivers(offer: NodeOffer) -> list[MissingDriver]:
    """Return the drivers that requests which fail on the node want, if another driver has devices there."""
    here = {pool.id.driver for pool in offer.pools}
    failing = [funnel.want for funnels in offer.failing() for funnel in funnels] if here else []
    gatherer = offer.placement.view.gatherer
    known = {pool.driver for pool in gatherer.slices} - here if failing else set()
    wanted = {name for want in failing for name in _named(want) if _named(want).isdisjoint(here)} & known
    found = []
    for driver in sorted(wanted):
        nodes = sum(any(one.pool_id.driver == driver for one in gatherer.local_slices(n)) for n in gatherer.node_names)
        found += [MissingDriver(driver=driver, nodes=nodes)] if nodes else []
    return found


def _named(want: Want) -> set[str]:
    """Return the texts in the selectors of the request and its class: one of them may be a driver."""
    return {text for one in want.conditions for text in strings(one.expression)}
