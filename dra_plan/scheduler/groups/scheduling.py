"""A pod of a group is on top of the queue: the whole group is tried, and its pods are bound, or told why not.

This is what joins the parts of the package to the queue and the binding of the ordinary scheduler.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dra_plan.scheduler.bindingcycle import Binding, BindingCycle, BoundTogether
from dra_plan.scheduler.cycle import Cycle, CycleResult, describe_rejection
from dra_plan.scheduler.failures import FailureHandler
from dra_plan.scheduler.handle import Handle
from dra_plan.scheduler.keys import GroupKey
from dra_plan.scheduler.podrecord import PodRecords
from dra_plan.scheduler.queue import SchedulingQueue
from dra_plan.scheduler.queuedpod import QueuedPod
from dra_plan.scheduler.runtime import Framework
from dra_plan.scheduler.status import Code

from . import words
from .cycle import GroupCycle, GroupVerdict, MemberAttempt
from .preemption import GroupPreemption
from .record import MemberAnswer, PodGroupRecords
from .search import GroupAnswer, GroupSearch, GroupTask


class GroupScheduling:
    """Schedules groups; `records` says what became of them."""

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

    @property
    def evictions(self) -> list[tuple[str, str, str]]:
        """(the group that preempts, the pod that goes, its node), in the order of their decision."""
        return self._preemption.evictions

    def members(self, first: QueuedPod) -> list[QueuedPod]:
        """The pod and all others of its group that wait for a node, in the order in which they are tried."""
        assert first.info.group is not None
        seen = list(self._handle.cluster.groups.seen(first.info.group))
        items = [first, *self._queue.take(uid for uid in seen if not self._failures.is_given_up(uid))]
        came = {uid: place for place, uid in enumerate(seen)}
        if self._handle.target.quirks.completing_pod_goes_first:
            came = {item.uid: item.passed for item in items}
        return sorted(items, key=lambda item: (-item.info.priority, came[item.uid]))

    def run(self, key: GroupKey, items: list[QueuedPod]) -> bool:
        """Try the pods together, and carry out what comes of it; False if no node was looked at."""
        group = self._handle.cluster.groups.get(key)
        before = self._handle.cluster.revision
        for item in items:
            self._pods.of(item.pod).attempts = item.attempts
        if group is not None:
            self.records.of(group).attempts += 1
        profiles = list(dict.fromkeys(item.profile for item in items))
        if len(profiles) > 1:
            self._fail_all(key, items, words.different_schedulers(*profiles[:2]))
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

    # What comes of it

    @staticmethod
    def _evict(answer: GroupAnswer) -> None:
        """What pods of the group wanted to evict goes, where it waited for the group's fate."""
        for attempt in answer.outcome.attempts[:1]:
            for evict in attempt.state.group.postponed if attempt.state.group is not None else ():
                evict()

    def _commit(self, task: GroupTask, answer: GroupAnswer) -> None:
        """The pods that found a node take it for good, in order; the others are told why they did not."""
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
        """Binds the pods of a gang together; None where each is bound by itself, as upstream does."""
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
        """Not enough pods found a node, or some have to wait until others are gone."""
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
                result = words.waits_for_preemption(attempt.node)
            else:
                result = words.held_back(attempt)
            record = self._pods.of(item.pod)
            record.best, record.fatal = (), result.fatal
            self._failures.handle_member(item, result, changed=changed)

    def _tell_error(self, task: GroupTask, answer: GroupAnswer) -> None:
        """One pod met an error, or the group itself: nobody gets a node."""
        if answer.for_all:
            self._fail_all(task.key, task.items, answer.for_all)
            return
        if task.group is not None:
            self.records.of(task.group).failed(answer.message, with_error=True)
        culprit = answer.outcome.attempts[-1]
        for item in task.items:
            result = culprit.result if item is culprit.item else words.failed(answer.message)
            self._pods.of(item.pod).fatal = result.fatal
            self._failures.handle_member(item, result, changed=True)

    def _fail_all(self, key: GroupKey, items: Sequence[QueuedPod], error: str) -> None:
        group = self._handle.cluster.groups.get(key)
        if group is not None:
            self.records.of(group).failed(error, with_error=True)
        for item in items:
            self._failures.handle_member(item, words.failed(error), changed=True)
