"""The extension points that a plugin may implement, with Kubernetes' names.

A plugin derives from the classes for its extension points. Its methods must not change their arguments, and must return
the same result for the same arguments, so that the simulation is repeatable. The handle follows, through which a plugin
accesses the cluster, and then the registry of plugin factories.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from msgspec import Struct

from dra_plan.allocator.allocator import DEFAULT_MAX_STEPS
from dra_plan.api.core import Pod
from dra_plan.api.resource import ResourceClaim
from dra_plan.errors import UsageError
from dra_plan.releases import Target
from dra_plan.scheduler.clock import Clock
from dra_plan.scheduler.cluster.cluster import SimulatedCluster
from dra_plan.scheduler.cluster.memo import NodeTables
from dra_plan.scheduler.cluster.nodes import NodeInfo, PodInfo
from dra_plan.scheduler.events import Interest

from .extender import Extender
from .status import CycleState, Obstacle, Status
from .types import Nominator, QueuedPod
from .waiting import WaitingPod, WaitingPods

MAX_NODE_SCORE = 100
MIN_NODE_SCORE = 0
MAX_PERMIT_SECONDS = 15 * 60.0
"""The longest time that a plugin can make a pod wait."""


class Plugin:
    """The base class of plugins. `name` is the name of the plugin in the configuration and in messages."""

    name: ClassVar[str] = ""
    looks_at_object_alone: ClassVar[bool] = False
    """True if cached results of Filter and Score depend only on the node's object. They then stay valid whatever
    happens to the pods and devices on the node."""


class QueueSortPlugin(Plugin, ABC):
    """A plugin that orders the active queue. Exactly one such plugin is enabled."""

    @abstractmethod
    def sort_key(self, item: QueuedPod) -> tuple[float, ...]:
        """Return the sort key of the pod. Pods with smaller keys are tried first (in upstream: Less)."""


class PreEnqueuePlugin(Plugin, ABC):
    """A plugin that keeps pods out of the active queue."""

    @abstractmethod
    def pre_enqueue(self, pod: Pod) -> Status | None:
        """Return a status. The pod stays gated unless the status is success."""


class EnqueueExtensions(Plugin, ABC):
    """A plugin that names events. After such an event, a pod that the plugin rejected may become schedulable."""

    @abstractmethod
    def events_to_register(self) -> Sequence[Interest]:
        """Return the events after which a rejected pod may become schedulable. Each event may have a hint function."""


class PreFilterResult(Struct, frozen=True):
    """The names of the nodes to which PreFilter restricts the pod, or None if there is no restriction."""

    node_names: frozenset[str] | None = None


class PreFilterExtensions(ABC):
    """Updates a plugin's state in a trial, when pods are added to a node or removed from a node."""

    @abstractmethod
    def add_pod(self, state: CycleState, pod: Pod, added: PodInfo, node: NodeInfo) -> Status | None:
        """Update the state for the pod `added`, which is now on the node."""

    @abstractmethod
    def remove_pod(self, state: CycleState, pod: Pod, removed: PodInfo, node: NodeInfo) -> Status | None:
        """Update the state for the pod `removed`, which is no longer on the node."""


class PreFilterPlugin(Plugin, ABC):
    """A plugin that prepares the scheduling cycle, or rejects the pod for all nodes at once."""

    @abstractmethod
    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult | None, Status | None]:
        """Return a restriction to some nodes, or a status. If the status is Skip, the plugin's Filter is not called."""

    def pre_filter_extensions(self) -> PreFilterExtensions | None:
        """Return the object that updates the state in a trial, or None if pods on nodes do not affect the state."""
        return None


class FilterPlugin(Plugin, ABC):
    """A plugin that decides whether a pod fits on a node."""

    @abstractmethod
    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Return success, a rejection of the node, or an Error that ends the whole scheduling attempt."""

    def obstacles(self, state: CycleState, pod: Pod, node: NodeInfo) -> Sequence[Obstacle]:
        """Return the causes of the node's rejection, if the reasons in the status do not contain them.

        This method is called only after `filter` has rejected the node. The causes are not found in `filter` itself,
        because `filter` is called for every node, but the causes are rarely needed.
        """
        return ()

    def filter_memo(self, state: CycleState, pod: Pod) -> Hashable | None:
        """Return a key if only the key, the node, and the pods and devices on the node decide the result for the node.

        Results for equal keys are then reused until the node changes. If None is returned, which is the default,
        `filter` is called every time.
        """
        return None

    def filter_each(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Sequence[Status | None]:
        """Return the results of `filter` for each of these nodes.

        A plugin with a `filter_memo` may override this method, because one call for many nodes takes less time.
        """
        return [self.filter(state, pod, node) for node in nodes]


class NominatingInfo(Struct, frozen=True):
    """The name of the node to which the pod is nominated, or "" if the nomination is cleared."""

    node: str


class PostFilterPlugin(Plugin, ABC):
    """A plugin that runs if no node passed the filters. The plugin may preempt other pods."""

    @abstractmethod
    def post_filter(
        self, state: CycleState, pod: Pod, statuses: Mapping[str, Status]
    ) -> tuple[NominatingInfo | None, Status | None]:
        """Return a nomination and a status.

        If the status is a rejection, the next plugin runs. After any other status, no further plugin runs.
        """


class PreScorePlugin(Plugin, ABC):
    """A plugin that prepares scoring. In v1alpha1, the extension point was called PostFilter."""

    @abstractmethod
    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        """Return success, an Error, or Skip. After Skip, the plugin's Score is not called."""


class ScorePlugin(Plugin, ABC):
    """A plugin that ranks the nodes that passed the filters, with scores from 0 to 100."""

    @abstractmethod
    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int | Status:
        """Return the score of a node, or an Error."""

    def normalize(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo], scores: list[int]) -> Status | None:
        """Scale the scores to the range 0 to 100, in the list itself. The scores are in the order of the nodes."""
        return None

    def score_memo(self, state: CycleState, pod: Pod) -> Hashable | None:
        """Return a key for the score before normalization.

        The key has the same meaning as in `FilterPlugin.filter_memo`.
        """
        return None

    def score_everywhere(self, state: CycleState, pod: Pod) -> int | None:
        """Return the score before normalization if all nodes have the same score; otherwise, return None.

        The default is None.
        """
        return None

    def score_each(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Sequence[int | Status]:
        """Return the results of `score` for each of these nodes.

        A plugin may override this method, because one call for many nodes takes less time.
        """
        return [self.score(state, pod, node) for node in nodes]


class ReservePlugin(Plugin, ABC):
    """A plugin that records the choice of a node. The plugin can also undo the record."""

    @abstractmethod
    def reserve(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        """Return success or a failure. After a failure, Unreserve is called on every plugin in reverse order."""

    @abstractmethod
    def unreserve(self, state: CycleState, pod: Pod, node: str) -> None:
        """Undo the reservation. This method is called after every failure, even if the plugin has reserved nothing."""


class PermitPlugin(Plugin, ABC):
    """A plugin that allows, rejects or delays the binding of a pod."""

    @abstractmethod
    def permit(self, state: CycleState, pod: Pod, node: str) -> tuple[Status | None, float]:
        """Return a status and a number of seconds. If the status is Wait, the pod waits at most this long."""


class PreBindPlugin(Plugin, ABC):
    """A plugin that prepares the binding of a pod."""

    @abstractmethod
    def pre_bind(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        """Return success, an error, or Wait if something outside the simulation has to happen first."""

    def pre_bind_pre_flight(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        """Return Skip if `pre_bind` would have nothing to do.

        Unless all plugins return Skip, the pod is nominated to the node before binding.
        """
        return None


class BindPlugin(Plugin, ABC):
    """A plugin that binds pods. The first plugin that does not return Skip decides about the binding."""

    @abstractmethod
    def bind(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        """Bind the pod and return success, or return Skip to leave the binding to the next plugin."""


class PostBindPlugin(Plugin, ABC):
    """A plugin that is notified when pods have been bound."""

    @abstractmethod
    def post_bind(self, state: CycleState, pod: Pod, node: str) -> None:
        """Handle the binding of the pod. The binding can no longer be undone."""


POINTS: dict[str, type[Plugin]] = {
    "queueSort": QueueSortPlugin,
    "preEnqueue": PreEnqueuePlugin,
    "preFilter": PreFilterPlugin,
    "filter": FilterPlugin,
    "postFilter": PostFilterPlugin,
    "preScore": PreScorePlugin,
    "score": ScorePlugin,
    "reserve": ReservePlugin,
    "permit": PermitPlugin,
    "preBind": PreBindPlugin,
    "bind": BindPlugin,
    "postBind": PostBindPlugin,
}
"""The extension points, by their names in KubeSchedulerConfiguration."""


class Diagnosis(Struct, frozen=True):
    """The reasons why no node fits, and the plugins that rejected the pod.

    The reasons are given for each node, or for all nodes at once (`pre_filter`).
    """

    statuses: Mapping[str, Status]
    pre_filter: str = ""
    plugins: frozenset[str] = frozenset()


# -- the handle given to plugins ---------------------------------------------------------------------------------------
# The objects available to a plugin: the snapshot of the cycle, waiting pods, nominations, objects and simulated time.


class TrialFilter:
    """The filters of the profile that is running. Plugins that try nodes themselves use these filters.

    An example of such a plugin is preemption.
    """

    def filter_with_nominated(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Return whether the pod fits on the node, even with the pods that are nominated to the node."""
        raise NotImplementedError

    def add_pod(self, state: CycleState, pod: Pod, added: PodInfo, node: NodeInfo) -> Status | None:
        """Notify all plugins that a pod was added to a node in a trial."""
        raise NotImplementedError

    def remove_pod(self, state: CycleState, pod: Pod, removed: PodInfo, node: NodeInfo) -> Status | None:
        """Notify all plugins that a pod was removed from a node in a trial."""
        raise NotImplementedError


@dataclass
class Handle:
    """The access to the cluster. Every plugin receives it when the plugin is created."""

    cluster: SimulatedCluster
    clock: Clock
    target: Target
    nominator: Nominator
    max_steps: int = DEFAULT_MAX_STEPS
    deadline: float | None = None
    """The monotonic time at which the simulation is cut short."""
    detects_conflicts: bool = False
    """True if a write based on an outdated read is rejected, as by a real API server."""
    waiting: WaitingPods = field(default_factory=WaitingPods)
    extenders: Sequence[Extender] = ()
    answers: dict[Hashable, NodeTables[Any]] = field(default_factory=dict)
    """The results for nodes that plugins cache as long as the nodes do not change, by plugin and arguments."""
    trial: TrialFilter = field(default_factory=TrialFilter)
    activate: Callable[[Pod], None] = lambda _pod: None
    """Retry a waiting pod immediately, whatever it waits for (PodActivator)."""
    later: Callable[[str, Callable[[], None]], None] = lambda _what, _do: None
    """Do something asynchronously, so that it takes effect while the next pod is being scheduled."""

    victims_linger: bool = False
    """True if preempted pods stay in the terminating state until something removes them; otherwise they are removed
    immediately."""
    refuses_claim: Callable[[ResourceClaim], str] = lambda _claim: ""
    """Return the reason why the API server does not let the scheduler create a claim, or ""."""
    settle: Callable[[], bool] = lambda: False
    """Complete the requested work outside the scheduler that takes time; return False if there was none."""

    not_kept = ("answers",)

    @property
    def snapshot(self) -> Mapping[str, NodeInfo]:
        """The nodes by name, in scheduling order. They do not change during a cycle."""
        return self.cluster.nodes

    def waiting_pods(self) -> list[WaitingPod]:
        """Return the pods that wait at Permit."""
        return list(self.waiting)

    def waiting_pod(self, uid: str) -> WaitingPod | None:
        """Return the waiting pod with this UID, or None if no such pod waits."""
        return self.waiting.get(uid)

    def reject_waiting_pod(self, uid: str) -> bool:
        """Reject a waiting pod, and return whether a pod with this UID was waiting."""
        waiting = self.waiting.get(uid)
        return waiting is not None and waiting.reject("", "removed")


# -- the registry of plugin factories ----------------------------------------------------------------------------------

Factory = Callable[[Mapping[str, Any], "Handle"], Plugin]
"""A function that takes the arguments from the configuration and the handle, and returns the plugin."""


class Registry(dict[str, Factory]):
    """The plugin factories, by name."""

    def register(self, name: str, factory: Factory) -> None:
        """Add a factory. Raises UsageError if the name is already used."""
        if name in self:
            raise UsageError(f"a plugin named {name} already exists")
        self[name] = factory

    def unregister(self, name: str) -> None:
        """Remove a factory. Raises UsageError if no factory has this name."""
        if name not in self:
            raise UsageError(f"no plugin named {name} exists")
        del self[name]

    def merge(self, other: Mapping[str, Factory]) -> None:
        """Register all factories of another registry."""
        for name, factory in other.items():
            self.register(name, factory)
