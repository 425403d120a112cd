"""The funnel: for each request or alternative, the devices on a node and the number that each check removes.

`selectors` finds the decisive part of a selector, and `elements` finds requests that conflict with each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct, field

from dra_plan.allocator import (
    AllocationError,
    DeviceID,
    Pool,
    PoolDevice,
    PoolGatherer,
    PoolID,
    PoolState,
    Probe,
    SelectorError,
)
from dra_plan.allocator.capacity import Counters, short
from dra_plan.allocator.pools import PoolSlice, is_searched
from dra_plan.allocator.reasons import CapacityShort, CounterShort, DeviceReason, InUse
from dra_plan.allocator.requests import RESULTS_LIMIT, Want
from dra_plan.allocator.taking import Taker
from dra_plan.near import the_nearest

from .placement import Placement
from .reasons import PoolUnusable, Refusal, SelectorFailed, TakenAlready, code, group_key

# -- checks of one device ----------------------------------------------------------------------------------------------
# The conditions that a device must meet to serve a request while nothing is taken yet. The allocator's `Taker` decides
# and defines their order; here every check can be evaluated, not just the first that fails.


class CheckResult(NamedTuple):
    """The name of a check in documents, and the reason if the device fails the check."""

    name: str
    refusal: Refusal | None


class Checks:
    """The checks that a device has to pass to be allocated for a request."""

    def __init__(self, placement: Placement) -> None:
        view = placement.view
        target = view.target
        pools, obsolete = placement.gathered
        self._alike = placement.like_devices
        self.counters = Counters(view.state, target)
        self._rules = target.rules
        self._taker = Taker(
            placement.node,
            (*pools, *obsolete),
            len(placement.claims),
            view.state,
            self.counters,
            target.features,
            target.rules,
            target.quirks,
        )

    def every(self, want: Want, device: PoolDevice, pool: Pool) -> list[CheckResult]:
        """Return the result of every check, in the allocator's order."""
        found = [
            CheckResult(check.name, self._asked(check.refusal, want, device)) for check in self._taker.checks(want)
        ]
        return [CheckResult("pool", self._pool(pool)), *found]

    def first(self, want: Want, device: PoolDevice, pool: Pool) -> Refusal | None:
        """Return the first reason why the device cannot be allocated, or None if it passes all checks."""
        refused = self._pool(pool)
        if refused is not None:
            return refused
        kind = self._alike.kind(want, device)
        if kind is None:
            return self._first(want, device)
        return self._taker.in_use(want, device) or self._alike.refusal(want, kind, lambda: self._first(want, device))

    def _first(self, want: Want, device: PoolDevice) -> Refusal | None:
        for _, refusal in self._taker.checks(want):
            found = self._asked(refusal, want, device)
            if found is not None:
                return found
        return None

    def names(self, want: Want) -> list[str]:
        """Return the names of the checks in the allocator's order, without duplicates."""
        return list(dict.fromkeys(("pool", *(check.name for check in self._taker.checks(want)))))

    def matches(self, want: Want, device: PoolDevice, pool: Pool) -> bool:
        """Return whether a request with allocation mode All includes the device."""
        try:
            return self._pool(pool) is None and self._taker.all_includes(want, device)
        except AllocationError:
            return False

    def shortages(self, want: Want, device: PoolDevice) -> list[CapacityShort]:
        """Return the capacities that are insufficient for the request on the device."""
        portions = self._taker.demand(want, device).portions
        persisted, taken = self._taker.state.aggregate.get(device.id), self._taker.ledger.shares.get(device.id)
        return [found for each in portions if (found := short((each,), persisted, taken)) is not None]

    def selector(self, want: Want, device: PoolDevice) -> Refusal | None:
        """Return the first selector that is false for the device or fails on it, or None if there is none.

        The selectors of the class come before those of the request.
        """
        return self._alike.selector(want, device, lambda: self._asked(Taker.selector_refusal, want, device))

    def _pool(self, pool: Pool) -> PoolUnusable | None:
        return None if is_searched(pool, self._rules) else PoolUnusable(pool.state.value.lower())

    def _asked(
        self, refusal: Callable[[Taker, Want, PoolDevice], DeviceReason | None], want: Want, device: PoolDevice
    ) -> Refusal | None:
        """Return the result of the check; an error of a selector is also a reason."""
        try:
            return refusal(self._taker, want, device)
        except SelectorError as error:
            place = (error.cause.device_class or None, error.position, error.expression)
            return SelectorFailed(*place, str(error), error.device is not None, error.of_device)
        except AllocationError:  # an unusable amount ends the attempt before anything is rejected
            return self._taker.demand(want, device).refusal


# -- pools that are skipped --------------------------------------------------------------------------------------------


class SkippedPool(Struct):
    """A pool that the search skips. If `is_ignored` is set, it skips only some of the pool's devices.

    - `devices`: the number of devices that the pool would offer to the node
    - `slices`: the slices that cause the pool to be skipped, if any
    - `is_ignored`: whether only devices in slices with counter sets are skipped, as the release ignores them
    - `counts`: the numbers of slices that the pool's slices state, if they disagree
    - `hint`: the counter set or counter that was probably meant
    """

    pool: Pool
    devices: int
    slices: tuple[str, ...] = ()
    is_ignored: bool = False
    counts: tuple[int, ...] = ()
    hint: str = ""

    @property
    def code(self) -> str:
        """The code of the reason why the pool is skipped."""
        if self.is_ignored:
            return "devices-with-counters"
        return f"pool-{self.pool.state.value.lower()}"


def count(pool: Pool) -> int:
    """Return the number of devices that the pool offers to its node."""
    return sum(len(slice_.object.spec.devices) for slice_ in pool.slices)


def finding(pool: Pool, gatherer: PoolGatherer) -> SkippedPool:
    """Return why an incomplete, invalid or obsolete pool is skipped, and the slices that are the cause."""
    counts: tuple[int, ...] = ()
    if pool.superseded_by is not None:
        causes = gatherer.generation(pool.id, pool.superseded_by).slices
    elif pool.incomplete:
        slices = gatherer.generation(pool.id, pool.generation).slices
        causes = _disagreeing(slices)
        if len(found := {one.object.spec.pool.resource_slice_count for one in slices}) > 1:
            counts = tuple(sorted(found))
    else:
        every = (*pool.slices, *pool.elsewhere, *pool.counter_slices)
        causes = [s for s in every if pool.problem is not None and pool.problem.concerns(s.object.spec)]
    names = tuple(dict.fromkeys(slice_.name for slice_ in causes))
    return SkippedPool(pool, count(pool), names, counts=counts, hint=_perhaps_meant(pool))


def _perhaps_meant(pool: Pool) -> str:
    """Return the counter set or counter with the name nearest to the one that a device names in vain, or ""."""
    problem = pool.problem
    if problem is None or problem.device or problem.twice:
        return ""
    sets = {one.name: one.counters for slice_ in pool.counter_slices for one in slice_.object.spec.shared_counters}
    if problem.counter:
        return the_nearest(problem.counter, sets.get(problem.counter_set, ())) or ""
    return the_nearest(problem.counter_set, sets) or ""


def ignored(pool: Pool) -> Iterator[SkippedPool]:
    """Yield the pool if the scheduler ignores some of its devices, because their slices also contain counter sets."""
    both = [one for one in pool.counter_slices if one.object.spec.devices]
    if both:
        devices = sum(len(one.object.spec.devices) for one in both)
        yield SkippedPool(pool, devices, tuple(one.name for one in both), is_ignored=True)


def _disagreeing(slices: Sequence[PoolSlice]) -> Sequence[PoolSlice]:
    """Return the slices that state a different number of slices than the first; all slices if they agree."""
    expected = slices[0].object.spec.pool.resource_slice_count
    return [s for s in slices if s.object.spec.pool.resource_slice_count != expected] or slices


# -- funnels -----------------------------------------------------------------------------------------------------------


class Removal(Struct):
    """The devices that are removed for one reason, with the first device's reason.

    The reasons for all of them have the same `key`.
    """

    refusal: Refusal
    key: tuple[object, ...]
    devices: list[PoolDevice] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)

    @property
    def step(self) -> str:
        """The name of the check that removes the devices."""
        return code(self.refusal).step

    @property
    def holders(self) -> list[str]:
        """The claims that hold the devices, without duplicates. The list is empty if the devices are not in use."""
        return list(dict.fromkeys(r.claim for r in self.refusals if isinstance(r, InUse) and r.claim is not None))


class Funnel(Struct):
    """The devices on a node for one request, the reasons that removed devices, and the devices that are `left`.

    A request for all matching devices needs all the devices that it selects, and `matching` is their number.
    """

    want: Want
    devices: int
    removals: list[Removal]
    left: list[PoolDevice]
    matching: int
    reusable: bool
    """Whether a shared device may be allocated to a request several times, as in releases that restart the scan."""
    causes: frozenset[object] | None = None
    """The causes that distinguish groups of nodes, computed on first use."""

    @property
    def need(self) -> int:
        """The number of devices that the request needs."""
        return self.matching if self.want.takes_all else self.want.count

    @property
    def problem(self) -> str | None:
        """The code of the reason why the request can't be met even alone, or None if the funnel shows no reason."""
        if self.need > RESULTS_LIMIT:
            return "too-many-devices"
        if self.want.takes_all:
            if self.matching == 0:
                return "nothing-matches"
            return "all-not-free" if len(self.left) < self.matching else None
        if len(self.left) >= self.need or (self.left and self.reusable):
            return None
        return "too-few-devices"


class NodeOffer(Struct):
    """What a node offers to claims: its pools in search order, the skipped pools, and a funnel for each request."""

    placement: Placement
    pools: list[Pool]
    unusable: list[SkippedPool]
    funnels: list[Funnel]
    checks: Checks

    @property
    def devices(self) -> int:
        """The number of devices that slices offer to the node, including those in unusable pools."""
        return self.funnels[0].devices if self.funnels else sum(count(pool) for pool in self.pools)

    def failing(self) -> list[list[Funnel]]:
        """Return the requests that can't be met even alone. Each is given as the funnels of its alternatives."""
        requests: dict[tuple[int, int], list[Funnel]] = {}
        for funnel in self.funnels:
            requests.setdefault((funnel.want.claim_index, funnel.want.request_index), []).append(funnel)
        return [funnels for funnels in requests.values() if all(f.problem is not None for f in funnels)]


def offer(placement: Placement, funnels: list[Funnel] | None = None) -> NodeOffer:
    """Return what the node offers to the placement's claims.

    `funnels` contains the requests' funnels, if they are known.

    Raises AllocationError if a node selector can't be read.
    """
    pools, obsolete = placement.gathered
    checks = Checks(placement)
    if funnels is None:
        devices = [(device, pool) for pool in (*pools, *obsolete) for device in pool.devices()]
        reuses = not placement.view.target.rules.resumes_scan
        funnels = [_funnel(checks, want, devices, reuses=reuses) for want in placement.wants()]
    broken = [pool for pool in pools if pool.state is not PoolState.COMPLETE]
    unusable = [finding(pool, placement.view.gatherer) for pool in (*broken, *obsolete)]
    unusable += (found for pool in pools for found in ignored(pool))
    return NodeOffer(placement, pools, unusable, funnels, checks)


def _funnel(checks: Checks, want: Want, devices: Sequence[tuple[PoolDevice, Pool]], *, reuses: bool) -> Funnel:
    removals: dict[tuple[object, ...], Removal] = {}
    left: list[PoolDevice] = []
    matching = 0
    for device, pool in devices:
        refusal = checks.first(want, device, pool)
        if refusal is None:
            left.append(device)
            matching += 1
            continue
        key = group_key(refusal)
        removal = removals.get(key)
        if removal is None:
            removal = removals[key] = Removal(refusal, key)
        removal.devices.append(device)
        removal.refusals.append(refusal)
        if want.takes_all and checks.matches(want, device, pool):
            matching += 1
    order = {name: position for position, name in enumerate(checks.names(want))}
    ordered = sorted(removals.values(), key=lambda removal: (order[removal.step], _is_of_request(removal)))
    reusable = reuses and any(device.device.allow_multiple_allocations for device in left)
    return Funnel(want, len(devices), ordered, left, matching, reusable)


def _is_of_request(removal: Removal) -> bool:
    """Return whether the request removes the devices; the class's selectors come before the request's."""
    return getattr(removal.refusal, "class_name", "") is None


# -- choices -----------------------------------------------------------------------------------------------------------
# A probe records, on the way to the solution, why a request got this device and not an earlier one.


class DeviceChoice(Struct):
    """The device that was chosen for a slot of a request, and the devices that were tried before it.

    A device that was rejected immediately comes with the reason. Other devices come without one: the search tried them,
    but found no devices for later slots.
    """

    want: Want
    slot: int
    device: DeviceID | None = None
    passed_over: list[tuple[PoolDevice, Refusal | None]] = field(default_factory=list)
    alternatives_before: list[Funnel] = field(default_factory=list)
    """For the first slot of an alternative: the earlier alternatives, checked as if nothing were allocated."""
    offer: NodeOffer | None = None
    """The offer that contains `alternatives_before`."""

    @property
    def place(self) -> tuple[int, int, int]:
        """The position of the slot in the search."""
        return self.want.claim_index, self.want.request_index, self.slot


class ChoiceProbe(Probe):
    """A probe that records the choices that a search has made so far.

    After a successful search, the choices are the solution.
    """

    def __init__(self) -> None:
        self.choices: list[DeviceChoice] = []

    def entered(self, want: Want, slot: int) -> None:
        """Record that the search enters a slot, giving up all choices for this slot and later slots."""
        place = want.claim_index, want.request_index, slot
        while self.choices and self.choices[-1].place >= place:
            self.choices.pop()
        self.choices.append(DeviceChoice(want, slot))

    def rejected(self, want: Want, slot: int, device: PoolDevice, reason: DeviceReason) -> None:
        """Record that the device cannot be used in this slot."""
        taken = isinstance(reason, InUse) and reason.claim is None
        self._choice(want, slot).passed_over.append((device, TakenAlready() if taken else reason))

    def taken(self, want: Want, slot: int, device: PoolDevice) -> None:
        """Record that the search tries the device in this slot."""
        self._choice(want, slot).device = device.id

    def retreated(self, want: Want, slot: int, device: PoolDevice) -> None:
        """Record that the search found no solution with the device in this slot."""
        choice = self._choice(want, slot)
        choice.device = None
        choice.passed_over.append((device, None))

    def restarted(self) -> None:
        """Discard all choices, because the search has restarted."""
        self.choices.clear()

    def _choice(self, want: Want, slot: int) -> DeviceChoice:
        """Return the slot's entry; the entries after it have been given up."""
        place = want.claim_index, want.request_index, slot
        while self.choices[-1].place > place:
            self.choices.pop()
        return self.choices[-1]


def of(placement: Placement) -> list[DeviceChoice]:
    """Return the choices that lead to the placement's solution. The claims must be known to fit."""
    path = ChoiceProbe()
    placement.ask(probe=path)
    if any(choice.want.parent for choice in path.choices):
        seen = offer(placement)
        for choice in path.choices:
            if choice.slot == 0:
                choice.offer = seen
                choice.alternatives_before = [told for told in seen.funnels if _is_before(told.want, choice.want)]
    return path.choices


def _is_before(one: Want, other: Want) -> bool:
    same = (one.claim_index, one.request_index) == (other.claim_index, other.request_index)
    return same and one.option_index < other.option_index


# -- holders -----------------------------------------------------------------------------------------------------------
# The claims that hold the devices, shares and counters that a request lacks.


def holders(offer: NodeOffer, want: Want, removal: Removal) -> list[str]:
    """Return the claims that hold what the removed devices lack, as NAMESPACE/NAME without duplicates.

    A device in use is considered only if it matches the request's selectors, because releasing other devices would not
    help.
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
    """Return the first offer's node if the removed devices have other holders on other nodes, and otherwise ""."""
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
    """Return the claims that consume the counter with devices of the pool, on any node, without duplicates."""
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
    """Return the devices that match the request's selectors."""
    return [device for device in devices if offer.checks.selector(want, device) is None]
