"""How each pod group stands when nothing moves any more."""

from __future__ import annotations

from dataclasses import dataclass

from dra_plan.api.podgroups import PodGroupCondition
from dra_plan.documents.schedule import PodGroupOutcome
from dra_plan.scheduler.cluster import SimulatedCluster

from .record import SCHEDULED, PodGroupRecord, PodGroupRecords


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


def summaries(cluster: SimulatedCluster, records: PodGroupRecords) -> list[GroupSummary]:
    """All groups, in order of arrival."""
    return [_summary(cluster, records.of(group)) for group in cluster.groups.all()]


def _summary(cluster: SimulatedCluster, record: PodGroupRecord) -> GroupSummary:
    metadata, policy = record.group.metadata, record.group.spec.scheduling_policy
    key = (metadata.namespace, metadata.name)
    return GroupSummary(
        namespace=metadata.namespace,
        name=metadata.name,
        policy="gang" if policy.gang is not None else "basic" if policy.basic is not None else "",
        min_count=record.group.min_count,
        pods=cluster.groups.count(key),
        bound=len(cluster.groups.on_nodes(key)),
        conditions=tuple(record.conditions.values()),
        attempts=record.attempts,
    )
