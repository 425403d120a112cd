"""What a plugin may reach: the snapshot of the cycle, waiting pods, nominations, objects and simulated time."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dra_plan.allocator.allocator import DEFAULT_MAX_STEPS
from dra_plan.api.core import Pod
from dra_plan.api.resource import ResourceClaim
from dra_plan.releases import Target

from .clock import Clock
from .cluster import SimulatedCluster
from .cyclestate import CycleState
from .extenders import Extender
from .memo import NodeTables
from .nodeinfo import NodeInfo, PodInfo
from .nominations import Nominator
from .status import Status
from .waiting import WaitingPod, WaitingPods


class TrialFilter:
    """The filters of the running profile, for plugins that try nodes themselves (preemption)."""

    def filter_with_nominated(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Whether the pod fits the node, nominated pods considered."""
        raise NotImplementedError

    def add_pod(self, state: CycleState, pod: Pod, added: PodInfo, node: NodeInfo) -> Status | None:
        """Tell all plugins that a pod was added on trial."""
        raise NotImplementedError

    def remove_pod(self, state: CycleState, pod: Pod, removed: PodInfo, node: NodeInfo) -> Status | None:
        """Tell all plugins that a pod was removed on trial."""
        raise NotImplementedError


@dataclass
class Handle:
    """Given to every plugin when it is made."""

    cluster: SimulatedCluster
    clock: Clock
    target: Target
    nominator: Nominator
    max_steps: int = DEFAULT_MAX_STEPS
    deadline: float | None = None
    """The monotonic time at which the simulation is cut short."""
    detects_conflicts: bool = False
    """Whether a write based on an outdated read is refused, as a real API server does."""
    waiting: WaitingPods = field(default_factory=WaitingPods)
    extenders: Sequence[Extender] = ()
    answers: dict[Hashable, NodeTables[Any]] = field(default_factory=dict)
    """What plugins remember of nodes as long as these do not change, by plugin and its arguments."""
    trial: TrialFilter = field(default_factory=TrialFilter)
    activate: Callable[[Pod], None] = lambda _pod: None
    """Try a waiting pod again at once, whatever it waits for (PodActivator)."""
    later: Callable[[str, Callable[[], None]], None] = lambda _what, _do: None
    """Do something asynchronously: it takes effect while the next pod is being scheduled."""

    victims_linger: bool = False
    """Preempted pods stay, being deleted, until somebody takes them away; otherwise they are gone at once."""
    refuses_claim: Callable[[ResourceClaim], str] = lambda _claim: ""
    """Why the API server does not let the scheduler create a claim, or ""."""
    settle: Callable[[], bool] = lambda: False
    """Let happen outside the scheduler what was asked for and takes time; False if there was nothing."""

    @property
    def snapshot(self) -> Mapping[str, NodeInfo]:
        """Nodes by name, in scheduling order; nothing changes them during a cycle."""
        return self.cluster.nodes

    def waiting_pods(self) -> list[WaitingPod]:
        """The pods that wait at Permit."""
        return list(self.waiting)

    def waiting_pod(self, uid: str) -> WaitingPod | None:
        """The waiting pod with this uid, or None."""
        return self.waiting.get(uid)

    def reject_waiting_pod(self, uid: str) -> bool:
        """Reject a waiting pod; False if there is none with this uid."""
        waiting = self.waiting.get(uid)
        return waiting is not None and waiting.reject("", "removed")
