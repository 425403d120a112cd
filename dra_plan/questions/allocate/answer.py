"""`allocate`: whether each claim set of the input fits on each node, with the devices that are free now."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from dra_plan.allocator import NodeOutcome, Outcome, View
from dra_plan.api.core import Node
from dra_plan.api.inventory import Inventory, Notice
from dra_plan.claims.sets import CANNOT_ALLOCATE, ClaimSet, asked
from dra_plan.documents.base import answer_target, claim_allocation, warnings
from dra_plan.documents.claim_sets import Competition, PlannedClaim, PlannedClaimSet, PlannedNode, UnplannedOwner
from dra_plan.documents.refusals import Refusals
from dra_plan.errors import UsageError
from dra_plan.explanation.names import CLAIM, source
from dra_plan.explanation.parts import Renaming
from dra_plan.planner import notices, owners, suspended
from dra_plan.planner.answer import PrintedAnswer, counted
from dra_plan.planner.bystanders import of_bystanders
from dra_plan.planner.claim_sets import ClaimSetPlan, Leading, PlannedSet, SetPlanner, set_name
from dra_plan.planner.failing_selectors import of_failing_selectors
from dra_plan.planner.nodes import choose_nodes, deciding, of_devices, with_nodes
from dra_plan.planner.notices import of_new_fields
from dra_plan.planner.owners import choose_sets
from dra_plan.planner.question import Question
from dra_plan.planner.refused import OwnerRefusals, RefusedOwner, entries
from dra_plan.planner.twice import of_devices_twice
from dra_plan.questions.allocate.document import AllocationDocument
from dra_plan.releases import Target

if TYPE_CHECKING:
    from dra_plan.documents.reasons import Reason
    from dra_plan.explanation.explainer import SetExplanation


@dataclass(frozen=True, repr=False)
class AllocationPlan(PrintedAnswer[AllocationDocument]):
    """The result of `allocate`. Iterating over the result yields a `ClaimSetPlan` for each set of claims."""

    target: Target
    claim_sets: tuple[ClaimSetPlan, ...]
    notices: tuple[Notice, ...]
    unplanned: tuple[UnplannedOwner, ...] = ()
    """The named owners for which there is nothing to plan."""
    refused: tuple[RefusedOwner, ...] = ()
    """The selected pods and workloads that have no claims and are rejected by the API server."""
    competition: Competition | UnsetType = UNSET
    """The result of scheduling all pods together, if requested."""

    def __iter__(self) -> Iterator[ClaimSetPlan]:
        return iter(self.claim_sets)

    def __len__(self) -> int:
        return len(self.claim_sets)

    def __repr__(self) -> str:
        fitting = sum(plan.outcome is Outcome.FITS for plan in self)
        return f"<AllocationPlan for {self.target.version}: {counted(len(self), 'claim set')}, {fitting} fitting>"

    @property
    def is_empty(self) -> bool:
        """Return whether there is nothing to plan, because no claim set has a claim, an error or an owner."""
        sets = [plan.claim_set for plan in self.claim_sets]
        return all(not (each.claims or each.allocated or each.error or each.owner) for each in sets)

    @property
    def refusals(self) -> Refusals:
        """The reasons why the API server rejects objects in the input, as they appear in the document."""
        return entries([*(owner for plan in self for owner in plan.refused), *self.refused])

    def _document(self) -> AllocationDocument:
        planned = PlannedSets()
        return AllocationDocument(
            target=answer_target(self.target),
            claim_sets=[planned.of(plan) for plan in self.claim_sets],
            competition=self.competition,
            refusals=self.refusals,
            warnings=warnings([*self.notices, *map(owners.notice, self.unplanned)]),
        )


def plan_claim_sets(
    inventory: Inventory,
    view: View,
    question: Question,
    *,
    explain: bool = False,
    suggest: bool = False,
    jobs: int = 1,
    refusals: OwnerRefusals | None = None,
) -> AllocationPlan:
    """Return the plans of the claim sets of an input. `view` must be the view of this input.

    `explain` adds the reasons for each result, and `suggest` adds changes that would make a claim set fit. `refusals`
    are the known rejections by the API server. The claim sets are divided among `jobs` processes (or machines:
    `docs/scale.md`), which does not change the results. Raises UsageError for an unknown node or owner, and InputError
    for input without nodes.
    """
    inventory, inferred = with_nodes(inventory, infer=question.infer_nodes)
    nodes = choose_nodes(inventory.nodes, question.nodes)
    chosen = choose_sets(inventory, view.target, question)
    expansion, sets = chosen.expansion, chosen.expansion.sets
    if question.probe is not None:
        _check_single(sets, nodes)
    planner = SetPlanner(view, nodes, question, question.deadline(), total=len(sets) * len(nodes), reads_few=explain)
    planned = plan_alike(planner, sets, jobs)
    refused = refusals or OwnerRefusals(inventory, view.target, question.runtime_config)
    lacking = deciding(inventory)
    plans = tuple(replace(one.plan, refused=refused.of_set(one.plan.claim_set), lacking=lacking) for one in planned)
    if not question.devices_only and any(plan.claim_set.pods for plan in plans):
        from dra_plan.scheduler.refusals import NodeRules  # claims without pods do not need the scheduler

        rules = NodeRules(nodes, view.target)
        plans = tuple(replace(plan, excluded=rules.exclusions(plan.claim_set.pods)) for plan in plans)
    leading = Leading(view, nodes)
    plans = tuple(replace(plan, leading=leading.of(plan)) for plan in plans)
    if explain:
        explained = ExplainedSets(planner, inventory, suggests=suggest)
        plans = tuple(explained.of(plan) for plan in plans)
        if suggest and any(plan.excluded for plan in plans):
            from dra_plan.planner.claim_sets import Admissions  # as above

            admissions = Admissions(nodes, inventory, view.target)
            plans = tuple(admissions.of(plan) for plan in plans)
    told = (
        *notices.of_target(view.target, inventory),
        *inventory.notices,
        *inferred,
        *of_devices(inventory, view),
        *of_devices_twice(inventory),
        *expansion.notices,
        *notices.of_taint_rules(inventory, view.target),
        *of_new_fields(inventory, view.target),
        *suspended.of_sets(inventory, sets),
        *_bystanders(inventory, sets),
        *of_failing_selectors(view, plans),
        *(notice for each in planned for notice in each.notices),
    )
    if question.owners:
        told = notices.concerning(told, sets)
    others = () if question.owners else tuple(refused.without_claims(question))
    return AllocationPlan(view.target, plans, told, chosen.unplanned, refused=others)


def _bystanders(inventory: Inventory, sets: Sequence[ClaimSet]) -> list[Notice]:
    """Return the objects that may reject the planned pods and claims and are not simulated."""
    pods = [pod for each in sets for pod in each.pods]
    creates = any(not one.metadata.is_stored for each in sets for one in (each.pods or each.claims))
    return of_bystanders(inventory, pods, creates=creates, settles=False)


def _check_single(sets: Sequence[ClaimSet], nodes: Sequence[Node]) -> None:
    """Raise UsageError if there is more than one search."""
    numbers = (
        (len(sets), "claim sets", "-n and -l choose pods and claims"),
        (len(nodes), "nodes", "--node chooses one"),
    )
    many = " and ".join(f"{number} {what} ({choice})" for number, what, choice in numbers if number > 1)
    if many:
        raise UsageError(f"a trace shows the search for one workload on one node; the input has {many}")


class _Shared(NamedTuple):
    """The shared parts of plans with identical answers: everything except the names of claims."""

    plan: ClaimSetPlan
    outcome: Outcome
    fitting_nodes: list[str]
    bare: dict[str, PlannedNode]
    """The nodes on which the claims do not fit, without reasons, by name."""


_NOTHING: list[Any] = []
"""A shared empty list for the many nodes that have no entries."""


class PlannedSets:
    """Converts plans to document entries."""

    def __init__(self) -> None:
        self._shared: dict[tuple[int, int, bool], _Shared] = {}
        self._reasons: dict[int, tuple[SetExplanation, dict[str, list[Reason]]]] = {}

    def of(self, plan: ClaimSetPlan) -> PlannedClaimSet:
        """Return the document's entry for the plan."""
        # The cache keeps the plan alive, and so the objects that are compared by identity.
        same = (id(plan.nodes), id(plan.excluded) if plan.excluded else 0, bool(plan.refused))
        shared = self._shared.get(same)
        if shared is None:
            shared = self._shared[same] = _share(plan)
        reasons = self._reasons_of(plan)
        names = [(claim.metadata.namespace, claim.metadata.name) for claim in plan.claim_set.claims]
        nodes = [
            (not reasons and shared.bare.get(node.node))
            or _planned(node, plan, _claims(node, names), reasons.get(node.node, _NOTHING))
            for node in plan.nodes
        ]
        return PlannedClaimSet(
            **set_name(plan),
            outcome=shared.outcome,
            fitting_nodes=shared.fitting_nodes,
            leading=list(plan.leading),
            nodes=nodes,
        )

    def _reasons_of(self, plan: ClaimSetPlan) -> dict[str, list[Reason]]:
        """Return the reasons for each node, if they were requested."""
        told = plan.explanation
        if told is None:
            return {}
        from dra_plan.explanation import document, parts

        if told.error is not None:
            fault = parts.fault(told.error)
            return {node.node: [fault] for node in plan.nodes}
        _, reasons = self._reasons.setdefault(id(told.groups), (told, {}))
        if not reasons:
            reasons.update(document.reasons_by_node(told))
        if told.renaming is None:
            return reasons
        return {node: told.renaming.of(found) for node, found in reasons.items()}


def _share(plan: ClaimSetPlan) -> _Shared:
    refusing = [node for node in plan.nodes if node.outcome is not Outcome.FITS]
    bare = {node.node: _planned(node, plan, _NOTHING, _NOTHING) for node in refusing}
    return _Shared(plan, plan.outcome, plan.fitting_nodes, bare)


def _claims(node: NodeOutcome, names: list[tuple[str, str]]) -> list[PlannedClaim]:
    """Return the devices that the claims get on a node."""
    if node.outcome is not Outcome.FITS:
        return _NOTHING
    return [
        PlannedClaim(namespace=namespace, name=name, allocation=claim_allocation(allocation))
        for (namespace, name), allocation in zip(names, node.allocations, strict=True)
    ]


def _planned(node: NodeOutcome, plan: ClaimSetPlan, claims: list[PlannedClaim], reasons: list[Reason]) -> PlannedNode:
    message = node.message
    if node.outcome is Outcome.DOES_NOT_FIT and not message:
        message = CANNOT_ALLOCATE
    return PlannedNode(
        name=node.node,
        outcome=node.outcome,
        message=message,
        claims=claims,
        reasons=reasons,
        steps=node.steps,
        out_of_reach=node.out_of_reach,
        excluded_by=plan.excluded.get(node.node, _NOTHING),
    )


class ExplainedSets:
    """Adds reasons to plans.

    If `suggests` is set, also adds changes that would make the claim sets fit.
    """

    def __init__(self, planner: SetPlanner, inventory: Inventory, *, suggests: bool) -> None:
        self._planner, self._inventory, self._suggests = planner, inventory, suggests
        self._known: dict[Hashable, ClaimSetPlan] = {}

    def of(self, plan: ClaimSetPlan) -> ClaimSetPlan:
        """Return the plan with the reasons for its result on each node that is not excluded."""
        if plan.claim_set.error is not None or any(node.error is not None for node in plan.nodes):
            return self._explained(plan)  # errors name claims
        key = (asked(plan.claim_set), self._sources(plan), tuple(plan.excluded))
        first = self._known.get(key)
        if first is None or first.explanation is None:
            first = self._known[key] = self._explained(plan)
            return first
        renaming = Renaming.between(first.claim_set.claims, plan.claim_set.claims, self._inventory)
        return replace(plan, explanation=replace(first.explanation, renaming=renaming))

    def _sources(self, plan: ClaimSetPlan) -> Hashable:
        """Return the templates that the claims are created from, because suggestions refer to them."""
        sources = [source(claim, self._inventory) for claim in plan.claim_set.claims]
        return tuple(CLAIM if kind == CLAIM else (kind, *name) for kind, *name in sources)

    def _explained(self, plan: ClaimSetPlan) -> ClaimSetPlan:
        planner = self._planner
        from dra_plan.explanation import explainer

        told = explainer.explain(
            planner.view,
            self._inventory,
            plan.claim_set,
            [node for node in planner.nodes if node.metadata.name not in plan.excluded],
            [answer for answer in plan.nodes if answer.node not in plan.excluded],
            max_steps=planner.max_steps,
            suggests=self._suggests,
            deadline=planner.deadline,
        )
        return replace(plan, explanation=told)


def plan_alike(planner: SetPlanner, sets: Sequence[ClaimSet], jobs: int) -> list[PlannedSet]:
    """Return the plan of each claim set, in order. The search runs in `jobs` processes.

    If claim sets have the same requests, devices are searched for only once. An error is not shared, because its
    message names the claims of one claim set.
    """
    first_of: dict[Hashable, int] = {}
    firsts = [first_of.setdefault(_key(claim_set), at) for at, claim_set in enumerate(sets)]
    chosen = list(dict.fromkeys(firsts))
    found = dict(zip(chosen, _searched(planner, [sets[at] for at in chosen], jobs), strict=True))
    unlike = [at for at, first in enumerate(firsts) if at not in found and not found[first].tells_of_all_alike]
    found.update(zip(unlike, _searched(planner, [sets[at] for at in unlike], jobs), strict=True))
    for at, first in enumerate(firsts):
        if at not in found:
            found[at] = found[first].told_of(sets[at])
            planner.answered(len(found[at].plan))
    return [found[at] for at in range(len(sets))]


def _searched(planner: SetPlanner, sets: Sequence[ClaimSet], jobs: int) -> list[PlannedSet]:
    if min(jobs, len(sets)) > 1:
        from dra_plan.planner.parallel import plan_sets

        return plan_sets(planner, sets, min(jobs, len(sets)))
    return [planner.plan(claim_set) for claim_set in sets]


def _key(claim_set: ClaimSet) -> Hashable:
    same = asked(claim_set)
    return id(claim_set) if same is None else same
