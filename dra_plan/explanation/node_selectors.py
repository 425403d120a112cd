"""Which selectors of nodes with one group are taken apart, and over which devices."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from dra_plan.allocator import PoolDevice
from dra_plan.allocator.reasons import SelectorRefused

from .funnel import Funnel, NodeOffer, Removal
from .published import Publications
from .reasons import PoolUnusable, Refusal, SelectorFailed
from .selectors import DecisivePart, decisive_parts


def decisive_parts_of(offers: Sequence[NodeOffer]) -> dict[tuple[int, int], list[DecisivePart]]:
    """The deciding parts of selectors, for requests that can't be met alone, by want and removal of the first offer.

    The devices are those of all the offers. Of a class's selector only where no device passes it: that it keeps other
    kinds of devices out is its purpose. Without offers, as where pools can't be gathered, there are none.
    """
    if not offers:
        return {}

    @cache
    def publications() -> Publications:
        return Publications(device for offer in offers for pool in offer.pools for device in pool.devices())

    failing = {id(funnel) for funnels in offers[0].failing() for funnel in funnels}
    found: dict[tuple[int, int], list[DecisivePart]] = {}
    for position, told in enumerate(offers[0].funnels):
        if id(told) not in failing:
            continue
        for number, removal in enumerate(told.removals):
            refusal = removal.refusal
            if not isinstance(refusal, SelectorRefused | SelectorFailed) or _is_whole_device(refusal):
                continue
            if refusal.class_name is None or not any(
                _is_passed(offer, offer.funnels[position], refusal.class_name) for offer in offers
            ):
                devices = _devices(offers, position, removal)
                compile_ = offers[0].placement.view.compile
                found[position, number] = decisive_parts(refusal.expression, devices, compile_, publications)
    return found


def _devices(offers: Sequence[NodeOffer], position: int, removal: Removal) -> list[PoolDevice]:
    """The devices that the same reason takes away from the want on any of the nodes, each once."""
    key = removal.key
    found = {
        device.id: device
        for offer in offers
        for other in offer.funnels[position].removals
        if other.key == key
        for device in other.devices
    }
    return list(found.values())


def _is_whole_device(refusal: Refusal) -> bool:
    """Whether a selector fails whatever it says, as one attribute of the device can't be had, or does not compile."""
    return isinstance(refusal, SelectorFailed) and (refusal.of_device or not refusal.compiles)


def _is_passed(offer: NodeOffer, told: Funnel, class_name: str) -> bool:
    """Whether any device, free or not, passes the selectors of the class."""
    if told.left:
        return True
    for removal in told.removals:
        if isinstance(removal.refusal, PoolUnusable) or getattr(removal.refusal, "class_name", None) == class_name:
            continue
        for device in removal.devices:
            refusal = offer.checks.selector(told.want, device)
            if getattr(refusal, "class_name", None) != class_name:
                return True
    return False
