"""How near other values for a selector come to the requested values, by their devices' amounts."""

from __future__ import annotations

from dataclasses import replace

from msgspec import structs

from dra_plan.allocator import PoolDevice
from dra_plan.api import quantity
from dra_plan.documents.suggestions import OtherAmount, SelectorChanged
from dra_plan.explanation.funnel import NodeOffer
from dra_plan.explanation.reasons import amount as text

from .patches import Change

_NEAR = 1 << 80
"""More than any amount: the nearness of a value whose devices can be compared with those that were asked for."""


def with_nearness(offer: NodeOffer, change: Change) -> Change:
    """Return the change with a size. The size says how close the devices are to the devices that the selector asks for.

    If no device on the node is what the selector asks for, the device with the largest amounts is the closest.
    Otherwise, if the amounts differ, the change also gives the amount of the compared capacity that the devices have.
    """
    told = change.told
    if not isinstance(told, SelectorChanged) or told.code != "change-value" or told.replacement is None:
        return change
    asked, given = _largest_amounts(offer, told.expression), _largest_amounts(offer, told.replacement)
    names = [name for name in sorted(given, key=_importance) if given[name] > 0]
    shared = next((name for name in names if not asked or asked.get(name, 0) > 0), None)
    if shared is None:
        return change
    if not asked:
        return replace(change, size=given[shared])
    larger, smaller = max(asked[shared], given[shared]), min(asked[shared], given[shared])
    amount = OtherAmount(name=shared, from_=text(asked[shared]), to=text(given[shared]))
    told = structs.replace(told, amount=amount if larger > smaller else None)
    return replace(change, told=told, size=_NEAR - larger * 1_000 // smaller)


def _importance(name: str) -> tuple[bool, str]:
    """Return the order of amounts: memory first, by which people choose devices."""
    return not name.lower().endswith(MEMORY), name


MEMORY = "memory"


def memory_of(device: PoolDevice) -> int:
    """Return the memory of a device in nano-units: the device's capacity, or the memory that it takes from counters."""
    capacity = device.device.capacity.items()
    own = [one.value for name, one in capacity if name.lower().endswith(MEMORY)]
    taken = (each for consumed in device.device.consumes_counters for each in consumed.counters.items())
    amounts = own or [one.value for name, one in taken if name.lower().endswith(MEMORY)]
    return max((quantity.parse(one).nano for one in amounts), default=0)


def _largest_amounts(offer: NodeOffer, expression: str) -> dict[str, int]:
    """Return the largest capacities, and counters consumed, of the node's devices for which the selector is true."""
    found: dict[str, int] = {}
    try:
        selector = offer.placement.view.compile(expression)
    except ValueError:
        return found
    for each in (device for pool in offer.pools for device in pool.devices()):
        try:
            if not selector.matches(each.device, each.id.driver):
                continue
        except ValueError:
            continue
        amounts = [(name, capacity.value) for name, capacity in each.device.capacity.items()]
        amounts += ((n, c.value) for taken in each.device.consumes_counters for n, c in taken.counters.items())
        for name, value in amounts:
            found[name] = max(found.get(name, 0), quantity.parse(value).nano)
    return found
