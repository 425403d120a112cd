"""The extension points that a plugin may implement, with Kubernetes' names.

A plugin derives from the classes of its extension points. Its methods must not change their arguments, and must return
the same result for the same arguments, so that simulations are repeatable. The handle gives plugins access to the
cluster, and the registry holds the plugin factories.
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
"""The maximum number of seconds that a plugin can make a pod wait."""


class Plugin:
    """The base class of plugins. `name` is the plugin's name in the configuration and in messages."""

    name: ClassVar[str] = ""
    looks_at_object_alone: ClassVar[bool] = False
    """True if the results of Filter and Score depend only on the Node object. Cached results then stay valid when pods
    or devices on the node change.
    """


class QueueSortPlugin(Plugin, ABC):
    """A plugin that orders the active queue. Exactly one is enabled."""

    @abstractmethod
    def sort_key(self, item: QueuedPod) -> tuple[float, ...]:
        """Return the sort key of the pod. Pods with lower keys are tried first (upstream: Less)."""


class PreEnqueuePlugin(Plugin, ABC):
    """A plugin that keeps pods out of the active queue."""

    @abstractmethod
    def pre_enqueue(self, pod: Pod) -> Status | None:
        """Return success to let the pod into the active queue. With any other status, the pod stays gated."""


class EnqueueExtensions(Plugin, ABC):
    """A plugin that registers the events after which a pod that it rejected may become schedulable."""

    @abstractmethod
    def events_to_register(self) -> Sequence[Interest]:
        """Return the events after which a rejected pod may become schedulable. An event may have a hint function."""


class PreFilterResult(Struct, frozen=True):
    """The names of the nodes that PreFilter restricts the pod to, or None for all nodes."""

    node_names: frozenset[str] | None = None


class PreFilterExtensions(ABC):
    """Updates of a plugin's state in a trial, when pods are added to a node or removed from it."""

    @abstractmethod
    def add_pod(self, state: CycleState, pod: Pod, added: PodInfo, node: NodeInfo) -> Status | None:
        """Update the state for the pod `added`, which is now on the node."""

    @abstractmethod
    def remove_pod(self, state: CycleState, pod: Pod, removed: PodInfo, node: NodeInfo) -> Status | None:
        """Update the state for the pod `removed`, which is no longer on the node."""


class PreFilterPlugin(Plugin, ABC):
    """A plugin that prepares the scheduling cycle, or rejects the pod on all nodes at once."""

    @abstractmethod
    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult | None, Status | None]:
        """Return a restriction to some nodes, and a status. After Skip, the plugin's Filter is not called."""

    def pre_filter_extensions(self) -> PreFilterExtensions | None:
        """Return the object that updates the state in a trial, or None if the state does not depend on other pods."""
        return None


class FilterPlugin(Plugin, ABC):
    """A plugin that decides whether a pod fits on a node."""

    @abstractmethod
    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Return success, a rejection of the node, or an Error that ends the whole scheduling attempt."""

    def obstacles(self, state: CycleState, pod: Pod, node: NodeInfo) -> Sequence[Obstacle]:
        """Return the causes of the rejection by `filter`, if the status does not contain them.

        They are found separately because `filter` is called for every node, and the causes are rarely needed.
        """
        return ()

    def filter_memo(self, state: CycleState, pod: Pod) -> Hashable | None:
        """Return a key if the result on a node depends only on the key, the node, and the pods and devices on it.

        Results for equal keys are reused until the node changes. By default, None is returned, and `filter` is called
        each time.
        """
        return None

    def filter_each(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Sequence[Status | None]:
        """Return the results of `filter` for these nodes.

        Plugins with a `filter_memo` may override this, because one call for many nodes is faster.
        """
        return [self.filter(state, pod, node) for node in nodes]


class NominatingInfo(Struct, frozen=True):
    """The node that the pod is nominated to, or "" to clear the nomination."""

    node: str


class PostFilterPlugin(Plugin, ABC):
    """A plugin that runs if no node passed the filters, and that may preempt other pods."""

    @abstractmethod
    def post_filter(
        self, state: CycleState, pod: Pod, statuses: Mapping[str, Status]
    ) -> tuple[NominatingInfo | None, Status | None]:
        """Return a nomination and a status. The next plugin runs only if the status is a rejection."""


class PreScorePlugin(Plugin, ABC):
    """A plugin that prepares scoring. In v1alpha1, this extension point was called PostFilter."""

    @abstractmethod
    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        """Return success, an Error, or Skip. After Skip, the plugin's Score is not called."""


class ScorePlugin(Plugin, ABC):
    """A plugin that gives nodes that passed the filters a score from 0 to 100."""

    @abstractmethod
    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int | Status:
        """Return the score of a node, or an Error."""

    def normalize(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo], scores: list[int]) -> Status | None:
        """Scale the scores in the list to the range from 0 to 100. They are in the order of the nodes."""
        return None

    def score_memo(self, state: CycleState, pod: Pod) -> Hashable | None:
        """Return a key for the score before normalization, as in `FilterPlugin.filter_memo`."""
        return None

    def score_everywhere(self, state: CycleState, pod: Pod) -> int | None:
        """Return the score before normalization if it is the same for all nodes, or else None, which is the default."""
        return None

    def score_each(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Sequence[int | Status]:
        """Return the results of `score` for these nodes.

        Plugins may override this, because one call for many nodes is faster.
        """
        return [self.score(state, pod, node) for node in nodes]


class ReservePlugin(Plugin, ABC):
    """A plugin that records the choice of a node, and can undo this."""

    @abstractmethod
    def reserve(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        """Return success or a failure. After a failure, Unreserve is called on all plugins in reverse order."""

    @abstractmethod
    def unreserve(self, state: CycleState, pod: Pod, node: str) -> None:
        """Undo the reservation. This is called after every failure, even if the plugin has reserved nothing."""


class PermitPlugin(Plugin, ABC):
    """A plugin that allows, rejects or delays the binding of a pod."""

    @abstractmethod
    def permit(self, state: CycleState, pod: Pod, node: str) -> tuple[Status | None, float]:
        """Return a status and a number of seconds. With the status Wait, the pod waits for at most that long."""


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
    """A plugin that binds pods. Only the first plugin that does not return Skip is used."""

    @abstractmethod
    def bind(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        """Bind the pod and return success, or return Skip to leave the binding to the next plugin."""


class PostBindPlugin(Plugin, ABC):
    """A plugin that is notified when pods have been bound."""

    @abstractmethod
    def post_bind(self, state: CycleState, pod: Pod, node: str) -> None:
        """Handle the binding of the pod, which can no longer be undone."""


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
    """Why no node fits: the status of each node, or one reason for all (`pre_filter`), and the plugins responsible."""

    statuses: Mapping[str, Status]
    pre_filter: str = ""
    plugins: frozenset[str] = frozenset()


# -- the handle given to plugins ---------------------------------------------------------------------------------------
# The objects available to a plugin: the snapshot of the cycle, waiting pods, nominations, objects and simulated time.


class TrialFilter:
    """The filters of the running profile, for plugins such as preemption that try nodes themselves."""

    def filter_with_nominated(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Return whether the pod fits on the node even with the pods nominated to it."""
        raise NotImplementedError

    def add_pod(self, state: CycleState, pod: Pod, added: PodInfo, node: NodeInfo) -> Status | None:
        """Notify all plugins that a pod was added to a node in a trial."""
        raise NotImplementedError

    def remove_pod(self, state: CycleState, pod: Pod, removed: PodInfo, node: NodeInfo) -> Status | None:
        """Notify all plugins that a pod was removed from a node in a trial."""
        raise NotImplementedError


@dataclass
class Handle:
    """The plugins' access to the cluster. Every plugin gets it when it is created."""

    cluster: SimulatedCluster
    clock: Clock
    target: Target
    nominator: Nominator
    max_steps: int = DEFAULT_MAX_STEPS
    deadline: float | None = None
    """The monotonic time at which the simulation is cut short."""
    detects_conflicts: bool = False
    """True if writes based on outdated reads are rejected, as by a real API server."""
    waiting: WaitingPods = field(default_factory=WaitingPods)
    extenders: Sequence[Extender] = ()
    answers: dict[Hashable, NodeTables[Any]] = field(default_factory=dict)
    """The results for nodes that plugins cache until the nodes change, by plugin and arguments."""
    trial: TrialFilter = field(default_factory=TrialFilter)
    activate: Callable[[Pod], None] = lambda _pod: None
    """A function that retries a waiting pod immediately, whatever it waits for (PodActivator)."""
    later: Callable[[str, Callable[[], None]], None] = lambda _what, _do: None
    """A function that does something asynchronously, while the next pod is being scheduled."""

    victims_linger: bool = False
    """True if preempted pods keep terminating until something removes them. Otherwise, they are removed immediately."""
    refuses_claim: Callable[[ResourceClaim], str] = lambda _claim: ""
    """A function that returns why the API server rejects a claim that the scheduler creates, or ""."""
    settle: Callable[[], bool] = lambda: False
    """A function that completes slow work outside the scheduler. It returns False if there was none."""

    not_kept = ("answers",)

    @property
    def snapshot(self) -> Mapping[str, NodeInfo]:
        """The nodes by name, in scheduling order. They do not change during a cycle."""
        return self.cluster.nodes

    def waiting_pods(self) -> list[WaitingPod]:
        """Return the pods that are waiting at Permit."""
        return list(self.waiting)

    def waiting_pod(self, uid: str) -> WaitingPod | None:
        """Return the waiting pod with this UID, or None."""
        return self.waiting.get(uid)

    def reject_waiting_pod(self, uid: str) -> bool:
        """Reject a waiting pod. Return whether a pod with this UID was waiting."""
        waiting = self.waiting.get(uid)
        return waiting is not None and waiting.reject("", "removed")


# -- the registry of plugin factories ----------------------------------------------------------------------------------

Factory = Callable[[Mapping[str, Any], "Handle"], Plugin]
"""A function that takes a plugin's arguments and the handle, and returns the plugin."""


class Registry(dict[str, Factory]):
    """The plugin factories, by name."""

    def register(self, name: str, factory: Factory) -> None:
        """Add a factory. Raises UsageError if the name is already in use."""
        if name in self:
            raise UsageError(f"a plugin named {name} already exists")
        self[name] = factory

    def unregister(self, name: str) -> None:
        """Remove a factory. Raises UsageError if there is none with this name."""
        if name not in self:
            raise UsageError(f"no plugin named {name} exists")
        del self[name]

    def merge(self, other: Mapping[str, Factory]) -> None:
        """Add all factories of another registry. Raises UsageError if a name is already in use."""
        for name, factory in other.items():
            self.register(name, factory)
