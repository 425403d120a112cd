"""DefaultBinder: writes the node into the pod."""

from __future__ import annotations

from dra_plan.api.core import Pod
from dra_plan.scheduler import pluginnames
from dra_plan.scheduler.cyclestate import CycleState
from dra_plan.scheduler.framework import BindPlugin
from dra_plan.scheduler.handle import Handle
from dra_plan.scheduler.status import Status


class DefaultBinder(BindPlugin):
    """Binds in the simulated cluster; nothing leaves it."""

    name = pluginnames.DEFAULT_BINDER

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def bind(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        """The pod is bound to the node."""
        self._handle.cluster.bind(pod, node)
        return None
