"""Blocking sets, counters and insufficient amounts as parts of documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from dra_plan.allocator import PoolDevice, PoolID, capacity
from dra_plan.allocator.capacity import Counters, Steps, summed
from dra_plan.api import quantity
from dra_plan.documents.base import ClaimName, DeviceName
from dra_plan.documents.reasons import (
    BlockingClaim,
    BlockingConstraint,
    BlockingCounter,
    BlockingElement,
    BlockingRequest,
    MetValues,
    NeededAmount,
    NotTogether,
    SeenCounterSet,
    Shortage,
)

from .elements import BlockingSet, ClaimElement, ConstraintElement, CounterElement, RequestElement
from .funnel import Funnel, NodeOffer
from .hints import values
from .names import claim_name, pod_entry, pool_name, request_name
from .parts import examples, holder
from .reasons import amount, plain

CounterKey = tuple[PoolID, str]
"""A pool and the name of one of its counter sets."""


def not_together(offer: NodeOffer, found: BlockingSet) -> NotTogether:
    """Return the blocking set as a part of a document."""
    elements = [_element(offer, element) for element in found.elements]
    need, left = _too_few(offer, found)
    return NotTogether(
        proven=found.proven, elements=elements, shortages=list(_shortages(offer, found)), need=need, left=left
    )


def _too_few(offer: NodeOffer, found: BlockingSet) -> tuple[int, int]:
    """Return the number of devices that the requests need together and that are left, or zeros if enough are left."""
    asked = [_funnels(offer, element) for element in found.elements if isinstance(element, RequestElement)]
    if len(asked) < 2 or any(len(funnels) != 1 for funnels in asked):
        return 0, 0
    devices = {device.id for [funnel] in asked for device in funnel.left}
    shared = any(device.device.allow_multiple_allocations for [funnel] in asked for device in funnel.left)
    need = sum(funnel.need for [funnel] in asked)
    return (need, len(devices)) if need > len(devices) and not shared else (0, 0)


def _element(
    offer: NodeOffer, element: RequestElement | ConstraintElement | CounterElement | ClaimElement
) -> BlockingElement:
    placement = offer.placement
    if isinstance(element, ClaimElement):
        return BlockingClaim(claim=holder(placement, element.claim))
    if isinstance(element, CounterElement):
        return _counter(offer, element)
    claim = placement.claims[element.claim]
    if isinstance(element, RequestElement):
        return _blocking_request(offer, element, claim_name(claim))
    constraint = claim.spec.devices.constraints[element.position]
    return BlockingConstraint(
        claim=claim_name(claim),
        constraint=element.position,
        match_attribute=constraint.match_attribute,
        distinct_attribute=constraint.distinct_attribute,
        requests=list(constraint.requests),
        values=list(_met_values(offer, element)),
    )


def _met_values(offer: NodeOffer, element: ConstraintElement) -> Iterator[MetValues]:
    """Yield the values of the constraint's attribute on the devices left for each request."""
    for funnel in offer.funnels:
        want = funnel.want
        constraint = next((c for c in want.constraints if c.index == element.position), None)
        if want.claim_index != element.claim or constraint is None or not funnel.left:
            continue
        offered = [value for device in funnel.left if (value := constraint.value(device)) is not None]
        counted = Counter((kind, _hashable(plain(value))) for kind, value in offered)
        there = values(counted)
        yield MetValues(
            request=want.full_name,
            values=there,
            other_values=len(counted) - len(there),
            missing=len(funnel.left) - len(offered),
        )


def _hashable(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _funnels(offer: NodeOffer, element: RequestElement) -> list[Funnel]:
    place = (element.claim, element.request)
    return [f for f in offer.funnels if (f.want.claim_index, f.want.request_name) == place]


def _blocking_request(offer: NodeOffer, element: RequestElement, claim: ClaimName) -> BlockingRequest:
    """Return the number of devices that a request needs, and the devices that pass every check while nothing is taken.

    Alternatives are not included.
    """
    funnels = _funnels(offer, element)
    entry = pod_entry(offer.placement.claims[element.claim])
    if len(funnels) != 1:
        return BlockingRequest(claim=claim, request=element.request, entry=entry)
    [funnel] = funnels
    return BlockingRequest(
        claim=claim,
        entry=entry,
        request=element.request,
        need=funnel.need,
        left=len(funnel.left),
        left_devices=examples(funnel.left),
    )


# -- counters ----------------------------------------------------------------------------------------------------------


def _counter(offer: NodeOffer, element: CounterElement) -> BlockingCounter:
    """Return a counter with its free amount and its total."""
    made = BlockingCounter(pool=pool_name(element.pool), counter_set=element.counter_set, counter=element.counter)
    [*seen] = counter_sets(offer, [(element.pool, element.counter_set)])
    if not seen or element.counter not in seen[0].total:
        return made
    return BlockingCounter(
        pool=made.pool,
        counter_set=made.counter_set,
        counter=made.counter,
        left=seen[0].left[element.counter],
        total=seen[0].total[element.counter],
    )


def counter_sets(offer: NodeOffer, wanted: Iterable[CounterKey]) -> Iterator[SeenCounterSet]:
    """Yield those of the wanted counter sets that the node sees, with the free and the total amount of each counter."""
    view = offer.placement.view
    counters = Counters(view.state, view.target)
    for pool_id, name in dict.fromkeys(wanted):
        for pool in offer.pools:
            if pool.id != pool_id:
                continue
            for slice_ in pool.counter_slices or pool.slices:
                for counter_set in slice_.object.spec.shared_counters:
                    if counter_set.name == name:
                        left = counters.remaining(pool, slice_)
                        yield SeenCounterSet(
                            pool=pool_name(pool_id),
                            counter_set=name,
                            total={key: str(counter.value) for key, counter in counter_set.counters.items()},
                            left={key: amount(left[name, key]) for key in counter_set.counters},
                        )


# -- needed and free amounts -------------------------------------------------------------------------------------------


def _shortages(offer: NodeOffer, found: BlockingSet) -> Iterator[Shortage]:
    """Yield the amounts of which the set's requests together need more than is left."""
    requests = [element for element in found.elements if isinstance(element, RequestElement)]
    funnels = [funnels[0] for element in requests if len(funnels := _funnels(offer, element)) == 1]
    for element in found.elements:
        if isinstance(element, CounterElement):
            yield from _counter_shortage(offer, funnels, element)
    yield from _capacity_shortages(offer, funnels)


def _counter_shortage(offer: NodeOffer, funnels: Sequence[Funnel], element: CounterElement) -> Iterator[Shortage]:
    view = offer.placement.view
    needs = [(f, f.need * min((_drawn(d, element) for d in f.left), default=0)) for f in funnels]
    for pool in offer.pools:
        if pool.id != element.pool:
            continue
        for slice_ in pool.counter_slices or pool.slices:
            left = Counters(view.state, view.target).remaining(pool, slice_).get((element.counter_set, element.counter))
            if left is not None and sum(need for _, need in needs) > left:
                yield _shortage(needs, left, pool=element.pool, counter_set=element.counter_set, name=element.counter)
                return


def _drawn(device: PoolDevice, element: CounterElement) -> int:
    """Return the device's use of the counter; nothing if it belongs to another pool."""
    if device.id.pool_id != element.pool:
        return 0
    taken = {(name, counter): need for name, counter, need in summed(device.consumption)}
    return taken.get((element.counter_set, element.counter), 0)


def _capacity_shortages(offer: NodeOffer, funnels: Sequence[Funnel]) -> Iterator[Shortage]:
    """Yield, for capacities that devices share, the requests' minimum need and the free amount on all devices."""
    view = offer.placement.view
    devices = {device.id: device for funnel in funnels for device in funnel.left}
    if not devices or not all(d.device.allow_multiple_allocations for d in devices.values()):
        return
    for name in dict.fromkeys(name for device in devices.values() for name in device.device.capacity):
        left = 0
        for device in devices.values():
            had = device.device.capacity.get(name)
            left += quantity.parse(had.value).nano if had is not None else 0
            left -= view.state.aggregate.get(device.id, {}).get(name, 0)
        needs = [(f, f.need * min((_asked(offer, f, d, name) for d in f.left), default=0)) for f in funnels]
        if sum(need for _, need in needs) > left:
            yield _shortage(needs, left, name=name, devices=examples(list(devices.values())))


def _asked(offer: NodeOffer, funnel: Funnel, device: PoolDevice, name: str) -> int:
    """Return the amount of a device's capacity that the request takes."""
    target = offer.placement.view.target
    portions = capacity.demand(funnel.want.capacity, device, Steps.of(target), target.quirks).portions
    return next((portion.amount for portion in portions if portion.name == name), 0)


def _shortage(
    needs: Sequence[tuple[Funnel, int]],
    left: int,
    *,
    name: str,
    pool: PoolID | None = None,
    counter_set: str = "",
    devices: Sequence[DeviceName] = (),
) -> Shortage:
    return Shortage(
        pool=pool_name(pool) if pool is not None else None,
        counter_set=counter_set,
        name=name,
        devices=list(devices),
        needs=[NeededAmount(**request_name(f.want), need=amount(need)) for f, need in needs if need],
        sum=amount(sum(need for _, need in needs)),
        left=amount(left),
    )
