"""Pods in the scheduling queue, with their attempts (upstream: QueuedPodInfo), and nominated pods."""

from __future__ import annotations

from dataclasses import dataclass, field

from dra_plan.api.core import Pod
from dra_plan.scheduler.cluster.nodes import PodInfo
from dra_plan.scheduler.events import Event


@dataclass(eq=False)
class QueuedPod:
    """A pod in the queue. `timestamp` is the time when it entered the queue or last failed."""

    info: PodInfo
    timestamp: float
    order: int = 0
    """The order of arrival, which breaks ties between equal timestamps."""
    attempts: int = 0
    rejections: int = 0
    errors: int = 0
    rejected_by: set[str] = field(default_factory=set)
    pending: set[str] = field(default_factory=set)
    gated_by: str = ""
    gate_message: str = ""
    backoff_until: float = 0.0
    passed: int = 0
    """The pod's position in the order in which pods first passed PreEnqueue, or 0 if it has not passed."""
    announced: str = ""
    """The node in the pod's status when the pod last failed to bind, or ""."""
    fruitless: int = 0
    """How many times a failed binding has woken the pod since anything else happened."""
    fruitless_since: int = 0
    """The number of events when `fruitless` was last increased."""
    replay: list[Event] = field(default_factory=list)
    """The events that occurred while the pod was being scheduled or bound."""

    @property
    def pod(self) -> Pod:
        """The queued pod."""
        return self.info.pod

    @property
    def uid(self) -> str:
        """The pod's UID."""
        return self.info.uid

    @property
    def profile(self) -> str:
        """The name of the profile that schedules the pod."""
        return self.info.profile


# -- nominated pods ----------------------------------------------------------------------------------------------------
# Pods are nominated to a node after preemption, or while they are being bound.


class Nominator:
    """The pods that are nominated to nodes, by node."""

    def __init__(self) -> None:
        self._nodes: dict[str, dict[str, PodInfo]] = {}
        self._where: dict[str, str] = {}

    def __bool__(self) -> bool:
        """Return whether any pods are nominated to a node."""
        return bool(self._nodes)

    def nominate(self, info: PodInfo, node: str) -> None:
        """Nominate the pod to the node, and drop its earlier nomination."""
        self.clear(info.uid)
        self._where[info.uid] = node
        self._nodes.setdefault(node, {})[info.uid] = info

    def clear(self, uid: str) -> None:
        """Drop the pod's nomination."""
        node = self._where.pop(uid, None)
        if node is not None:
            pods = self._nodes[node]
            del pods[uid]
            if not pods:
                del self._nodes[node]

    def node_of(self, uid: str) -> str:
        """Return the node that the pod is nominated to, or ""."""
        return self._where.get(uid, "")

    def on(self, node: str) -> list[PodInfo]:
        """Return the pods that are nominated to the node."""
        return list(self._nodes.get(node, {}).values())

    def at_least(self, node: str, priority: int, but: str) -> list[PodInfo]:
        """Return the pods nominated to the node that have at least this priority, except the pod with the UID `but`."""
        pods = self._nodes.get(node)
        if not pods:
            return []
        return [info for uid, info in pods.items() if uid != but and info.priority >= priority]

    @property
    def nodes(self) -> frozenset[str]:
        """The nodes to which pods are nominated."""
        return frozenset(self._nodes)
