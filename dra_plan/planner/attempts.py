"""Why pods of a schedule got no node: their last attempts explained, those that are alike once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from dra_plan.allocator import Outcome
from dra_plan.api.inventory import Inventory
from dra_plan.claimsets.sets import ClaimSet, Owner
from dra_plan.documents.schedule import ExplainedAttempt, PodName
from dra_plan.planner.question import Question
from dra_plan.planner.set_planner import SetPlanner
from dra_plan.scheduler.failedattempts import FailedAttempt

MOST = 100
"""Attempts that differ and are explained; those after them are left out."""


def explained(attempts: Iterable[FailedAttempt], inventory: Inventory, max_steps: int | None) -> list[ExplainedAttempt]:
    """The explanations of attempts that failed for their claims, in order, of which `inventory` is the input.

    Pods that asked for the same of the same cluster, and were told the same, are told together with the first. Nodes
    that were refused for something else than devices are not told.
    """
    alike: dict[Any, list[FailedAttempt]] = {}
    used: dict[int, frozenset[Any]] = {}
    for attempt in attempts:
        if id(attempt.all_claims) not in used:
            used[id(attempt.all_claims)] = _used(attempt)
        alike.setdefault((*_asked(attempt), used[id(attempt.all_claims)]), []).append(attempt)
    return [_explained(group, inventory, max_steps) for group in list(alike.values())[:MOST]]


def _asked(attempt: FailedAttempt) -> tuple[Any, ...]:
    """What was asked for, where, and what was said."""
    return (
        attempt.message,
        tuple(msgspec.json.encode(claim.spec) for claim in attempt.claims),
        tuple(claim.key for claim in attempt.allocated),
        tuple(node.metadata.name for node in attempt.nodes),
        id(attempt.cluster),
    )


def _used(attempt: FailedAttempt) -> frozenset[Any]:
    """Who had which devices."""
    return frozenset(
        (claim.key, result.driver, result.pool, result.device, result.share_id)
        for claim in attempt.all_claims
        if claim.allocation is not None
        for result in claim.allocation.devices.results
    )


def _explained(alike: Sequence[FailedAttempt], inventory: Inventory, max_steps: int | None) -> ExplainedAttempt:
    from dra_plan.explanation import document, explainer
    from dra_plan.explanation.leading import leading_reasons

    first = alike[0]
    metadata = first.pod.metadata
    owner = Owner("Pod", metadata.namespace, metadata.name)
    claim_set = ClaimSet(owner=owner, claims=first.claims, allocated=first.allocated)
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
