"""The three smallest plugins: PrioritySort, SchedulingGates and DefaultBinder.

PrioritySort puts pods of higher priority first. SchedulingGates keeps pods with gates out of the active queue.
DefaultBinder writes the node to the pod.
"""

from __future__ import annotations

from collections.abc import Sequence

from dra_plan.api.core import Pod
from dra_plan.scheduler.events import Action, Interest, Resource
from dra_plan.scheduler.framework import plugin_names
from dra_plan.scheduler.framework.interface import (
    BindPlugin,
    EnqueueExtensions,
    Handle,
    PreEnqueuePlugin,
    QueueSortPlugin,
)
from dra_plan.scheduler.framework.status import CycleState, Status, unresolvable
from dra_plan.scheduler.framework.types import QueuedPod


class PrioritySort(QueueSortPlugin):
    """The plugin that orders the active queue by priority. Pods of equal priority are ordered by time."""

    name = plugin_names.PRIORITY_SORT

    def sort_key(self, item: QueuedPod) -> tuple[float, ...]:
        """Return a sort key that is lower for pods of higher priority."""
        return (-item.info.priority,)


# -- SchedulingGates ---------------------------------------------------------------------------------------------------


class SchedulingGates(PreEnqueuePlugin, EnqueueExtensions):
    """The plugin that keeps a pod gated until its last scheduling gate is removed."""

    name = plugin_names.SCHEDULING_GATES

    def pre_enqueue(self, pod: Pod) -> Status | None:
        """Reject the pod if it has scheduling gates."""
        gates = [gate.name for gate in pod.spec.scheduling_gates]
        if not gates:
            return None
        return unresolvable(f"waiting for scheduling gates: [{' '.join(gates)}]")

    def events_to_register(self) -> Sequence[Interest]:
        """Return the event after which a gated pod may become schedulable: a scheduling gate is removed."""
        return [Interest(Resource.UNSCHEDULED_POD, Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)]


# -- DefaultBinder -----------------------------------------------------------------------------------------------------


class DefaultBinder(BindPlugin):
    """The plugin that binds pods in the simulated cluster."""

    name = plugin_names.DEFAULT_BINDER

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def bind(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        """Bind the pod to the node."""
        self._handle.cluster.bind(pod, node)
        return None
