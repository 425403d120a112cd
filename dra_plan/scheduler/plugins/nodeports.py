"""NodePorts: two pods can't have the same host port on a node."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from dra_plan.api.core import Node, Pod
from dra_plan.scheduler import pluginnames
from dra_plan.scheduler.cyclestate import CycleState
from dra_plan.scheduler.events import Action, Hint, Interest, Resource
from dra_plan.scheduler.framework import EnqueueExtensions, FilterPlugin, PreFilterPlugin, PreFilterResult
from dra_plan.scheduler.nodeinfo import NodeInfo, PodInfo, Port
from dra_plan.scheduler.status import SKIP, Status, unschedulable

_ANY = "0.0.0.0"
_TAKEN = unschedulable("node(s) didn't have free ports for the requested pod ports")


def conflict(wanted: Sequence[Port], used: Iterable[Port]) -> bool:
    """Whether any wanted port is used; the address that means all conflicts with every address."""
    return any(
        protocol == other and port == number and (_ANY in (address, where) or address == where)
        for other, where, number in used
        for protocol, address, port in wanted
    )


class NodePorts(PreFilterPlugin, FilterPlugin, EnqueueExtensions):
    """Host ports of containers and sidecars."""

    name = pluginnames.NODE_PORTS

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult | None, Status | None]:
        """Skip pods without host ports."""
        ports = PodInfo(pod).ports
        if not ports:
            return None, SKIP
        state.write(self.name, tuple(ports))
        return None, None

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Reject nodes where a port is taken."""
        return _TAKEN if node.ports and conflict(state.read(self.name), node.ports) else None

    def filter_memo(self, state: CycleState, pod: Pod) -> Hashable | None:
        """The ports."""
        ports: Hashable = state.read(self.name)
        return ports

    def events_to_register(self) -> Sequence[Interest]:
        """New nodes, and pods that leave and free a wanted port."""
        return [
            Interest(Resource.ASSIGNED_POD, Action.DELETE, self._freed),
            Interest(Resource.NODE, Action.ADD, self._open),
        ]

    def _freed(self, pod: Pod, old: Pod | None, new: Pod | None) -> Hint:
        if old is None:
            return Hint.SKIP
        return Hint.QUEUE if conflict(PodInfo(pod).ports, PodInfo(old).ports) else Hint.SKIP

    def _open(self, pod: Pod, old: Node | None, new: Node | None) -> Hint:
        return Hint.QUEUE
