"""SchedulingGates: pods with gates stay out of the queue."""

from __future__ import annotations

from collections.abc import Sequence

from dra_plan.api.core import Pod
from dra_plan.scheduler import pluginnames
from dra_plan.scheduler.events import Action, Interest, Resource
from dra_plan.scheduler.framework import EnqueueExtensions, PreEnqueuePlugin
from dra_plan.scheduler.status import Status, unresolvable


class SchedulingGates(PreEnqueuePlugin, EnqueueExtensions):
    """Gated until the last scheduling gate is removed."""

    name = pluginnames.SCHEDULING_GATES

    def pre_enqueue(self, pod: Pod) -> Status | None:
        """Refuse pods that have gates."""
        gates = [gate.name for gate in pod.spec.scheduling_gates]
        if not gates:
            return None
        return unresolvable(f"waiting for scheduling gates: [{' '.join(gates)}]")

    def events_to_register(self) -> Sequence[Interest]:
        """The removal of gates."""
        return [Interest(Resource.UNSCHEDULED_POD, Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)]
