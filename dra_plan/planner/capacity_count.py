"""`capacity`: copies counted as the scheduler binds them, each owner alone or all in proportion.

What is possible whatever the scheduler does is `capacity_possible`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set

from dra_plan.allocator import View
from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.documents.base import ObjectName
from dra_plan.documents.capacity import NextCopy, NodeCopies, ScheduledCopies
from dra_plan.scheduler.plugins.default_preemption import DefaultPreemption
from dra_plan.scheduler.refusals import Copies, create, create_in_proportion, refusals
from dra_plan.scheduler.simulation import Simulation

from .capacity_fleet import Fleet
from .capacity_obstacles import next_copy

Count = tuple[Copies, ScheduledCopies, NextCopy | None]


class Counting:
    """Counts copies on a cluster, and tells the fleet how each count ended."""

    def __init__(self, inventory: Inventory, view: View, fleet: Fleet, max_steps: int | None, limit: int) -> None:
        self._inventory, self._view, self._fleet = inventory, view, fleet
        self._max_steps, self._limit = max_steps, limit

    def alone(self, pod: Pod, own: Set[str]) -> tuple[Simulation, Count]:
        """Copies of one pod, whose owner has these claims, by key, of its `own`."""
        simulation = self._started()
        copies = create(simulation, pod, self._limit)
        return simulation, self._count(simulation, copies, [copies], own)

    def mixed(self, pods: Sequence[tuple[Pod, int]], own: Set[str]) -> tuple[Simulation, list[Count]]:
        """Copies of several pods, so many of each to a set; their owners have these claims of their `own`."""
        simulation = self._started()
        everyone = create_in_proportion(simulation, pods, self._limit)
        return simulation, [self._count(simulation, copies, everyone, own) for copies in everyone]

    def _started(self) -> Simulation:
        simulation = Simulation(
            self._inventory,
            target=self._view.target,
            max_steps=self._max_steps,
            chosen=lambda _pod: False,
            view=self._view,
        )
        simulation.start()
        return simulation

    def _count(self, simulation: Simulation, copies: Copies, everyone: Sequence[Copies], own: Set[str]) -> Count:
        scheduled = _told(copies, simulation, everyone)
        if scheduled.ended in ("Limit", "Undecided"):
            self._fleet.cut_short()
        if copies.refused is None or scheduled.ended != "Unschedulable":
            return copies, scheduled, None
        found = refusals(simulation, copies.refused.pod)
        self._fleet.ended(simulation.cluster.claims.state, found)
        numbers = Counter(record.node for each in everyone for record in each.bound)
        following = next_copy(simulation, copies.refused, found, numbers, self._max_steps, own)
        return copies, scheduled, following


def _told(copies: Copies, simulation: Simulation, everyone: Sequence[Copies]) -> ScheduledCopies:
    numbers = Counter(record.node for record in copies.bound)
    nodes = [node.metadata.name for node in simulation.inventory.nodes if node.metadata.name in numbers]
    refused = copies.refused
    return ScheduledCopies(
        copies=len(copies.bound),
        nodes=[NodeCopies(name=name, copies=numbers[name]) for name in nodes],
        ended=_end(copies, simulation, everyone),
        message=refused.message or refused.waiting or None if refused is not None else None,
        undecided_nodes=sorted(_unclear(copies, simulation)),
        evicted=[
            ObjectName(kind="Pod", namespace=victim.metadata.namespace, name=victim.metadata.name)
            for plugin in simulation.plugins_of(DefaultPreemption)
            for _, victim, _ in plugin.evictions
        ],
    )


def _unclear(copies: Copies, simulation: Simulation) -> set[str]:
    """The nodes on which the step budget ran out for one of the copies."""
    tried = [record.pod.key for record in copies.bound]
    tried += [copies.refused.pod.key] if copies.refused is not None else []
    return {node for plugin in simulation.dynamic_resources for key in tried for node in plugin.undecided.get(key, ())}


def _end(copies: Copies, simulation: Simulation, everyone: Sequence[Copies]) -> str:
    """Why the count ended. That of several owners ends for all with the copy that is refused."""
    refused = [each for each in everyone if each.refused is not None]
    if any(_unclear(each, simulation) for each in ([copies] if copies.refused is not None else refused)):
        return "Undecided"
    if copies.refused is None:
        return "OtherRefused" if refused else "Limit"
    return "SchedulerError" if copies.refused.outcome == "Error" else copies.refused.outcome
