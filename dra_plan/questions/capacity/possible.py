"""The largest possible number of sets of copies, with a placement and an upper bound."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec
from msgspec import structs

from dra_plan.allocator import View
from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.api.resource import AllocationResult
from dra_plan.documents.base import DeviceName
from dra_plan.placement.limits import StepBudget
from dra_plan.placement.node_kinds import UnverifiedPlacementError
from dra_plan.placement.search import seek_copies
from dra_plan.placement.solver import SolverMissingError
from dra_plan.questions.capacity.copied import Copied
from dra_plan.questions.capacity.document import CopiedOwner, NodeCopies, PlacedCopy, PossibleCopies
from dra_plan.scheduler.refusals import Copies
from dra_plan.scheduler.simulation import Simulation

MOST_PLACED = 1_000
"""The maximum number of copies that are placed unless the search is thorough."""


MOST_DOMAINS = 50
"""The maximum number of topology domains for gangs that stay in one domain, unless the search is thorough."""


class Share(NamedTuple):
    """The number of copies of one pod in a set, and the owner of the pod."""

    owner: CopiedOwner
    pod: Pod
    number: int


class ScheduledSets(NamedTuple):
    """The number of whole sets that the scheduler binds, and its number of copies of each owner."""

    simulation: Simulation
    copies: Sequence[tuple[CopiedOwner, Copies]]
    sets: int


def shares_of(copied: Copied, number: int) -> list[Share]:
    """Return the shares for this number of copies of the owner. Equal pods of a gang form one share."""
    if copied.gang is None:
        return [Share(copied.owner, copied.pod, number)]
    alike: dict[bytes, list[Pod]] = {}
    for pod in copied.gang.pods:
        spec = structs.replace(pod.spec, scheduling_group=None)
        alone = structs.replace(pod, spec=spec)
        alike.setdefault(msgspec.json.encode((pod.metadata.labels, spec), order="sorted"), []).append(alone)
    return [Share(copied.owner, pods[0], number * len(pods)) for pods in alike.values()]


class Seeking:
    """A search for the best placement of copies on a cluster.

    Unless `thorough` is set, the search takes at most a few seconds: its parts share a step limit, and large numbers of
    pods are not placed. The bounds may then be further apart.
    """

    def __init__(self, inventory: Inventory, view: View, max_steps: int | None, *, thorough: bool) -> None:
        self._inventory, self._view, self._max_steps, self._thorough = inventory, view, max_steps, thorough

    def possible(
        self, copied: Sequence[tuple[Copied, int]], scheduled: ScheduledSets, limit: int
    ) -> PossibleCopies | None:
        """Return the largest number of sets that fit without evictions, given that the `scheduled` sets fit.

        Returns None if this cannot be determined: for gangs with their own claims, and for several owners if one of
        them must stay in one topology domain.
        """
        gangs = [each.gang.group for each, _ in copied if each.gang is not None and each.gang.group is not None]
        if any(group.spec.resource_claims for group in gangs) and self._view.target.features.group_claims:
            return None
        if any(each.gang.never_starts for each, _ in copied if each.gang is not None):
            return self._made(0, 0, [], [], brief=False)
        shares = [share for each, number in copied for share in shares_of(each, number)]
        sets = max(1, limit // sum(number for _, number in copied))
        if scheduled.sets >= sets:  # more is not requested
            return self._made(scheduled.sets, None, _as_scheduled(scheduled), [], brief=False)
        keys = [group.topology_key for group in gangs if group.topology_key]
        topology = keys[0] if keys and self._view.target.features.topology_placement else ""
        domains = self._domains(topology) if topology else []
        if topology and (len(copied) > 1 or (len(domains) > MOST_DOMAINS and not self._thorough)):
            return None
        budget = None if self._thorough else StepBudget()
        try:
            if topology:
                inside = [[_inside(share, topology, value) for share in shares] for value in domains]
                found = _together([self._sought(each, sets, 0, budget) for each in inside])
            else:
                found = self._sought(shares, sets, scheduled.sets, budget)
        except (SolverMissingError, UnverifiedPlacementError):
            found = _Found(0, None, [], [])
        placement = found.placement if found.sets >= scheduled.sets and found.placement else _as_scheduled(scheduled)
        reached = max(found.sets, scheduled.sets)
        return self._made(reached, _at_least(found.bound, reached), placement, found.besides, brief=not self._thorough)

    def _domains(self, key: str) -> list[str]:
        """Return the values of the label on the nodes."""
        values = ((node.metadata.labels or {}).get(key) for node in self._inventory.nodes)
        return list(dict.fromkeys(value for value in values if value is not None))

    def _sought(self, shares: Sequence[Share], limit: int, known: int, budget: StepBudget | None) -> _Found:
        """Return the best placement; it is not carried out unless it has more sets than are `known`."""
        in_all = sum(share.number for share in shares)

        def is_worth(pods: int) -> bool:
            return pods > known * in_all and (self._thorough or pods <= MOST_PLACED)

        best = seek_copies(
            self._inventory,
            self._view.target,
            [(share.pod, share.number) for share in shares],
            limit,
            max_steps=self._max_steps,
            budget=budget,
            worth=is_worth,
            view=self._view,
        )
        late = {id(refusal.candidate) for refusal in best.late}
        placed = [each for each in best.placed if id(each.candidate) not in late]
        owners = _owners(shares)
        numbers = Counter(_owner_of(each.candidate.pod, owners) for each in placed)
        sets = min((numbers[index] // share.number for index, share in enumerate(shares)), default=0)
        placement = [
            PlacedCopy(
                owner=shares[_owner_of(each.candidate.pod, owners)].owner,
                node=each.node,
                devices=_devices(claim.allocation for claim in each.claims),
            )
            for each in placed
        ]
        bound = best.bounds[0] if best.bounds[0] < limit else None  # the limit proves nothing
        return _Found(sets, bound, placement, sorted({refusal.status.plugin for refusal in best.late}))

    def _made(
        self, sets: int, at_most: int | None, placement: list[PlacedCopy], besides: list[str], *, brief: bool
    ) -> PossibleCopies:
        numbers = Counter(each.node for each in placement)
        nodes = [node.metadata.name for node in self._inventory.nodes if node.metadata.name in numbers]
        return PossibleCopies(
            copies=sets,
            at_most=at_most,
            nodes=[NodeCopies(name=name, copies=numbers[name]) for name in nodes],
            placement=placement,
            brief=brief,
            besides=besides,
        )


class _Found(NamedTuple):
    """The number of sets in a placement, and an upper bound, if known."""

    sets: int
    bound: int | None
    placement: list[PlacedCopy]
    besides: list[str]


def _inside(share: Share, key: str, value: str) -> Share:
    """Return the same share for the nodes of one domain alone."""
    selector = {**share.pod.spec.node_selector, key: value}
    return share._replace(pod=structs.replace(share.pod, spec=structs.replace(share.pod.spec, node_selector=selector)))


def _together(domains: Sequence[_Found]) -> _Found:
    """Return the results of all domains together; of the best one alone if several use devices of one pool."""
    bounds = [each.bound for each in domains if each.bound is not None]
    bound = sum(bounds) if len(bounds) == len(domains) else None
    pools = [{(device.driver, device.pool) for copy in each.placement for device in copy.devices} for each in domains]
    besides = sorted({name for each in domains for name in each.besides})
    if sum(map(len, pools)) > len(set().union(*pools)) or besides:
        best = max(domains, key=lambda each: each.sets, default=_Found(0, 0, [], []))
        return _Found(best.sets, bound, best.placement, besides)
    placement = [copy for each in domains for copy in each.placement]
    return _Found(sum(each.sets for each in domains), bound, placement, [])


def _at_least(bound: int | None, sets: int) -> int | None:
    return None if bound is None else max(bound, sets)


def _owners(shares: Sequence[Share]) -> dict[tuple[str, str], int]:
    """Return the position of an owner by namespace and name of the copied pod."""
    return {(share.pod.metadata.namespace, share.pod.metadata.name): at for at, share in enumerate(shares)}


def _owner_of(pod: Pod, owners: dict[tuple[str, str], int]) -> int:
    """Return the owner of a copy, which has the name of the pod with a number appended."""
    return owners[pod.metadata.namespace, pod.metadata.name.rpartition("-")[0]]


def _as_scheduled(scheduled: ScheduledSets) -> list[PlacedCopy]:
    """Return the scheduler's result, as a placement."""
    held: dict[str, list[AllocationResult | None]] = {}
    for claim in scheduled.simulation.cluster.claims:
        for user in claim.reserved_for:
            held.setdefault(user.uid, []).append(claim.allocation)
    return [
        PlacedCopy(owner=owner, node=record.node, devices=_devices(held.get(record.pod.metadata.uid, ())))
        for owner, each in scheduled.copies
        for record in each.bound
    ]


def _devices(allocations: Iterable[AllocationResult | None]) -> list[DeviceName]:
    return [
        DeviceName(driver=result.driver, pool=result.pool, device=result.device)
        for allocation in allocations
        if allocation is not None
        for result in allocation.devices.results
    ]
