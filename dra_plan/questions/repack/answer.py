"""`repack`: the cheapest moves that free devices, found by an integer program and simulated in waves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from dra_plan.api.inventory import Notice
from dra_plan.claims.index import Index
from dra_plan.claims.owners import is_waiting
from dra_plan.documents.base import answer_target, warnings
from dra_plan.interpreter import uncollected
from dra_plan.placement.leaving import Vacancies
from dra_plan.placement.limits import SearchTime
from dra_plan.placement.move_program import Repacking, RoomWanted
from dra_plan.placement.node_kinds import PlacementCluster
from dra_plan.placement.repacking import Repacker, moves_of
from dra_plan.planner import notices
from dra_plan.planner.answer import PrintedAnswer
from dra_plan.planner.nodes import of_devices
from dra_plan.planner.question import Question
from dra_plan.planner.settling import standing_by
from dra_plan.planner.waves import pod_key
from dra_plan.questions.repack.carry import MoveCarrier, RepackedCluster, Stopped
from dra_plan.questions.repack.document import AllowedMoves, PodsKept, RepackDocument, RepackOutcome, RepackWave
from dra_plan.questions.repack.movable import Movability, MoveRules
from dra_plan.questions.repack.wanted import RoomAsked
from dra_plan.releases import Target
from dra_plan.scheduler.cluster.common import Common
from dra_plan.whatif.edits import replaced

MOST_PLANS = 12
"""The maximum number of plans from the integer program that are simulated."""


@dataclass(frozen=True, repr=False)
class RepackPlan(PrintedAnswer[RepackDocument]):
    """The result of `repack`. Iterating over the result yields the waves."""

    target: Target
    room: RoomAsked
    outcome: RepackOutcome
    carried: RepackedCluster | None
    found: int
    at_most: int
    at_least: int
    movable: int
    most_moves: int | None
    left_alone: tuple[PodsKept, ...]
    allowing: tuple[AllowedMoves, ...]
    message: str = ""
    notices: tuple[Notice, ...] = ()

    def __iter__(self) -> Iterator[RepackWave]:
        return iter(self.waves)

    def __len__(self) -> int:
        return len(self.waves)

    def __repr__(self) -> str:
        return f"<RepackPlan for {self.target.version}: {self.outcome}, {self.moves} moves>"

    @property
    def waves(self) -> tuple[RepackWave, ...]:
        """The waves, or an empty tuple if no pod has to move."""
        return self.carried.waves if self.carried is not None else ()

    @property
    def moves(self) -> int:
        """Return the number of pods that move."""
        return sum(len(wave.moved) for wave in self.waves)

    def _document(self) -> RepackDocument:
        return RepackDocument(
            target=answer_target(self.target),
            outcome=self.outcome,
            asked=self.room.asked,
            room=self.room.said,
            rooms=len(self.room.pods),
            found=self.found,
            at_most=self.at_most,
            moves=self.moves,
            cost=sum(pod.price for wave in self.waves for pod in wave.moved),
            at_least=self.at_least,
            most_moves=self.most_moves,
            movable=self.movable,
            waves=list(self.waves),
            places=list(self.carried.places) if self.carried is not None else [],
            left_alone=list(self.left_alone),
            allowing=list(self.allowing),
            message=self.message,
            warnings=warnings(self.notices),
        )


def repacked(
    room: RoomAsked, target: Target, question: Question, rules: MoveRules, most_moves: int | None = None
) -> RepackPlan:
    """Return the cheapest moves, at most `most_moves` of them, that make room for the wanted pods.

    Raises SolverMissingError if the solver cannot be loaded.
    """
    common = Common()
    started = _Started(room, target, question, rules, common)
    scheduled = started.as_it_is()
    kept = tuple(started.movability.left_alone())
    plan = RepackPlan(
        target=target,
        room=room,
        outcome="Fits",
        carried=scheduled,
        found=len(scheduled.places),
        at_most=len(room.pods),
        at_least=0,
        movable=len(started.movability.pods),
        most_moves=most_moves,
        left_alone=kept,
        allowing=(),
        notices=_notices(room, target),
    )
    if plan.found == len(room.pods):
        return plan
    plan = started.search(plan, most_moves)
    if plan.outcome in ("Moves", "Fits"):
        return plan
    return replace(plan, allowing=tuple(_allowing(plan, started, rules, most_moves)))


def _notices(room: RoomAsked, target: Target) -> tuple[Notice, ...]:
    meant = set(room.pods)
    others = [pod.key for pod in room.inventory.pods if is_waiting(pod) and pod_key(pod) not in meant]
    told: list[Notice] = []
    if others:
        number = f"{len(others):,} other pods are pending" if len(others) > 1 else "1 other pod is pending"
        message = f"{number} and may take the room first; they are not considered"
        told.append(Notice("others-wait", message, f"Pod {others[0]}"))
    return (
        *notices.of_target(target, room.inventory),
        *room.inventory.notices,
        *of_devices(room.inventory),
        *told,
    )


class _Started:
    """A cluster with the wanted pods, and the pods that may move under some rules."""

    def __init__(self, room: RoomAsked, target: Target, question: Question, rules: MoveRules, common: Common) -> None:
        self._room, self._target, self._question, self._common = room, target, question, common
        self._index = Index(room.inventory)
        self._now = standing_by(room.inventory, target, question, common, ordered=True)
        self.rules = self._up_to(rules)
        self.movability = Movability.of(self._now.cluster, self._index, self.rules, self._now.frameworks)
        self._prices = {pod_key(each.pod): each.price for each in self.movability.pods}
        self._carrying = MoveCarrier(room.inventory, target, question, room, self._prices, common)

    def _up_to(self, rules: MoveRules) -> MoveRules:
        """Return rules under which pods with a higher priority than the wanted pods stay, unless the user sets one."""
        if rules.priority is not None or self._room.asked == "Free":
            return rules
        wanted = set(self._room.pods)
        pods = self._now.cluster.pods.values()
        highest = [self._now.cluster.info(pod).priority for pod in pods if pod_key(pod) in wanted]
        return replace(rules, priority=max(highest, default=None))

    def highest_priority(self) -> int:
        """Return the highest priority of the pods that stay because of their priority. If there are none, return 0."""
        pods = self.movability.alone.get("HigherPriority", ())
        return max((self._now.cluster.info(pod).priority for pod in pods), default=0)

    def with_rules(self, rules: MoveRules) -> _Started:
        """Return the same cluster with other rules."""
        return _Started(self._room, self._target, self._question, rules, self._common)

    def as_it_is(self) -> RepackedCluster:
        """Return the wanted pods that fit without a move."""
        found = self._carrying.places(self._room.inventory, 0)
        return found if isinstance(found, RepackedCluster) else RepackedCluster((), (), self._room.inventory)

    def repacker(self, most_moves: int | None) -> tuple[Repacker, Vacancies]:
        """Return the search for moves, and the vacancies in the cluster."""
        moving = [each.pod for each in self.movability.pods]
        vacated = replaced(self._room.inventory, moving, self._index, recreates=True).inventory
        time = SearchTime(self._question.deadline())
        ground = PlacementCluster(vacated, self._target, self._question.max_steps, self._common, time=time)
        vacancies, wanted = Vacancies.of(ground, self.movability.pods, self._room.pods)
        return Repacker(vacancies, RoomWanted(wanted, most_moves, self._room.most), time), vacancies

    def search(self, plan: RepackPlan, most_moves: int | None) -> RepackPlan:
        """Return the cheapest plan that can be carried out."""
        with uncollected():
            repacker, vacancies = self.repacker(most_moves)
            found = repacker.best()
        plan = self._bounded(plan, found)
        message = ""
        for _ in range(MOST_PLANS):
            if not found.possible or self._is_bound_too_high(plan):
                return self._told(plan, "Impossible", message)
            if found.columns is None:
                break
            if found.rooms <= plan.found and self._room.most:
                is_all = found.most_rooms <= plan.found
                return self._told(plan, "Impossible" if is_all else "Undecided", message)
            if not found.columns or found.price == 0:
                message = "the scheduler does not schedule all of the pods, although there is room for them"
            done = self._carried(vacancies, found, repacker.wanted.pods)
            if isinstance(done, RepackedCluster):
                return replace(plan, outcome="Moves", carried=done, found=len(done.places))
            message = done.message
            repacker.exclude(found.columns)
            found = repacker.best()
        return self._told(plan, "Undecided", message)

    def _told(self, plan: RepackPlan, outcome: RepackOutcome, message: str) -> RepackPlan:
        """Return the answer; if as much as possible was requested, with the pods that fit without a move."""
        carried = plan.carried if self._room.most else None
        return replace(plan, outcome=outcome, carried=carried, message=message if outcome == "Undecided" else "")

    def _bounded(self, plan: RepackPlan, found: Repacking) -> RepackPlan:
        return replace(plan, at_least=found.least, at_most=max(plan.found, found.most_rooms))

    def _is_bound_too_high(self, plan: RepackPlan) -> bool:
        """Return whether the price alone shows that more pods have to move than allowed."""
        if plan.most_moves is None or self._room.most or any(price != 1 for price in self._prices.values()):
            return False
        return plan.at_least > plan.most_moves

    def _carried(self, vacancies: Vacancies, found: Repacking, wanted: Sequence[int]) -> RepackedCluster | Stopped:
        columns = found.columns or ()
        roomy = {column.node for column in columns if any(a and b for a, b in zip(column.comes, wanted, strict=True))}
        rooms = found.rooms if self._room.most else len(self._room.pods)
        return self._carrying.out(moves_of(vacancies, columns, wanted), roomy, rooms)


def _allowing(plan: RepackPlan, started: _Started, rules: MoveRules, most_moves: int | None) -> Iterator[AllowedMoves]:
    """Yield the results of additional options, each alone, then both."""
    alone = {each.reason for each in plan.left_alone}
    highest = started.highest_priority()
    choices: list[tuple[list[str], MoveRules]] = []
    if "NoController" in alone:
        choices.append((["--movable bare"], replace(rules, bare=True)))
    if "HigherPriority" in alone:
        choices.append(([f"--up-to-priority {highest}"], replace(rules, priority=highest)))
    if len(choices) == 2:
        both = replace(rules, bare=True, priority=highest)
        choices.append(([*choices[0][0], *choices[1][0]], both))
    for options, other in choices:
        repacker, _ = started.with_rules(other).repacker(most_moves)
        found = repacker.best()
        outcome: RepackOutcome = "Undecided" if found.columns is None else "Moves"
        if not found.possible:
            outcome = "Impossible"
        moves = sum(len(column.leaves) for column in found.columns or ())
        yield AllowedMoves(options=options, outcome=outcome, moves=moves, cost=found.price, rooms=found.rooms)
