"""The running pods that have to leave, and their order, so that a pending pod fits."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import msgspec
from msgspec.structs import replace

from dra_plan.api.core import Pod, PodExtendedResourceClaimStatus
from dra_plan.api.inventory import Inventory
from dra_plan.api.resource import AllocationResult, ResourceClaim
from dra_plan.claims.index import Index
from dra_plan.claims.owners import is_waiting
from dra_plan.documents.base import claim_allocation
from dra_plan.documents.claim_sets import PlacedPodClaim
from dra_plan.placement.node_kinds import PodToPlace, UnverifiedPlacementError
from dra_plan.placement.verify import Afterwards, CarriedOut
from dra_plan.planner.question import Chosen, Question
from dra_plan.questions.explain.document import MoveAction, MoveStep, RoomForPod, RoomOutcome
from dra_plan.questions.explain.moves import (
    Given,
    MovablePod,
    Movables,
    PodKey,
    TrialEnd,
    TriedSet,
    Vacating,
    key_of,
    tried,
)
from dra_plan.questions.schedule.answer import schedule_chosen
from dra_plan.releases import Target
from dra_plan.scheduler.cluster.keys import pod_uid
from dra_plan.scheduler.dra.extended import SPECIAL_NAME, stored_name
from dra_plan.whatif import Bind
from dra_plan.whatif.edits import pod_name

__all__ = ["rooms"]


Meant = Mapping[tuple[PodKey, str], AllocationResult]
"""The intended allocations of the claims of a pod, by pod and claim name."""


@dataclass
class CarriedMoves:
    """The cluster in its present state, and the steps that led there."""

    inventory: Inventory
    steps: list[MoveStep] = field(default_factory=list)


def carried_out(given: Given, wanting: PodKey, chosen: TriedSet) -> CarriedMoves | None:
    """Return the steps of a placement, with the devices that the scheduler itself chooses if possible.

    Return None if the scheduler does not bind the pod at the end. Raises UnverifiedPlacementError if a step that should
    be possible is not, or if a previously running pod is pending at the end.
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
        self._nodes = {_key(each.candidate.pod): each.node for each in chosen.found.placed}
        self._meant: dict[tuple[PodKey, str], AllocationResult] = {}
        users = [_key(each.candidate.pod) for each in chosen.found.placed]
        for each in chosen.found.placed:
            for claim in each.claims:
                for user in users if claim.metadata.name != SPECIAL_NAME else [_key(each.candidate.pod)]:
                    if claim.allocation is not None:
                        self._meant[user, claim.metadata.name] = claim.allocation
        self._done = CarriedMoves(given.inventory)
        self._from = {key_of(movable): movable.node for movable in chosen.pods}

    def run(self) -> CarriedMoves | None:
        """Return the steps; None if one of them is impossible with the devices that the scheduler chooses."""
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
        claims = {_key(each.candidate.pod): {claim.key for claim in each.candidate.pending} for each in found}
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
            self._done.inventory, given.target, given.question, lambda pod: _key(pod) == self._wanting, given.common
        )
        record = next((record for record in result.pods if _key(record.pod) == self._wanting), None)
        if record is not None and record.pod.spec.scheduling_group is not None:
            return self._nodes[self._wanting]
        return record.node or None if record is not None and not result.evictions else None


@dataclass(frozen=True)
class _Arrived:
    inventory: Inventory
    claims: Sequence[ResourceClaim]


class _Arrival:
    """A pending pod, in a cluster."""

    def __init__(self, given: Given, inventory: Inventory, key: PodKey) -> None:
        self._inventory, self._ground, self._key = inventory, given.ground(inventory), key
        pod = next(pod for pod in self._ground.cluster.pods.values() if _key(pod) == key)
        self._candidate = self._ground.ready(pod)

    def on(self, node: str, meant: Meant) -> _Arrived | None:
        """Return the cluster with the pod on the node, and the devices of its claims; None if it does not fit."""
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


def _key(pod: Pod) -> PodKey:
    return pod.metadata.namespace, pod.metadata.name


MOST_QUESTIONS = 50_000
"""The maximum number of checks whether a pod fits a node without some others; beyond it, more sets are undecided."""


MOST_LOOKS = 60_000
"""The maximum number of nodes checked in all trials of a pod; each trial checks every node."""


def rooms(inventory: Inventory, target: Target, question: Question, chosen: Chosen, limit: int) -> list[RoomForPod]:
    """Return how each of the selected pending pods can fit, with at most `limit` pods leaving for it.

    Each pod is checked separately; equal pods are grouped.
    """
    given = Given(inventory, target, question, Index(inventory))
    ground = given.ground(inventory)
    waiting = [pod for pod in ground.cluster.pods.values() if is_waiting(pod) and chosen(pod)]
    alike: dict[Hashable, list[PodToPlace]] = {}
    for pod in waiting:
        candidate = ground.ready(pod)
        alike.setdefault(_likeness(candidate), []).append(candidate)
    return [_RoomSearch(given, group, limit).room() for group in alike.values()]


def _likeness(candidate: PodToPlace) -> Hashable:
    """Return a key that is equal for pods with equal answers."""
    pod = candidate.pod
    if candidate.key is None or candidate.info.group is not None:
        return pod_uid(pod)
    metadata, spec = pod.metadata, pod.spec
    told = (spec.affinity, spec.topology_spread_constraints, spec.volumes, metadata.labels, spec.preemption_policy)
    return candidate.key, candidate.info.priority, metadata.namespace, msgspec.json.encode(told)


class _RoomSearch:
    """The search for one pod."""

    def __init__(self, given: Given, alike: Sequence[PodToPlace], limit: int) -> None:
        self._given, self._limit = given, limit
        self._names = [pod_name(candidate.pod) for candidate in alike]
        self._wanting = (self._names[0].namespace, self._names[0].name)
        self._tried = self._looks = 0
        self._is_open = self._is_worn_out = False
        self._least: tuple[TriedSet, CarriedMoves] | None = None

    def room(self) -> RoomForPod:
        """Return the answer for the pod."""
        message = self._message()
        if message is None:
            return self._told("Fits", [], "", fewest=True)
        ground = self._given.ground(self._given.inventory)
        pod = next(p for p in ground.cluster.pods.values() if pod_name(p) == self._names[0])
        wanting = ground.ready(pod)
        self._movables = Movables(ground, wanting)
        self._vacating = Vacating(ground, self._given.index, wanting, self._movables.pods)
        for number in range(1, self._limit + 1):
            for pods in self._sets(number):
                steps = self._moves(pods)
                if steps is not None:
                    return self._told("Moves", steps, message, fewest=not self._is_open)
                if self._is_worn_out:
                    break
        if self._least is not None:
            chosen, done = self._least
            proved, number = not self._is_open, len(chosen.preempted)
            return self._told("Preemption", done.steps, message, fewest=proved, preempted=number)
        return self._told("Undecided" if self._is_open else "Impossible", [], message, fewest=False)

    def _message(self) -> str | None:
        """Return the scheduler's message for the pod in the present state; None if it fits."""
        given = self._given
        result = schedule_chosen(given.inventory, given.target, given.question, self._is_wanting, given.common)
        record = next(record for record in result.pods if self._is_wanting(record.pod))
        return record.message or record.waiting or "" if not record.node or result.evictions else None

    def _is_wanting(self, pod: Pod) -> bool:
        return (pod.metadata.namespace, pod.metadata.name) == self._wanting

    def _sets(self, number: int) -> Iterator[tuple[MovablePod, ...]]:
        """Yield the sets of this size that could help: first those on one node, then those with more elsewhere."""
        seen: set[frozenset[tuple[str, str]]] = set()
        nodes = self._vacating.nodes()
        for near in range(number, 0, -1):
            for node in nodes:
                here = self._vacating.near(node)
                others = [each for each in self._movables.pods if each not in here] if near < number else []
                for gone in combinations(here, near):
                    if self._is_over() or not self._vacating.could_fit(node, gone):
                        continue
                    for more in combinations(others, number - near):
                        pods = (*gone, *more)
                        key = frozenset(map(key_of, pods))
                        if key not in seen and self._movables.may_leave(pods):
                            seen.add(key)
                            yield pods
                            if self._is_over():
                                return

    def _is_over(self) -> bool:
        steps = self._given.question.max_steps
        self._is_worn_out = (
            self._looks > MOST_LOOKS
            or self._vacating.asked > MOST_QUESTIONS
            or (steps is not None and self._tried >= steps)
        )
        self._is_open = self._is_open or self._is_worn_out
        return self._is_worn_out

    def _moves(self, pods: Sequence[MovablePod]) -> list[MoveStep] | None:
        """Return the steps if all of these get another node; the best preemption is recorded on the way."""
        self._tried += 1
        self._looks += len(self._given.inventory.nodes)
        one = tried(self._given, self._wanting, pods)
        self._is_open = self._is_open or one.is_open
        if one.outcome is TrialEnd.NONE or (one.outcome is TrialEnd.SOME and not self._is_better(one)):
            return None
        done = carried_out(self._given, self._wanting, one)
        if done is None:
            self._is_open = True
        elif one.outcome is TrialEnd.ALL:
            return done.steps
        else:
            self._least = one, done
        return None

    def _is_better(self, one: TriedSet) -> bool:
        """Return whether this preemption has fewer pods than the known one, or equally many with less harm."""
        return self._least is None or (len(one.pods), _harm(one)) < (len(self._least[0].pods), _harm(self._least[0]))

    def _told(
        self, outcome: RoomOutcome, steps: Sequence[MoveStep], message: str, *, fewest: bool, preempted: int = 0
    ) -> RoomForPod:
        leaving = sum(step.action in ("Move", "Evict", "Preempt") for step in steps)
        return RoomForPod(
            pods=self._names,
            outcome=outcome,
            limit=self._limit,
            moved=leaving - preempted,
            preempted=preempted,
            fewest=fewest,
            steps=list(steps),
            left_alone=self._movables.left_alone if outcome != "Fits" else [],
            tried=self._tried,
            message=message,
        )


def _harm(one: TriedSet) -> tuple[int, int]:
    """Return the number of pods left without a node, and their importance."""
    return len(one.preempted), sum(movable.priority for movable in one.preempted)
