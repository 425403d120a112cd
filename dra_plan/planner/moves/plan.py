"""How room is made for pods that wait: the fewest pods that have to leave, sought from none upwards.

A set of n pods is tried after all smaller ones were; sets that can't help (`vacating`) are not tried. So the first one
that does is smallest, unless something smaller stayed open.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import combinations

import msgspec

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.claims.index import Index
from dra_plan.claims.owners import is_waiting
from dra_plan.documents.moves import MoveStep, RoomForPod, RoomOutcome
from dra_plan.placement.node_kinds import PodToPlace
from dra_plan.planner.question import Question
from dra_plan.planner.scheduling import Chosen, schedule_chosen
from dra_plan.releases import Target
from dra_plan.scheduler.cluster.keys import pod_uid
from dra_plan.whatif.edits import pod_name

from .movable import MovablePod, Movables
from .sequence import CarriedMoves, carried_out
from .trial import Given, TrialEnd, TriedSet, tried
from .vacating import Vacating, key_of

MOST_QUESTIONS = 50_000
"""So many questions whether a pod could fit a node without some others; then it stays open whether more sets help."""
MOST_LOOKS = 60_000
"""So many nodes are looked at in all trials of a pod; each trial looks at every node."""


def rooms(inventory: Inventory, target: Target, question: Question, chosen: Chosen, limit: int) -> list[RoomForPod]:
    """How room is made for each of the chosen pods that wait, if no more than `limit` pods may leave for it.

    Each is asked about by itself; those that are alike are told together.
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
    """Pods of one likeness have the same answer."""
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
        """The answer for the pod."""
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
        """What the scheduler says to the pod as things are; None if it takes it."""
        given = self._given
        result = schedule_chosen(given.inventory, given.target, given.question, self._is_wanting, given.common)
        record = next(record for record in result.pods if self._is_wanting(record.pod))
        return record.message or record.waiting or "" if not record.node or result.evictions else None

    def _is_wanting(self, pod: Pod) -> bool:
        return (pod.metadata.namespace, pod.metadata.name) == self._wanting

    def _sets(self, number: int) -> Iterator[tuple[MovablePod, ...]]:
        """The sets of so many pods that could help: first those that leave one node, then those with more elsewhere."""
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
        """The steps if all of these get another place; the best preemption is remembered on the way."""
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
        """Whether this preemption is of fewer pods than the one known, or of as many and does less harm."""
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
    """How many pods are left without a place, and how important they are."""
    return len(one.preempted), sum(movable.priority for movable in one.preempted)
