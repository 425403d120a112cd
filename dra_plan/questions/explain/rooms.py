"""`explain --moves`: the fewest running pods that have to leave so that a pending pod fits.

The integer program of `repack` proposes the pods and proves a bound. A proposal is valid once all of its pods have been
placed and every step has been carried out. If filters or devices that the program ignores require more pods to leave,
sets of more pods nearby are tried. In small clusters, all sets are tried.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence, Set
from itertools import combinations
from math import comb

from msgspec import structs

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.claims.index import Index
from dra_plan.claims.owners import is_waiting
from dra_plan.placement.leaving import Vacancies, likeness
from dra_plan.placement.limits import SearchTime
from dra_plan.placement.move_program import MoveColumn, RoomWanted
from dra_plan.placement.node_kinds import PodToPlace
from dra_plan.placement.repacking import Repacker
from dra_plan.planner.question import Chosen, Question
from dra_plan.planner.waves import PodKey, pod_key
from dra_plan.questions.explain.document import AllowedReason, AllowedRoom, RoomForPod, RoomOutcome
from dra_plan.questions.explain.moves import Given, MovablePod, Movables, TrialEnd, TriedSet, key_of, tried
from dra_plan.questions.explain.sequence import CarriedMoves, carried_out
from dra_plan.questions.schedule.answer import schedule_chosen
from dra_plan.releases import Target
from dra_plan.scheduler.cluster.keys import pod_uid
from dra_plan.whatif.edits import pod_name, replaced

__all__ = ["rooms"]

MOST_PLANS = 12
"""The maximum number of plans of the integer program that are tried for a pod."""
MOST_SETS = 300
"""If there are at most this many sets of pods, all are tried when no proposal is valid. Otherwise, only sets that
contain the proposed pods are tried."""
MOST_LOOKS = 6_000
"""The maximum number of nodes in all trials for a pod. Once it is reached, no more sets are tried."""


def rooms(inventory: Inventory, target: Target, question: Question, chosen: Chosen, limit: int) -> list[RoomForPod]:
    """Return how each of the selected pending pods can fit if running pods leave.

    At most `limit` pods leave. Each pending pod is checked separately, and equal pods are grouped.
    """
    given = Given(inventory, target, question, Index(inventory), time=SearchTime(question.deadline()))
    ground = given.ground(inventory)
    waiting = [pod for pod in ground.cluster.pods.values() if is_waiting(pod) and chosen(pod)]
    alike: dict[Hashable, list[PodToPlace]] = {}
    for pod in waiting:
        candidate = ground.ready(pod)
        alike.setdefault(_likeness(candidate), []).append(candidate)
    return [_room(given, group, limit) for group in alike.values()]


def _room(given: Given, alike: Sequence[PodToPlace], limit: int) -> RoomForPod:
    """Return the answer for these equal pods; if no moves are known, also with pods that are left alone."""
    found = _RoomSearch(given, alike, limit).room()
    if found.outcome not in ("Impossible", "Undecided"):
        return found
    alone = {each.reason for each in found.left_alone}
    single = [reason for reason in _MAY_ALLOW if reason in alone]
    allowing: list[AllowedRoom] = []
    for reasons in ([[each] for each in single] + [single])[: 3 if len(single) > 1 else len(single)]:
        room = _RoomSearch(given, alike, limit, frozenset(reasons)).room()
        allowing.append(
            AllowedRoom(
                kinds=reasons, outcome=room.outcome, moved=room.moved, preempted=room.preempted, steps=room.steps
            )
        )
        if room.steps:
            break
    return structs.replace(found, allowing=allowing)


_MAY_ALLOW: tuple[AllowedReason, ...] = ("NoController", "HigherPriority")


def _likeness(candidate: PodToPlace) -> Hashable:
    """Return a key that is equal for pods with equal answers."""
    pod = candidate.pod
    if candidate.key is None or candidate.info.group is not None:
        return pod_uid(pod)
    return likeness(candidate), candidate.info.priority, pod.spec.preemption_policy


class _RoomSearch:
    """The search for one pod."""

    def __init__(
        self, given: Given, alike: Sequence[PodToPlace], limit: int, allowed: Set[AllowedReason] = frozenset()
    ) -> None:
        self._given, self._limit = given, limit
        self._names = [pod_name(candidate.pod) for candidate in alike]
        self._wanting = (self._names[0].namespace, self._names[0].name)
        self._tried = 0
        self._is_open = False
        self._movables = Movables(given.ground(given.inventory), given.index, alike[0], allowed)

    def room(self) -> RoomForPod:
        """Return the answer for the pod."""
        if self._given.time.is_over:
            return self._told("Undecided", None, "", fewest=False)
        message = self._message()
        if message is None:
            return self._told("Fits", None, "", fewest=True)
        for preempting in (False, True) if any(each.preemptable for each in self._movables.pods) else (False,):
            found = self._plan(preempting=preempting)
            if found is not None:
                return self._told("Preemption" if preempting else "Moves", found, message, fewest=not self._is_open)
        return self._told("Undecided" if self._is_open else "Impossible", None, message, fewest=False)

    def _message(self) -> str | None:
        """Return the scheduler's message for the pod in the present state; None if it fits."""
        given = self._given
        result = schedule_chosen(given.inventory, given.target, given.question, self._is_wanting, given.common)
        record = next(record for record in result.pods if self._is_wanting(record.pod))
        return record.message or record.waiting or "" if not record.node or result.evictions else None

    def _is_wanting(self, pod: Pod) -> bool:
        return pod_key(pod) == self._wanting

    def _plan(self, *, preempting: bool) -> tuple[TriedSet, CarriedMoves] | None:
        """Return the plan with the fewest pods; it is noted if more plans, or ones with fewer pods, may exist."""
        leaving, price = self._movables.leaving(self._limit, preempting=preempting)
        vacated = replaced(self._given.inventory, [each.pod for each in leaving], self._given.index, recreates=True)
        vacancies, wanted = Vacancies.of(self._given.ground(vacated.inventory), leaving, [self._wanting])
        budgets = self._movables.allowed
        repacker = Repacker(vacancies, RoomWanted(wanted, self._limit, budgets=budgets), self._given.time)
        proposals: list[tuple[set[str], list[MovablePod]]] = []
        found = repacker.best()
        while found.possible and found.columns is not None and len(proposals) < MOST_PLANS and not self._is_over():
            pods = self._leaving(vacancies, found.columns)
            done = self._carried(pods, preempting=preempting) if pods else None
            if done is not None:
                self._is_open = self._is_open or len(pods) > found.least // price
                return done
            proposals.append(({column.node for column in found.columns}, pods))
            repacker.exclude_leaving(found.columns)
            found = repacker.best()
        if not found.possible and not proposals:
            return None
        is_small = sum(comb(len(leaving), number) for number in range(self._limit + 1)) <= MOST_SETS
        self._is_open = self._is_open or not is_small
        return self._first_of(self._every() if is_small else self._wider(proposals), preempting=preempting)

    def _first_of(self, sets: Iterable[list[MovablePod]], *, preempting: bool) -> tuple[TriedSet, CarriedMoves] | None:
        """Return the plan of the first set that has one; of equally large ones, the one with the least preemption."""
        best: tuple[TriedSet, CarriedMoves] | None = None
        for pods in sets:
            if best is not None and (not preempting or len(pods) > len(best[0].pods)):
                break
            if self._is_over() or self._tried * len(self._given.inventory.nodes) > MOST_LOOKS:
                self._is_open = True
                break
            done = self._carried(pods, preempting=preempting) if self._movables.may_leave(pods) else None
            if done is not None and (best is None or _harm(done[0]) < _harm(best[0])):
                best = done
        return best

    def _every(self) -> Iterator[list[MovablePod]]:
        """Yield all sets of pods, few first."""
        for number in range(1, self._limit + 1):
            yield from map(list, combinations(self._movables.pods, number))

    def _leaving(self, vacancies: Vacancies, columns: Sequence[MoveColumn]) -> list[MovablePod]:
        keys = {vacancies.residents[column.node][each].key for column in columns for each in column.leaves}
        return [each for each in self._movables.pods if key_of(each) in keys]

    def _wider(self, proposals: Sequence[tuple[set[str], list[MovablePod]]]) -> Iterator[list[MovablePod]]:
        """Yield the proposals with more pods: of their nodes, and with devices that several nodes reach; few first."""
        afar = self._movables.far_reaching(self._given.inventory)
        seen: set[frozenset[PodKey]] = set()
        for number in range(1, self._limit + 1):
            for nodes, pods in proposals:
                near = [each for each in self._movables.pods if each.node in nodes or each in afar]
                others = [each for each in near if each not in pods]
                for more in combinations(others, number - len(pods)) if number > len(pods) else ():
                    wider = [*pods, *more]
                    key = frozenset(map(key_of, wider))
                    if key not in seen:
                        seen.add(key)
                        yield wider

    def _is_over(self) -> bool:
        steps = self._given.question.max_steps
        return self._given.time.is_over or (steps is not None and self._tried >= steps)

    def _carried(self, pods: Sequence[MovablePod], *, preempting: bool) -> tuple[TriedSet, CarriedMoves] | None:
        """Return the steps if all of these get another node, except for those that may be preempted."""
        self._tried += 1
        one = tried(self._given, self._wanting, pods)
        self._is_open = self._is_open or one.is_open
        if one.outcome is not TrialEnd.ALL and not (preempting and one.outcome is TrialEnd.SOME):
            return None
        done = carried_out(self._given, self._wanting, one)
        self._is_open = self._is_open or done is None
        return None if done is None else (one, done)

    def _told(
        self, outcome: RoomOutcome, found: tuple[TriedSet, CarriedMoves] | None, message: str, *, fewest: bool
    ) -> RoomForPod:
        steps = found[1].steps if found is not None else []
        leaving = sum(step.action in ("Move", "Evict", "Preempt") for step in steps)
        preempted = len(found[0].preempted) if found is not None else 0
        return RoomForPod(
            pods=self._names,
            outcome=outcome,
            limit=self._limit,
            moved=leaving - preempted,
            preempted=preempted,
            fewest=fewest,
            steps=list(steps),
            left_alone=self._movables.left_alone if outcome != "Fits" else [],
            movable=len(self._movables.pods),
            tried=self._tried,
            message=message,
        )


def _harm(one: TriedSet) -> tuple[int, int]:
    """Return the number of pods left without a node, and their importance."""
    return len(one.preempted), sum(movable.priority for movable in one.preempted)
