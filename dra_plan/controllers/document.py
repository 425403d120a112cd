"""The part of the document of `schedule` about how the cluster settled."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from dra_plan.api.meta import ObjectMeta
from dra_plan.api.resource import ResourceClaim
from dra_plan.documents.scheduling import (
    ControllerEvent,
    GonePod,
    LaterEviction,
    ObjectCondition,
    PodName,
    PodOwner,
    RefusedObject,
    SettledClaim,
    SettledCluster,
    SettledPod,
    UnsettledCluster,
)
from dra_plan.scheduler.cluster.keys import pod_uid

from .device_eviction import IN_PROGRESS
from .endings import Ending
from .settle import FAILED_CREATE, Settled


def settled_document(settled: Settled, messages: Mapping[str, str]) -> SettledCluster:
    """Return the settled cluster as a document; `messages` are the scheduler's last messages about pods, by uid."""
    start = settled.server.start
    devices = _devices_of_pods(settled.state.inventory.claims)
    pods = settled.state.inventory.pods
    return SettledCluster(
        pods=[
            SettledPod(
                namespace=pod.metadata.namespace,
                name=pod.metadata.name,
                owner=_owner(pod.metadata),
                node_name=pod.spec.node_name or None,
                devices=devices.get(pod_uid(pod), []),
                foreseen=pod_uid(pod) in settled.server.made,
                message=messages.get(pod_uid(pod)) or None,
            )
            for pod in pods
        ],
        evicted=[_gone(each, start) for each in settled.endings],
        claims=[_claim(claim) for claim in settled.state.inventory.claims],
        refused=[
            RefusedObject(object=f"{each.kind}/{each.name}", namespace=each.namespace, message=each.message)
            for each in settled.refused
        ],
        events=[
            ControllerEvent(
                kind=each.kind,
                namespace=each.namespace,
                name=each.name,
                reason=each.reason,
                message=each.message,
                second=_second(each.moment, start),
            )
            for each in settled.happenings
        ],
        conditions=_conditions(settled),
        later=[
            LaterEviction(
                namespace=each.pod.metadata.namespace,
                name=each.pod.metadata.name,
                by=each.cause.by,
                second=_second(each.at, start),
            )
            for each in settled.pending
        ],
        rounds=settled.rounds,
        unsettled=_unsettled(settled),
    )


def _conditions(settled: Settled) -> list[ObjectCondition]:
    """Return the conditions: of device taint rules the progress of eviction, of workloads that pods were rejected."""
    found = [
        ObjectCondition(
            kind="DeviceTaintRule",
            namespace="",
            name=each.rule,
            type=IN_PROGRESS,
            status=each.status,
            reason=each.reason,
            message=each.message,
        )
        for each in settled.conditions
    ]
    failing: dict[tuple[str, str], str] = {}
    for event in settled.happenings:
        if event.reason == FAILED_CREATE and event.kind in ("Deployment", "ReplicaSet"):
            failing.setdefault((event.namespace, event.name), event.refusal)
    for workload in settled.state.inventory.workloads:
        key = (workload.metadata.namespace, workload.metadata.name)
        if key in failing and workload.kind in ("Deployment", "ReplicaSet"):
            condition = ObjectCondition(
                kind=workload.kind,
                namespace=key[0],
                name=key[1],
                type="ReplicaFailure",
                status="True",
                reason=FAILED_CREATE,
                message=failing[key],
            )
            found.append(condition)
    return found


def _second(moment: float, start: float) -> float:
    return round(max(0.0, moment - start), 1)


def _unsettled(settled: Settled) -> UnsettledCluster | None:
    if not settled.unsettled:
        return None
    names = [PodName(namespace=pod.metadata.namespace, name=pod.metadata.name) for pod in settled.waiting]
    names += [PodName(namespace=namespace, name=name) for namespace, name in settled.evicted_endlessly]
    return UnsettledCluster(message=settled.unsettled, pods=names)


def _gone(ending: Ending, start: float) -> GonePod:
    each = ending.ended
    return GonePod(
        namespace=each.pod.metadata.namespace,
        name=each.pod.metadata.name,
        owner=_owner(each.pod.metadata),
        node_name=each.pod.spec.node_name or None,
        by=each.cause.by,
        reason=each.cause.reason,
        message=each.cause.message,
        second=_second(each.moment, start),
        recreated_as=[pod.metadata.name for pod in ending.made],
    )


def _owner(metadata: ObjectMeta) -> PodOwner | None:
    owner = metadata.controller
    return PodOwner(kind=owner.kind, name=owner.name) if owner is not None else None


def _claim(claim: ResourceClaim) -> SettledClaim:
    status = claim.status
    return SettledClaim(
        namespace=claim.metadata.namespace,
        name=claim.metadata.name,
        devices=_devices(claim) if claim.allocation is not None else None,
        reserved_for=[user.name for user in status.reserved_for] if status is not None else [],
    )


def _devices(claim: ResourceClaim) -> list[str]:
    assert claim.allocation is not None
    return [f"{r.request}={r.driver}/{r.pool}/{r.device}" for r in claim.allocation.devices.results]


def _devices_of_pods(claims: Sequence[ResourceClaim]) -> Mapping[str, list[str]]:
    """Return uid of each pod to the devices of the claims that are reserved for it, by claim name."""
    found: dict[str, list[str]] = defaultdict(list)
    for claim in sorted(claims, key=lambda each: each.key):
        if claim.status is not None and claim.allocation is not None:
            for user in claim.status.reserved_for:
                found[user.uid or f"{claim.metadata.namespace}/{user.name}"] += _devices(claim)
    return found
