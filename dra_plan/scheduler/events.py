"""Cluster events, and which of them may make a rejected pod schedulable (queueing hints)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, IntFlag
from typing import Any

from msgspec import Struct

from dra_plan.api.core import Pod


class Action(IntFlag):
    """How an object changed. For an update, this says which part of the object changed."""

    ADD = 1
    DELETE = 2
    UPDATE_NODE_ALLOCATABLE = 4
    UPDATE_NODE_LABEL = 8
    UPDATE_NODE_TAINT = 16
    UPDATE_NODE_DECLARED_FEATURE = 32
    UPDATE_POD_LABEL = 64
    UPDATE_POD_SCALE_DOWN = 128
    UPDATE_POD_TOLERATION = 256
    UPDATE_POD_SCHEDULING_GATES_ELIMINATED = 512
    UPDATE_POD_GENERATED_RESOURCE_CLAIM = 1024
    UPDATE_OTHER = 2048
    UPDATE = 4 + 8 + 16 + 32 + 64 + 128 + 256 + 512 + 1024 + 2048
    ALL = 1 + 2 + UPDATE


class Resource(Enum):
    """The kinds of objects whose changes can cause pods to be retried."""

    NODE = "Node"
    ASSIGNED_POD = "AssignedPod"
    UNSCHEDULED_POD = "UnscheduledPod"
    CLAIM = "ResourceClaim"
    SLICE = "ResourceSlice"
    CLASS = "DeviceClass"
    POD_GROUP = "PodGroup"
    NAMESPACE = "Namespace"
    VOLUME = "PersistentVolume"
    VOLUME_CLAIM = "PersistentVolumeClaim"
    STORAGE_CLASS = "StorageClass"
    CSI_NODE = "CSINode"
    CSI_DRIVER = "CSIDriver"
    STORAGE_CAPACITY = "CSIStorageCapacity"
    VOLUME_ATTACHMENT = "VolumeAttachment"
    ALL = "*"


class Hint(Enum):
    """The result of a hint function: whether the pod should be retried after an event."""

    SKIP = "QueueSkip"
    QUEUE = "Queue"


HintFunction = Callable[[Pod, Any, Any], Hint]
"""A function that takes the waiting pod, the old object and the new object, and returns a hint.

The old object is None after an addition, and the new object is None after a deletion.
"""


class Interest(Struct, frozen=True):
    """An event that a plugin is interested in (upstream: ClusterEventWithHint).

    Without a hint function, every such event queues the pod.
    """

    resource: Resource
    action: Action
    hint: HintFunction | None = None
    users_of: Callable[[Any, Any], str | None] | None = None
    """A function that takes the old and the new object and returns the only claim whose users can be queued, or None if
    any pod can. The hints of other pods, of which there may be thousands, are not evaluated.
    """


@dataclass(slots=True)  # not frozen: that takes three times as long, and there are several events for each pod
class Event:
    """A change of an object, with the object before and after the change."""

    resource: Resource
    action: Action
    old: Any = None
    new: Any = None

    @property
    def label(self) -> str:
        """The event's label in Kubernetes' format, such as `AssignedPodDelete`, `NodeAdd` or `ResourceClaimUpdate`."""
        if self.action is Action.ADD:
            return f"{self.resource.value}Add"
        if self.action is Action.DELETE:
            return f"{self.resource.value}Delete"
        return f"{self.resource.value}Update"

    @property
    def object_name(self) -> str:
        """The name of the object as NAMESPACE/NAME, or just its name if it is cluster-scoped."""
        metadata = (self.new or self.old).metadata
        return f"{metadata.namespace}/{metadata.name}" if metadata.namespace else str(metadata.name)


class Wake(Struct, frozen=True):
    """The reason why a waiting pod is retried, for the trace."""

    pod: str
    event: str
    object: str
    plugin: str
    to: str
    time: float


def concerns(interest: Interest, event: Event) -> bool:
    """Return whether the plugin is interested in this kind of event."""
    # plain numbers: flags are combined a hundred times for each pod, and make new flags each time
    return interest.resource in (event.resource, Resource.ALL) and int.__and__(interest.action, event.action) != 0


def wakes(interest: Interest, event: Event, pod: Pod) -> bool:
    """Return whether a plugin with this interest would retry the pod after the event."""
    if not concerns(interest, event):
        return False
    return interest.hint is None or interest.hint(pod, event.old, event.new) is Hint.QUEUE
