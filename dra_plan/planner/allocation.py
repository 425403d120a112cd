"""`allocate`: each claim set of the input on each node, against the cluster as it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from dra_plan.allocator import Outcome, View
from dra_plan.api.core import Node
from dra_plan.api.inventory import Inventory, Notice
from dra_plan.claims.sets import ClaimSet
from dra_plan.documents.allocation import AllocationDocument
from dra_plan.documents.base import answer_target, warnings
from dra_plan.documents.owners import UnplannedOwner
from dra_plan.errors import UsageError
from dra_plan.releases import Target

from . import completeness, notices, ownerstates
from .alike_sets import plan_alike
from .answer import PrintedAnswer, counted
from .claim_set_plan import ClaimSetPlan
from .leading import Leading
from .newfields import of_new_fields
from .nodes import choose_nodes, with_nodes
from .owners import choose_sets
from .planned_sets import PlannedSets
from .question import Question
from .set_planner import SetPlanner


@dataclass(frozen=True, repr=False)
class AllocationPlan(PrintedAnswer[AllocationDocument]):
    """The answer of `allocate`: the plans of the claim sets, which `for` goes through."""

    target: Target
    claim_sets: tuple[ClaimSetPlan, ...]
    notices: tuple[Notice, ...]
    unplanned: tuple[UnplannedOwner, ...] = ()
    """Owners that were named and have nothing to plan."""

    def __iter__(self) -> Iterator[ClaimSetPlan]:
        return iter(self.claim_sets)

    def __len__(self) -> int:
        return len(self.claim_sets)

    def __repr__(self) -> str:
        fitting = sum(plan.outcome is Outcome.FITS for plan in self)
        return f"<AllocationPlan for {self.target.version}: {counted(len(self), 'claim set')}, {fitting} fitting>"

    @property
    def is_empty(self) -> bool:
        """Whether nothing was planned: no claim set, or one without any claim."""
        sets = [plan.claim_set for plan in self.claim_sets]
        return all(not (each.claims or each.allocated or each.error or each.owner) for each in sets)

    def _document(self) -> AllocationDocument:
        planned = PlannedSets()
        return AllocationDocument(
            target=answer_target(self.target),
            claim_sets=[planned.of(plan) for plan in self.claim_sets],
            warnings=warnings([*self.notices, *map(ownerstates.notice, self.unplanned)]),
        )


def plan_claim_sets(
    inventory: Inventory,
    view: View,
    question: Question,
    *,
    explain: bool = False,
    suggest: bool = False,
    jobs: int = 1,
) -> AllocationPlan:
    """Plans the claim sets of an input, of which `view` is the view.

    `explain` adds the reasons to each plan, `suggest` also what would make its set fit. With several `jobs` the claim
    sets are shared by as many processes (of other machines, too: `docs/scale.md`), which changes no answer; reasons are
    found here. Raises UsageError for an unknown node or owner, InputError for an input without nodes.
    """
    inventory, inferred = with_nodes(inventory, infer=question.infer_nodes)
    nodes = choose_nodes(inventory.nodes, question.nodes)
    chosen = choose_sets(inventory, view.target, question)
    expansion, sets = chosen.expansion, chosen.expansion.sets
    if question.probe is not None:
        _check_single(sets, nodes)
    planner = SetPlanner(view, nodes, question, question.deadline(), total=len(sets) * len(nodes))
    planned = plan_alike(planner, sets, jobs)
    plans = tuple(each.plan for each in planned)
    if not question.devices_only and any(plan.claim_set.pods for plan in plans):
        from dra_plan.scheduler.refusals import NodeRules  # claims without pods do without the scheduler

        rules = NodeRules(nodes, view.target)
        plans = tuple(replace(plan, excluded=rules.exclusions(plan.claim_set.pods)) for plan in plans)
    leading = Leading(view, nodes)
    plans = tuple(replace(plan, leading=leading.of(plan)) for plan in plans)
    if explain:
        from .explained_sets import ExplainedSets

        explained = ExplainedSets(planner, inventory, suggests=suggest)
        plans = tuple(explained.of(plan) for plan in plans)
        if suggest and any(plan.excluded for plan in plans):
            from .admissions import Admissions  # as above

            admissions = Admissions(nodes, inventory, view.target)
            plans = tuple(admissions.of(plan) for plan in plans)
    told = (
        *notices.of_target(view.target, inventory.nodes),
        *inventory.notices,
        *inferred,
        *completeness.of_devices(inventory),
        *expansion.notices,
        *notices.of_taint_rules(inventory, view.target),
        *of_new_fields(inventory, view.target),
        *(notice for each in planned for notice in each.notices),
    )
    if question.owners:
        told = notices.concerning(told, sets)
    return AllocationPlan(view.target, plans, told, chosen.unplanned)


def _check_single(sets: Sequence[ClaimSet], nodes: Sequence[Node]) -> None:
    """Raises UsageError if there is more than one search."""
    numbers = (
        (len(sets), "claim sets", "-n and -l choose pods and claims"),
        (len(nodes), "nodes", "--node chooses one"),
    )
    many = " and ".join(f"{number} {what} ({choice})" for number, what, choice in numbers if number > 1)
    if many:
        raise UsageError(f"a trace shows the search for one claim set on one node; here are {many}")
