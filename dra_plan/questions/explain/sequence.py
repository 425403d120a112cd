"""The order of the pods that leave so that a pending pod fits, each step with its devices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from dra_plan.api.core import Pod, PodExtendedResourceClaimStatus
from dra_plan.api.inventory import Inventory
from dra_plan.api.resource import AllocationResult, ResourceClaim
from dra_plan.claims.owners import is_waiting
from dra_plan.documents.base import claim_allocation
from dra_plan.documents.claim_sets import PlacedPodClaim
from dra_plan.placement.node_kinds import UnverifiedPlacementError
from dra_plan.placement.verify import Afterwards, CarriedOut
from dra_plan.planner.waves import PodKey, pod_key
from dra_plan.questions.explain.document import MoveAction, MoveStep
from dra_plan.questions.explain.moves import (
    Given,
    MovablePod,
    TriedSet,
    key_of,
)
from dra_plan.questions.schedule.answer import schedule_chosen
from dra_plan.scheduler.dra.extended import SPECIAL_NAME, stored_name
from dra_plan.whatif import Bind

Meant = Mapping[tuple[PodKey, str], AllocationResult]
"""The intended allocations of the claims of a pod, by pod and claim name."""


class CarriedMoves(Struct):
    """The cluster after some steps, and the steps that led to it."""

    inventory: Inventory
    steps: list[MoveStep] = field(default_factory=list)


def carried_out(given: Given, wanting: PodKey, chosen: TriedSet) -> CarriedMoves | None:
    """Return the steps that lead to a placement. If possible, the devices are those that the scheduler itself chooses.

    Return None if the scheduler does not bind the pod at the end. Raises UnverifiedPlacementError if a step that should
    be possible is not possible, or if a pod that ran before is pending at the end.
    """
    for strict in (False, True):
        done = _Sequence(given, wanting, chosen, strict=strict).run()
        if done is not None:
            _check(given, wanting, chosen, done)
            return done
    return None


def _check(given: Given, wanting: PodKey, chosen: TriedSet, done: CarriedMoves) -> None:
    before = {pod.key for pod in given.inventory.pods if is_waiting(pod)}
    after = {pod.key for pod in done.inventory.pods if is_waiting(pod)}
    late = after - before - {movable.pod.key for movable in chosen.preempted}
    if late or "/".join(wanting) in after:
        raise UnverifiedPlacementError(min(late, default="/".join(wanting)), "any", ("it is pending after all moves"))


class _Sequence:
    """A way to carry out the moves: with the scheduler's choice of devices, or if `strict`, with the placement's."""

    def __init__(self, given: Given, wanting: PodKey, chosen: TriedSet, *, strict: bool) -> None:
        self._given, self._wanting, self._strict, self._chosen = given, wanting, strict, chosen
        self._gone = chosen.preempted
        self._moving = [movable for movable in chosen.pods if movable not in self._gone]
        self._nodes = {pod_key(each.candidate.pod): each.node for each in chosen.found.placed}
        self._meant: dict[tuple[PodKey, str], AllocationResult] = {}
        users = [pod_key(each.candidate.pod) for each in chosen.found.placed]
        for each in chosen.found.placed:
            for claim in each.claims:
                for user in users if claim.metadata.name != SPECIAL_NAME else [pod_key(each.candidate.pod)]:
                    if claim.allocation is not None:
                        self._meant[user, claim.metadata.name] = claim.allocation
        self._done = CarriedMoves(given.inventory)
        self._from = {key_of(movable): movable.node for movable in chosen.pods}

    def run(self) -> CarriedMoves | None:
        """Return the steps, or None if a step is impossible with the devices that the scheduler chooses."""
        for movable in self._gone:
            self._leave(movable, "Preempt")
        moving, waiting = self._units(), list[list[MovablePod]]()
        while moving or waiting:
            if self._any_back(waiting) or self._any_moved(moving):
                continue
            if not moving:
                self._fail(key_of(waiting[0][0]))
                return None
            waiting.append(moving.pop(0))
            for movable in waiting[-1]:
                self._leave(movable, "Evict")
        return self._start()

    def _units(self) -> list[list[MovablePod]]:
        """Return the moving pods, grouped by shared claims: a claim gets other devices only when all have left it."""
        found = self._chosen.found.placed
        claims = {pod_key(each.candidate.pod): {claim.key for claim in each.candidate.pending} for each in found}
        units: list[list[MovablePod]] = []
        for movable in self._moving:
            own = claims[key_of(movable)]
            linked = [unit for unit in units if any(own & claims[key_of(other)] for other in unit)]
            units = [unit for unit in units if unit not in linked]
            units.append([*(other for unit in linked for other in unit), movable])
        return units

    def _leave(self, movable: MovablePod, action: MoveAction) -> None:
        key = key_of(movable)
        self._done.inventory = self._given.evicted(self._done.inventory, [key])
        self._done.steps.append(MoveStep(action=action, namespace=key[0], name=key[1], from_node=movable.node))

    def _any_back(self, waiting: list[list[MovablePod]]) -> bool:
        """Place evicted pods on their new nodes, and return whether any was placed."""
        return self._any(waiting, lambda unit: self._all_arrive(unit, "Place"))

    def _any_moved(self, moving: list[list[MovablePod]]) -> bool:
        """Move pods to their new nodes at once, and return whether any moved."""
        return self._any(moving, self._moved)

    def _moved(self, unit: Sequence[MovablePod]) -> bool:
        before = CarriedMoves(self._done.inventory, list(self._done.steps))
        if len(unit) == 1:
            self._done.inventory = self._given.evicted(self._done.inventory, [key_of(unit[0])])
        else:
            for movable in unit:
                self._leave(movable, "Evict")
        if self._all_arrive(unit, "Move" if len(unit) == 1 else "Place"):
            return True
        self._done = before
        return False

    @staticmethod
    def _any(units: list[list[MovablePod]], succeeds: Callable[[list[MovablePod]], bool]) -> bool:
        for unit in units:
            if succeeds(unit):
                units.remove(unit)
                return True
        return False

    def _all_arrive(self, unit: Sequence[MovablePod], action: MoveAction) -> bool:
        before = CarriedMoves(self._done.inventory, list(self._done.steps))
        for movable in unit:
            if not self._arrive(key_of(movable), action):
                self._done = before
                return False
        return True

    def _arrive(self, key: PodKey, action: MoveAction) -> bool:
        meant = self._meant if self._strict else {}
        placed = _Arrival(self._given, self._done.inventory, key).on(self._nodes[key], meant)
        if placed is None:
            return False
        self._done.inventory = placed.inventory
        self._done.steps.append(self._step(action, key, self._nodes[key], placed.claims))
        return True

    def _step(self, action: MoveAction, key: PodKey, node: str, claims: Sequence[ResourceClaim]) -> MoveStep:
        return MoveStep(
            action=action,
            namespace=key[0],
            name=key[1],
            from_node=self._from.get(key, "") if action == "Move" else "",
            node=node,
            claims=[
                PlacedPodClaim(
                    namespace=claim.metadata.namespace,
                    name=claim.metadata.name,
                    allocation=claim_allocation(claim.allocation, timestamp=False),
                )
                for claim in claims
                if claim.allocation is not None
            ],
            devices_matter=self._strict and bool(claims),
        )

    def _fail(self, key: PodKey) -> None:
        """Handle missing devices: possible with the scheduler's choice, but not with those of the placement."""
        if self._strict:
            raise UnverifiedPlacementError(
                "/".join(key), self._nodes[key], ("its room is no longer free when the pod arrives")
            )

    def _start(self) -> CarriedMoves | None:
        node = self._scheduled()
        if node is None:
            return None
        placed = _Arrival(self._given, self._done.inventory, self._wanting).on(node, {})
        if placed is None:
            return None
        self._done.inventory = placed.inventory
        step = self._step("Start", self._wanting, node, placed.claims)
        self._done.steps.append(replace(step, devices_matter=False))
        return self._done

    def _scheduled(self) -> str | None:
        """Return the node that the scheduler chooses for the pod; None if there is none without evictions.

        A pod of a group is never scheduled alone: it gets the node of the placement.
        """
        given = self._given
        result = schedule_chosen(
            self._done.inventory, given.target, given.question, lambda pod: pod_key(pod) == self._wanting, given.common
        )
        record = next((record for record in result.pods if pod_key(record.pod) == self._wanting), None)
        if record is not None and record.pod.spec.scheduling_group is not None:
            return self._nodes[self._wanting]
        return record.node or None if record is not None and not result.evictions else None


class _Arrived(Struct, frozen=True):
    inventory: Inventory
    claims: Sequence[ResourceClaim]


class _Arrival:
    """A pending pod, in a cluster."""

    def __init__(self, given: Given, inventory: Inventory, key: PodKey) -> None:
        self._inventory, self._ground, self._key = inventory, given.ground(inventory), key
        pod = next(pod for pod in self._ground.cluster.pods.values() if pod_key(pod) == key)
        self._candidate = self._ground.ready(pod)

    def on(self, node: str, meant: Meant) -> _Arrived | None:
        """Return the cluster with the pod on the node, and the devices of the pod's claims.

        If the pod does not fit on the node, return None.
        """
        ground, candidate = self._ground, self._candidate
        asked = ground.claims_on(candidate, ground.cluster.nodes[node])
        named = {claim.metadata.uid: meant.get((self._key, claim.metadata.name)) for claim in asked}
        hint = {uid: allocation for uid, allocation in named.items() if allocation is not None}
        standing = CarriedOut(ground)
        if standing.place(candidate, node, hint) or Afterwards(ground).refusals([(candidate, node)]):
            return None
        pod, new = candidate.pod, list[ResourceClaim]()
        for claim in standing.claims.values():
            stored = claim
            if claim.metadata.name == SPECIAL_NAME:
                stored = replace(claim, metadata=replace(claim.metadata, name=stored_name(claim), uid=""))
                pod = _with_special(pod, stored)
            new.append(stored)
        bound = Bind(pod, node, [*candidate.settled, *new]).apply(self._inventory)
        return _Arrived(bound.inventory, new)


def _with_special(pod: Pod, claim: ResourceClaim) -> Pod:
    status = PodExtendedResourceClaimStatus(resource_claim_name=claim.metadata.name)
    return replace(pod, status=replace(pod.status, extended_resource_claim_status=status))
