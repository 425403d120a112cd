"""The attribute that a constraint compares but devices lack, with its publishers and the compared requests."""

from __future__ import annotations

from collections import Counter
from weakref import WeakKeyDictionary

from dra_plan.allocator.constraints import look_up
from dra_plan.allocator.pools import PoolGatherer
from dra_plan.allocator.reasons import AttributeMissing
from dra_plan.documents.devices import AttributePublisher, ComparedAttribute

from .funnel import NodeOffer, Removal
from .placement import Placement


def compared_attribute(offer: NodeOffer, claim: int, removal: Removal) -> ComparedAttribute | None:
    """Return the attribute that the removed devices lack, or None if there is another reason for their removal.

    `claim` is the index of the claim. The drivers of the removed devices come first, followed by other drivers in the
    input that publish the attribute.
    """
    refusal = removal.refusal
    if not isinstance(refusal, AttributeMissing):
        return None
    spec = offer.placement.claims[claim].spec.devices
    constraint = spec.constraints[refusal.constraint]
    counted = _publishing(offer.placement, refusal.attribute)
    own = sorted({device.id.driver for device in removal.devices})
    others = sorted(driver for driver, (_, having) in counted.items() if having and driver not in own)
    return ComparedAttribute(
        requests=constraint.requests or [request.name for request in spec.requests],
        distinct=constraint.match_attribute is None,
        is_only=len(spec.constraints) == 1,
        drivers=[AttributePublisher(driver=one, devices=counted[one][0], having=counted[one][1]) for one in own],
        publishers=others,
    )


def _publishing(placement: Placement, attribute: str) -> dict[str, tuple[int, int]]:
    """Return the number of devices of each driver in the input, and the number of those that have the attribute."""
    known = _COUNTED.setdefault(placement.view.gatherer, {})
    if attribute not in known:
        devices, having = Counter[str](), Counter[str]()
        slices = (each for slices in placement.view.gatherer.slices.values() for each in slices)
        for device, count in placement.like_devices.counted(slices):
            devices[device.id.driver] += count
            having[device.id.driver] += count if look_up(device, attribute) is not None else 0
        known[attribute] = {driver: (devices[driver], having[driver]) for driver in devices}
    return known[attribute]


_COUNTED: WeakKeyDictionary[PoolGatherer, dict[str, dict[str, tuple[int, int]]]] = WeakKeyDictionary()
"""The numbers of devices by attribute and driver: explanations of many nodes ask for them again."""
