"""The scheduler's own placement of the pods, which is computed before the search for another one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dra_plan.api.resource import ResourceClaim
from dra_plan.placement.gangs import WholeGroups
from dra_plan.placement.program import Goal
from dra_plan.placement.search import BestPlacement, PlacementQuestion
from dra_plan.placement.verify import PlacedPod
from dra_plan.planner.question import Chosen, Question
from dra_plan.questions.place.document import SchedulerResult
from dra_plan.questions.schedule.answer import schedule_chosen
from dra_plan.scheduler.simulate import SimulationResult


@dataclass(frozen=True)
class ScheduledPods:
    """The pods that the scheduler binds, without the pods of incomplete gangs.

    If `evicts` is set, running pods were evicted, so the running pods and the placed pods do not all fit.
    """

    placed: tuple[PlacedPod, ...]
    evicts: bool

    def as_best(self, asked: PlacementQuestion, goals: Sequence[Goal], bounds: Sequence[int]) -> BestPlacement:
        """Return the scheduler's result as a placement with the given bounds."""
        there = {id(each.candidate) for each in self.placed}
        left = tuple(member for kind in asked.kinds for member in kind.members if id(member) not in there)
        return BestPlacement(self.placed, left, asked.reached(self.placed, goals), tuple(bounds))

    def told(self, asked: PlacementQuestion, goals: Sequence[Goal], found: BestPlacement) -> SchedulerResult:
        """Return the number of pods that the scheduler binds and of gangs that it starts.

        The result also says whether the scheduler's placement is proved to be the best, or a better one was found.
        """
        reached = asked.reached(self.placed, goals)
        is_best = True if reached >= found.bounds else False if found.reached > reached else None
        started = WholeGroups(asked.groups).started(each.candidate for each in self.placed)
        return SchedulerResult(bound=len(self.placed), started=len(started), is_best=is_best)


def scheduled(question: Question, chosen: Chosen, asked: PlacementQuestion) -> ScheduledPods:
    """Return the scheduler's result for the selected pods. All other pending pods are left out."""
    ground = asked.ground
    enough = lambda: ground.time.is_over  # noqa: E731
    result = schedule_chosen(ground.simulation.inventory, ground.target, question, chosen, enough=enough)
    placed = _placed(asked, result)
    parts = {id(each) for each in WholeGroups(asked.groups).parts([each.candidate for each in placed])}
    whole = tuple(each for each in placed if id(each.candidate) not in parts)
    return ScheduledPods(whole, bool(result.evictions))


def _placed(asked: PlacementQuestion, result: SimulationResult) -> list[PlacedPod]:
    """Return the bound pods, each with the claims that got devices for it, and not for an earlier pod."""
    candidates = {member.info.uid: member for kind in asked.kinds for member in kind.members}
    had = {claim.metadata.uid for claim in asked.ground.cluster.claims.seen() if claim.allocation is not None}
    used: dict[str, list[ResourceClaim]] = {}
    for claim in result.claims:
        if claim.allocation is not None and claim.status is not None and claim.metadata.uid not in had:
            for user in claim.status.reserved_for:
                used.setdefault(user.uid, []).append(claim)
    given: set[str] = set()
    placed = []
    for record in result.pods:
        candidate = candidates.get(record.pod.metadata.uid or record.pod.key)
        if candidate is None or not record.node:
            continue
        claims = [claim for claim in used.get(candidate.info.uid, ()) if claim.metadata.uid not in given]
        given.update(claim.metadata.uid for claim in claims)
        placed.append(PlacedPod(candidate, record.node, tuple(claims)))
    return placed
