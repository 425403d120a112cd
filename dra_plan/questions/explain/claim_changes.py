"""`explain`: changes of the claims of a pod that is rejected for its devices, to be tried with the whole scheduler.

`explanation.suggest` finds the changes that would make the claims fit; it considers no other pending pod and only the
device rules. Its suggestions on all nodes come first. If none of them gives the pod a node, the search is repeated only
on the nodes on which devices, and perhaps one other obstacle, are the problem.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from dra_plan.api.core import Node
from dra_plan.documents.suggestions import TriedChanges
from dra_plan.planner.claim_sets import ClaimSetPlan
from dra_plan.questions.explain.reasons import RunQuestion

MOST_NODES = 50
"""The number of nodes of one kind on which the search is repeated."""


class ClaimChanges:
    """The changes that would make the claims of one pod fit."""

    def __init__(self, plan: ClaimSetPlan | None, about: RunQuestion) -> None:
        self._plan, self._about = plan, about

    @cached_property
    def known(self) -> list[TriedChanges]:
        """Return the changes found on all nodes that no other rule excludes."""
        from dra_plan.explanation.document import SetParts

        if self._plan is None or self._plan.explanation is None:
            return []
        found: list[TriedChanges] = SetParts().of(self._plan.explanation)["suggestions"]
        return found

    def on(self, nodes: Sequence[Node]) -> list[TriedChanges]:
        """Return the changes found on these nodes alone, one change each."""
        from dra_plan.explanation import explainer
        from dra_plan.explanation.document import suggestion

        plan, about = self._plan, self._about
        if plan is None or plan.explanation is None or plan.claim_set.error is not None:
            return []
        chosen = {node.metadata.name: node for node in nodes[:MOST_NODES]}
        if not self.known and plan.excluded.keys().isdisjoint(chosen):
            return []  # these nodes were already searched
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
