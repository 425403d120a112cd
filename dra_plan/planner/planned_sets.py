"""Plans of claim sets as an AllocationPlan has them; what plans of sets that are alike share is made once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dra_plan.allocator import NodeOutcome, Outcome
from dra_plan.claimsets.sets import CANNOT_ALLOCATE
from dra_plan.documents.allocation import PlannedClaim, PlannedClaimSet, PlannedNode
from dra_plan.documents.base import ClaimAllocation, claim_allocation
from dra_plan.planner.claim_set_plan import ClaimSetPlan, set_name

if TYPE_CHECKING:
    from dra_plan.documents.reasons import Reason
    from dra_plan.explanation.explainer import SetExplanation


class _Shared(NamedTuple):
    """What plans have in common that have the very same answers: all but the names of claims."""

    plan: ClaimSetPlan
    outcome: Outcome
    fitting_nodes: list[str]
    nodes: list[PlannedNode]
    """Without claims and reasons."""
    given: list[list[ClaimAllocation]]
    """What the claims get, node by node."""


class PlannedSets:
    """Makes the documents of the plans of one answer."""

    def __init__(self) -> None:
        self._shared: dict[tuple[int, int], _Shared] = {}
        self._reasons: dict[int, tuple[SetExplanation, dict[str, list[Reason]]]] = {}

    def of(self, plan: ClaimSetPlan) -> PlannedClaimSet:
        """The plan as documents have it."""
        same = (id(plan.nodes), id(plan.excluded) if plan.excluded else 0)  # kept alive by the plan that is kept
        shared = self._shared.get(same)
        if shared is None:
            shared = self._shared[same] = _share(plan)
        reasons = self._reasons_of(plan)
        names = [(claim.metadata.namespace, claim.metadata.name) for claim in plan.claim_set.claims]
        nodes = [
            _with_claims(node, names, given, reasons.get(node.name, [])) if given or reasons else node
            for node, given in zip(shared.nodes, shared.given, strict=True)
        ]
        return PlannedClaimSet(
            **set_name(plan),
            outcome=shared.outcome,
            fitting_nodes=shared.fitting_nodes,
            leading=list(plan.leading),
            nodes=nodes,
        )

    def _reasons_of(self, plan: ClaimSetPlan) -> dict[str, list[Reason]]:
        """The reasons of each node, where they were asked for."""
        told = plan.explanation
        if told is None:
            return {}
        from dra_plan.explanation import node_reasons, reason_parts

        if told.error is not None:
            fault = reason_parts.fault(told.error)
            return {node.node: [fault] for node in plan.nodes}
        _, reasons = self._reasons.setdefault(id(told.groups), (told, {}))
        if not reasons:
            reasons.update(node_reasons.reasons_by_node(told))
        if told.renaming is None:
            return reasons
        return {node: told.renaming.of(found) for node, found in reasons.items()}


def _share(plan: ClaimSetPlan) -> _Shared:
    nodes = [_bare(node, plan) for node in plan.nodes]
    given = [
        [claim_allocation(allocation) for allocation in node.allocations] if node.outcome is Outcome.FITS else []
        for node in plan.nodes
    ]
    return _Shared(plan, plan.outcome, plan.fitting_nodes, nodes, given)


def _bare(node: NodeOutcome, plan: ClaimSetPlan) -> PlannedNode:
    message = node.message
    if node.outcome is Outcome.DOES_NOT_FIT and not message:
        message = CANNOT_ALLOCATE
    return PlannedNode(
        name=node.node,
        outcome=node.outcome,
        message=message,
        claims=[],
        reasons=[],
        steps=node.steps,
        excluded_by=plan.excluded.get(node.node, []),
    )


def _with_claims(
    node: PlannedNode, names: list[tuple[str, str]], given: list[ClaimAllocation], reasons: list[Reason]
) -> PlannedNode:
    claims = [
        PlannedClaim(namespace=namespace, name=name, allocation=allocation)
        for (namespace, name), allocation in (zip(names, given, strict=True) if given else ())
    ]
    return PlannedNode(
        name=node.name,
        outcome=node.outcome,
        message=node.message,
        claims=claims,
        reasons=reasons,
        steps=node.steps,
        excluded_by=node.excluded_by,
    )
