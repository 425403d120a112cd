"""Why pods of a schedule got no node: their last attempts explained, those that are alike once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING

from dra_plan.allocator import Outcome
from dra_plan.api.inventory import Inventory
from dra_plan.api.resource import ResourceClaim
from dra_plan.claims.sets import ClaimSet, Owner, asked
from dra_plan.documents.schedule import ExplainedAttempt, PodName
from dra_plan.scheduler.attempts import FailedAttempt

from .question import Question
from .set_planner import SetPlanner

if TYPE_CHECKING:
    from dra_plan.explanation.explainer import KnownFindings

MOST = 100
"""Attempts that differ and are explained; those after them are left out."""


def explained(attempts: Iterable[FailedAttempt], inventory: Inventory, max_steps: int | None) -> list[ExplainedAttempt]:
    """The explanations of attempts that failed for their claims, in order, of which `inventory` is the input.

    Pods that asked for the same of the same cluster, and were told the same, are told together with the first. Nodes
    that were refused for something else than devices are not told.
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
        _explained(group, inventory, max_steps, known.setdefault(_asked(group[0]), KnownFindings()))
        for group in list(alike.values())[:MOST]
    ]


def _asked(attempt: FailedAttempt) -> tuple[Hashable, ...]:
    """What was asked for, of which cluster."""
    return asked(_claim_set(attempt)), id(attempt.cluster)


def _claim_set(attempt: FailedAttempt) -> ClaimSet:
    metadata = attempt.pod.metadata
    owner = Owner("Pod", metadata.namespace, metadata.name)
    return ClaimSet(owner=owner, claims=attempt.claims, allocated=attempt.allocated)


class _Used:
    """Who had which devices, told by what differs from the first state: of each only that is kept."""

    def __init__(self) -> None:
        self._first: frozenset[Hashable] | None = None
        self._of_claim: dict[int, tuple[Hashable, ...]] = {}

    def since_first(self, claims: Sequence[ResourceClaim]) -> frozenset[Hashable]:
        """Equal for states in which the same claims had the same devices. The claims must live on."""
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


def _explained(
    alike: Sequence[FailedAttempt], inventory: Inventory, max_steps: int | None, known: KnownFindings
) -> ExplainedAttempt:
    from dra_plan.explanation import document, explainer
    from dra_plan.explanation.document import leading_reasons

    first = alike[0]
    claim_set = _claim_set(first)
    view = first.view()
    planned = SetPlanner(view, first.nodes, Question(max_steps=max_steps), None).plan(claim_set).plan.nodes
    told = [(node, answer) for node, answer in zip(first.nodes, planned, strict=True) if _is_refused(answer.outcome)]
    found = explainer.explain(
        view,
        inventory,
        claim_set,
        [node for node, _ in told],
        [answer for _, answer in told],
        max_steps=max_steps,
        suggests=False,
        known=known,
    )
    return ExplainedAttempt(
        pods=[PodName(namespace=each.pod.metadata.namespace, name=each.pod.metadata.name) for each in alike],
        attempt=first.number,
        message=first.message,
        absent=document.absent(found),
        leading=leading_reasons(found.groups),
        stories=document.stories(found),
    )


def _is_refused(outcome: Outcome) -> bool:
    """Whether devices are what is in the way; a node may be refused for what they take of it."""
    return outcome is not Outcome.FITS
