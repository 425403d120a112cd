"""What a claim set's answer can be blamed on, and placements in which some of it does not hold.

An element is a request, a constraint, a counter or another claim. Dropping a request takes it out of its claim;
dropping a constraint lifts it; dropping a counter makes it endless; dropping another claim gives its devices back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from msgspec.structs import replace

from dra_plan.allocator import PoolID
from dra_plan.api.resource import Counter, DeviceConstraint, DeviceRequest, ResourceClaim, ResourceSlice

from .placement import Placement

ENDLESS = str(10**30)
"""A counter value that no pool of devices consumes."""


class RequestElement(NamedTuple):
    """A request of a claim of the set, by index and name."""

    claim: int
    request: str


class ConstraintElement(NamedTuple):
    """A constraint of a claim of the set, by index."""

    claim: int
    position: int


class CounterElement(NamedTuple):
    """A counter of a pool."""

    pool: PoolID
    counter_set: str
    counter: str


class ClaimElement(NamedTuple):
    """An allocated claim (NAMESPACE/NAME)."""

    claim: str


Element = RequestElement | ConstraintElement | CounterElement | ClaimElement


def elements(placement: Placement) -> list[Element]:
    """All that could be blamed on this node, from what is dropped first: other claims, counters, constraints, requests.

    Each stands once, also where a name is not unique: requests of one name are dropped together.
    What is tried first is more likely dropped, and a set without other claims says more about the claim set itself.
    """
    found: list[Element] = [ClaimElement(claim.key) for claim in placement.allocated if claim.key not in placement.own]
    found += _counters(placement)
    claims = list(enumerate(placement.claims))
    constraints = [
        ConstraintElement(index, number)
        for index, claim in claims
        for number in range(len(claim.spec.devices.constraints))
    ]
    requests = [
        RequestElement(index, request.name) for index, claim in claims for request in claim.spec.devices.requests
    ]
    return list(dict.fromkeys([*found, *reversed(constraints), *reversed(requests)]))


def _counters(placement: Placement) -> Iterable[CounterElement]:
    if not placement.view.target.features.partitionable_devices:
        return
    for slice_ in placement.slices():
        pool = PoolID(slice_.spec.driver, slice_.spec.pool.name)
        for counter_set in slice_.spec.shared_counters:
            for name in counter_set.counters:
                yield CounterElement(pool, counter_set.name, name)


def without(placement: Placement, dropped: Collection[Element]) -> Placement:
    """The placement in which none of the elements holds."""
    claims = {element.claim for element in dropped if isinstance(element, ClaimElement)}
    counters = {element for element in dropped if isinstance(element, CounterElement)}
    changed = placement.without_allocated(claims) if claims else placement
    if counters:
        changed = changed.with_slices([_endless(slice_, counters) for slice_ in changed.slices()])
    return changed.with_claims(_relaxed(index, claim, dropped) for index, claim in enumerate(placement.claims))


def _relaxed(index: int, claim: ResourceClaim, dropped: Collection[Element]) -> ResourceClaim:
    requests = [r for r in claim.spec.devices.requests if RequestElement(index, r.name) not in dropped]
    constraints = [
        c for number, c in enumerate(claim.spec.devices.constraints) if ConstraintElement(index, number) not in dropped
    ]
    return with_parts(claim, requests, constraints)


def with_parts(
    claim: ResourceClaim, requests: list[DeviceRequest], constraints: list[DeviceConstraint]
) -> ResourceClaim:
    """The claim with these requests and constraints.

    Constraints forget the requests that are gone; one that is left without any goes too, as an empty list means all.
    """
    kept = {request.name for request in requests}
    devices = replace(claim.spec.devices, requests=requests, constraints=list(_fitting(constraints, kept)))
    return replace(claim, spec=replace(claim.spec, devices=devices))


def _fitting(constraints: list[DeviceConstraint], kept: Collection[str]) -> Iterable[DeviceConstraint]:
    for constraint in constraints:
        listed = [name for name in constraint.requests if name.partition("/")[0] in kept]
        if listed or not constraint.requests:
            yield replace(constraint, requests=listed)


def _endless(slice_: ResourceSlice, counters: Collection[CounterElement]) -> ResourceSlice:
    pool = PoolID(slice_.spec.driver, slice_.spec.pool.name)
    if not any(element.pool == pool for element in counters) or not slice_.spec.shared_counters:
        return slice_
    sets = [
        replace(
            counter_set,
            counters={
                name: Counter(value=ENDLESS) if CounterElement(pool, counter_set.name, name) in counters else counter
                for name, counter in counter_set.counters.items()
            },
        )
        for counter_set in slice_.spec.shared_counters
    ]
    return replace(slice_, spec=replace(slice_.spec, shared_counters=sets))
