"""The outcome as the document `SchedulePlan`."""

from __future__ import annotations

from typing import Any

import msgspec

from dra_plan.api.resource import ResourceClaim

from .events import Wake
from .scheduler import PodRecord
from .simulate import SimulationResult
from .trace import Attempt

API_VERSION = "dra-plan/v1alpha1"
KIND = "SchedulePlan"


def schedule_document(outcome: SimulationResult) -> dict[str, Any]:
    """Plain values, in a fixed order. Allocations carry no timestamp: the time is the simulation's."""
    document: dict[str, Any] = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "target": outcome.target.to_dict(),
        "apiServer": outcome.api_server,
        "pods": [_pod(record, outcome.undecided.get(record.pod.key, [])) for record in outcome.pods],
        "claims": [_claim(claim) for claim in outcome.claims],
        "evictions": [{"pod": e.victim, "preemptor": e.preemptor, "node": e.node} for e in outcome.evictions],
        "notEvaluated": list(outcome.not_evaluated),
        "warnings": [notice._asdict() for notice in dict.fromkeys(outcome.notices)],
    }
    if outcome.tracer is not None:
        document["trace"] = {
            "attempts": [_attempt(attempt) for attempt in outcome.tracer.attempts],
            "wakes": [_wake(wake) for wake in outcome.tracer.wakes],
        }
    return document


def _pod(record: PodRecord, undecided: list[str]) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "namespace": record.pod.metadata.namespace,
        "name": record.pod.metadata.name,
        "outcome": record.outcome,
        "nodeName": record.node or None,
        "message": record.message or None,
    }
    optional = {
        "reason": record.reason if record.message else "",
        "nominatedNodeName": record.nominated,
        "waiting": record.waiting,
        "bestNodes": record.best if len(record.best) > 1 else [],
        "errors": record.fatal,
        "undecidedNodes": list(dict.fromkeys(undecided)) if not record.node else [],
        "attempts": record.attempts,
    }
    entry.update((key, value) for key, value in optional.items() if value)
    return entry


def _claim(claim: ResourceClaim) -> dict[str, Any]:
    status: dict[str, Any] = msgspec.to_builtins(claim.status) if claim.status is not None else {}
    allocation = status.get("allocation")
    if allocation is not None:
        allocation.pop("allocationTimestamp", None)
    return {
        "namespace": claim.metadata.namespace,
        "name": claim.metadata.name,
        "allocation": allocation,
        "reservedFor": status.get("reservedFor", []),
    }


def _attempt(attempt: Attempt) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "pod": attempt.pod,
        "attempt": attempt.number,
        "preFilter": attempt.pre_filter,
        "filter": [{"node": node, "verdicts": verdicts} for node, verdicts in attempt.filters.items()],
        "postFilter": attempt.post_filter,
        "score": attempt.scores,
        "best": attempt.best,
        "node": attempt.node or None,
        "message": attempt.message or None,
    }
    return {key: value for key, value in entry.items() if value}


def _wake(wake: Wake) -> dict[str, Any]:
    return {"pod": wake.pod, "event": wake.event, "object": wake.object, "plugin": wake.plugin, "queue": wake.to}
