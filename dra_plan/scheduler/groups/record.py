"""What is known about the scheduling of each pod group, including its conditions."""

from __future__ import annotations

from dataclasses import dataclass, field

from msgspec import Struct

from dra_plan.api.scheduling import PodGroup, PodGroupCondition
from dra_plan.scheduler.cluster.keys import GroupKey

SCHEDULED = "PodGroupScheduled"


class MemberAnswer(Struct, frozen=True):
    """A pod in the cycle of its group, with the node that was found or the scheduler's message."""

    pod: str
    node: str = ""
    message: str = ""


@dataclass
class PodGroupRecord:
    """A group with the conditions that the scheduler would have written so far."""

    group: PodGroup
    conditions: dict[str, PodGroupCondition] = field(default_factory=dict)
    attempts: int = 0
    last: tuple[MemberAnswer, ...] = ()
    """The results for the pods in the last cycle, in the order in which they were tried."""

    def scheduled(self) -> None:
        """Record that enough pods of the group have found a node."""
        self._set("True", "Scheduled", "")

    def failed(self, message: str, *, with_error: bool) -> None:
        """Record that a scheduling cycle of the group failed.

        A group for which enough pods have found a node earlier still counts as scheduled.
        """
        known = self.conditions.get(SCHEDULED)
        if known is None or known.status != "True":
            self._set("False", "SchedulerError" if with_error else "Unschedulable", message)

    def _set(self, status: str, reason: str, message: str) -> None:
        self.conditions[SCHEDULED] = PodGroupCondition(type=SCHEDULED, status=status, reason=reason, message=message)


class PodGroupRecords:
    """The records of all groups in order of arrival."""

    def __init__(self) -> None:
        self.by_key: dict[GroupKey, PodGroupRecord] = {}

    def of(self, group: PodGroup) -> PodGroupRecord:
        """Return the record of the group. A new record starts with the group's existing conditions."""
        key = (group.metadata.namespace, group.metadata.name)
        found = self.by_key.get(key)
        if found is None:
            given = {condition.type: condition for condition in group.status.conditions}
            found = self.by_key[key] = PodGroupRecord(group, given)
        found.group = group
        return found
