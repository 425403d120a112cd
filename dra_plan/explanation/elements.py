"""Blocking sets: minimal sets of requests, constraints, counters and other claims that leave no allocation.

Dropping a request or a constraint removes it from its claim, dropping a counter makes it unlimited, and dropping
another claim releases its devices.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from dra_plan.allocator import Allocator, Outcome, PoolID
from dra_plan.api.core import Node
from dra_plan.api.resource import (
    Counter,
    DeviceClaimConfiguration,
    DeviceConstraint,
    DeviceRequest,
    ResourceClaim,
    ResourceSlice,
)

from .placement import Budget, Placement

OfRequests = TypeVar("OfRequests", DeviceConstraint, DeviceClaimConfiguration)

ENDLESS = str(10**30)
"""A counter value that is never used up."""


class RequestElement(NamedTuple):
    """A request, given by its name and the index of its claim."""

    claim: int
    request: str


class ConstraintElement(NamedTuple):
    """A constraint, given by its own index and the index of its claim."""

    claim: int
    position: int


class CounterElement(NamedTuple):
    """A counter of a pool."""

    pool: PoolID
    counter_set: str
    counter: str


class ClaimElement(NamedTuple):
    """An allocated claim, given as NAMESPACE/NAME."""

    claim: str


Element = RequestElement | ConstraintElement | CounterElement | ClaimElement


def elements(placement: Placement) -> list[Element]:
    """Return the elements that a blocking set on this node may contain.

    The search tries to drop elements in this order: other claims, counters, constraints and requests. Other claims come
    first, because a blocking set without them says more about the claim set itself. Requests with the same name are
    dropped together, so each name occurs once.
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
    """Return the placement without these elements, so that they no longer restrict the search."""
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
    """Return the claim with only these requests and constraints.

    References to removed requests are removed too, because the API server would reject them. Entries that would be left
    without references are also removed, because an empty list would mean all requests.
    """
    kept = {request.name for request in requests}
    devices = replace(
        claim.spec.devices,
        requests=requests,
        constraints=list(_fitting(constraints, kept)),
        config=list(_fitting(claim.spec.devices.config, kept)),
    )
    return replace(claim, spec=replace(claim.spec, devices=devices))


def _fitting(entries: list[OfRequests], kept: Collection[str]) -> Iterable[OfRequests]:
    for entry in entries:
        listed = [name for name in entry.requests if name.partition("/")[0] in kept]
        if listed or not entry.requests:
            yield replace(entry, requests=listed)


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


# -- blocking sets -----------------------------------------------------------------------------------------------------
# Sets are found with all of the release's known defects fixed, so that a set describes the objects and not a release.

SAME_EVERYWHERE = (RequestElement, ConstraintElement)
"""The kinds of elements that are the same on every node."""

TOTAL_STEPS = 30_000
"""The maximum number of search steps for a blocking set."""

ALL_STEPS = 3 * TOTAL_STEPS
"""The maximum number of search steps for all blocking sets of a claim set."""

STEPS_EACH = 5_000
"""The maximum number of search steps for each trial during the search for a blocking set."""


class BlockingSet(Struct, frozen=True):
    """Requests, constraints, counters and claims that can't all be met together.

    If `proven` is set, the set is known to be minimal.
    """

    elements: tuple[Element, ...]
    proven: bool

    @property
    def has_holders(self) -> bool:
        """Return whether the set includes allocated claims."""
        return any(isinstance(element, ClaimElement) for element in self.elements)


def blocking_set(placement: Placement, budget: Budget | None = None) -> BlockingSet | None:
    """Return a minimal set of elements that can't be met together, or None if everything fits with known defects fixed.

    The set is empty if it is undecided whether everything fits.
    """
    fixed = placement.repaired()
    budget = budget or Budget(TOTAL_STEPS, STEPS_EACH)
    fits = fixed.fits(budget)
    if fits is not False:
        return None if fits else BlockingSet((), proven=False)
    candidates = elements(fixed)
    search = _Deletion(fixed, candidates, budget)
    search.drop(candidates)
    search.settle()
    return BlockingSet(tuple(reversed(search.kept())), search.proven)


class KnownBlockingSet:
    """A blocking set that was found on one node and is tested on other nodes.

    Only its requests and constraints are tested, because claims and counters have other names on other nodes.
    """

    def __init__(self, found: BlockingSet, placement: Placement) -> None:
        self.found = found
        held = {element for element in found.elements if isinstance(element, SAME_EVERYWHERE)}
        others = [e for e in elements(placement) if isinstance(e, SAME_EVERYWHERE) and e not in held]
        self._allocator = Allocator(
            without(placement, others).claims,
            placement.view.repaired(),
            max_steps=STEPS_EACH,
            deadline=placement.deadline,
        )

    def is_enough(self, node: Node, budget: Budget) -> bool:
        """Return whether the requests and constraints can't be met on this node, even if known defects are fixed."""
        if budget.spent:
            return False
        answer = self._allocator.allocate(node)
        budget.left -= answer.steps + 1
        return answer.outcome is not Outcome.FITS and answer.outcome is not Outcome.UNDECIDED


class _Deletion:
    """The removal of elements as long as the rest still do not fit, first in runs, and one by one if a run matters."""

    def __init__(self, placement: Placement, candidates: Sequence[Element], budget: Budget) -> None:
        self._placement, self._budget = placement, budget
        self._held: dict[Element, None] = dict.fromkeys(candidates)
        self._gone: list[Element] = []
        self._vital: dict[Element, int] = {}
        self.proven = True

    def kept(self) -> list[Element]:
        """Return the elements that have not been dropped."""
        return list(self._held)

    def drop(self, run: Sequence[Element]) -> None:
        """Drop every element in `run` that can be dropped."""
        fits = self._fits_without(run)
        if fits is False:
            self._gone += run
            for element in run:
                del self._held[element]
        elif len(run) == 1:
            self._note(run[0], fits)
        elif fits is not None or not self._budget.spent:
            half = len(run) // 2
            self.drop(run[:half])
            self.drop(run[half:])
        else:
            self.proven = False

    def settle(self) -> None:
        """Try again to drop elements that were kept at a time when more elements had not been dropped yet.

        Afterwards, each element has been tried with the final set.
        """
        tried: Element | None = next(iter(self._stale()), None)
        while tried is not None and self.proven:
            self.drop([tried])
            tried = next(iter(self._stale()), None)

    def _stale(self) -> Iterable[Element]:
        return (element for element in self._held if self._vital.get(element) != len(self._gone))

    def _note(self, element: Element, fits: bool | None) -> None:
        self._vital[element] = len(self._gone)
        self.proven = self.proven and fits is True

    def _fits_without(self, run: Sequence[Element]) -> bool | None:
        return without(self._placement, {*self._gone, *run}).fits(self._budget)
