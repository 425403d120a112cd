"""The scheduler at work: takes pods from the queue, runs their cycles, and binds them while the next one is tried.

What upstream does in parallel happens here in a fixed order. Work that a cycle leaves behind (binding, evicting)
is carried out at the end of the next cycle that examines nodes: the pod tried directly afterwards does not see it yet.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dra_plan.api.core import Pod
from dra_plan.scheduler.groups.scheduling import GroupScheduling

from . import pluginnames
from .bindingcycle import Binding, BindingCycle
from .cycle import Cycle
from .cyclestate import CycleState
from .events import Action, Event, Resource
from .failedattempts import FailedAttempts
from .failures import FailureHandler
from .handle import Handle
from .podrecord import PodRecords
from .queue import SchedulingQueue
from .queuedpod import QueuedPod
from .runtime import Framework
from .trace import Tracer

MOST_ATTEMPTS = 10_000
"""So often a pod is tried in one simulation; upstream goes on for ever."""


@dataclass
class _Later:
    """Something to be carried out while the next pod is tried."""

    cycle: int
    what: str
    do: Callable[[], None]


class Scheduler:
    """Drives one simulation."""

    def __init__(
        self,
        handle: Handle,
        frameworks: Mapping[str, Framework],
        queue: SchedulingQueue,
        cycle: Cycle,
        percentages: Mapping[str, int],
        tracer: Tracer | None = None,
    ) -> None:
        self.handle = handle
        self.frameworks = frameworks
        self.queue = queue
        self.records = PodRecords()
        self._cycle = cycle
        self._failures = FailureHandler(handle, queue, self.records)
        self.bindings = BindingCycle(handle, queue, self.records, self._failures)
        self.groups = GroupScheduling(
            handle, frameworks, queue, cycle, percentages, self.records, self.bindings, self._failures
        )
        self._percentages = percentages
        self._tracer = tracer
        self.failed_attempts: FailedAttempts | None = None
        """Kept of failed attempts, if somebody wants to know why they failed."""
        self._number = 0
        self._later: list[_Later] = []
        handle.later = self._postpone
        handle.activate = lambda pod: queue.activate(handle.cluster.info(pod).uid)
        handle.cluster.listener = queue.handle

    def enqueue(self, pod: Pod) -> None:
        """A pod that wants a node. Pods of other schedulers are left alone."""
        info = self.handle.cluster.info(pod)
        record = self.records.of(pod)
        if info.profile not in self.frameworks:
            record.skip(f"scheduler {info.profile} is not configured")
            return
        if pod.status.nominated_node_name:
            self.handle.nominator.nominate(info, pod.status.nominated_node_name)
        if info.group is not None:
            self.handle.cluster.groups.saw(info)
        item = self.queue.add(info)
        # as long as a gang is too small for the pod that comes, it is for those that wait
        if info.group is not None and item.gated_by != pluginnames.GANG_SCHEDULING:
            event = Event(Resource.UNSCHEDULED_POD, Action.ADD, None, pod)
            self.queue.member_came(event, self.handle.cluster.groups.seen(info.group))

    def run(self) -> None:
        """Schedule until nothing moves any more, or until the deadline: what waits then to be tried is cut short."""
        while True:
            if self.is_late():
                self._cut_short()
                return
            item = self.queue.pop()
            if item is not None and item.info.group is not None:
                self._schedule_group(item)
            elif item is not None:
                self._schedule(item)
            elif not (
                self._flush(self._number + 1) or self._settle() or self.bindings.pass_time() or self._failures.retry()
            ):
                return

    def is_late(self) -> bool:
        """Whether the time is over that was given to the simulation."""
        deadline = self.handle.deadline
        return deadline is not None and time.monotonic() > deadline

    def _cut_short(self) -> None:
        """Carry out what is decided, and note the pods of which a next attempt would have decided."""
        self._flush(self._number + 1)
        for item in self.queue.to_be_tried:
            self.records.of(item.pod).cut_short()

    def _schedule(self, item: QueuedPod) -> None:
        if self._leaves(item):
            return
        pod = item.pod
        record = self.records.of(pod)
        self._number += 1
        record.attempts = item.attempts
        if self._tracer:
            self._tracer.begin(pod.key, item.attempts, self.handle.clock.now)
        state, framework = CycleState(), self.frameworks[item.profile]
        if self.failed_attempts is not None:
            self.failed_attempts.begin()
        result = self._cycle.run(framework, state, pod, self._percentages.get(item.profile, 0))
        record.best, record.fatal = result.best, result.fatal
        if self.failed_attempts is not None:
            self.failed_attempts.ended(item, framework, state, result)
        if result.node:
            binding = Binding(item, framework, state, result.node)
            self.bindings.add(binding)
            self._postpone(f"bind {pod.key}", lambda: self.bindings.run(binding))
        else:
            self._failures.handle(item, result)
        if self._tracer:
            self._tracer.current.node, self._tracer.current.message = result.node, result.message
        if result.filtered:
            self._flush(self._number)

    def _settle(self) -> bool:
        """What pods that have a node wait for outside the scheduler is done; False if there is nothing."""
        if not self.handle.settle():
            return False
        self.bindings.run_all()
        return True

    def _schedule_group(self, first: QueuedPod) -> None:
        assert first.info.group is not None
        items = [item for item in self.groups.members(first) if not self._leaves(item)]
        if not items:
            return
        self._number += 1
        if self.groups.run(first.info.group, items):
            self._flush(self._number)

    def _leaves(self, item: QueuedPod) -> bool:
        """Whether the pod is not to be tried, because it is going or was tried too often; the queue is rid of it."""
        pod, record = item.pod, self.records.of(item.pod)
        if pod.metadata.deletion_timestamp is not None:
            record.skip(f"skip schedule deleting pod: {pod.key}")
        elif item.attempts > MOST_ATTEMPTS:
            record.fail(f"given up after {MOST_ATTEMPTS} attempts, the last of them: {record.message}", with_error=True)
        else:
            return False
        self.queue.done(item.uid)
        return True

    def _postpone(self, what: str, do: Callable[[], None]) -> None:
        self._later.append(_Later(self._number, what, do))

    def _flush(self, before: int) -> bool:
        """Carry out what cycles before the given one left behind; False if there was nothing."""
        due = [later for later in self._later if later.cycle < before]
        if not due:
            return False
        self._later = [later for later in self._later if later.cycle >= before]
        for later in due:
            later.do()
        return True
