"""The extension points, with Kubernetes' names: what a plugin may implement.

A plugin derives from the classes of the points it takes part in. Its methods must not change the objects they are
given, and must give the same answer to the same question: the simulation is repeatable. Then follow the handle,
through which a plugin reaches the cluster, and the registry of plugin factories.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

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
"""No plugin can make a pod wait longer."""


class Plugin:
    """Any plugin. `name` is what configuration and messages call it."""

    name: ClassVar[str] = ""
    looks_at_object_alone: ClassVar[bool] = False
    """Whether remembered answers of Filter and Score depend on nothing of a node but its object.

    They then hold whatever becomes of the pods and devices on it.
    """


class QueueSortPlugin(Plugin, ABC):
    """Orders the active queue. Exactly one is enabled."""

    @abstractmethod
    def sort_key(self, item: QueuedPod) -> tuple[float, ...]:
        """Smaller keys are tried first (upstream: Less)."""


class PreEnqueuePlugin(Plugin, ABC):
    """Keeps pods out of the active queue."""

    @abstractmethod
    def pre_enqueue(self, pod: Pod) -> Status | None:
        """Anything but success keeps the pod gated."""


class EnqueueExtensions(Plugin, ABC):
    """Says which events may make the pods that the plugin rejected schedulable."""

    @abstractmethod
    def events_to_register(self) -> Sequence[Interest]:
        """The events, each with a hint function or without."""


@dataclass(frozen=True, slots=True)
class PreFilterResult:
    """The only nodes that can fit; None means all."""

    node_names: frozenset[str] | None = None


class PreFilterExtensions(ABC):
    """Keeps a plugin's state true while pods are added to and removed from a node on trial."""

    @abstractmethod
    def add_pod(self, state: CycleState, pod: Pod, added: PodInfo, node: NodeInfo) -> Status | None:
        """The pod `added` is now on the node."""

    @abstractmethod
    def remove_pod(self, state: CycleState, pod: Pod, removed: PodInfo, node: NodeInfo) -> Status | None:
        """The pod `removed` is no longer on the node."""


class PreFilterPlugin(Plugin, ABC):
    """Prepares, or rejects the pod for all nodes at once."""

    @abstractmethod
    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult | None, Status | None]:
        """A restriction to some nodes, or a status; Skip leaves the plugin's Filter out."""

    def pre_filter_extensions(self) -> PreFilterExtensions | None:
        """How to keep the state true on trial; None if pods on nodes don't matter to it."""
        return None


class FilterPlugin(Plugin, ABC):
    """Says whether a pod fits a node."""

    @abstractmethod
    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Success, a rejection of this node, or an Error that ends the whole attempt."""

    def obstacles(self, state: CycleState, pod: Pod, node: NodeInfo) -> Sequence[Obstacle]:
        """What the refusal of this node is about, as far as its reasons do not say so: asked after `filter` refused.

        Apart from `filter`, which is asked about every node, while few ask why.
        """
        return ()

    def filter_memo(self, state: CycleState, pod: Pod) -> Hashable | None:
        """A key if the answer for a node depends on nothing but the key, the node and the pods and devices on it.

        Answers with equal keys are then reused until the node changes. None, the default, asks every time.
        """
        return None


@dataclass(frozen=True, slots=True)
class NominatingInfo:
    """Which node to nominate for the pod: a name, or "" to clear it."""

    node: str


class PostFilterPlugin(Plugin, ABC):
    """Runs when no node passed; may make room."""

    @abstractmethod
    def post_filter(
        self, state: CycleState, pod: Pod, statuses: Mapping[str, Status]
    ) -> tuple[NominatingInfo | None, Status | None]:
        """Success ends the list; a rejection lets the next plugin run; an Error ends it."""


class PreScorePlugin(Plugin, ABC):
    """Prepares scoring. In v1alpha1 this was called PostFilter."""

    @abstractmethod
    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        """Success, Skip (the plugin's Score is left out), or an Error."""


class ScorePlugin(Plugin, ABC):
    """Ranks the nodes that passed, 0 to 100."""

    @abstractmethod
    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int | Status:
        """The score of a node, or an Error."""

    def normalize(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo], scores: list[int]) -> Status | None:
        """Bring the scores, in the order of the nodes, into the range 0 to 100, in place."""
        return None

    def score_memo(self, state: CycleState, pod: Pod) -> Hashable | None:
        """As `FilterPlugin.filter_memo`, for the score before normalizing."""
        return None


class ReservePlugin(Plugin, ABC):
    """Notes that a node was chosen, and takes that back."""

    @abstractmethod
    def reserve(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        """Success, or a failure after which every plugin's Unreserve runs, last first."""

    @abstractmethod
    def unreserve(self, state: CycleState, pod: Pod, node: str) -> None:
        """Take it back; called once more than needed rather than once too little."""


class PermitPlugin(Plugin, ABC):
    """Allows, refuses or delays binding."""

    @abstractmethod
    def permit(self, state: CycleState, pod: Pod, node: str) -> tuple[Status | None, float]:
        """A status and, with Wait, for how many seconds at most."""


class PreBindPlugin(Plugin, ABC):
    """Does what must be done before binding."""

    @abstractmethod
    def pre_bind(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        """Success, an error, or Wait while something outside the simulation has to happen first."""

    def pre_bind_pre_flight(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        """Skip if `pre_bind` would have nothing to do; otherwise the node is nominated before binding."""
        return None


class BindPlugin(Plugin, ABC):
    """Binds the pod. The first one that does not answer Skip decides."""

    @abstractmethod
    def bind(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        """Success when the pod is bound; Skip to leave it to the next plugin."""


class PostBindPlugin(Plugin, ABC):
    """Is told of bound pods."""

    @abstractmethod
    def post_bind(self, state: CycleState, pod: Pod, node: str) -> None:
        """The pod is bound; nothing can be undone."""


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
"""Extension points by the name that KubeSchedulerConfiguration gives them."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Why no node fits: per node, or for all at once (`pre_filter`), and which plugins rejected."""

    statuses: Mapping[str, Status]
    pre_filter: str = ""
    plugins: frozenset[str] = field(default_factory=frozenset)


# -- the handle given to plugins ---------------------------------------------------------------------------------------
# What a plugin may reach: the snapshot of the cycle, waiting pods, nominations, objects and simulated time.


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


# -- the registry of plugin factories ----------------------------------------------------------------------------------

Factory = Callable[[Mapping[str, Any], "Handle"], Plugin]
"""(arguments from the configuration, handle) -> plugin."""


class Registry(dict[str, Factory]):
    """Plugin name to factory."""

    def register(self, name: str, factory: Factory) -> None:
        """Add a factory; UsageError if the name is taken."""
        if name in self:
            raise UsageError(f"a plugin named {name} already exists")
        self[name] = factory

    def unregister(self, name: str) -> None:
        """Remove a factory; UsageError if there is none."""
        if name not in self:
            raise UsageError(f"no plugin named {name} exists")
        del self[name]

    def merge(self, other: Mapping[str, Factory]) -> None:
        """Register everything of another registry."""
        for name, factory in other.items():
            self.register(name, factory)
