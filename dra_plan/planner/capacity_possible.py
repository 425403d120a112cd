"""`capacity`: the most copies that can be there at once, with a placement, and the bound that is proved.

The placement is `placement`'s; here it is compared with what the scheduler did, and told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from dra_plan.allocator import View
from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.api.resource import AllocationResult
from dra_plan.documents.base import DeviceName
from dra_plan.documents.capacity import CopiedOwner, NodeCopies, PlacedCopy, PossibleCopies
from dra_plan.placement.node_kinds import SolverMissingError, StepBudget, UnverifiedPlacementError
from dra_plan.placement.search import seek_copies
from dra_plan.scheduler.refusals import Copies
from dra_plan.scheduler.simulation import Simulation

MOST_PLACED = 1_000
"""A placement of more copies than these is carried out only where somebody asks for it."""

Share = tuple[CopiedOwner, Pod, int]
"""An owner, a pod that is copied for it, and how many of them make a set."""


def possible(
    inventory: Inventory,
    view: View,
    shares: Sequence[Share],
    scheduled: tuple[Simulation, Sequence[Copies]],
    limit: int,
    max_steps: int | None,
    *,
    thorough: bool,
) -> PossibleCopies:
    """The most sets of copies beside what runs, at least as many as were `scheduled`, for which nobody had to go.

    Where it is not `thorough` this takes a few seconds at most: searches share a budget of steps, and a placement of
    many pods is not carried out; then the bounds are further apart than they need be.
    """
    simulation, copies = scheduled
    known = min(len(each.bound) // share for each, (_, _, share) in zip(copies, shares, strict=True))
    if known >= limit:  # more is not asked for
        return _made(known, None, _as_scheduled(simulation, shares, copies), inventory, [], brief=False)
    in_all = sum(share for _, _, share in shares)

    def is_worth(pods: int) -> bool:
        return pods > known * in_all and (thorough or pods <= MOST_PLACED)

    try:
        best = seek_copies(
            inventory,
            view.target,
            [(pod, share) for _, pod, share in shares],
            limit,
            max_steps=max_steps,
            budget=None if thorough else StepBudget(),
            worth=is_worth,
            view=view,
        )
    except (SolverMissingError, UnverifiedPlacementError):
        return _made(known, None, _as_scheduled(simulation, shares, copies), inventory, [], brief=not thorough)
    late = {id(refusal.candidate) for refusal in best.late}
    placed = [each for each in best.placed if id(each.candidate) not in late]
    owners = _owners(shares)
    numbers = Counter(_owner_of(each.candidate.pod, owners) for each in placed)
    sets = min((numbers[index] // share for index, (_, _, share) in enumerate(shares)), default=0)
    bound = best.bounds[0] if best.bounds[0] < limit else None  # the limit proves nothing
    besides = sorted({refusal.status.plugin for refusal in best.late})
    if sets < known:
        scheduler = _as_scheduled(simulation, shares, copies)
        return _made(known, _at_least(bound, known), scheduler, inventory, besides, brief=not thorough)
    found = [
        PlacedCopy(
            owner=shares[_owner_of(each.candidate.pod, owners)][0],
            node=each.node,
            devices=_devices(claim.allocation for claim in each.claims),
        )
        for each in placed
    ]
    return _made(sets, _at_least(bound, sets), found, inventory, besides, brief=not thorough)


def _at_least(bound: int | None, sets: int) -> int | None:
    return None if bound is None else max(bound, sets)


def _owners(shares: Sequence[Share]) -> dict[tuple[str, str], int]:
    """The position of an owner by namespace and name of the pod that is copied."""
    return {(pod.metadata.namespace, pod.metadata.name): index for index, (_, pod, _) in enumerate(shares)}


def _owner_of(pod: Pod, owners: dict[tuple[str, str], int]) -> int:
    """Copies are called as the pod, with a number behind."""
    return owners[pod.metadata.namespace, pod.metadata.name.rpartition("-")[0]]


def _as_scheduled(simulation: Simulation, shares: Sequence[Share], copies: Sequence[Copies]) -> list[PlacedCopy]:
    """What the scheduler did, as a placement."""
    held: dict[str, list[AllocationResult | None]] = {}
    for claim in simulation.cluster.claims:
        for user in claim.status.reserved_for if claim.status is not None else ():
            held.setdefault(user.uid, []).append(claim.allocation)
    return [
        PlacedCopy(owner=owner, node=record.node, devices=_devices(held.get(record.pod.metadata.uid, ())))
        for each, (owner, _, _) in zip(copies, shares, strict=True)
        for record in each.bound
    ]


def _devices(allocations: Iterable[AllocationResult | None]) -> list[DeviceName]:
    return [
        DeviceName(driver=result.driver, pool=result.pool, device=result.device)
        for allocation in allocations
        if allocation is not None
        for result in allocation.devices.results
    ]


def _made(
    sets: int,
    at_most: int | None,
    placement: list[PlacedCopy],
    inventory: Inventory,
    besides: list[str],
    *,
    brief: bool,
) -> PossibleCopies:
    numbers = Counter(each.node for each in placement)
    nodes = [node.metadata.name for node in inventory.nodes if node.metadata.name in numbers]
    return PossibleCopies(
        copies=sets,
        at_most=at_most,
        nodes=[NodeCopies(name=name, copies=numbers[name]) for name in nodes],
        placement=placement,
        brief=brief,
        besides=besides,
    )
