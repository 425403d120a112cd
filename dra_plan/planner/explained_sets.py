"""The reasons for the answers of claim sets, found once for those that are alike."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from dra_plan.api.inventory import Inventory
from dra_plan.claims.sets import asked
from dra_plan.explanation import explainer
from dra_plan.explanation.names import CLAIM, source
from dra_plan.explanation.parts import Renaming

from .claim_set_plan import ClaimSetPlan
from .set_planner import SetPlanner


class ExplainedSets:
    """Explains plan after plan, as the planner made them; `suggests` what would make sets fit, too."""

    def __init__(self, planner: SetPlanner, inventory: Inventory, *, suggests: bool) -> None:
        self._planner, self._inventory, self._suggests = planner, inventory, suggests
        self._known: dict[Hashable, ClaimSetPlan] = {}

    def of(self, plan: ClaimSetPlan) -> ClaimSetPlan:
        """The plan with the reasons for its answers on the nodes that are not excluded."""
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
        """Which templates the claims are made from: what would help is told of these."""
        sources = [source(claim, self._inventory) for claim in plan.claim_set.claims]
        return tuple(CLAIM if kind == CLAIM else (kind, *name) for kind, *name in sources)

    def _explained(self, plan: ClaimSetPlan) -> ClaimSetPlan:
        planner = self._planner
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
