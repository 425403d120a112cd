"""Where a group can go: its cycle in each placement, and the best of those in which it fits."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass

from dra_plan.api.scheduling import PodGroup
from dra_plan.scheduler.handle import Handle
from dra_plan.scheduler.keys import GroupKey
from dra_plan.scheduler.queuedpod import QueuedPod
from dra_plan.scheduler.runtime import Framework

from . import words
from .cycle import GroupCycle, GroupOutcome, GroupVerdict
from .placement import GroupPlacement, PlacementError, best, fullness, placements
from .trial import only


@dataclass(frozen=True, slots=True)
class GroupTask:
    """A group and those of its pods that are tried together, in order."""

    key: GroupKey
    group: PodGroup | None
    items: Sequence[QueuedPod]
    framework: Framework
    percentage: int
    """Of how many nodes in a hundred it is enough that they fit."""


@dataclass(slots=True)
class GroupAnswer:
    """What the group's pods came to; `message` is the group's own where it is not scheduled."""

    outcome: GroupOutcome
    message: str = ""
    for_all: str = ""
    """What every pod is told, where none was tried."""


class GroupSearch:
    """Tries a group in its placements."""

    def __init__(self, handle: Handle, cycle: GroupCycle) -> None:
        self._handle = handle
        self._cycle = cycle

    def run(self, task: GroupTask, *, makes_room: bool = True) -> GroupAnswer:
        """The best placement that has room for enough pods, otherwise what was found in the first one."""
        try:
            where = placements(self._handle.cluster, task.key, task.group)
        except PlacementError as problem:
            return GroupAnswer(GroupOutcome(GroupVerdict.ERROR), str(problem), str(problem))
        if not where:
            return GroupAnswer(GroupOutcome(GroupVerdict.UNSCHEDULABLE), words.NO_PLACEMENT, words.NO_PLACEMENT)
        outcomes = []
        for placement in where:
            outcome = self._try(task, placement, makes_room=makes_room)
            if outcome.verdict is GroupVerdict.ERROR:
                return GroupAnswer(outcome, words.others_failed(outcome.attempts[-1].result.message))
            outcomes.append(outcome)
        fitting = [outcome for outcome in outcomes if outcome.verdict is not GroupVerdict.UNSCHEDULABLE]
        if fitting:
            chosen = fitting[best(fitting, [self._count(task, outcome) for outcome in fitting])]
            waits = chosen.verdict is GroupVerdict.PREEMPTING
            return GroupAnswer(chosen, f"{words.UNSCHEDULABLE}, {words.PREEMPTING}" if waits else "")
        message = words.UNSCHEDULABLE
        if self._handle.target.features.topology_placement:
            message = words.no_placement_fits(len(where), message)
        return GroupAnswer(outcomes[0], message)

    def _try(self, task: GroupTask, placement: GroupPlacement, *, makes_room: bool) -> GroupOutcome:
        cluster = self._handle.cluster
        with only(cluster, placement.nodes) if placement.nodes is not None else nullcontext():
            return self._cycle.run(
                task.framework,
                task.group,
                task.items,
                task.percentage,
                makes_room=makes_room,
                domain=placement.domain,
                score=lambda: fullness(list(cluster.nodes.values())) if placement.nodes is not None else 0,
            )

    def _count(self, task: GroupTask, outcome: GroupOutcome) -> int:
        """The group's pods that have a node, with those that would get one."""
        new = sum(bool(attempt.node) for attempt in outcome.attempts)
        return len(self._handle.cluster.groups.on_nodes(task.key)) + new
