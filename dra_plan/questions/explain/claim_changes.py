"""`explain`: changes of the claims of a pod, found where devices refuse it, to be tried with the whole scheduler.

What would make the claims fit is found by `explanation.suggest`, which knows no other pod that waits and no rule but
those of devices. What was found on all nodes is there already; where none of it gives the pod a node, it is sought
again on those nodes alone that would take the pod, but for its devices and perhaps one thing more.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from dra_plan.api.core import Node
from dra_plan.documents.suggestions import TriedChanges
from dra_plan.planner.claim_sets import ClaimSetPlan
from dra_plan.questions.explain.reasons import RunQuestion

MOST_NODES = 50
"""Nodes of one kind on which changes are sought again."""


class ClaimChanges:
    """What would make the claims of one pod fit."""

    def __init__(self, plan: ClaimSetPlan | None, about: RunQuestion) -> None:
        self._plan, self._about = plan, about

    @cached_property
    def known(self) -> list[TriedChanges]:
        """What was found on all nodes that no other rule keeps the pod from."""
        from dra_plan.explanation.document import SetParts

        if self._plan is None or self._plan.explanation is None:
            return []
        found: list[TriedChanges] = SetParts().of(self._plan.explanation)["suggestions"]
        return found

    def on(self, nodes: Sequence[Node]) -> list[TriedChanges]:
        """What is found on these nodes alone, one change each."""
        from dra_plan.explanation import explainer
        from dra_plan.explanation.document import suggestion

        plan, about = self._plan, self._about
        if plan is None or plan.explanation is None or plan.claim_set.error is not None:
            return []
        chosen = {node.metadata.name: node for node in nodes[:MOST_NODES]}
        if not self.known and plan.excluded.keys().isdisjoint(chosen):
            return []  # it was sought on these nodes, too
        answers = [answer for answer in plan.nodes if answer.node in chosen]
        told = explainer.explain(
            about.view,
            about.inventory,
            plan.claim_set,
            [chosen[answer.node] for answer in answers],
            answers,
            max_steps=about.max_steps,
            deadline=about.deadline,
        )
        found = (suggestion(one) for one in told.suggestions)
        return [one for one in found if len(one.changes) == 1]
