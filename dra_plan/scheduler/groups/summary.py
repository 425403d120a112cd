"""How each pod group stands when nothing moves any more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dra_plan.api.scheduling import PodGroupCondition
from dra_plan.documents.schedule import PodGroupOutcome
from dra_plan.scheduler.cluster import SimulatedCluster
from dra_plan.scheduler.queuedpod import QueuedPod

from .record import SCHEDULED, MemberAnswer, PodGroupRecord, PodGroupRecords


@dataclass(frozen=True)
class GroupSummary:
    """One group: what the scheduler would have written into its status, and its pods in numbers."""

    namespace: str
    name: str
    policy: str
    min_count: int
    pods: int
    bound: int
    conditions: tuple[PodGroupCondition, ...]
    attempts: int
    last: tuple[MemberAnswer, ...] = ()
    """What the pods of the last cycle came to, in the order in which they were tried."""
    waiting: str = ""
    """What keeps its first gated pod out of the queue, if nothing was tried."""

    @property
    def outcome(self) -> PodGroupOutcome:
        """One word."""
        condition = next((each for each in self.conditions if each.type == SCHEDULED), None)
        if condition is not None and condition.status == "True":
            return "Scheduled"
        if condition is not None:
            return "Error" if condition.reason == "SchedulerError" else "Unschedulable"
        if self.pods and self.bound == self.pods:
            return "Scheduled"
        return "Gated" if self.pods else "Empty"


def summaries(
    cluster: SimulatedCluster, records: PodGroupRecords, gated: Mapping[str, QueuedPod]
) -> list[GroupSummary]:
    """All groups, in order of arrival; `gated` are the pods that are kept out of the queue, by uid."""
    return [_summary(cluster, records.of(group), gated) for group in cluster.groups.all()]


def _summary(cluster: SimulatedCluster, record: PodGroupRecord, gated: Mapping[str, QueuedPod]) -> GroupSummary:
    metadata, policy = record.group.metadata, record.group.spec.scheduling_policy
    key = (metadata.namespace, metadata.name)
    refused = [gated[uid].gate_message for uid in cluster.groups.seen(key) if uid in gated]
    return GroupSummary(
        namespace=metadata.namespace,
        name=metadata.name,
        policy="gang" if policy.gang is not None else "basic" if policy.basic is not None else "",
        min_count=record.group.min_count,
        pods=cluster.groups.count(key),
        bound=len(cluster.groups.on_nodes(key)),
        conditions=tuple(record.conditions.values()),
        attempts=record.attempts,
        last=record.last,
        waiting=refused[0] if refused and not record.attempts else "",
    )
