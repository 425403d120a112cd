"""One claim set on all nodes: what the allocator says, watched for release defects and long searches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import structs

from dra_plan.allocator import Allocator, NodeOutcome, Outcome, View
from dra_plan.api.core import Node
from dra_plan.api.inventory import Notice
from dra_plan.claims.sets import NOT_AVAILABLE, ClaimSet

from . import defects, notices
from .claim_set_plan import ClaimSetPlan
from .question import Question
from .timeouts import TimeoutWatch


class PlannedSet(NamedTuple):
    """The plan of a claim set, and what is to be said about it."""

    plan: ClaimSetPlan
    notices: tuple[Notice, ...] = ()

    @property
    def tells_of_all_alike(self) -> bool:
        """Whether it holds for all sets that ask for the same: an error names the claim that it is about."""
        return self.plan.claim_set.error is None and all(node.error is None for node in self.plan.nodes)

    def told_of(self, claim_set: ClaimSet) -> PlannedSet:
        """The same, of a set that asks for the same."""
        about, source = notices.about(claim_set)
        told = tuple(structs.replace(notice, object=about, source=source) for notice in self.notices)
        return PlannedSet(ClaimSetPlan(claim_set, self.plan.nodes), told)


class SetPlanner:
    """Plans claim set after claim set, each on its own."""

    def __init__(
        self, view: View, nodes: Sequence[Node], question: Question, deadline: float | None, total: int = 0
    ) -> None:
        self.view, self.nodes, self.deadline = view, nodes, deadline
        self.max_steps = question.max_steps
        self._question, self._total, self._done = question, total, 0

    def plan(self, claim_set: ClaimSet) -> PlannedSet:
        """The answers for one claim set on all chosen nodes."""
        if claim_set.error is not None:
            names = [node.metadata.name for node in self.nodes]
            refused = [NodeOutcome(name, Outcome.ERROR, message=str(claim_set.error)) for name in names]
            return PlannedSet(ClaimSetPlan(claim_set, tuple(refused)))
        allocator = Allocator(claim_set.claims, self.view, max_steps=self.max_steps, deadline=self.deadline)
        watch = defects.Watch(self.view, claim_set, self.max_steps, self.deadline)
        clock = TimeoutWatch(self.view.target, claim_set, allocator, self.deadline)
        outcomes = []
        for node in self.nodes:
            outcome = allocator.allocate(node, self._question.probe)
            watch.saw(node, outcome)
            clock.saw(node, outcome)
            outcomes.append(_with_allocated(outcome, claim_set, node))
            self.answered(1)
        return PlannedSet(ClaimSetPlan(claim_set, tuple(outcomes)), (*watch.notices(), *clock.notices()))

    def answered(self, questions: int) -> None:
        """Tells of progress."""
        self._done += questions
        if self._question.progress is not None:
            self._question.progress(self._done, self._total)


def _with_allocated(outcome: NodeOutcome, claim_set: ClaimSet, node: Node) -> NodeOutcome:
    """Allocated claims of the set exclude nodes that their node selector does not match."""
    if outcome.outcome is not Outcome.FITS or not claim_set.out_of_reach(node):
        return outcome
    return NodeOutcome(
        outcome.node, Outcome.DOES_NOT_FIT, message=NOT_AVAILABLE, steps=outcome.steps, out_of_reach=True
    )
