"""DefaultBinder: writes the node into the pod."""

from __future__ import annotations

from ...api.core import Pod
from ..cyclestate import CycleState
from ..framework import BindPlugin
from ..handle import Handle
from ..status import Status
from . import names


class DefaultBinder(BindPlugin):
    """Binds in the simulated cluster; nothing leaves it."""

    name = names.DEFAULT_BINDER

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def bind(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        """The pod is bound to the node."""
        self._handle.cluster.bind(pod, node)
        return None
