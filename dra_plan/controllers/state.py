"""The controllers' view of a cluster at one time, and the actions that they can take."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

from dra_plan.api.core import Node, Pod
from dra_plan.api.inventory import Inventory
from dra_plan.api.resource import DeviceTaint, ResourceClaim, ResourceClaimTemplate
from dra_plan.claims.index import Index
from dra_plan.claims.owners import ended
from dra_plan.releases import Target
from dra_plan.scheduler.cluster.keys import pod_uid


@dataclass(frozen=True)
class EndCause:
    """Why a pod ended: the component that ended it, and the text of its `DisruptionTarget` condition.

    The text is empty if the pod has no such condition.
    """

    by: str
    reason: str = ""
    message: str = ""
    event: str = ""
    """The reason in the controller's events about the pod."""
    marks: str = ""
    """The message of the event when the pod is deleted; `{pod}` stands for its key."""
    cancels: str = ""
    """The message of the event when the deletion is cancelled."""
    is_disruption: bool = False
    """True if the pod then has the `DisruptionTarget` condition, which the failure policies of Jobs look for."""


@dataclass(frozen=True)
class DeviceWithTaint:
    """A device, as DRIVER/POOL/DEVICE, its taint, and the name of the rule with the taint, or ""."""

    device: str
    taint: DeviceTaint
    rule: str = ""


@dataclass(frozen=True)
class EndedPod:
    """A pod that has ended. `moment` is in seconds since the epoch, like all times in this module."""

    pod: Pod
    moment: float
    cause: EndCause
    rules: tuple[str, ...] = ()
    """The names of the device taint rules that evicted the pod."""
    taint: DeviceWithTaint | None = None
    """The device taint that evicted the pod first."""


@dataclass(frozen=True)
class DeletePod:
    """The deletion of a pod, now or at the time `at`.

    The pod is not deleted if the reason no longer exists at that time.
    """

    pod: Pod
    cause: EndCause
    at: float = 0.0
    rules: tuple[str, ...] = ()
    """The names of the device taint rules that cause the deletion."""
    taint: DeviceWithTaint | None = None
    """The device taint that causes the deletion first."""


@dataclass(frozen=True)
class CreatePod:
    """The creation of a pod, now or at the time `at`. `owner` is the kind and name of its owner."""

    pod: Pod
    owner: tuple[str, str]
    at: float = 0.0


@dataclass(frozen=True)
class CreateClaim:
    """The creation of a claim for an entry in the pod's resourceClaims."""

    claim: ResourceClaim
    pod: Pod
    entry: str
    at: ClassVar[float] = 0.0


@dataclass(frozen=True)
class WriteClaim:
    """A change to the status of a claim."""

    claim: ResourceClaim
    at: ClassVar[float] = 0.0


@dataclass(frozen=True)
class DeleteClaim:
    """The deletion of a claim."""

    claim: ResourceClaim
    at: ClassVar[float] = 0.0


@dataclass(frozen=True)
class WriteNode:
    """A change to the taints of a node."""

    node: Node
    at: float = 0.0


@dataclass(frozen=True)
class ReportFailure:
    """An event that says why a controller cannot do its work."""

    kind: str
    namespace: str
    name: str
    reason: str
    message: str
    at: ClassVar[float] = 0.0


Action = DeletePod | CreatePod | CreateClaim | WriteClaim | DeleteClaim | WriteNode | ReportFailure


@dataclass(frozen=True)
class AbsentOwner:
    """A controller that pods refer to but that is not in the input, with the pods that it had at the start."""

    kind: str
    name: str
    pods: tuple[Pod, ...]


@dataclass(frozen=True)
class ClusterState:
    """The objects in a cluster at the time `now`, and the changes since `start`.

    `made` are the UIDs of the pods that controllers created. `revisions` are the known templates of pods. `lost_nodes`
    are the deleted nodes, with the times of their deletion. `changed` is the time at which each object changed, by
    kind, namespace and name. `evicted_at` are the times already set for evictions by node taints, by pod UID.
    `absent_owners` and `unlisted_templates` are not in the input but derived from it.
    """

    now: float
    start: float
    inventory: Inventory
    target: Target
    ended: Sequence[EndedPod]
    made: Set[str]
    revisions: Mapping[str, object]
    lost_nodes: Mapping[str, float]
    changed: Mapping[tuple[str, str, str], float]
    evicted_at: Mapping[str, float] = field(default_factory=dict)
    absent_owners: Sequence[AbsentOwner] = ()
    unlisted_templates: Mapping[tuple[str, str], ResourceClaimTemplate] = field(default_factory=dict)
    has_device_taints: bool = True
    """Whether any published device may have a taint."""
    known: Index | None = None
    """The index of another state with the same claim templates."""

    @cached_property
    def index(self) -> Index:
        """The index of the objects."""
        return Index(self.inventory, self.known)

    @cached_property
    def pods_by_uid(self) -> Mapping[str, Pod]:
        """The existing pods by UID."""
        return {pod_uid(pod): pod for pod in self.inventory.pods}

    @cached_property
    def ended_uids(self) -> frozenset[str]:
        """The UIDs of all pods that have ended."""
        return frozenset(pod_uid(each.pod) for each in self.ended)

    @cached_property
    def nodes(self) -> Mapping[str, Node]:
        """The nodes by name."""
        return {node.metadata.name: node for node in self.inventory.nodes}

    @cached_property
    def running(self) -> Sequence[Pod]:
        """The pods that have a node, have not finished, and are not being deleted."""
        return [
            pod
            for pod in self.inventory.pods
            if pod.spec.node_name and not ended(pod) and pod.metadata.deletion_timestamp is None
        ]

    @cached_property
    def names(self) -> Mapping[str, set[str]]:
        """The names of all pods that exist or have ended, by namespace."""
        found: dict[str, set[str]] = defaultdict(set)
        for pod in self.inventory.pods:
            found[pod.metadata.namespace].add(pod.metadata.name)
        for each in self.ended:
            found[each.pod.metadata.namespace].add(each.pod.metadata.name)
        return found

    def since(self, kind: str, name: str) -> float:
        """Return the time at which an event last changed the object, or else the start of the simulation.

        The object must be cluster-scoped.
        """
        return self.changed.get((kind, "", name), self.start)


def needs_none(pod: Pod) -> bool:
    """Return whether the pod no longer needs its claims.

    A pod that has finished does not need them, and neither does a pod that is deleted before it gets a node.
    """
    return ended(pod) or (pod.metadata.deletion_timestamp is not None and not pod.spec.node_name)
