"""`allocate`: each claim set of the input on each node, against the cluster as it is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from dra_plan import claimsets, releases
from dra_plan.allocator import Allocator, NodeOutcome, Outcome, Probe
from dra_plan.api.core import Node
from dra_plan.api.inventory import Inventory
from dra_plan.api.notice import Notice
from dra_plan.api.resource import ResourceClaim
from dra_plan.claimsets.sets import ClaimSet
from dra_plan.documents.allocation import AllocationDocument, PlannedClaim, PlannedClaimSet, PlannedNode
from dra_plan.documents.base import ClaimName, ObjectName, answer_target, claim_allocation, warnings
from dra_plan.errors import UsageError
from dra_plan.planner import defects, documents
from dra_plan.planner.cluster import Cluster, choose_nodes, taint_rule_notices, with_nodes
from dra_plan.planner.question import Progress, Question
from dra_plan.planner.timeouts import TimeoutWatch
from dra_plan.releases import Target

if TYPE_CHECKING:
    from dra_plan.documents.reasons import Reason
    from dra_plan.explain.explainer import SetExplanation

CANNOT_ALLOCATE = "cannot allocate all claims"
NOT_AVAILABLE = "resourceclaim not available on the node"
"""Upstream's words for a node on which nothing was found, and for one that an allocated claim excludes."""


@dataclass(frozen=True, slots=True)
class ClaimSetPlan:
    """The answers for one claim set, by node in input order."""

    claim_set: ClaimSet
    nodes: tuple[NodeOutcome, ...]
    explanation: SetExplanation | None = None

    @property
    def outcome(self) -> Outcome:
        """The set's outcome: an error on any node ends the scheduling attempt upstream, whatever fits elsewhere."""
        found = {node.outcome for node in self.nodes}
        if self.claim_set.error is not None:
            return Outcome.ERROR
        for outcome in (Outcome.ERROR, Outcome.FITS, Outcome.UNDECIDED):
            if outcome in found:
                return outcome
        return Outcome.DOES_NOT_FIT

    @property
    def fitting_nodes(self) -> list[str]:
        """The names of the nodes on which all claims fit."""
        return [node.node for node in self.nodes if node.outcome is Outcome.FITS]


@dataclass(frozen=True)
class AllocationPlan:
    """The answer of `allocate`."""

    target: Target
    claim_sets: tuple[ClaimSetPlan, ...]
    notices: tuple[Notice, ...]

    def to_dict(self) -> dict[str, Any]:
        """The document that `dra-plan allocate -o json` prints, as plain values."""
        return self.document.to_dict()

    @cached_property
    def document(self) -> AllocationDocument:
        """The document that `dra-plan allocate` prints, made once."""
        return AllocationDocument(
            target=answer_target(self.target),
            claim_sets=[_planned_set(plan) for plan in self.claim_sets],
            warnings=warnings(self.notices),
        )


def allocate(
    objects: Iterable[dict[str, Any]],
    *,
    kubernetes_version: str = releases.NEWEST,
    feature_gates: Mapping[str, bool] | None = None,
    quirks: str = "upstream",
    nodes: Sequence[str] | None = None,
    together: bool = False,
    explain: bool = False,
    max_steps: int | None = None,
    jobs: int = 1,
) -> AllocationPlan:
    """Plans the claim sets of plain Kubernetes objects, which are left as they are.

    `nodes` chooses nodes by name; `together` joins all pending claims into one set. `explain` fills the `reasons` of
    nodes that do not fit. `max_steps` is the budget of one search; `jobs` processes share the claim sets. Raises
    UsageError for an unknown version, gate or node, InputError for what can't be decoded.
    """
    from dra_plan.manifests.loaded import inventory_of

    question = Question(
        kubernetes_version=kubernetes_version,
        feature_gates=feature_gates,
        quirks=quirks,
        nodes=nodes,
        together=together,
        max_steps=max_steps,
    )
    return plan_inventory(inventory_of(objects), question, explain=explain, jobs=jobs)


def plan_inventory(
    inventory: Inventory,
    question: Question,
    *,
    explain: bool = False,
    suggest: bool = False,
    only: Callable[[ClaimSet], bool] | None = None,
    jobs: int = 1,
) -> AllocationPlan:
    """Plans a loaded input.

    `explain` adds the reasons to each plan, `suggest` also what would make its set fit; `only` chooses claim sets. With
    several `jobs` the claim sets are shared by as many processes (of other machines, too: `docs/scale.md`), which
    changes no answer; reasons are found here. Raises UsageError and InputError as `allocate` does.
    """
    max_steps, progress = question.max_steps, question.progress
    deadline = None if question.timeout is None else time.monotonic() + question.timeout
    target = releases.target(question.kubernetes_version or releases.NEWEST, question.feature_gates, question.quirks)
    inventory, inferred = with_nodes(inventory, infer=question.infer_nodes)
    chosen = choose_nodes(inventory.nodes, question.nodes)
    expansion = claimsets.expand(
        inventory, namespace=question.namespace, selector=question.selector, together=question.together
    )
    sets = [claim_set for claim_set in expansion.sets if only is None or only(claim_set)]
    if question.probe is not None:
        _check_single(sets, chosen)
    cluster = Cluster(inventory, target)
    if min(jobs, len(sets)) > 1:
        from dra_plan.planner.parallel import plan_sets

        planned = plan_sets(cluster, sets, chosen, min(jobs, len(sets)), max_steps=max_steps, deadline=deadline)
    else:
        planner = SetPlanner(
            cluster, chosen, max_steps, deadline, progress, total=len(sets) * len(chosen), probe=question.probe
        )
        planned = [planner.plan(claim_set) for claim_set in sets]
    plans = tuple(each.plan for each in planned)
    if explain:
        plans = tuple(_explained(plan, cluster, chosen, max_steps, deadline, suggest=suggest) for plan in plans)
    notices = (
        *documents.target_notices(target, inventory.nodes),
        *inventory.notices,
        *inferred,
        *expansion.notices,
        *taint_rule_notices(inventory, target),
        *(notice for each in planned for notice in each.notices),
    )
    return AllocationPlan(target, plans, notices)


def _check_single(sets: Sequence[ClaimSet], nodes: Sequence[Node]) -> None:
    """Raises UsageError if there is more than one search."""
    numbers = ((len(sets), "claim sets"), (len(nodes), "nodes"))
    many = " and ".join(f"{number} {what}" for number, what in numbers if number > 1)
    if many:
        raise UsageError(f"a trace shows the search for one claim set on one node; here are {many}: choose one")


def _explained(
    plan: ClaimSetPlan,
    cluster: Cluster,
    nodes: Sequence[Node],
    max_steps: int | None,
    deadline: float | None,
    *,
    suggest: bool,
) -> ClaimSetPlan:
    from dra_plan.explain import explainer

    told = explainer.explain(
        cluster.view,
        cluster.inventory,
        plan.claim_set,
        nodes,
        plan.nodes,
        max_steps=max_steps,
        suggests=suggest,
        deadline=deadline,
    )
    return replace(plan, explanation=told)


class PlannedSet(NamedTuple):
    """The plan of a claim set, and what is to be said about it."""

    plan: ClaimSetPlan
    notices: tuple[Notice, ...] = ()


class SetPlanner:
    """Plans claim set after claim set, each on its own."""

    def __init__(
        self,
        cluster: Cluster,
        nodes: Sequence[Node],
        max_steps: int | None,
        deadline: float | None,
        progress: Progress | None = None,
        total: int = 0,
        probe: Probe | None = None,
    ) -> None:
        self._cluster, self._nodes, self._max_steps, self._deadline = cluster, nodes, max_steps, deadline
        self._progress, self._total, self._done = progress, total, 0
        self._probe = probe

    def plan(self, claim_set: ClaimSet) -> PlannedSet:
        """The answers for one claim set on all chosen nodes."""
        if claim_set.error is not None:
            names = [node.metadata.name for node in self._nodes]
            refused = [NodeOutcome(name, Outcome.ERROR, message=str(claim_set.error)) for name in names]
            return PlannedSet(ClaimSetPlan(claim_set, tuple(refused)))
        allocator = Allocator(claim_set.claims, self._cluster.view, max_steps=self._max_steps, deadline=self._deadline)
        watch = defects.Watch(self._cluster, claim_set, self._max_steps, self._deadline)
        clock = TimeoutWatch(self._cluster.target, claim_set, allocator, self._deadline)
        outcomes = []
        for node in self._nodes:
            outcome = allocator.allocate(node, self._probe)
            watch.saw(node, outcome)
            clock.saw(node, outcome)
            outcomes.append(_with_allocated(outcome, claim_set, node))
            self._done += 1
            if self._progress is not None:
                self._progress(self._done, self._total)
        return PlannedSet(ClaimSetPlan(claim_set, tuple(outcomes)), (*watch.notices(), *clock.notices()))


def _with_allocated(outcome: NodeOutcome, claim_set: ClaimSet, node: Node) -> NodeOutcome:
    """Allocated claims of the set exclude nodes that their node selector does not match."""
    if outcome.outcome is not Outcome.FITS or not claim_set.out_of_reach(node):
        return outcome
    return NodeOutcome(outcome.node, Outcome.DOES_NOT_FIT, message=NOT_AVAILABLE, steps=outcome.steps)


def set_summary(plan: ClaimSetPlan) -> dict[str, Any]:
    """Whose claims these are, whether they fit and where: the fields that every document has of a claim set."""
    owner = plan.claim_set.owner
    return {
        "owner": ObjectName(kind=owner.kind, namespace=owner.namespace, name=owner.name) if owner is not None else None,
        "claims": [
            ClaimName(namespace=claim.metadata.namespace, name=claim.metadata.name) for claim in plan.claim_set.claims
        ],
        "outcome": plan.outcome,
        "fitting_nodes": plan.fitting_nodes,
    }


def _planned_set(plan: ClaimSetPlan) -> PlannedClaimSet:
    reasons = _reasons(plan)
    nodes = [_planned_node(node, plan.claim_set.claims, reasons.get(node.node, [])) for node in plan.nodes]
    return PlannedClaimSet(**set_summary(plan), nodes=nodes)


def _reasons(plan: ClaimSetPlan) -> dict[str, list[Reason]]:
    """The reasons of each node, where they were asked for."""
    if plan.explanation is None:
        return {}
    from dra_plan.explain import document, node_reasons

    if plan.explanation.error is not None:
        fault = document.fault(plan.explanation.error)
        return {node.node: [fault] for node in plan.nodes}
    return node_reasons.reasons_by_node(plan.explanation)


def _planned_node(node: NodeOutcome, claims: Sequence[ResourceClaim], reasons: list[Reason]) -> PlannedNode:
    message = node.message
    if node.outcome is Outcome.DOES_NOT_FIT and not message:
        message = CANNOT_ALLOCATE
    given = (
        [
            PlannedClaim(
                namespace=claim.metadata.namespace, name=claim.metadata.name, allocation=claim_allocation(allocation)
            )
            for claim, allocation in zip(claims, node.allocations, strict=True)
        ]
        if node.outcome is Outcome.FITS
        else []
    )
    return PlannedNode(
        name=node.node, outcome=node.outcome, message=message, claims=given, reasons=reasons, steps=node.steps
    )
