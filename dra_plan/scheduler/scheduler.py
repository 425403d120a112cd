"""The scheduler at work: takes pods from the queue, runs their cycles, and binds them while the next one is tried.

What upstream does in parallel happens here in a fixed order. Work that a cycle leaves behind (binding, evicting)
is carried out at the end of the next cycle that examines nodes: the pod tried directly afterwards does not see it yet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from msgspec.structs import replace

from dra_plan.api.core import Pod
from dra_plan.documents.schedule import PodOutcome

from .cluster import SimulatedCluster
from .cycle import Cycle, CycleResult, describe_binding_failure, describe_rejection
from .cyclestate import CycleState
from .events import Action, Event, Resource
from .extenders import ExtenderError
from .handle import Handle
from .queue import SchedulingQueue
from .queuedpod import QueuedPod
from .runtime import Framework
from .status import Code, Status, error
from .trace import Tracer

_MOST_ERRORS = 5
"""So often an error is retried while nothing else changes; upstream goes on for ever."""


@dataclass
class PodRecord:
    """What is known of a pod's scheduling."""

    pod: Pod
    node: str = ""
    reason: str = ""
    message: str = ""
    nominated: str = ""
    best: list[str] = field(default_factory=list)
    fatal: dict[str, str] = field(default_factory=dict)
    attempts: int = 0
    waiting: str = ""
    """What the pod waits for: at a gate, or on its way to a node."""
    on_its_way: bool = False
    """A node is chosen and reserved; something is missing before the pod can be bound."""
    skipped: bool = False
    """The scheduler leaves the pod alone: it has finished, is going, was not chosen or belongs to another scheduler."""

    @property
    def outcome(self) -> PodOutcome:
        """One word: Bound, Skipped, Waiting (on its way), Unschedulable, Error or Gated."""
        if self.node:
            return "Bound"
        if self.skipped:
            return "Skipped"
        if self.on_its_way:
            return "Waiting"
        if self.reason == "SchedulerError":
            return "Error"
        return "Unschedulable" if self.reason else "Gated"


@dataclass
class _Later:
    """Something to be carried out while the next pod is tried."""

    cycle: int
    what: str
    do: Callable[[], None]


@dataclass
class _Binding:
    """A pod on its way to a node."""

    item: QueuedPod
    state: CycleState
    node: str
    prepared: set[str] = field(default_factory=set)
    started: bool = False


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
        self.records: dict[str, PodRecord] = {}
        self._cycle = cycle
        self._percentages = percentages
        self._tracer = tracer
        self._number = 0
        self._later: list[_Later] = []
        self._bindings: list[_Binding] = []
        self._errors_seen: dict[str, tuple[str, int, int]] = {}
        handle.later = self._postpone
        handle.activate = lambda pod: queue.activate(handle.cluster.info(pod).uid)
        handle.cluster.listener = self._on_event

    @property
    def cluster(self) -> SimulatedCluster:
        """The simulated cluster."""
        return self.handle.cluster

    def _framework(self, item: QueuedPod) -> Framework:
        return self.frameworks[item.info.profile]

    def record(self, pod: Pod) -> PodRecord:
        """The pod's record, made when it is first asked for."""
        uid = self.cluster.info(pod).uid
        found = self.records.get(uid)
        if found is None:
            found = self.records[uid] = PodRecord(pod)
        return found

    def skip(self, pod: Pod, why: str) -> None:
        """Leave the pod alone."""
        record = self.record(pod)
        record.skipped, record.waiting = True, why

    def enqueue(self, pod: Pod) -> None:
        """A pod that wants a node. Pods of other schedulers are left alone."""
        info = self.cluster.info(pod)
        if info.profile not in self.frameworks:
            self.skip(pod, f"scheduler {info.profile} is not configured")
            return
        self.record(pod)
        if pod.status.nominated_node_name:
            self.handle.nominator.nominate(info, pod.status.nominated_node_name)
        self.queue.add(info)

    # The loop

    def run(self) -> None:
        """Schedule until nothing moves any more."""
        while True:
            item = self.queue.pop()
            if item is not None:
                self._schedule(item)
            elif not (self._flush(self._number + 1) or self._pass_time() or self._retry_errors()):
                return

    def _schedule(self, item: QueuedPod) -> None:
        pod = item.pod
        record = self.record(pod)
        if pod.metadata.deletion_timestamp is not None:
            self.skip(pod, f"skip schedule deleting pod: {pod.key}")
            self.queue.done(item.uid)
            return
        self._number += 1
        record.attempts = item.attempts
        if self._tracer:
            self._tracer.begin(pod.key, item.attempts, self.handle.clock.now)
        state = CycleState()
        percentage = self._percentages.get(item.info.profile, 0)
        result = self._cycle.run(self._framework(item), state, pod, percentage)
        record.best, record.fatal = result.best, result.fatal
        if result.node:
            self._bindings.append(_Binding(item, state, result.node))
            number = self._number
            binding = self._bindings[-1]
            self._later.append(_Later(number, f"bind {pod.key}", lambda: self._bind(binding)))
        else:
            self._failed(item, result)
        if self._tracer:
            self._tracer.current.node, self._tracer.current.message = result.node, result.message
        if result.filtered:
            self._flush(self._number)

    def _failed(self, item: QueuedPod, result: CycleResult) -> None:
        record = self.record(item.pod)
        record.node, record.message, record.waiting = "", result.message, ""
        record.on_its_way = False
        record.reason = "SchedulerError" if result.failed_with_error else "Unschedulable"
        if result.nomination is not None:
            if result.nomination.node:
                self.handle.nominator.nominate(item.info, result.nomination.node)
            else:
                self.handle.nominator.clear(item.uid)
        record.nominated = self.handle.nominator.node_of(item.uid)
        item.rejected_by = set(result.rejected_by)
        item.pending = set(result.pending)
        self.queue.put_back(item, failed_with_error=result.unexplained)
        if result.unexplained:
            message, count, _ = self._errors_seen.get(item.uid, ("", 0, 0))
            count = count + 1 if message == result.message else 1
            self._errors_seen[item.uid] = (result.message, count, self.cluster.revision)

    # What happens meanwhile

    def _postpone(self, what: str, do: Callable[[], None]) -> None:
        self._later.append(_Later(self._number, what, do))

    def _on_event(self, event: Event) -> None:
        self.queue.handle(event)

    def _flush(self, before: int) -> bool:
        """Carry out what cycles before the given one left behind; False if there was nothing."""
        due = [later for later in self._later if later.cycle < before]
        if not due:
            return False
        self._later = [later for later in self._later if later.cycle >= before]
        for later in due:
            later.do()
        return True

    def _bind(self, binding: _Binding) -> None:
        """Go as far as possible: wait for permission, prepare, bind."""
        item, pod, node = binding.item, binding.item.pod, binding.node
        framework, record = self._framework(item), self.record(binding.item.pod)
        if not binding.started:
            binding.started = True
            refusal = self._announce(binding)
            if refusal is not None:
                self.handle.waiting.remove(item.uid)
                self._fail_binding(binding, refusal)
                return
        waiting = self.handle.waiting.get(item.uid)
        if waiting is not None:
            if not waiting.decided:
                record.waiting = f"waiting on permit: {', '.join(waiting.pending_plugins)}"
                record.on_its_way = True
                return
            self.handle.waiting.remove(item.uid)
            if waiting.verdict is not None:
                result = CycleResult()
                describe_rejection(waiting.verdict, node, result)
                self._give_up(binding, result)
                return
        status = framework.run_pre_bind(binding.state, pod, node, binding.prepared)
        if status is not None and status.code is Code.WAIT:
            record.waiting, record.on_its_way = status.message, True
            return
        if status is None:
            status = self._bind_now(binding)
        if status is not None:
            self._fail_binding(binding, status)
            return
        self._bindings.remove(binding)
        record.node, record.message, record.reason = node, "", ""
        record.nominated = record.waiting = ""
        record.on_its_way = False
        self.handle.nominator.clear(item.uid)
        self.queue.done(item.uid)
        framework.run_post_bind(binding.state, pod, node)

    def _bind_now(self, binding: _Binding) -> Status | None:
        pod = binding.item.pod
        for extender in self.handle.extenders:
            if extender.is_binder and extender.is_interested(pod):
                try:
                    extender.bind(pod, binding.node)
                except ExtenderError as problem:
                    if extender.ignorable:
                        continue
                    return error(str(problem))
                self.cluster.bind(pod, binding.node)
                return None
        return self._framework(binding.item).run_bind(binding.state, pod, binding.node)

    def _announce(self, binding: _Binding) -> Status | None:
        """The node is written to the pod's status before plugins do anything that takes time; an Error ends it."""
        status = self._framework(binding.item).run_pre_bind_pre_flight(binding.state, binding.item.pod, binding.node)
        waits = self.handle.waiting.get(binding.item.uid) is not None
        if waits or status is None:
            self.record(binding.item.pod).nominated = binding.node
        return status if status is not None and status.code is Code.ERROR else None

    def _fail_binding(self, binding: _Binding, status: Status) -> None:
        result = CycleResult()
        describe_binding_failure(status, result)
        self._give_up(binding, result)

    def _give_up(self, binding: _Binding, result: CycleResult) -> None:
        """Binding failed: everything is taken back, and others are told as if the pod had been deleted."""
        item, pod = binding.item, binding.item.pod
        self._bindings.remove(binding)
        self._framework(item).run_unreserve(binding.state, pod, binding.node)
        self.cluster.forget(item.info, binding.node)
        self.handle.nominator.clear(item.uid)
        placed = replace(pod, spec=replace(pod.spec, node_name=binding.node))
        self._failed(item, result)
        self.queue.binding_failed(Event(Resource.ASSIGNED_POD, Action.DELETE, placed), item.uid)

    def _pass_time(self) -> bool:
        """Bindings that wait: look again, and let time pass until the next deadline; False if nothing came of it."""
        deadlines = [w.deadline for w in self.handle.waiting if not w.decided]
        if deadlines:
            self.handle.clock.advance_to(min(deadlines))
            for parked in self.handle.waiting:
                parked.expire(self.handle.clock.now)
        moved = False
        for binding in list(self._bindings):
            waiting = self.handle.waiting.get(binding.item.uid)
            if waiting is not None and waiting.decided:
                self._bind(binding)
                moved = True
        return moved

    def resume(self) -> None:
        """Look again at bindings that wait for something outside the simulation."""
        for binding in list(self._bindings):
            self._bind(binding)

    def _retry_errors(self) -> bool:
        """Let pods that failed with an error try again if that may end differently."""
        for item in self.queue.erring:
            _, count, revision = self._errors_seen[item.uid]
            if count < 2 or (self.cluster.revision > revision and count < _MOST_ERRORS):
                self.queue.release_errors([item])
                return True
        return False
