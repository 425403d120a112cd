"""Plans of claim sets as an AllocationPlan has them; what plans of sets that are alike share is made once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from dra_plan.allocator import NodeOutcome, Outcome
from dra_plan.claims.sets import CANNOT_ALLOCATE
from dra_plan.documents.allocation import PlannedClaim, PlannedClaimSet, PlannedNode
from dra_plan.documents.base import claim_allocation

from .claim_set_plan import ClaimSetPlan, set_name

if TYPE_CHECKING:
    from dra_plan.documents.reasons import Reason
    from dra_plan.explanation.explainer import SetExplanation


class _Shared(NamedTuple):
    """What plans have in common that have the very same answers: all but the names of claims."""

    plan: ClaimSetPlan
    outcome: Outcome
    fitting_nodes: list[str]
    bare: dict[str, PlannedNode]
    """Those that do not fit, without reasons, by name."""


_NOTHING: list[Any] = []
"""What nodes have none of: there are too many of them for a list of each."""


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
        """The reasons of each node, where they were asked for."""
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
    """What the claims get on a node."""
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
