"""NodeName and NodeUnschedulable: the two checks that look at a single field of the node."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from dra_plan.api.core import Node, Pod
from dra_plan.api.well_known import UNSCHEDULABLE
from dra_plan.scheduler import pluginnames
from dra_plan.scheduler.cyclestate import CycleState
from dra_plan.scheduler.events import Action, Hint, Interest, Resource
from dra_plan.scheduler.framework import EnqueueExtensions, FilterPlugin
from dra_plan.scheduler.nodeinfo import NodeInfo
from dra_plan.scheduler.status import Status, unresolvable

from .tainttoleration import tolerated


class NodeName(FilterPlugin, EnqueueExtensions):
    """A pod that names its node fits only there."""

    name = pluginnames.NODE_NAME
    looks_at_object_alone = True
    _wrong = unresolvable("node(s) didn't match the requested node name")

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Reject other nodes."""
        return self._wrong if pod.spec.node_name and pod.spec.node_name != node.name else None

    def filter_memo(self, state: CycleState, pod: Pod) -> Hashable | None:
        """The node name wanted."""
        return pod.spec.node_name

    def events_to_register(self) -> Sequence[Interest]:
        """New nodes."""
        return [Interest(Resource.NODE, Action.ADD)]


class NodeUnschedulable(FilterPlugin, EnqueueExtensions):
    """Cordoned nodes take only pods that tolerate it."""

    name = pluginnames.NODE_UNSCHEDULABLE
    looks_at_object_alone = True
    _cordoned = unresolvable("node(s) were unschedulable")

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Reject cordoned nodes."""
        if not node.node.spec.unschedulable or tolerated(UNSCHEDULABLE, pod.spec.tolerations):
            return None
        return self._cordoned

    def filter_memo(self, state: CycleState, pod: Pod) -> Hashable | None:
        """Whether the pod tolerates it."""
        return tolerated(UNSCHEDULABLE, pod.spec.tolerations)

    def events_to_register(self) -> Sequence[Interest]:
        """Nodes that come or are uncordoned."""
        return [
            Interest(Resource.NODE, Action.ADD | Action.UPDATE_NODE_TAINT, self._uncordoned),
            Interest(Resource.UNSCHEDULED_POD, Action.UPDATE_POD_TOLERATION),
        ]

    def _uncordoned(self, pod: Pod, old: Node | None, new: Node | None) -> Hint:
        if new is None or new.spec.unschedulable:
            return Hint.SKIP
        return Hint.QUEUE if old is None or old.spec.unschedulable else Hint.SKIP
