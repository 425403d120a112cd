"""What plugins return: a pod's obstacles on a node, the status with its code and reasons, and a cycle's state.

A plain None means Success, like a nil status in upstream. The cycle state stores the values that the plugins of one
cycle computed.
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

    Amounts are in the units of `cluster.nodes.amounts`. The number of pods counts as the resource `pods`, and each pod
    requests one unit of this resource. The free amount is never negative. `room` is the amount that the empty node
    would have, or -1 if the amount is unknown.
    """

    resource: str
    asked: int
    left: int
    room: int = -1


class NoDevices(NamedTuple):
    """A reason for a rejection: not all of the pod's claims can be allocated from the free devices on the node."""


class UntoleratedTaint(NamedTuple):
    """The first taint of the node that the pod does not tolerate."""

    key: str
    value: str
    effect: str


class NodeCordoned(NamedTuple):
    """A node that is cordoned."""


class OtherNodeNamed(NamedTuple):
    """A node that is not the node that the pod names."""

    wanted: str


class LabelUnmet(NamedTuple):
    """A node label that the pod requires and that the node does not have.

    `found` is the value that the node has instead, or None if the node does not have the label. The field
    `metadata.name`, by which a pod can select nodes, is treated as a label.
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

    `kind` is "affinity", "anti-affinity", or "existing" if the term belongs to a pod that already runs. `domain` is
    None if the node does not have the topology key. `pod` (NAMESPACE/NAME) is the pod that must not be in the same
    domain. `selector` is the term's pod selector as text. `elsewhere` names other namespaces with matching pods.
    """

    kind: str
    topology_key: str
    domain: str | None
    pod: str
    selector: str = ""
    elsewhere: tuple[str, ...] = ()


class SpreadUneven(NamedTuple):
    """A topology spread constraint that the pod would violate in the node's domain.

    `domain` is None if the node does not have the topology key. `emptiest` is a domain with the smallest number of pods
    (`least`). If there are fewer `domains` than `min_domains`, the missing domains count as a domain without pods, and
    `emptiest` is "". Otherwise, `domains` and `min_domains` are 0. `selector` selects the pods that count.
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
    """A volume claim that cannot be used on the node, with its volume if it has one.

    If only the free space is too small for a new volume, `asked` is its size, and `left` the largest that is possible.
    """

    claim: str
    volume: str
    asked: int = 0
    left: int = 0


class VolumeInUse(NamedTuple):
    """A claim or disk that only one pod can use and that another pod (NAMESPACE/NAME) already uses.

    The claim is a ReadWriteOncePod claim. The disk is on this node. For a disk, `claim` is empty, and `disk` is the
    kind of the disk, for example `gcePersistentDisk`.
    """

    claim: str
    disk: str
    pod: str


class VolumesFull(NamedTuple):
    """A CSI driver for which the pod has more volumes than the node can still attach (`left` of its `limit`)."""

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
"""The kinds of obstacles."""


# -- status ------------------------------------------------------------------------------------------------------------


class Code(IntEnum):
    """Kubernetes' status codes. The first framework (v1alpha1) had only the codes up to SKIP."""

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
    """A reason in a status. It has a text, as in Kubernetes. `about` describes the obstacle, if the plugin knows it."""

    text: str
    about: Obstacle | None = None


class Status:
    """A code with its reasons, and the name of the plugin that returned it. The framework adds the name.

    If a reason is given as plain text, its `about` is None.
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
        """The texts of all reasons, joined in the same way as in Kubernetes."""
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
        """Return the status with the plugin's name. If the status already has a name, the name does not change."""
        if self.plugin:
            return self
        named = Status(self.code, plugin=plugin)
        named.reasons = self.reasons
        return named


class Rejection(NamedTuple):
    """The part of a rejection that is the same for many nodes.

    It consists of the plugin, whether preemption may help, whether the status is Pending, and the texts of the reasons.
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
    """Return a rejection. Preemption may make the node suitable."""
    return Status(Code.UNSCHEDULABLE, *reasons)


def unresolvable(*reasons: Reason | str) -> Status:
    """Return a rejection. Preemption can't make the node suitable."""
    return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, *reasons)


@lru_cache(maxsize=4096)  # many nodes have the same amount left
def insufficient(resource: str, asked: int, left: int, room: int = -1) -> Reason:
    """Return a reason such as `Insufficient cpu`. Both NodeResourcesFit and devices with node resources use it."""
    return Reason(f"Insufficient {resource}", ResourceShort(resource, asked, max(0, left), room))


def left_out(plugin: str) -> Status:
    """Return the rejection of a node that is not one of the nodes to which a PreFilter plugin restricts the pod."""
    return unresolvable(f"node(s) didn't satisfy plugin {plugin}").by(plugin)


def not_satisfied(plugins: Iterable[str]) -> str:
    """Return the text for nodes that the PreFilter results of these plugins together exclude."""
    return f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(plugins))}]"


SKIP = Status(Code.SKIP)
"""The status of a plugin that has nothing to do for this pod; its Filter (or Score) is skipped."""


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
    """Raised when nothing was written under a key. The message is Kubernetes' message."""

    def __str__(self) -> str:
        return "not found"


@dataclass(slots=True)
class GroupCycleState:
    """The data that the pods in a group share during one scheduling cycle.

    `in_flight` are the UIDs of the claims that the group's pods put in flight in this cycle. If `tentative` is set,
    everything that the pods take will be released, so nothing that existed before may be lost. `postponed` are
    evictions that wait for the group's outcome.
    """

    group: PodGroup | None
    domain: str = ""
    in_flight: set[str] = field(default_factory=set)
    tentative: bool = True
    postponed: list[Callable[[], None]] = field(default_factory=list)


class CycleState:
    """The data that plugins store for a pod during a scheduling cycle, by key.

    If a value has a `clone` method, it is cloned together with the state; all other values are shared. `group` is the
    data that the pods of a group share in their cycle, or None for a pod that is tried alone. `skip_filter`,
    `skip_score` and `skip_pre_bind` name the plugins that returned Skip in PreFilter, PreScore and PreBindPreFlight.
    """

    __slots__ = ("_values", "group", "skip_filter", "skip_pre_bind", "skip_score")

    def __init__(self, group: GroupCycleState | None = None) -> None:
        self._values: dict[str, Any] = {}
        self.group = group
        self.skip_filter: frozenset[str] = frozenset()
        self.skip_score: frozenset[str] = frozenset()
        self.skip_pre_bind: frozenset[str] = frozenset()

    def parts(self) -> Iterable[object]:
        """Return the stored values, which a fork of the simulation has to save."""
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
        """Store a value under the key, replacing an earlier value."""
        self._values[key] = value

    def delete(self, key: str) -> None:
        """Remove the value under the key, if there is one."""
        self._values.pop(key, None)

    def clone(self) -> CycleState:
        """Return a copy. Writes to the copy do not change the original."""
        other = CycleState(self.group)
        other._values = {
            key: value.clone() if hasattr(value, "clone") else value for key, value in self._values.items()
        }
        other.skip_filter = self.skip_filter
        other.skip_score = self.skip_score
        other.skip_pre_bind = self.skip_pre_bind
        return other
