"""What controllers see of a cluster at one moment, and what they may do about it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

from dra_plan.api.core import Node, Pod
from dra_plan.api.inventory import Inventory
from dra_plan.api.resource import ResourceClaim, ResourceClaimTemplate
from dra_plan.claims.index import Index
from dra_plan.claims.owners import ended
from dra_plan.releases import Target
from dra_plan.scheduler.cluster.keys import pod_uid


@dataclass(frozen=True)
class EndCause:
    """Why a pod ends: who wants it, and what the pod's condition `DisruptionTarget` says where it has one."""

    by: str
    reason: str = ""
    message: str = ""
    event: str = ""
    """The reason of the events that the controller writes about it."""
    marks: str = ""
    """What the event says when the pod is deleted; {pod} is its key."""
    cancels: str = ""
    """What it says when the pod is no longer to be deleted."""
    is_disruption: bool = False
    """Whether the pod has the condition `DisruptionTarget` then, which failure policies of Jobs look for."""


@dataclass(frozen=True)
class EndedPod:
    """A pod that is gone. `moment` is in seconds since the epoch, as all times here."""

    pod: Pod
    moment: float
    cause: EndCause
    rules: tuple[str, ...] = ()
    """The device taint rules because of which it was evicted."""


@dataclass(frozen=True)
class DeletePod:
    """A pod is to be deleted, at once or `at` a later moment if the reason lasts."""

    pod: Pod
    cause: EndCause
    at: float = 0.0
    rules: tuple[str, ...] = ()
    """The device taint rules that want it."""


@dataclass(frozen=True)
class CreatePod:
    """A pod is to be made, at once or `at` a later moment. `owner` is KIND and name of what wants it."""

    pod: Pod
    owner: tuple[str, str]
    at: float = 0.0


@dataclass(frozen=True)
class CreateClaim:
    """A claim is to be made for an entry of the pod's resourceClaims."""

    claim: ResourceClaim
    pod: Pod
    entry: str
    at: ClassVar[float] = 0.0


@dataclass(frozen=True)
class WriteClaim:
    """A claim gets a new status."""

    claim: ResourceClaim
    at: ClassVar[float] = 0.0


@dataclass(frozen=True)
class DeleteClaim:
    """A claim is to be deleted."""

    claim: ResourceClaim
    at: ClassVar[float] = 0.0


@dataclass(frozen=True)
class WriteNode:
    """A node gets other taints."""

    node: Node
    at: float = 0.0


@dataclass(frozen=True)
class ReportFailure:
    """An event that says why a controller cannot do what it should."""

    kind: str
    namespace: str
    name: str
    reason: str
    message: str
    at: ClassVar[float] = 0.0


Action = DeletePod | CreatePod | CreateClaim | WriteClaim | DeleteClaim | WriteNode | ReportFailure


@dataclass(frozen=True)
class AbsentOwner:
    """A controller that pods name and that the input lacks, with the pods that it had at the start."""

    kind: str
    name: str
    pods: tuple[Pod, ...]


@dataclass(frozen=True)
class ClusterState:
    """The objects of a cluster at the moment `now`, and what has happened since `start`.

    `made` are the uids of the pods that controllers made; `revisions` says of which template pods are, as far as that
    is known; `lost_nodes` are nodes that were deleted, and when; `changed` says when an object changed,
    by kind, namespace and name.
    `evicted_at` has the moments, by uid of the pod, for which evictions by taints of nodes are decided already.
    `absent_owners` and `unlisted_templates` are what the input lacks and tells of all the same.
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
    """False if it is known that no published device has a taint."""

    @cached_property
    def index(self) -> Index:
        """Look-ups over the objects."""
        return Index(self.inventory)

    @cached_property
    def pods_by_uid(self) -> Mapping[str, Pod]:
        """The pods that exist."""
        return {pod_uid(pod): pod for pod in self.inventory.pods}

    @cached_property
    def ended_uids(self) -> frozenset[str]:
        """The pods that are gone."""
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
        """By namespace, the names of pods that exist or have ended."""
        found: dict[str, set[str]] = defaultdict(set)
        for pod in self.inventory.pods:
            found[pod.metadata.namespace].add(pod.metadata.name)
        for each in self.ended:
            found[each.pod.metadata.namespace].add(each.pod.metadata.name)
        return found

    def since(self, kind: str, name: str) -> float:
        """When the object, of a kind without namespaces, was last changed by an event, or when the simulation began."""
        return self.changed.get((kind, "", name), self.start)


def needs_none(pod: Pod) -> bool:
    """Whether the pod needs no claims any more: it has finished, or is being deleted before it had a node."""
    return ended(pod) or (pod.metadata.deletion_timestamp is not None and not pod.spec.node_name)
