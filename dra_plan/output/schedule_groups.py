"""The table of pod groups of `schedule`."""

from __future__ import annotations

from collections.abc import Iterable

from dra_plan.documents.schedule import ScheduledPodGroup

from .columns import Table


def table(groups: Iterable[ScheduledPodGroup]) -> Table:
    """One row per group: what became of it, how many of its pods have a node and how many it needs, and why not."""
    made = Table(("POD GROUP", "OUTCOME", "BOUND", "NEEDS", "MESSAGE"), flexible=(0, 4))
    for group in groups:
        needs = str(group.min_count) if group.policy == "gang" else group.policy
        bound = f"{group.bound} of {group.pods}"
        made.add(f"{group.namespace}/{group.name}", group.outcome, bound, needs, message(group))
    return made


def message(group: ScheduledPodGroup) -> str:
    """What the scheduler says of the group: the text of its condition PodGroupScheduled, or what its pods wait for."""
    said = next((each.message for each in group.conditions if each.type == "PodGroupScheduled"), "")
    return said or group.waiting
