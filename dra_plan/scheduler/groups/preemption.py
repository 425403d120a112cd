"""Preemption for a whole group (gate WorkloadAwarePreemption): which pods have to go so that enough of it fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from dra_plan.scheduler import pluginnames
from dra_plan.scheduler.cluster import SimulatedCluster
from dra_plan.scheduler.eviction import remove_victim
from dra_plan.scheduler.handle import Handle
from dra_plan.scheduler.keys import GroupKey
from dra_plan.scheduler.nodeinfo import PodInfo
from dra_plan.scheduler.preemption import NEVER
from dra_plan.scheduler.victims import split_by_budget

from . import words
from .cycle import GroupVerdict
from .search import GroupAnswer, GroupSearch, GroupTask
from .trial import same_order

NO_VICTIMS = "No preemption victims found for incoming preemptor"
_CONSTRAINED = "workload aware preemption is not supported for pod groups with scheduling constraints"


@dataclass(frozen=True)
class VictimUnit:
    """Pods that go together: one pod, or all of a group with disruptionMode PodGroup, with the nodes they are on."""

    pods: tuple[tuple[PodInfo, str], ...]
    priority: int

    @cached_property
    def importance(self) -> tuple[float, ...]:
        """Smaller is more important: priority, then pods of any group, of these the larger unit, then the older."""
        first = self.pods[0][0]
        grouped = first.group is not None
        return (-self.priority, not grouped, -len(self.pods) if grouped else 0, first.start_time)


class GroupPreemption:
    """Makes room for groups. Nothing happens with the gate off: each pod of a group then preempts by itself."""

    def __init__(self, handle: Handle, search: GroupSearch) -> None:
        self._handle = handle
        self._search = search
        self.evictions: list[tuple[str, str, str]] = []
        """(group, victim, node), in the order of their decision."""

    def make_room(self, task: GroupTask, answer: GroupAnswer) -> None:
        """Evict what is in the way, if that helps; the answer says afterwards what the group waits for, or why not."""
        if not self._handle.target.features.group_preemption or task.group is None:
            return
        refusal = self._refusal(task)
        if not refusal:
            candidates = self._candidates(task)
            if not candidates:
                refusal = NO_VICTIMS
        if not refusal:
            with same_order(self._handle.cluster):
                victims = self._victims(task, candidates)
            if isinstance(victims, str):
                refusal = victims
            else:
                self._evict(task, victims)
                answer.outcome.verdict = GroupVerdict.PREEMPTING
                answer.message = f"{words.UNSCHEDULABLE}, {words.PREEMPTING}"
                return
        answer.message = f"{answer.message}, {refusal}"

    @staticmethod
    def _refusal(task: GroupTask) -> str:
        """Why the group may not preempt, or ""."""
        if task.group is not None and task.group.topology_key:
            return _CONSTRAINED
        never = any(item.pod.spec.preemption_policy == "Never" for item in task.items)
        return NEVER if never else ""

    def _candidates(self, task: GroupTask) -> list[VictimUnit]:
        """Everything less important than the group, the most important first."""
        assert task.group is not None
        least = task.group.spec.priority or 0
        units = [unit for unit in victim_units(self._handle.cluster) if unit.priority < least]
        if not self._handle.target.quirks.group_evicts_its_own:
            units = [unit for unit in units if unit.pods[0][0].group != task.key]
        return sorted(units, key=lambda unit: unit.importance)

    def _victims(self, task: GroupTask, candidates: Sequence[VictimUnit]) -> list[VictimUnit] | str:
        """Those of the candidates that have to go, or why even all of them would not do; nobody is gone afterwards."""
        for unit in candidates:
            self._take_off(unit)
        found = self._search.run(task, makes_room=False)
        if found.outcome.verdict is not GroupVerdict.SCHEDULED:
            for unit in candidates:
                self._put_back(unit)
            return found.message
        gone: list[VictimUnit] = []
        for unit in self._by_budget(candidates):
            self._put_back(unit)
            if self._search.run(task, makes_room=False).outcome.verdict is not GroupVerdict.SCHEDULED:
                self._take_off(unit)
                gone.append(unit)
        for unit in gone:
            self._put_back(unit)
        return gone

    def _by_budget(self, units: Sequence[VictimUnit]) -> list[VictimUnit]:
        """Those whose eviction breaks a disruption budget first, each part in the given order."""
        pods = [info for unit in units for info, _ in unit.pods]
        violating = {info.uid for info in split_by_budget(pods, self._handle.cluster.budgets)[0]}
        return sorted(units, key=lambda unit: not any(info.uid in violating for info, _ in unit.pods))

    def _take_off(self, unit: VictimUnit) -> None:
        for info, node in unit.pods:
            self._handle.cluster.forget(info, node)

    def _put_back(self, unit: VictimUnit) -> None:
        for info, node in unit.pods:
            self._handle.cluster.assume(info, node)

    def _evict(self, task: GroupTask, victims: Sequence[VictimUnit]) -> None:
        """The victims go while the next pod is tried; until then no pod of the group is."""
        cluster, queue = self._handle.cluster, [item.pod for item in task.items]
        pods = [(info, node) for unit in victims for info, node in unit.pods]
        name = f"{task.key[0]}/{task.key[1]}"
        self.evictions += [(name, info.pod.key, node) for info, node in pods]
        cluster.groups.preempting.add(task.key)

        def carry_out() -> None:
            cluster.groups.preempting.discard(task.key)
            for info, _ in pods:
                if not info.terminating:
                    remove_victim(self._handle, info, pluginnames.DEFAULT_PREEMPTION)
            for pod in queue:
                self._handle.activate(pod)

        self._handle.later(f"evict {', '.join(info.pod.key for info, _ in pods)}", carry_out)


def victim_units(cluster: SimulatedCluster) -> list[VictimUnit]:
    """Every pod on every node, in node order; those that only go together are one unit, at the place of the first."""
    together: dict[GroupKey, list[tuple[PodInfo, str]]] = {}
    units: list[list[tuple[PodInfo, str]]] = []
    for node in cluster.nodes.values():
        for info in node.pods.values():
            group = cluster.groups.get(info.group)
            if info.group is None or group is None or group.spec.disruption_mode != "PodGroup":
                units.append([(info, node.name)])
            elif info.group in together:
                together[info.group].append((info, node.name))
            else:
                together[info.group] = [(info, node.name)]
                units.append(together[info.group])
    return [VictimUnit(tuple(pods), _priority(cluster, pods[0][0], pods[0][0].group in together)) for pods in units]


def _priority(cluster: SimulatedCluster, info: PodInfo, as_group: bool) -> int:
    group = cluster.groups.get(info.group) if as_group else None
    return (group.spec.priority or 0) if group is not None else info.priority
