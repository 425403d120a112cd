"""Who has the devices, shares and counters that a request lacks."""

from __future__ import annotations

from collections.abc import Iterable

from dra_plan.allocator import PoolDevice, PoolID
from dra_plan.allocator.reasons import CapacityShort, CounterShort, InUse
from dra_plan.allocator.requests import Want

from .funnel import NodeOffer, Removal


def holders(offer: NodeOffer, want: Want, removal: Removal) -> list[str]:
    """The claims (NAMESPACE/NAME) that hold what the removed devices lack, each once.

    Of devices in use only those count that the want's selectors pass: giving back others would not help.
    """
    state = offer.placement.view.state
    found: dict[str, None] = {}
    if isinstance(removal.refusal, InUse):
        for device in wanted(offer, want, removal.devices):
            holder = state.dedicated.get(device.id)
            if holder is not None:
                found[holder] = None
    elif isinstance(removal.refusal, CapacityShort):
        for device in removal.devices:
            found.update(dict.fromkeys(state.shared.get(device.id, ())))
    elif isinstance(removal.refusal, CounterShort):
        for pool in dict.fromkeys(device.id.pool_id for device in removal.devices):
            found.update(
                dict.fromkeys(counter_holders(offer, pool, removal.refusal.counter_set, removal.refusal.counter))
            )
    return list(found)


def holders_on(offers: Iterable[NodeOffer | None], want: int, removal: Removal) -> str:
    """The node of the first offer, if the holders there are not those of the same removal in all; else nothing."""
    first, *others = [offer for offer in offers if offer is not None]
    found = set(holders(first, first.funnels[want].want, removal))
    if found:
        for offer in others:
            funnel = offer.funnels[want]
            same = next((each for each in funnel.removals if each.key == removal.key), None)
            if same is None or set(holders(offer, funnel.want, same)) != found:
                return first.placement.node.metadata.name
    return ""


def counter_holders(offer: NodeOffer, pool_id: PoolID, counter_set: str, counter: str) -> list[str]:
    """The claims that have devices of the pool, on any node, which consume the counter, each once."""
    state = offer.placement.view.state
    pool = next((pool for pool in offer.pools if pool.id == pool_id), None)
    found: dict[str, None] = {}
    for slice_ in (*pool.slices, *pool.elsewhere) if pool is not None else ():
        for device in slice_.devices:
            if any(s == counter_set and c == counter for s, c, _ in device.consumption):
                if device.id in state.dedicated:
                    found[state.dedicated[device.id]] = None
                found.update(dict.fromkeys(state.shared.get(device.id, ())))
    return list(found)


def wanted(offer: NodeOffer, want: Want, devices: Iterable[PoolDevice]) -> list[PoolDevice]:
    """Those of the devices that pass the want's selectors."""
    return [device for device in devices if offer.checks.selector(want, device) is None]
