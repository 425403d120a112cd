"""The part of the `schedule` document that describes how the cluster settled."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.api.meta import ObjectMeta
from dra_plan.api.resource import ResourceClaim
from dra_plan.claims.index import Index
from dra_plan.claims.owners import controller_names
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
from dra_plan.scheduler.clock import known_time
from dra_plan.scheduler.cluster.keys import pod_uid

from .device_eviction import IN_PROGRESS
from .endings import Ending
from .settle import FAILED_CREATE, Settled


def settled_document(
    settled: Settled, messages: Mapping[str, str], shown: Callable[[Pod], bool] | None = None
) -> SettledCluster:
    """Return the settled cluster as a document. `messages` are the scheduler's last messages about pods, by UID.

    If `shown` is given, the document contains only the pods for which it is true, with their claims and controllers.
    """
    start = settled.server.start
    devices = _devices_of_pods(settled.state.inventory.claims)
    whole = settled.state.inventory
    pods = [pod for pod in whole.pods if shown is None or shown(pod)]
    gone = [each for each in settled.endings if shown is None or shown(each.ended.pod)]
    lacking = [pod for pod, _ in settled.not_made if shown is None or shown(pod)]
    told = _Told([*pods, *(each.ended.pod for each in gone), *lacking], whole, everything=shown is None)
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
        evicted=[_gone(each, start) for each in gone],
        claims=[_claim(claim) for claim in whole.claims if told.has_claim(claim)],
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
            if told.has(each.kind, each.namespace, each.name)
        ],
        conditions=[each for each in _conditions(settled) if told.has(each.kind, each.namespace, each.name)],
        later=[
            LaterEviction(
                namespace=each.pod.metadata.namespace,
                name=each.pod.metadata.name,
                by=each.cause.by,
                second=_second(each.at, start),
                time=known_time(each.at, start),
            )
            for each in settled.pending
            if shown is None or shown(each.pod)
        ],
        rounds=settled.rounds,
        unsettled=unsettled_cluster(settled),
    )


class _Told:
    """The objects in a document: pods with their controllers, and objects without a namespace."""

    def __init__(self, pods: Iterable[Pod], inventory: Inventory, *, everything: bool) -> None:
        self._everything = everything
        self._names: set[tuple[str, str, str]] = set()
        owners = Index(inventory).owners
        for pod in [] if everything else pods:
            metadata = pod.metadata
            above = [("Pod", metadata.name), *controller_names(metadata)]
            above += [(each.kind, each.metadata.name) for each in owners.above(metadata)]
            self._names.update((kind, metadata.namespace, name) for kind, name in above)

    def has(self, kind: str, namespace: str, name: str) -> bool:
        return self._everything or not namespace or (kind, namespace, name) in self._names

    def has_claim(self, claim: ResourceClaim) -> bool:
        users = [user.name for user in claim.status.reserved_for] if claim.status is not None else []
        users += [claim.metadata.controller.name] if claim.metadata.controller is not None else []
        return any(self.has("Pod", claim.metadata.namespace, name) for name in users) or self._everything


def _conditions(settled: Settled) -> list[ObjectCondition]:
    """Return the conditions, for device taint rules about eviction progress, and for workloads about rejected pods."""
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


def unsettled_cluster(settled: Settled) -> UnsettledCluster | None:
    """Return why the cluster never settles, with the pods involved, or None if it settles."""
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
        time=known_time(each.moment, start),
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
    """Return, by pod UID, the devices in the claims that are reserved for the pod, by claim name."""
    found: dict[str, list[str]] = defaultdict(list)
    for claim in sorted(claims, key=lambda each: each.key):
        if claim.status is not None and claim.allocation is not None:
            for user in claim.status.reserved_for:
                found[user.uid or f"{claim.metadata.namespace}/{user.name}"] += _devices(claim)
    return found
