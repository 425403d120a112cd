"""Explanations of scheduling attempts that failed because of claims. Attempts that are alike share one."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence, Set
from typing import TYPE_CHECKING

from dra_plan.allocator import NodeOutcome, Outcome
from dra_plan.api.core import Node
from dra_plan.api.inventory import Inventory
from dra_plan.api.resource import ResourceClaim
from dra_plan.claims.sets import ClaimSet, Owner, asked
from dra_plan.documents.node_obstacles import NodeRefusalReason, RefusingNodes
from dra_plan.documents.scheduling import (
    ExplainedAttempt,
    PodName,
)
from dra_plan.planner.claim_sets import SetPlanner
from dra_plan.planner.question import Question
from dra_plan.scheduler.attempts import FailedAttempt
from dra_plan.scheduler.framework.status import Rejection, Status
from dra_plan.scheduler.obstacles import node_obstacle

if TYPE_CHECKING:
    from dra_plan.explanation.explainer import KnownFindings, SetExplanation

MOST = 100
"""The maximum number of explained attempts."""


def explained_attempts(
    attempts: Iterable[FailedAttempt], inventory: Inventory, max_steps: int | None
) -> list[ExplainedAttempt]:
    """Return explanations of the attempts that failed because of claims, in order. `inventory` is the input.

    If pods with the same requests fail with the same message while the cluster is in the same state, they share one
    explanation. Nodes rejected for reasons other than devices are included only if the claims would fit on them.
    """
    from dra_plan.explanation.explainer import KnownFindings

    alike: dict[Hashable, list[FailedAttempt]] = {}
    states: dict[int, Hashable] = {}
    used = _Used()
    kept = list(attempts)
    for attempt in kept:
        if id(attempt.all_claims) not in states:
            states[id(attempt.all_claims)] = used.since_first(attempt.all_claims)
        where = (attempt.message, tuple(node.metadata.name for node in attempt.nodes))
        alike.setdefault((*_asked(attempt), *where, states[id(attempt.all_claims)]), []).append(attempt)
    known: dict[Hashable, KnownFindings] = {}
    return [
        _explained_attempt(group, inventory, max_steps, known.setdefault(_asked(group[0]), KnownFindings()))
        for group in list(alike.values())[:MOST]
    ]


def _asked(attempt: FailedAttempt) -> tuple[Hashable, ...]:
    """Return the requests, and the state of the cluster."""
    return asked(_claim_set(attempt)), id(attempt.cluster)


def _claim_set(attempt: FailedAttempt) -> ClaimSet:
    metadata = attempt.pod.metadata
    owner = Owner("Pod", metadata.namespace, metadata.name)
    return ClaimSet(owner=owner, claims=attempt.claims, allocated=attempt.allocated)


class _Used:
    """The users of devices, as the differences from the first state, which is all that is stored."""

    def __init__(self) -> None:
        self._first: frozenset[Hashable] | None = None
        self._of_claim: dict[int, tuple[Hashable, ...]] = {}

    def since_first(self, claims: Sequence[ResourceClaim]) -> frozenset[Hashable]:
        """Return a value that is equal for states with equal allocations.

        The caller must keep the claims alive.
        """
        now = frozenset(taken for claim in claims for taken in self._taken(claim))
        if self._first is None:
            self._first = now
        return now ^ self._first

    def _taken(self, claim: ResourceClaim) -> tuple[Hashable, ...]:
        if claim.allocation is None:
            return ()
        if id(claim) not in self._of_claim:
            self._of_claim[id(claim)] = tuple(
                (claim.key, result.driver, result.pool, result.device, result.share_id)
                for result in claim.allocation.devices.results
            )
        return self._of_claim[id(claim)]


def _explained_attempt(
    alike: Sequence[FailedAttempt], inventory: Inventory, max_steps: int | None, known: KnownFindings
) -> ExplainedAttempt:
    from dra_plan.explanation import document, explainer
    from dra_plan.explanation.document import leading_reasons
    from dra_plan.explanation.most_left import most_left

    first = alike[0]
    claim_set, view = _claim_set(first), first.view()

    def planned(nodes: Sequence[Node]) -> list[tuple[Node, NodeOutcome]]:
        answers = SetPlanner(view, nodes, Question(max_steps=max_steps), None).plan(claim_set).plan.nodes
        return list(zip(nodes, answers, strict=True))

    def explained(answers: Iterable[tuple[Node, NodeOutcome]]) -> SetExplanation:
        told = [(node, answer) for node, answer in answers if _is_refused(answer.outcome)]
        nodes, refusals = [node for node, _ in told], [answer for _, answer in told]
        return explainer.explain(
            view, inventory, claim_set, nodes, refusals, max_steps=max_steps, suggests=False, known=known
        )

    found, others = explained(planned(first.nodes)), planned([node for node, _ in first.others])
    fits = {node.metadata.name for node, answer in others if answer.outcome is Outcome.FITS}
    return ExplainedAttempt(
        pods=[PodName(namespace=each.pod.metadata.namespace, name=each.pod.metadata.name) for each in alike],
        attempt=first.number,
        message=first.message,
        absent=document.absent(found),
        leading=leading_reasons(found.groups),
        stories=document.stories(found),
        devices_fit=_devices_fit(first, fits),
        most_left=None if fits else most_left([*found.groups, *explained(others).groups]),
    )


def _devices_fit(attempt: FailedAttempt, fits: Set[str]) -> list[RefusingNodes]:
    """Return the nodes on which the claims fit, grouped by the first reason why other plugins reject them."""
    alike: dict[Rejection, list[tuple[Node, Status]]] = {}
    for node, status in attempt.others:
        if node.metadata.name in fits:
            alike.setdefault(status.rejection, []).append((node, status))
    found = sorted(alike.values(), key=lambda group: (len(group[0][1].reasons), -len(group)))
    return [_refusing_nodes(group) for group in found]


def _refusing_nodes(alike: Sequence[tuple[Node, Status]]) -> RefusingNodes:
    nodes = {node.metadata.name: node for node, _ in alike}
    first = alike[0][1]
    reasons = []
    for at, reason in enumerate(first.reasons):
        subjects = [status.reasons[at].about for _, status in alike]
        known = [one for one in subjects if one is not None]
        made = node_obstacle(known, nodes) if known and len(known) == len(subjects) else None
        about = [] if made is None else [made]
        reasons.append(NodeRefusalReason(plugin=first.plugin, message=reason.text, counted=True, about=about))
    return RefusingNodes(nodes=list(nodes), reasons=reasons)


def _is_refused(outcome: Outcome) -> bool:
    """Return whether devices are the obstacle, including the node resources that they consume."""
    return outcome is not Outcome.FITS
