"""`explain`: changes to the claims of a pod that is rejected because of devices, to be tried with the whole scheduler.

The suggestions of `explanation.suggest` for all nodes come first. They apply only the rules for devices, and ignore
other pending pods. If none of them gives the pod a node, the search is repeated on the nodes where devices, and at most
one other obstacle, are the problem.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from msgspec import structs

from dra_plan.allocator import Outcome
from dra_plan.api.core import Node
from dra_plan.claims.sets import ClaimSet
from dra_plan.documents.claim_changes import CountLowered
from dra_plan.documents.suggestions import PatchOperation, TriedChanges
from dra_plan.explanation.names import TEMPLATE
from dra_plan.explanation.suggest import patches
from dra_plan.planner.claim_sets import ClaimSetPlan
from dra_plan.questions.explain.editing import OwnedPods
from dra_plan.questions.explain.reasons import DeviceAttempt, RunQuestion

MOST_NODES = 50
"""The maximum number of nodes of one kind on which the search is repeated."""


class ClaimChanges:
    """The changes that would make the claims of a pod fit.

    `attempt` is the pod's last failed attempt, and `pods` are the owner's pods.
    """

    def __init__(
        self, plan: ClaimSetPlan | None, about: RunQuestion, attempt: DeviceAttempt | None, pods: OwnedPods
    ) -> None:
        self._plan, self._about, self._attempt, self._pods = plan, about, attempt, pods

    @cached_property
    def known(self) -> list[TriedChanges]:
        """Return the changes that help on nodes rejected only because of their devices."""
        from dra_plan.explanation.document import SetParts

        if self._plan is None or self._plan.explanation is None:
            return []
        found: list[TriedChanges] = SetParts().of(self._plan.explanation)["suggestions"]
        return list(map(self._of_all_claims, found))

    def later(self, names: Sequence[str]) -> list[TriedChanges]:
        """Return the changes that help on these nodes at the pod's last attempt, when other pods had taken devices."""
        attempt, about = self._attempt, self._about
        if attempt is None or attempt.has_more:
            return []
        from dra_plan.explanation import explainer
        from dra_plan.explanation.document import suggestion

        nodes = {node.metadata.name: node for node in attempt.nodes}
        free = {claim.key for claim in about.inventory.claims if claim.allocation is None}
        claim_set = ClaimSet(claims=attempt.claims, allocated=attempt.allocated)
        told = explainer.explain_refusing(
            attempt.view,
            about.inventory,
            claim_set,
            [nodes[name] for name in names if name in nodes][:MOST_NODES],
            max_steps=about.max_steps,
            suggests=True,
            kept=[claim for claim in attempt.view.claims if claim.allocation is not None and claim.key in free],
            known=about.findings.of(attempt.view, claim_set),
        ).told
        return [self._of_all_claims(suggestion(one)) for one in told.suggestions]

    def _of_all_claims(self, of: TriedChanges) -> TriedChanges:
        """Return the changes with the patches of templates also made in the claims that pending pods have from them."""
        known = {(patch.object.kind, patch.object.namespace, patch.object.name) for patch in of.patches}
        made = [
            patches.of_object(key, patch.object.api_version, _of_claim(patch.patch), recreate=True)
            for patch in of.patches
            if patch.object.kind == TEMPLATE
            for key in self._pods.claims_from(patch.object.name)
            if key not in known
        ]
        return structs.replace(of, patches=[*of.patches, *made]) if made else of

    def on(self, nodes: Sequence[Node]) -> list[TriedChanges]:
        """Return single changes that help on some of these nodes."""
        from dra_plan.explanation import explainer
        from dra_plan.explanation.document import suggestion

        plan, about = self._plan, self._about
        if plan is None or plan.explanation is None or plan.claim_set.error is not None:
            return []
        chosen = {node.metadata.name: node for node in nodes[:MOST_NODES]}
        if not self.known and plan.outcome is Outcome.DOES_NOT_FIT and plan.excluded.keys().isdisjoint(chosen):
            return []  # these nodes were already searched; nothing is searched for if the claims fit on a node
        answers = [answer for answer in plan.nodes if answer.node in chosen]
        told = explainer.explain(
            about.view,
            about.inventory,
            plan.claim_set,
            [chosen[answer.node] for answer in answers],
            answers,
            max_steps=about.max_steps,
            deadline=about.deadline,
            known=about.findings.of(about.view, plan.claim_set),
        )
        found = (self._of_all_claims(suggestion(one)) for one in told.suggestions)
        return [one for one in found if len(one.changes) == 1]


def _of_claim(operations: Sequence[PatchOperation]) -> list[PatchOperation]:
    """Return the operations on a template as operations on a claim with the same specification."""
    return [structs.replace(one, path=one.path.removeprefix("/spec")) for one in operations]


def asking_less(of: TriedChanges) -> TriedChanges | None:
    """Return the change with a device count that is lower by one.

    Returns None for other changes, and if less than half of the devices would remain.
    """
    [first, *more] = of.changes
    if more or not isinstance(first, CountLowered) or first.from_ is None or 2 * (first.to - 1) < first.from_:
        return None
    to = first.to - 1

    def lowered(one: PatchOperation) -> PatchOperation:
        return structs.replace(one, value=to) if one.path.endswith("/count") else one

    made = [structs.replace(patch, patch=list(map(lowered, patch.patch))) for patch in of.patches]
    return structs.replace(of, changes=[structs.replace(first, to=to)], patches=made)
