"""The results of pods, pod groups and claims in a schedule: attempts, evictions and the final state."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from dra_plan.api.core import NodeAllocatableResourceClaimStatus
from dra_plan.api.resource import ResourceClaimConsumerReference
from dra_plan.documents.base import (
    ClaimAllocation,
    DocumentPart,
    EvictionTime,
    FailedScheduling,
    GroupPods,
    MinCount,
    ObjectName,
    Text,
    UndecidedNodes,
    one_of,
)
from dra_plan.documents.node_obstacles import RefusingNodes
from dra_plan.documents.reasons import LeadingReason
from dra_plan.documents.stories import AbsentName, MostLeft, NodeStory
from dra_plan.documents.verdict_parts import OtherPod, PodOutcome

PodGroupOutcome = Literal["Scheduled", "Unschedulable", "Error", "Gated", "Empty"]


class ScheduledPod(DocumentPart, frozen=True, kw_only=True):
    """The result of scheduling a pod."""

    namespace: str
    name: Text
    outcome: Annotated[
        PodOutcome,
        Meta(
            description=(
                "Bound: it has a node. Waiting: it gets a node after something else happens. Unschedulable: "
                "the scheduler rejects it. Error: the scheduler stops with an error. Gated: it never "
                "entered the queue. OverQuota: a quota rejects its claim. Skipped: it was not scheduled. "
                "Undecided: a search ran out of steps, or time ran out before the pod was tried or retried. "
                "Refused: the API server rejects it, or creates no more pods for its controller, as the "
                "message says. Unknown: it would be rejected, but the input lacks the deciding objects."
            )
        ),
    ]
    node_name: str | None
    message: Annotated[str | None, FailedScheduling]
    reason: Annotated[str, one_of("Unschedulable", "SchedulerError")] = ""
    nominated_node_name: str = ""
    waiting: Annotated[str, Meta(description=("What the pod is waiting for, or why it is not scheduled."))] = ""
    best_nodes: Annotated[
        list[str],
        Meta(
            description=(
                "All nodes with the highest score, if there are several. If errors on other nodes ended the "
                "attempt: the nodes that would have fit."
            )
        ),
    ] = []
    errors: Annotated[
        dict[str, str],
        Meta(
            description="The nodes on which a filter failed with an error, so that the scheduler stops with an error."
        ),
    ] = {}
    undecided_nodes: UndecidedNodes = []
    attempts: Annotated[int, Meta(ge=1)] = 0
    workload: Annotated[
        ObjectName | None, Meta(description="The workload that creates the pod, if the pod does not exist yet.")
    ] = None
    node_allocatable: Annotated[
        list[NodeAllocatableResourceClaimStatus],
        Meta(
            description=(
                "The node resources that the devices of the pod's claims use, in the format of the pod's status."
            )
        ),
    ] = []

    @property
    def is_undecided(self) -> bool:
        """Whether the pod has no node because a search was cut short or the input lacks the deciding objects."""
        return self.outcome in ("Undecided", "Unknown") or bool(self.undecided_nodes)


class ScheduledClaim(DocumentPart, frozen=True, kw_only=True):
    """A claim in the cluster's final state."""

    namespace: str
    name: str
    allocation: ClaimAllocation | None
    reserved_for: list[ResourceClaimConsumerReference]


class ScheduledVolume(DocumentPart, frozen=True, kw_only=True):
    """A PersistentVolumeClaim that was not bound in the input, and the volume or node chosen for it, if any."""

    pvc: Annotated[Text, Meta(description="The PersistentVolumeClaim, as NAMESPACE/NAME.")]
    pv: Annotated[str, Meta(description="The existing PersistentVolume that it gets, if any.")] = ""
    provision: Annotated[str, Meta(description="The node for which a new volume is created, if any.")] = ""


class PodRejectedLater(DocumentPart, frozen=True, kw_only=True):
    """A pod that the scheduler alone would bind or reject, but that a quota or limit keeps from being created."""

    namespace: str
    name: Text
    message: Text


class GroupCondition(DocumentPart, frozen=True, kw_only=True):
    """A condition of a pod group, as the scheduler writes it."""

    type: str
    status: str
    reason: str = ""
    message: str = ""


class ScheduledPodGroup(DocumentPart, frozen=True, kw_only=True):
    """The result of scheduling a pod group."""

    namespace: str
    name: Text
    outcome: Annotated[
        PodGroupOutcome,
        Meta(
            description=(
                "Scheduled: enough pods found a node at the same time. Unschedulable: not enough pods did. "
                "Error: an error ended the attempt. Gated: none of its pods entered the queue. Empty: it "
                "has no pods."
            )
        ),
    ]
    policy: Annotated[str, one_of("gang", "basic", "")]
    min_count: Annotated[int, MinCount] = 0
    pods: Annotated[int, GroupPods] = 0
    bound: Annotated[int, Meta(description="The number of the group's pods that have a node.")] = 0
    conditions: list[GroupCondition] = []
    waiting: Annotated[
        str, Meta(description="If none of the group's pods was tried: why one of them is not in the queue.")
    ] = ""
    attempts: Annotated[int, Meta(ge=1)] = 0


class EvictedPod(DocumentPart, frozen=True, kw_only=True):
    """A pod that is evicted to make room for another pod."""

    pod: str
    preemptor: Annotated[str, Meta(description="The pod that needs the room, or podgroup/NAMESPACE/NAME.")]
    node: str


class TaintEvictedPod(DocumentPart, frozen=True, kw_only=True):
    """A pod that is evicted because of a taint on its node or on one of its devices."""

    namespace: str
    name: str
    node_name: str
    by: Annotated[str, one_of("device taint", "node taint")]


class PluginVerdict(DocumentPart, frozen=True, kw_only=True):
    """A plugin's result."""

    plugin: str
    status: Annotated[
        str,
        one_of("Success", "Error", "Unschedulable", "UnschedulableAndUnresolvable", "Wait", "Skip", "Pending"),
    ]
    message: str | None = None
    node_names: list[str] | None = None
    nominated_node: str | None = None


class NodeVerdicts(DocumentPart, frozen=True, kw_only=True):
    """The results of the Filter plugins on a node."""

    node: str
    verdicts: list[PluginVerdict]


class TracedAttempt(DocumentPart, frozen=True, kw_only=True):
    """A scheduling cycle of a pod."""

    pod: str
    attempt: Annotated[int, Meta(ge=1)]
    pod_group: Annotated[str, Meta(description="The group that the pod was tried with, as NAMESPACE/NAME.")] = ""
    domain: Annotated[
        str,
        Meta(description="The topology domain in which the pod was tried, as a value of the group's topology key."),
    ] = ""
    pre_filter: list[PluginVerdict] = []
    filter: list[NodeVerdicts] = []
    post_filter: list[PluginVerdict] = []
    score: Annotated[dict[str, dict[str, int]], Meta(description="The weighted score of each node, by plugin.")] = {}
    best: list[str] = []
    node: str = ""
    message: str = ""


class TracedWake(DocumentPart, frozen=True, kw_only=True):
    """An event that made the scheduler retry a pending pod."""

    pod: str
    event: Annotated[str, Meta(description=("The Kubernetes name of the event, such as AssignedPodDelete."))]
    object: str
    plugin: str
    queue: Annotated[str, one_of("active", "backoff")]


class SchedulingTrace(DocumentPart, frozen=True, kw_only=True):
    """The results of every plugin on every node, and the events that made the scheduler retry pods."""

    attempts: list[TracedAttempt]
    wakes: list[TracedWake]


class PodName(DocumentPart, frozen=True, kw_only=True):
    """The name of a pod."""

    namespace: str
    name: Text


class ExplainedAttempt(DocumentPart, frozen=True, kw_only=True):
    """Why pods got no devices in their last attempt, in the cluster as it was at that time."""

    pods: Annotated[
        list[PodName],
        Meta(
            min_length=1,
            description=(
                "The pods, which have the same requests and the same result. The details are those of the first pod."
            ),
        ),
    ]
    attempt: Annotated[int, Meta(ge=1)]
    message: Annotated[str, FailedScheduling]
    absent: Annotated[
        list[AbsentName], Meta(description="Values that selectors require but no device in the cluster has.")
    ]
    leading: Annotated[
        list[LeadingReason], Meta(description=("The reasons why nodes reject the pods, most common first."))
    ]
    stories: Annotated[
        list[NodeStory],
        Meta(
            description=(
                "What happens on nodes that reject the pods because of devices. Nodes with the same reasons "
                "share an entry."
            )
        ),
    ]
    devices_fit: Annotated[
        list[RefusingNodes],
        Meta(
            description=(
                "The nodes on which the claims fit, and the first reason why the scheduler rejects the pods there."
            )
        ),
    ] = []
    most_left: Annotated[
        MostLeft | None,
        Meta(
            description=(
                "A request that no node can meet, and the node that comes closest. Nodes may also reject "
                "the pods for other reasons."
            )
        ),
    ] = None


class ContestedPods(DocumentPart, frozen=True, kw_only=True):
    """The pods of an owner, if more of them would get a node without the other pending pods."""

    owner: ObjectName
    pods: Annotated[int, Meta(ge=1, description="The pods of the owner that had no node before.")]
    would_bind: Annotated[int, Meta(ge=0, description="The number of pods in `pods` that get a node.")]
    would_bind_alone: Annotated[
        int, Meta(ge=1, description="The number of pods in `pods` that would get a node without the other pods.")
    ]
    without_node: Annotated[list[PodName], Meta(min_length=1, description="The pods in `pods` that get no node.")]
    node_name: Annotated[str, Meta(description="The node that the first pod in `withoutNode` would get.")]
    first: Annotated[list[OtherPod], Meta(min_length=1, description="The pods that take precedence and use the room.")]


class PodOwner(DocumentPart, frozen=True, kw_only=True):
    """The controller of a pod."""

    kind: str
    name: Text


class SettledPod(DocumentPart, frozen=True, kw_only=True):
    """A pod in the cluster's final state."""

    namespace: str
    name: Text
    owner: PodOwner | None
    node_name: str | None
    devices: Annotated[
        list[str], Meta(description="The devices of the pod's claims, each as REQUEST=DRIVER/POOL/DEVICE.")
    ]
    foreseen: Annotated[
        bool, Meta(description=("True if a controller has yet to create the pod. Its name is then a placeholder."))
    ] = False
    message: Annotated[str | None, Meta(description="The scheduler's message saying why the pod has no node.")] = None


class GonePod(DocumentPart, frozen=True, kw_only=True):
    """A pod that ended without an event that requested it."""

    namespace: str
    name: Text
    owner: PodOwner | None
    node_name: str | None
    by: Annotated[str, Meta(description="What ended the pod.")]
    reason: Annotated[str, Meta(description="The reason in the pod's condition DisruptionTarget, if it has one.")] = ""
    message: Text = ""
    second: Annotated[
        float,
        Meta(description=("The time in seconds after the first event, or after the start if there are no events.")),
    ]
    time: EvictionTime = ""
    recreated_as: Annotated[
        list[Text], Meta(description=("The pods that its owner has created since then, if any."))
    ] = []


class SettledClaim(DocumentPart, frozen=True, kw_only=True):
    """A claim in the cluster's final state."""

    namespace: str
    name: Text
    devices: Annotated[
        list[str] | None,
        Meta(
            description=(
                "The allocated devices, each as REQUEST=DRIVER/POOL/DEVICE, or null if the claim is not allocated."
            )
        ),
    ]
    reserved_for: list[str]


class RefusedObject(DocumentPart, frozen=True, kw_only=True):
    """An object that an event creates, but that the API server rejects."""

    object: Annotated[Text, Meta(description="The object, as KIND/NAME.")]
    namespace: str
    message: Text


class ControllerEvent(DocumentPart, frozen=True, kw_only=True):
    """An Event that a controller writes about an object."""

    kind: str
    namespace: str
    name: Text
    reason: str
    message: Text
    second: float


class ObjectCondition(DocumentPart, frozen=True, kw_only=True):
    """A condition that a controller writes to the status of an object."""

    kind: str
    namespace: str
    name: Text
    type: str
    status: str
    reason: str
    message: Text


class LaterEviction(DocumentPart, frozen=True, kw_only=True):
    """A pod that will be evicted after the end of the simulation."""

    namespace: str
    name: Text
    by: str
    second: float
    time: EvictionTime = ""


BY_CHANCE = "pods are evicted and recreated until the scheduler picks"
"""The beginning of the reason if the final state depends on ties between nodes.

The simulation chooses the first of the best nodes, but a real scheduler may choose any of them.
"""


class UnsettledCluster(DocumentPart, frozen=True, kw_only=True):
    """Why the cluster does not settle."""

    message: str
    pods: Annotated[
        list[PodName], Meta(description=("The pods that are retried endlessly, if that is the reason."))
    ] = []


class SettledCluster(DocumentPart, frozen=True, kw_only=True):
    """The final state of the cluster. Neither the scheduler nor a controller has anything left to do."""

    pods: list[SettledPod]
    evicted: list[GonePod]
    claims: list[SettledClaim]
    refused: list[RefusedObject]
    events: list[ControllerEvent]
    conditions: list[ObjectCondition]
    later: list[LaterEviction]
    rounds: Annotated[int, Meta(description="The number of turns that the controllers and the scheduler took.")]
    unsettled: UnsettledCluster | None
