"""What plugins return (obstacles, and a status with its code and reasons), and the state of a cycle.

As in upstream, where a nil status means Success, None does here. The cycle state holds what the plugins of a cycle have
computed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import lru_cache
from typing import Any, NamedTuple, TypeGuard

from dra_plan.api.scheduling import PodGroup

# -- reasons as values -------------------------------------------------------------------------------------------------
# These classes contain the data behind a plugin's rejection of a node, in addition to the text of the reason. A plugin
# that knows more than its text says has a class here, so that no code has to parse the text.


class ResourceShort(NamedTuple):
    """A resource of which the node has less left than the pod needs.

    Amounts are in the units of `cluster.nodes.amounts`. The number of pods is the resource `pods`, of which each pod
    requests 1. `left` is never negative. `room` is the amount on the empty node, or -1 if it is unknown.
    """

    resource: str
    asked: int
    left: int
    room: int = -1


class NoDevices(NamedTuple):
    """Not all of the pod's claims can be allocated from the free devices on the node."""


class UntoleratedTaint(NamedTuple):
    """The first taint of the node that the pod does not tolerate."""

    key: str
    value: str
    effect: str


class NodeCordoned(NamedTuple):
    """A cordoned node."""


class OtherNodeNamed(NamedTuple):
    """A node other than the one that the pod names."""

    wanted: str


class LabelUnmet(NamedTuple):
    """A node label that the pod requires and the node lacks.

    `found` is the value that the node has instead, or None if it does not have the label. The field `metadata.name` is
    treated as a label.
    """

    key: str
    operator: str
    values: tuple[str, ...]
    found: str | None


class PortTaken(NamedTuple):
    """A host port that a pod on the node already uses. The pod is given as NAMESPACE/NAME."""

    protocol: str
    port: int
    pod: str


class AffinityUnmet(NamedTuple):
    """A required pod affinity term that is not met in the node's domain.

    `kind` is "affinity", "anti-affinity", or "existing" for a term of a running pod. `domain` is None if the node does
    not have the topology key. `pod` (NAMESPACE/NAME) is a pod that must not be in the same domain. `selector` is the
    term's pod selector as text. `elsewhere` are other namespaces with matching pods.
    """

    kind: str
    topology_key: str
    domain: str | None
    pod: str
    selector: str = ""
    elsewhere: tuple[str, ...] = ()


class SpreadUneven(NamedTuple):
    """A topology spread constraint that the pod would violate in the node's domain.

    `domain` is None if the node does not have the topology key. `emptiest` is a domain with the fewest pods (`least`).
    If there are fewer `domains` than `min_domains`, the missing domains count as empty and `emptiest` is "". Otherwise,
    both numbers are 0. `selector` selects the pods that count.
    """

    topology_key: str
    domain: str | None
    pods: int
    least: int
    max_skew: int
    emptiest: str = ""
    domains: int = 0
    min_domains: int = 0
    selector: str = ""


class VolumeUnfit(NamedTuple):
    """A volume claim that cannot be used on the node, and its volume, if it has one.

    If only the space for a new volume is too small, `asked` is its size, and `left` is the largest possible size.
    """

    claim: str
    volume: str
    asked: int = 0
    left: int = 0


class VolumeInUse(NamedTuple):
    """A claim or disk that only one pod can use and that another pod (NAMESPACE/NAME) already uses.

    The claim is a ReadWriteOncePod claim. For a disk on this node, `claim` is "", and `disk` is the kind of disk, such
    as `gcePersistentDisk`.
    """

    claim: str
    disk: str
    pod: str


class VolumesFull(NamedTuple):
    """A CSI driver for which the pod has more volumes than the node can still attach: `left` of its `limit`."""

    driver: str
    asked: int
    left: int
    limit: int


Obstacle = (
    ResourceShort
    | NoDevices
    | UntoleratedTaint
    | NodeCordoned
    | OtherNodeNamed
    | LabelUnmet
    | PortTaken
    | AffinityUnmet
    | SpreadUneven
    | VolumeUnfit
    | VolumeInUse
    | VolumesFull
)
"""The facts behind a rejection."""


# -- status ------------------------------------------------------------------------------------------------------------


class Code(IntEnum):
    """Kubernetes' status codes. The first framework (v1alpha1) had only those up to SKIP."""

    SUCCESS = 0
    ERROR = 1
    UNSCHEDULABLE = 2
    UNSCHEDULABLE_AND_UNRESOLVABLE = 3
    WAIT = 4
    SKIP = 5
    PENDING = 6

    @property
    def title(self) -> str:
        """The name of the code in Kubernetes' messages."""
        return "".join(part.capitalize() for part in self.name.split("_"))


_REJECTIONS = frozenset({Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.PENDING})


class Reason(NamedTuple):
    """A reason in a status: its text, as in Kubernetes, and the obstacle (`about`), if the plugin knows it."""

    text: str
    about: Obstacle | None = None


class Status:
    """A code with its reasons, and the name of the plugin that returned it, which the framework adds.

    A reason given as plain text has no `about`.
    """

    __slots__ = ("_rejection", "code", "plugin", "reasons")

    def __init__(self, code: Code, *reasons: Reason | str, plugin: str = "") -> None:
        self._rejection: Rejection
        self.code = code
        self.reasons: tuple[Reason, ...] = ()
        if reasons:
            self.reasons = tuple([reason if isinstance(reason, Reason) else Reason(reason) for reason in reasons])
        self.plugin = plugin

    def __repr__(self) -> str:
        return f"Status({self.code.name}, {self.message!r}, plugin={self.plugin!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Status):
            return NotImplemented
        return (self.code, self.reasons, self.plugin) == (other.code, other.reasons, other.plugin)

    def __hash__(self) -> int:
        return hash((self.code, self.reasons, self.plugin))

    @property
    def message(self) -> str:
        """The texts of all reasons, joined as in Kubernetes."""
        return ", ".join([reason.text for reason in self.reasons])

    @property
    def rejected(self) -> bool:
        """Whether the status rejects the pod without an error."""
        return self.code in _REJECTIONS

    @property
    def rejection(self) -> Rejection:
        """The plugin, the outcome and the texts of this rejection, without its obstacles."""
        try:
            return self._rejection
        except AttributeError:
            code, texts = self.code, tuple([reason.text for reason in self.reasons])
            self._rejection = Rejection(self.plugin, code is Code.UNSCHEDULABLE, code is Code.PENDING, texts)
            return self._rejection

    def by(self, plugin: str) -> Status:
        """Return the status with the name of the plugin, unless it already has one."""
        if self.plugin:
            return self
        named = Status(self.code, plugin=plugin)
        named.reasons = self.reasons
        return named


class Rejection(NamedTuple):
    """The part of a rejection that is the same for many nodes.

    `is_curable` says whether preemption may help, and `is_pending` whether the status is Pending.
    """

    plugin: str
    is_curable: bool
    is_pending: bool
    texts: tuple[str, ...]


class CountedStatuses(Mapping[str, Status]):
    """The status of each node, and the number of nodes for each rejection."""

    def counts(self) -> Mapping[Rejection, int]:
        """Return the number of nodes for each rejection. A number may be 0."""
        raise NotImplementedError


def counts_of(statuses: Mapping[str, Status]) -> Mapping[Rejection, int]:
    """Return the number of nodes for each rejection. A number may be 0."""
    if isinstance(statuses, CountedStatuses):
        return statuses.counts()
    return Counter(status.rejection for status in statuses.values())


def error(message: str) -> Status:
    """Return an Error status."""
    return Status(Code.ERROR, message)


def unschedulable(*reasons: Reason | str) -> Status:
    """Return a rejection that preemption may resolve."""
    return Status(Code.UNSCHEDULABLE, *reasons)


def unresolvable(*reasons: Reason | str) -> Status:
    """Return a rejection that preemption cannot resolve."""
    return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, *reasons)


@lru_cache(maxsize=4096)  # many nodes have the same amount left
def insufficient(resource: str, asked: int, left: int, room: int = -1) -> Reason:
    """Return a reason such as `Insufficient cpu`, for NodeResourcesFit and for devices that use node resources."""
    return Reason(f"Insufficient {resource}", ResourceShort(resource, asked, max(0, left), room))


def left_out(plugin: str) -> Status:
    """Return the rejection of a node that is excluded by a PreFilter plugin's restriction."""
    return unresolvable(f"node(s) didn't satisfy plugin {plugin}").by(plugin)


def not_satisfied(plugins: Iterable[str]) -> str:
    """Return the text for nodes that the restrictions of these PreFilter plugins exclude together."""
    return f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(plugins))}]"


SKIP = Status(Code.SKIP)
"""The status of a plugin that has nothing to do for the pod. Its Filter or Score is then skipped."""


def succeeded(status: Status | None) -> bool:
    """Return whether the status means Success."""
    return status is None or status.code is Code.SUCCESS


def failed(status: Status | None) -> TypeGuard[Status]:
    """Return whether the status is anything other than Success."""
    return not succeeded(status)


def is_skip(status: Status | None) -> bool:
    """Return whether the status means Skip."""
    return status is not None and status.code is Code.SKIP


# -- cycle state -------------------------------------------------------------------------------------------------------
# This is the store for one scheduling cycle (v1alpha1: PluginContext).


class StateNotFoundError(KeyError):
    """The error raised if nothing was written under a key. The message is Kubernetes' own."""

    def __str__(self) -> str:
        return "not found"


@dataclass(slots=True)
class GroupCycleState:
    """What the pods of a group share during a scheduling cycle.

    `in_flight` are the UIDs of the claims that the group's pods have put in flight in this cycle. If `tentative` is
    set, everything that the pods take will be released, so nothing that existed before may be lost. `postponed` are
    evictions that wait for the group's outcome.
    """

    group: PodGroup | None
    domain: str = ""
    in_flight: set[str] = field(default_factory=set)
    tentative: bool = True
    postponed: list[Callable[[], None]] = field(default_factory=list)


class CycleState:
    """What plugins store for a pod during a scheduling cycle, by key.

    Values with a `clone` method are cloned with the state; others are shared. `group` is what the pods of a group
    share, or None for a pod that is tried alone. `skip_filter`, `skip_score` and `skip_pre_bind` are the plugins that
    returned Skip in PreFilter, PreScore and PreBindPreFlight.
    """

    __slots__ = ("_values", "group", "skip_filter", "skip_pre_bind", "skip_score")

    def __init__(self, group: GroupCycleState | None = None) -> None:
        self._values: dict[str, Any] = {}
        self.group = group
        self.skip_filter: frozenset[str] = frozenset()
        self.skip_score: frozenset[str] = frozenset()
        self.skip_pre_bind: frozenset[str] = frozenset()

    def parts(self) -> Iterable[object]:
        """Return the stored values that a fork of the simulation has to save."""
        return (value for value in self._values.values() if hasattr(value, "__dict__"))

    def read(self, key: str) -> Any:
        """Return the value under the key. Raises StateNotFoundError if there is none."""
        try:
            return self._values[key]
        except KeyError:
            raise StateNotFoundError(key) from None

    def get(self, key: str) -> Any:
        """Return the value under the key, or None if there is none."""
        return self._values.get(key)

    def write(self, key: str, value: Any) -> None:
        """Store a value under the key."""
        self._values[key] = value

    def delete(self, key: str) -> None:
        """Remove the value under the key, if there is one."""
        self._values.pop(key, None)

    def clone(self) -> CycleState:
        """Return a copy. Writes to it do not change the original."""
        other = CycleState(self.group)
        other._values = {
            key: value.clone() if hasattr(value, "clone") else value for key, value in self._values.items()
        }
        other.skip_filter = self.skip_filter
        other.skip_score = self.skip_score
        other.skip_pre_bind = self.skip_pre_bind
        return other
