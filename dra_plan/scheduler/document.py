"""The outcome as the document `SchedulePlan`."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from dra_plan.api.resource import ResourceClaim
from dra_plan.documents.base import answer_target, claim_allocation, warnings
from dra_plan.documents.schedule import (
    EvictedPod,
    ExplainedAttempt,
    GroupCondition,
    NodeVerdicts,
    ScheduledClaim,
    ScheduleDocument,
    ScheduledPod,
    ScheduledPodGroup,
    SchedulingTrace,
    TracedAttempt,
    TracedWake,
)
from dra_plan.scheduler.framework.trace import Attempt, Tracer

from .attempts import PodRecord
from .notices import GroupSummary
from .simulate import SimulationResult


def schedule_document(
    outcome: SimulationResult, explanations: list[ExplainedAttempt] | UnsetType = UNSET
) -> ScheduleDocument:
    """What became of pods and claims. Allocations carry no timestamp: the time is the simulation's."""
    return ScheduleDocument(
        target=answer_target(outcome.target),
        api_server=outcome.api_server,
        pods=[_pod(record, outcome) for record in outcome.pods],
        pod_groups=[_group(group) for group in outcome.groups],
        claims=[_claim(claim) for claim in outcome.claims],
        volumes=outcome.volumes,
        evictions=[EvictedPod(pod=e.victim, preemptor=e.preemptor, node=e.node) for e in outcome.evictions],
        not_evaluated=list(outcome.not_evaluated),
        warnings=warnings(outcome.notices),
        trace=_trace(outcome.tracer) if outcome.tracer is not None else UNSET,
        explanations=explanations,
    )


def _pod(record: PodRecord, result: SimulationResult) -> ScheduledPod:
    is_undecided = result.is_undecided(record)
    return ScheduledPod(
        namespace=record.pod.metadata.namespace,
        name=record.pod.metadata.name,
        outcome="Undecided" if is_undecided else record.outcome,
        node_name=record.node or None,
        message=record.message or None,
        reason=record.reason if record.message else "",
        nominated_node_name=record.nominated,
        waiting=record.waiting,
        best_nodes=list(record.best) if len(record.best) > 1 else [],
        errors=record.fatal,
        undecided_nodes=list(dict.fromkeys(result.undecided.get(record.pod.key, ()))) if is_undecided else [],
        attempts=record.attempts,
        node_allocatable=record.node_allocatable,
    )


def _group(group: GroupSummary) -> ScheduledPodGroup:
    return ScheduledPodGroup(
        namespace=group.namespace,
        name=group.name,
        outcome=group.outcome,
        policy=group.policy,
        min_count=group.min_count,
        pods=group.pods,
        bound=group.bound,
        waiting=group.waiting,
        conditions=[
            GroupCondition(type=each.type, status=each.status, reason=each.reason, message=each.message)
            for each in group.conditions
        ],
        attempts=group.attempts,
    )


def _claim(claim: ResourceClaim) -> ScheduledClaim:
    status = claim.status
    allocation = status.allocation if status is not None else None
    return ScheduledClaim(
        namespace=claim.metadata.namespace,
        name=claim.metadata.name,
        allocation=claim_allocation(allocation, timestamp=False) if allocation is not None else None,
        reserved_for=list(status.reserved_for) if status is not None else [],
    )


def _trace(tracer: Tracer) -> SchedulingTrace:
    return SchedulingTrace(
        attempts=[_attempt(attempt) for attempt in tracer.attempts],
        wakes=[
            TracedWake(pod=wake.pod, event=wake.event, object=wake.object, plugin=wake.plugin, queue=wake.to)
            for wake in tracer.wakes
        ],
    )


def _attempt(attempt: Attempt) -> TracedAttempt:
    return TracedAttempt(
        pod=attempt.pod,
        attempt=attempt.number,
        pod_group=attempt.group,
        domain=attempt.domain,
        pre_filter=attempt.pre_filter,
        filter=[NodeVerdicts(node=node, verdicts=verdicts) for node, verdicts in attempt.filters.items()],
        post_filter=attempt.post_filter,
        score=attempt.scores,
        best=attempt.best,
        node=attempt.node,
        message=attempt.message,
    )
