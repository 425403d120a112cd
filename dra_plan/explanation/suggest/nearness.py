"""The size of the devices that a changed selector or class allows, compared with the requested devices."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs
from msgspec.structs import replace

from dra_plan.allocator import AllocationError, NodeOutcome, Outcome, PoolDevice
from dra_plan.allocator.requests import Want
from dra_plan.api import quantity
from dra_plan.documents.claim_changes import ClassChanged, OtherAmount, SelectorChanged
from dra_plan.explanation.funnel import NodeOffer
from dra_plan.explanation.names import claim_name, request_name
from dra_plan.explanation.placement import Budget, Placement
from dra_plan.explanation.reasons import amount as text

from .patches import Change

_NEAR = 1 << 80
"""More than any amount: the nearness of a value whose devices can be compared with those that were asked for."""

_STEPS = 3_000
"""The number of search steps to find the devices that a request gets, after a change of its class was tried."""


def with_nearness(offer: NodeOffer, change: Change) -> Change:
    """Return a changed selector with a size that says how close its devices come to the requested ones.

    If no device on the node matches the original selector, larger devices are closer. If some do and the amounts
    differ, the change also contains the largest amounts before and after it.
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
    """Return the memory of a device in nano-units: its own capacity, or the memory that it consumes from counters."""
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
        for name, amount in _amounts(each).items():
            found[name] = max(found.get(name, 0), amount)
    return found


def _amounts(device: PoolDevice) -> dict[str, int]:
    """Return the capacities of a device, and the counters that it consumes, in nano-units."""
    amounts = [(name, capacity.value) for name, capacity in device.device.capacity.items()]
    amounts += ((n, c.value) for taken in device.device.consumes_counters for n, c in taken.counters.items())
    found: dict[str, int] = {}
    for name, value in amounts:
        found[name] = max(found.get(name, 0), quantity.parse(value).nano)
    return found


def with_class_amount(first: Placement, changed: Placement, change: Change) -> Change:
    """Return a change of class with the amount that is lost.

    The devices that the request gets on the node are compared with the largest device of the current class, by the most
    important amount that both have. The change is returned unchanged if the new devices are at least as large.
    """
    told = change.told
    if not isinstance(told, ClassChanged):
        return change
    outcome = changed.ask(Budget(_STEPS, _STEPS))
    named = {"claim": told.claim, "request": told.request}
    want = next((one for one in first.wants() if request_name(one) == named), None)
    if outcome.outcome is not Outcome.FITS or want is None or want.device_class is None:
        return change
    devices = [device for pool in first.gathered[0] for device in pool.devices()]
    asked = [_amounts(each) for each in devices if _is_wanted(want, each)]
    given = [_amounts(each) for each in _given(outcome, changed, told, devices)]
    shared = [name for name in set().union(*asked) if given and all(name in each for each in given)]
    for name in sorted(shared, key=_importance)[:1]:
        had, has = max(each.get(name, 0) for each in asked), min(each[name] for each in given)
        if has < had:
            amount = OtherAmount(name=name, from_=text(had), to=text(has))
            return replace(change, told=structs.replace(told, amount=amount))
    return change


def _is_wanted(want: Want, device: PoolDevice) -> bool:
    try:
        return want.selector_refusal(device) is None
    except (AllocationError, ValueError):
        return False


def _given(
    outcome: NodeOutcome, changed: Placement, told: ClassChanged, devices: Sequence[PoolDevice]
) -> list[PoolDevice]:
    """Return the devices that the request gets."""
    ids = {
        (one.driver, one.pool, one.device)
        for claim, allocation in zip(changed.claims, outcome.allocations, strict=True)
        for one in allocation.devices.results
        if claim_name(claim) == told.claim and one.request == told.request
    }
    return [each for each in devices if (each.id.driver, each.id.pool, each.id.device) in ids]
