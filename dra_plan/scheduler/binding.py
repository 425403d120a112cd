"""The binding cycle, and the handling of pods that could not be scheduled or bound.

The first part returns failed pods to the queue with the reason. The second part is the binding cycle: pods with a
reserved node wait for permission, are prepared, and are then bound. If this fails, they release the node. The pods of a
gang can be bound together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from msgspec.structs import replace

from dra_plan.scheduler.framework.extender import ExtenderError
from dra_plan.scheduler.framework.interface import Handle
from dra_plan.scheduler.framework.plugin_names import GANG_SCHEDULING
from dra_plan.scheduler.framework.profile import Framework
from dra_plan.scheduler.framework.status import Code, CycleState, Status, error
from dra_plan.scheduler.framework.types import QueuedPod

from .attempts import PodRecords
from .cycle import CycleResult, describe_binding_failure, describe_rejection
from .events import Action, Event, Resource
from .queue import SchedulingQueue

# -- failed attempts ---------------------------------------------------------------------------------------------------
# A pod goes back into the queue, and the reason is recorded (upstream: handleSchedulingFailure).

_MOST_ERRORS = 5
"""How many times an error is retried while nothing else changes; upstream never stops."""
MOST_ERRORS_OF_A_POD = 20
"""The maximum number of errors of a pod in one simulation. After that, the pod is no longer tried."""


class FailureHandler:
    """The handling of pods that could not be scheduled or bound. They return to the queue."""

    def __init__(self, handle: Handle, queue: SchedulingQueue, records: PodRecords) -> None:
        self._handle = handle
        self._queue = queue
        self._records = records
        self._errors: dict[str, tuple[str, int, int]] = {}
        """For each pod UID, the last error, how many times it occurred in a row, and the cluster's revision at that
        time."""
        self._all_errors: Counter[str] = Counter()
        """The number of errors, by pod UID."""

    def handle(self, item: QueuedPod, result: CycleResult) -> None:
        """Record the failure and return the pod to the queue.

        The pod's nomination is set or cleared, as the cycle decided.
        """
        self._note(item, result)
        self._queue.put_back(item, failed_with_error=result.unexplained)
        self._count(item, result)

    def handle_member(self, item: QueuedPod, result: CycleResult, *, changed: bool) -> None:
        """Handle the failure of a pod that was tried together with the other pods of its group.

        `changed` says whether the cluster has changed since the attempt.
        """
        self._note(item, result)
        self._queue.put_back_member(item, failed_with_error=result.unexplained, changed=changed)
        self._count(item, result)

    def is_given_up(self, uid: str) -> bool:
        """Return whether the pod is no longer tried because too many of its attempts ended with an error."""
        return self._all_errors[uid] >= MOST_ERRORS_OF_A_POD

    def _note(self, item: QueuedPod, result: CycleResult) -> None:
        record = self._records.of(item.pod)
        record.fail(result.message, with_error=result.failed_with_error)
        record.refusals = result.refusals
        nominator = self._handle.nominator
        if result.nomination is not None:
            if result.nomination.node:
                nominator.nominate(item.info, result.nomination.node)
            else:
                nominator.clear(item.uid)
        record.nominated = nominator.node_of(item.uid)
        item.rejected_by = set(result.rejected_by)
        item.pending = set(result.pending)

    def _count(self, item: QueuedPod, result: CycleResult) -> None:
        if result.unexplained:
            message, count, _ = self._errors.get(item.uid, ("", 0, 0))
            count = count + 1 if message == result.message else 1
            self._errors[item.uid] = (result.message, count, self._handle.cluster.revision)
            self._all_errors[item.uid] += 1

    def retry(self, until: float) -> bool:
        """Retry the first pod whose attempt ended with an error, if a retry may have another result.

        Pods whose back-off ends after `until` are not retried. Return whether a pod was retried.
        """
        for item in self._queue.erring:
            if item.backoff_until > until:
                return False
            if self.is_given_up(item.uid):
                continue
            _, count, revision = self._errors[item.uid]
            if count < 2 or (self._handle.cluster.revision > revision and count < _MOST_ERRORS):
                self._queue.release_errors([item])
                return True
        return False


# -- the binding cycle -------------------------------------------------------------------------------------------------

TOO_FEW_BOUND = "pod group is unschedulable, too few pods of the gang could be bound"


@dataclass(eq=False)
class Binding:
    """A pod with a reserved node, and the progress of its binding."""

    item: QueuedPod
    framework: Framework
    state: CycleState
    node: str
    prepared: set[str] = field(default_factory=set)
    """The names of the PreBind plugins that have finished."""
    started: bool = False
    gang: BoundTogether | None = None

    def parts(self) -> Iterable[object]:
        """Return the parts that a fork of the simulation has to save."""
        return self.state, *(() if self.gang is None else (self.gang,))


@dataclass(eq=False)
class BoundTogether:
    """The bindings of a gang, of which at least `least` pods bind together, including those already `bound`.

    Upstream binds each pod separately.
    """

    least: int
    bound: Callable[[], int]
    bindings: list[Binding] = field(default_factory=list)
    settled: bool = False
    """True once enough pods were ready. The bindings then proceed separately."""


class BindingCycle:
    """The binding cycle, which never sleeps: a binding that has to wait is checked again after changes."""

    def __init__(self, handle: Handle, queue: SchedulingQueue, records: PodRecords, failures: FailureHandler) -> None:
        self._handle = handle
        self._queue = queue
        self._records = records
        self._failures = failures
        self._bindings: list[Binding] = []

    def parts(self) -> Iterable[object]:
        """Return the incomplete bindings, which a fork of the simulation has to save."""
        return self._bindings

    def add(self, binding: Binding) -> None:
        """Accept a pod for which a node is reserved. `run` then binds it."""
        self._bindings.append(binding)

    def run(self, binding: Binding) -> None:
        """Continue the binding of a pod as far as possible.

        It announces the node, waits for permission, prepares the binding, and binds the pod.
        """
        if binding.gang is not None and not binding.gang.settled:
            self._run_together(binding.gang)
        elif (binding.gang is None or binding in self._bindings) and self._prepare(binding):
            self._finish(binding)

    def _run_together(self, gang: BoundTogether) -> None:
        """Prepare the whole gang, and bind the ready pods once there are enough; otherwise release everything."""
        ready = [each for each in gang.bindings if each in self._bindings and self._prepare(each)]
        left = [each for each in gang.bindings if each in self._bindings]
        if gang.bound() + len(left) < gang.least:
            for binding in left:
                self._give_up(binding, CycleResult(message=TOO_FEW_BOUND, unexplained=True))
        elif gang.bound() + len(ready) >= gang.least:
            gang.settled = True
            for binding in ready:
                self._finish(binding)
        else:
            for binding in ready:
                self._records.of(binding.item.pod).wait("waiting for other pods of the gang", GANG_SCHEDULING)

    def _prepare(self, binding: Binding) -> bool:
        """Return whether the pod is ready to be bound; otherwise it waits, or has released its node."""
        if not binding.started:
            binding.started = True
            refusal = self._announce(binding)
            if refusal is not None:
                self._handle.waiting.remove(binding.item.uid)
                self._fail(binding, refusal)
                return False
        if not self._is_permitted(binding):
            return False
        pod, node, framework = binding.item.pod, binding.node, binding.framework
        status = framework.run_pre_bind(binding.state, pod, node, binding.prepared)
        if status is not None and status.code is Code.WAIT:
            self._records.of(pod).wait(status.message, status.plugin)
            return False
        if status is not None:
            self._fail(binding, status)
        return status is None

    def _finish(self, binding: Binding) -> None:
        pod, node, framework = binding.item.pod, binding.node, binding.framework
        status = self._bind(binding)
        if status is not None:
            self._fail(binding, status)
            return
        self._bindings.remove(binding)
        self._records.of(pod).bind(node)
        self._handle.nominator.clear(binding.item.uid)
        self._queue.done(binding.item.uid)
        framework.run_post_bind(binding.state, pod, node)

    def run_all(self) -> None:
        """Check every binding again, because something outside the simulation has changed."""
        for binding in list(self._bindings):
            self.run(binding)

    def pass_time(self, until: float) -> bool:
        """Advance to the next deadline of Permit, but not beyond `until`, and continue the decided bindings.

        Return whether anything changed.
        """
        waiting = self._handle.waiting
        deadlines = [parked.deadline for parked in waiting if not parked.decided]
        if deadlines and min(deadlines) <= until:
            self._handle.clock.advance_to(min(deadlines))
            for parked in waiting:
                parked.expire(self._handle.clock.now)
        moved = False
        for binding in list(self._bindings):
            found = waiting.get(binding.item.uid)
            if found is not None and found.decided:
                self.run(binding)
                moved = True
        return moved

    def _announce(self, binding: Binding) -> Status | None:
        """Write the node to the pod's status before plugins do anything slow; an Error ends the binding."""
        status = binding.framework.run_pre_bind_pre_flight(binding.state, binding.item.pod, binding.node)
        waits = self._handle.waiting.get(binding.item.uid) is not None
        if waits or status is None:
            self._records.of(binding.item.pod).nominated = binding.node
        return status if status is not None and status.code is Code.ERROR else None

    def _is_permitted(self, binding: Binding) -> bool:
        """Return whether every Permit plugin has allowed the pod; a rejected pod releases its node."""
        waiting = self._handle.waiting.get(binding.item.uid)
        if waiting is None:
            return True
        if not waiting.decided:
            message = f"waiting on permit: {', '.join(waiting.pending_plugins)}"
            self._records.of(binding.item.pod).wait(message, waiting.pending_plugins[0])
            return False
        self._handle.waiting.remove(binding.item.uid)
        if waiting.verdict is None:
            return True
        result = CycleResult()
        describe_rejection(waiting.verdict, binding.node, result)
        self._give_up(binding, result)
        return False

    def _bind(self, binding: Binding) -> Status | None:
        pod = binding.item.pod
        for extender in self._handle.extenders:
            if extender.is_binder and extender.is_interested(pod):
                try:
                    extender.bind(pod, binding.node)
                except ExtenderError as problem:
                    if extender.ignorable:
                        continue
                    return error(str(problem))
                self._handle.cluster.bind(pod, binding.node)
                return None
        return binding.framework.run_bind(binding.state, pod, binding.node)

    def _fail(self, binding: Binding, status: Status) -> None:
        result = CycleResult()
        describe_binding_failure(status, result)
        self._give_up(binding, result)

    def _give_up(self, binding: Binding, result: CycleResult) -> None:
        """Undo a failed binding, and notify the queue as if the pod had been deleted."""
        item, pod = binding.item, binding.item.pod
        item.announced = self._records.of(pod).nominated
        self._bindings.remove(binding)
        binding.framework.run_unreserve(binding.state, pod, binding.node)
        self._handle.cluster.forget(item.info, binding.node)
        self._handle.nominator.clear(item.uid)
        placed = replace(pod, spec=replace(pod.spec, node_name=binding.node))
        self._failures.handle(item, result)
        self._queue.binding_failed(Event(Resource.ASSIGNED_POD, Action.DELETE, placed), item.uid)
