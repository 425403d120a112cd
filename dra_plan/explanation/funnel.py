"""The funnel: for each request, or alternative, the devices of a node and how many each check takes away.

Counts only, of one node; which sub-expression decides is `selectors.py`, what several requests do to each other is
`blocking.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dra_plan.allocator import Pool, PoolDevice, PoolState
from dra_plan.allocator.reasons import InUse
from dra_plan.allocator.requests import RESULTS_LIMIT, Want

from .checks import Checks
from .placement import Placement
from .pools import SkippedPool, count, finding
from .reasons import Refusal, code, group_key


@dataclass(slots=True)
class Removal:
    """Devices that one reason takes away: the first refusal stands for all of them, as they agree in their `key`."""

    refusal: Refusal
    key: tuple[object, ...]
    devices: list[PoolDevice] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)

    @property
    def step(self) -> str:
        """The check's name."""
        return code(self.refusal).step

    @property
    def holders(self) -> list[str]:
        """The claims that have the devices, each once, for devices in use."""
        return list(dict.fromkeys(r.claim for r in self.refusals if isinstance(r, InUse) and r.claim is not None))


@dataclass(slots=True)
class Funnel:
    """One want on one node: all `devices`, what took some away, and those `left`.

    For All, `matching` counts the devices it means; it needs every one of them.
    """

    want: Want
    devices: int
    removals: list[Removal]
    left: list[PoolDevice]
    matching: int
    reusable: bool
    """A device may serve several times (a shared one, in releases that look again from the beginning)."""
    causes: frozenset[object] | None = None
    """What takes devices away, as groups of nodes are told apart by it; found when first asked for."""

    @property
    def need(self) -> int:
        """How many devices the want needs."""
        return self.matching if self.want.takes_all else self.want.count

    @property
    def problem(self) -> str | None:
        """Why the want can't be met even alone: the code of the reason, or None if nothing shows here."""
        if self.need > RESULTS_LIMIT:
            return "too-many-devices"
        if self.want.takes_all:
            if self.matching == 0:
                return "nothing-matches"
            return "all-not-free" if len(self.left) < self.matching else None
        if len(self.left) >= self.need or (self.left and self.reusable):
            return None
        return "too-few-devices"


@dataclass(slots=True)
class NodeOffer:
    """What one node has to offer: its pools in search order, those that are not looked at, and the funnels."""

    placement: Placement
    pools: list[Pool]
    unusable: list[SkippedPool]
    funnels: list[Funnel]
    checks: Checks

    @property
    def devices(self) -> int:
        """All devices that slices offer to the node, in usable pools or not."""
        return self.funnels[0].devices if self.funnels else sum(count(pool) for pool in self.pools)

    def failing(self) -> list[list[Funnel]]:
        """The requests that can't be met even alone, each with the funnels of all its alternatives."""
        requests: dict[tuple[int, int], list[Funnel]] = {}
        for funnel in self.funnels:
            requests.setdefault((funnel.want.claim_index, funnel.want.request_index), []).append(funnel)
        return [funnels for funnels in requests.values() if all(f.problem is not None for f in funnels)]


def offer(placement: Placement, funnels: list[Funnel] | None = None) -> NodeOffer:
    """The node as the placement's claims meet it; `funnels` are those of its wants, if they are known.

    Raises AllocationError when a node selector can't be read.
    """
    pools, obsolete = placement.gathered
    checks = Checks(placement)
    if funnels is None:
        devices = [(device, pool) for pool in (*pools, *obsolete) for device in pool.devices()]
        reuses = not placement.view.target.rules.resumes_scan
        funnels = [_funnel(checks, want, devices, reuses=reuses) for want in placement.wants()]
    broken = [pool for pool in pools if pool.state is not PoolState.COMPLETE]
    unusable = [finding(pool, placement.view.gatherer) for pool in (*broken, *obsolete)]
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
    """Selectors of the class come before those of the request."""
    return getattr(removal.refusal, "class_name", "") is None
