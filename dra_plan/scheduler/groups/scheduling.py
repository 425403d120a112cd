"""Scheduling of pod groups. A group is tried, and bound or rejected, when one of its pods is first in the queue.

The first part is preemption for a whole group. The second part connects the group's cycle (`groups/cycle.py`) with the
queue and the ordinary binding.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from dra_plan.scheduler.attempts import PodRecords
from dra_plan.scheduler.binding import Binding, BindingCycle, BoundTogether, FailureHandler
from dra_plan.scheduler.cluster.cluster import SimulatedCluster
from dra_plan.scheduler.cluster.keys import GroupKey
from dra_plan.scheduler.cluster.nodes import PodInfo
from dra_plan.scheduler.cycle import Cycle, CycleResult, describe_rejection
from dra_plan.scheduler.framework import plugin_names
from dra_plan.scheduler.framework.extender import split_by_budget
from dra_plan.scheduler.framework.interface import Handle
from dra_plan.scheduler.framework.profile import Framework
from dra_plan.scheduler.framework.status import Code
from dra_plan.scheduler.framework.types import QueuedPod
from dra_plan.scheduler.preemption import NEVER, remove_victim
from dra_plan.scheduler.queue import SchedulingQueue

from . import cycle
from .cycle import (
    GroupAnswer,
    GroupCycle,
    GroupSearch,
    GroupTask,
    GroupVerdict,
    MemberAttempt,
    different_schedulers,
    failed,
    held_back,
    same_order,
    waits_for_preemption,
)
from .record import MemberAnswer, PodGroupRecords

# -- preemption for a group --------------------------------------------------------------------------------------------
# This chooses the pods to evict so that enough of the group's pods fit (the WorkloadAwarePreemption gate).

NO_VICTIMS = "No preemption victims found for incoming preemptor"
_CONSTRAINED = "workload aware preemption is not supported for pod groups with scheduling constraints"


@dataclass(frozen=True)
class VictimUnit:
    """Pods that are evicted together, with their nodes.

    A unit is one pod, or all pods of a group whose disruptionMode is PodGroup.
    """

    pods: tuple[tuple[PodInfo, str], ...]
    priority: int

    @cached_property
    def importance(self) -> tuple[float, ...]:
        """A sort key, which is lower for more important units.

        Units of higher priority are more important. If the priority is equal, groups come before single pods, then
        larger groups before smaller ones, and then units that started earlier.
        """
        first = self.pods[0][0]
        grouped = first.group is not None
        return (-self.priority, not grouped, -len(self.pods) if grouped else 0, first.start_time)


class GroupPreemption:
    """Preemption for groups. If its gate is off, it does nothing, and the pods of a group preempt separately."""

    def __init__(self, handle: Handle, search: GroupSearch) -> None:
        self._handle = handle
        self._search = search
        self.evictions: list[tuple[str, str, str]] = []
        """The evictions as (group, victim, node), in the order in which they were decided."""

    def make_room(self, task: GroupTask, answer: GroupAnswer) -> None:
        """Evict pods if that would help the group.

        Record what the group is waiting for, or why no pods were evicted.
        """
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
                answer.message = f"{cycle.UNSCHEDULABLE}, {cycle.PREEMPTING}"
                return
        answer.message = f"{answer.message}, {refusal}"

    @staticmethod
    def _refusal(task: GroupTask) -> str:
        """Return the reason why the group may not preempt, or ""."""
        if task.group is not None and task.group.topology_key:
            return _CONSTRAINED
        never = any(item.pod.spec.preemption_policy == "Never" for item in task.items)
        return NEVER if never else ""

    def _candidates(self, task: GroupTask) -> list[VictimUnit]:
        """Return all units less important than the group, the most important first."""
        assert task.group is not None
        least = task.group.spec.priority or 0
        units = [unit for unit in victim_units(self._handle.cluster) if unit.priority < least]
        if not self._handle.target.quirks.group_evicts_its_own:
            units = [unit for unit in units if unit.pods[0][0].group != task.key]
        return sorted(units, key=lambda unit: unit.importance)

    def _victims(self, task: GroupTask, candidates: Sequence[VictimUnit]) -> list[VictimUnit] | str:
        """Return the candidates to evict, or the reason why even evicting all of them is not enough.

        No pods are evicted here.
        """
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
        """Return the units whose eviction breaks a disruption budget first, each part in the given order."""
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
        """Evict the victims while the next pod is tried; until then, none of the group's pods are tried."""
        cluster, queue = self._handle.cluster, [item.pod for item in task.items]
        pods = [(info, node) for unit in victims for info, node in unit.pods]
        name = f"{task.key[0]}/{task.key[1]}"
        self.evictions += [(name, info.pod.key, node) for info, node in pods]
        cluster.groups.preempting.add(task.key)

        def carry_out() -> None:
            cluster.groups.preempting.discard(task.key)
            for info, _ in pods:
                if not info.terminating:
                    remove_victim(self._handle, info, plugin_names.DEFAULT_PREEMPTION)
            for pod in queue:
                self._handle.activate(pod)

        self._handle.later(f"evict {', '.join(info.pod.key for info, _ in pods)}", carry_out)


def victim_units(cluster: SimulatedCluster) -> list[VictimUnit]:
    """Return all pods on nodes as units, in node order.

    A unit has the position of its first pod.
    """
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


# -- scheduling a group ------------------------------------------------------------------------------------------------


class GroupScheduling:
    """The scheduling of groups. `records` has the outcomes."""

    def __init__(
        self,
        handle: Handle,
        frameworks: Mapping[str, Framework],
        queue: SchedulingQueue,
        cycle: Cycle,
        percentages: Mapping[str, int],
        pods: PodRecords,
        bindings: BindingCycle,
        failures: FailureHandler,
    ) -> None:
        self.records = PodGroupRecords()
        self._handle = handle
        self._frameworks = frameworks
        self._queue = queue
        self._percentages = percentages
        self._pods = pods
        self._bindings = bindings
        self._failures = failures
        self._search = GroupSearch(handle, GroupCycle(handle, cycle))
        self._preemption = GroupPreemption(handle, self._search)

    def parts(self) -> Iterable[object]:
        """Return the parts that a fork of the simulation has to save."""
        return self.records, *self.records.by_key.values(), self._preemption

    @property
    def evictions(self) -> list[tuple[str, str, str]]:
        """The evictions as (group, victim, node), in the order in which they were decided."""
        return self._preemption.evictions

    def members(self, first: QueuedPod) -> list[QueuedPod]:
        """Return the pod and all waiting pods of its group, in the order in which they are tried."""
        assert first.info.group is not None
        seen = list(self._handle.cluster.groups.seen(first.info.group))
        items = [first, *self._queue.take(uid for uid in seen if not self._failures.is_given_up(uid))]
        came = {uid: place for place, uid in enumerate(seen)}
        if self._handle.target.quirks.completing_pod_goes_first:
            came = {item.uid: item.passed for item in items}
        return sorted(items, key=lambda item: (-item.info.priority, came[item.uid]))

    def run(self, key: GroupKey, items: list[QueuedPod]) -> bool:
        """Try the pods together, and bind or reject them. Return whether any node was examined."""
        group = self._handle.cluster.groups.get(key)
        before = self._handle.cluster.revision
        for item in items:
            self._pods.of(item.pod).attempts = item.attempts
        if group is not None:
            self.records.of(group).attempts += 1
        profiles = list(dict.fromkeys(item.profile for item in items))
        if len(profiles) > 1:
            self._fail_all(key, items, different_schedulers(*profiles[:2]))
            return False
        framework, percentage = self._frameworks[profiles[0]], self._percentages.get(profiles[0], 0)
        task = GroupTask(key, group, items, framework, percentage)
        answer = self._search.run(task)
        if group is not None:
            tried = answer.outcome.attempts
            self.records.of(group).last = tuple(
                MemberAnswer(each.item.pod.key, each.node, each.result.message) for each in tried
            )
        if answer.outcome.verdict is GroupVerdict.ERROR:
            self._tell_error(task, answer)
        elif answer.outcome.verdict is GroupVerdict.SCHEDULED:
            self._evict(answer)
            self._commit(task, answer)
        else:
            if answer.outcome.verdict is GroupVerdict.PREEMPTING:
                self._evict(answer)
            self._preemption.make_room(task, answer)
            self._tell_failure(task, answer, before)
        return any(attempt.result.filtered for attempt in answer.outcome.attempts)

    # Results of a cycle

    @staticmethod
    def _evict(answer: GroupAnswer) -> None:
        """Evict the victims of the group's pods that waited for the group's outcome."""
        for attempt in answer.outcome.attempts[:1]:
            for evict in attempt.state.group.postponed if attempt.state.group is not None else ():
                evict()

    def _commit(self, task: GroupTask, answer: GroupAnswer) -> None:
        """Reserve the nodes that the pods found, in order; pods without a node get their failure messages."""
        if task.group is not None:
            self.records.of(task.group).scheduled()
        gang = self._gang(task)
        for attempt in answer.outcome.attempts:
            record = self._pods.of(attempt.item.pod)
            record.best, record.fatal = attempt.result.best, attempt.result.fatal
            if attempt.node and not attempt.preempts:
                self._take(task, attempt, gang)
            else:
                self._failures.handle_member(attempt.item, attempt.result, changed=True)

    def _gang(self, task: GroupTask) -> BoundTogether | None:
        """Return the gang whose pods are bound together; None if each pod is bound separately, as in upstream."""
        if self._handle.target.quirks.gangs_bound_in_parts or task.group is None or not task.group.min_count:
            return None
        groups = self._handle.cluster.groups
        return BoundTogether(task.group.min_count, lambda: groups.bound(task.key))

    def _take(self, task: GroupTask, attempt: MemberAttempt, gang: BoundTogether | None) -> None:
        cluster, framework, item = self._handle.cluster, task.framework, attempt.item
        assert attempt.state.group is not None
        attempt.state.group.tentative = False
        cluster.assume(item.info, attempt.node)
        self._handle.nominator.clear(item.uid)
        status = framework.run_reserve(attempt.state, item.pod, attempt.node)
        if status is None:
            status = framework.run_permit(attempt.state, item.pod, attempt.node)
            if status is None or status.code is Code.WAIT:
                binding = Binding(item, framework, attempt.state, attempt.node, gang=gang)
                self._bindings.add(binding)
                if gang is not None:
                    gang.bindings.append(binding)
                self._handle.later(f"bind {item.pod.key}", lambda: self._bindings.run(binding))
                return
        framework.run_unreserve(attempt.state, item.pod, attempt.node)
        cluster.forget(item.info, attempt.node)
        describe_rejection(status, attempt.node, attempt.result)
        self._failures.handle_member(item, attempt.result, changed=True)

    def _tell_failure(self, task: GroupTask, answer: GroupAnswer, before: int) -> None:
        """Record that not enough pods found a node, or that some pods have to wait for evictions."""
        waits = answer.outcome.verdict is GroupVerdict.PREEMPTING
        if task.group is not None:
            self.records.of(task.group).failed(answer.message, with_error=False)
        changed = self._handle.cluster.revision != before
        tried = {attempt.item.uid: attempt for attempt in answer.outcome.attempts}
        for item in task.items:
            attempt = tried.get(item.uid)
            if attempt is None:
                result = CycleResult(message=answer.for_all)
            elif not attempt.node or (waits and attempt.preempts):
                result = attempt.result
            elif waits:
                result = waits_for_preemption(attempt.node)
            else:
                result = held_back(attempt)
            record = self._pods.of(item.pod)
            record.best, record.fatal = (), result.fatal
            self._failures.handle_member(item, result, changed=changed)

    def _tell_error(self, task: GroupTask, answer: GroupAnswer) -> None:
        """Record an error for one pod, or for the group itself, after which no pods are scheduled."""
        if answer.for_all:
            self._fail_all(task.key, task.items, answer.for_all)
            return
        if task.group is not None:
            self.records.of(task.group).failed(answer.message, with_error=True)
        culprit = answer.outcome.attempts[-1]
        for item in task.items:
            result = culprit.result if item is culprit.item else failed(answer.message)
            self._pods.of(item.pod).fatal = result.fatal
            self._failures.handle_member(item, result, changed=True)

    def _fail_all(self, key: GroupKey, items: Sequence[QueuedPod], error: str) -> None:
        group = self._handle.cluster.groups.get(key)
        if group is not None:
            self.records.of(group).failed(error, with_error=True)
        for item in items:
            self._failures.handle_member(item, failed(error), changed=True)
