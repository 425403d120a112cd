"""What a verdict says about a pod apart from its nodes: other pods, its claims, and the cluster's last message."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from .base import (
    Amount,
    DeviceName,
    DocumentPart,
    EvictionSecond,
    EvictionTime,
    FailedScheduling,
    MinCount,
    SchedulerText,
    Text,
)
from .devices import TaintName
from .node_obstacles import NodeObstacle, RefusingNodes

Verdict = Literal[
    "WouldBind",
    "WouldPreempt",
    "Unschedulable",
    "Error",
    "Held",
    "Suspended",
    "Refused",
    "Stuck",
    "Bound",
    "Finished",
    "Unknown",
    "Undecided",
]
"""WouldBind: the scheduler would bind it now. WouldPreempt: the scheduler would bind it after evicting other pods.

Unschedulable, Error: the scheduler's own result. Held: something prevents it from being tried or bound. Suspended: a
workload that currently wants no pods. Refused: the API server rejects the object. Stuck: it has a node, but one of its
claims has no devices and never will. Bound: it has a node or devices. Finished: it is completed or being deleted.
Unknown: the input lacks the deciding objects. Undecided: a search was cut short.
"""

HeldBy = Literal[
    "SchedulingGates",
    "PodGroup",
    "MissingClaim",
    "Volumes",
    "BindingConditions",
    "Preemption",
    "NodeName",
    "OtherScheduler",
    "Order",
    "Plugin",
]
"""Why a pod is held back.

The causes are scheduling gates, a pod group, missing claims, volumes or devices that are not ready, pods that must end
first, a missing node, another scheduler, an earlier pod of a StatefulSet, and another plugin.
"""

PodOutcome = Literal[
    "Bound", "Waiting", "Unschedulable", "Error", "Gated", "OverQuota", "Skipped", "Undecided", "Refused", "Unknown"
]
"""Bound: it has a node. Waiting: it is about to be bound. Gated: it is not in the queue.

OverQuota: a quota rejects its claim. Skipped: it was not scheduled. Undecided: a search was cut short. Refused: the API
server rejects it. Unknown: the input lacks the deciding objects.
"""


class OtherPod(DocumentPart, frozen=True, kw_only=True):
    """A pod that affects the explained pod."""

    namespace: str
    name: Text
    priority: int
    node_name: str = ""


OfAllNodes = Meta(
    description=("True if the pod was rejected before any node was checked, so that the reason applies to every node.")
)


class GangShortage(DocumentPart, frozen=True, kw_only=True):
    """A pod group that is not scheduled, because too few of its pods find a node at the same time."""

    name: Text
    least: Annotated[Amount, MinCount]
    found: Annotated[
        Amount, Meta(description="The number of pods that find a node at the same time or already have one.")
    ]
    pod: Annotated[
        str,
        Meta(
            description="The first pod of the group that finds no node, as NAMESPACE/NAME. `nodes` describes this pod."
        ),
    ]


class AloneVerdict(DocumentPart, frozen=True, kw_only=True):
    """The result for a pod if no other pods were pending, or if nothing held it back."""

    verdict: Verdict
    node_name: str = ""
    of_all_nodes: Annotated[bool, OfAllNodes] = False
    nodes: Annotated[
        list[RefusingNodes],
        Meta(description=("Why each node would reject the pod even if nothing held it back.")),
    ] = []
    gang: GangShortage | None = None
    would_bind: Annotated[Amount, Meta(description="For a workload: the number of its pods that would get a node.")] = 0


class BindingPod(DocumentPart, frozen=True, kw_only=True):
    """A pod of a workload that would be bound, and its node."""

    name: Annotated[str, Meta(description="The pod's name, or empty if its controller has not created it yet.")]
    node_name: str


class GatedVerdict(AloneVerdict, frozen=True, kw_only=True):
    """The result with feature gates that are off by default but probably on in the cluster."""

    gates: list[str]
    signs: Annotated[str, Meta(description="The objects or fields in the input that exist only if the gates are on.")]
    total_nodes: Amount = 0


class ChangedReason(DocumentPart, frozen=True, kw_only=True):
    """A reason that applied to a different number of nodes in the cluster's last message about the pod."""

    reason: SchedulerText
    nodes: Annotated[
        Amount, Meta(description="The number of nodes to which the reason applies now, or 0 if it applies to none.")
    ]
    before: Annotated[
        Amount, Meta(description="The number of nodes in the message, or 0 if the message does not contain the reason.")
    ]


class LastMessage(DocumentPart, frozen=True, kw_only=True):
    """The last message about a pod from the cluster's own scheduler, taken from the condition PodScheduled."""

    reason: str
    message: Annotated[str, FailedScheduling]
    time: Annotated[str, Meta(description="The time at which the message first occurred.")] = ""
    seconds_ago: Annotated[
        Amount | None,
        Meta(description=("The number of seconds from `time` until the input was collected, if known.")),
    ] = None
    same_today: Annotated[bool, Meta(description="Whether the result for the input is the same as in the message.")]
    changed: Annotated[
        list[ChangedReason],
        Meta(description="The differences between the message and the result, if both count nodes."),
    ] = []


class TaintEviction(DocumentPart, frozen=True, kw_only=True):
    """A future eviction of a running pod, because its node or one of its devices has a NoExecute taint."""

    pod: Annotated[str, Meta(description="The name of the pod, which is in the owner's namespace.")]
    second: EvictionSecond
    time: EvictionTime = ""
    taint: TaintName
    device: Annotated[
        DeviceName | None, Meta(description="The device with the taint, or null if the node has the taint.")
    ] = None
    claim: Annotated[str, Meta(description="The pod's claim that holds the device.")] = ""
    node: Annotated[str, Meta(description="The node with the taint.")] = ""
    rule: Annotated[str, Meta(description="The DeviceTaintRule that sets the taint, if any.")] = ""


class AwaitedCondition(DocumentPart, frozen=True, kw_only=True):
    """A condition of an allocated device that the scheduler waits for before it binds the pod."""

    claim: str
    device: DeviceName
    condition: str
    failed: Annotated[
        bool,
        Meta(description="True if this is a failure condition with the status True, so that the binding fails."),
    ] = False
    status: Annotated[str, Meta(description="The condition's status, or empty if the driver has not reported it.")] = ""
    reason: str = ""
    message: Text = ""


class FullClaim(DocumentPart, frozen=True, kw_only=True):
    """A claim that is already reserved for as many pods as the API server allows, although another pod needs it."""

    claim: str
    pods: Annotated[Amount, Meta(description="The number of pods that the claim is reserved for in the input.")]
    most: Annotated[Amount, Meta(description="The maximum number of pods that a claim can be reserved for.")]


class ClaimOfLostNode(DocumentPart, frozen=True, kw_only=True):
    """A pod's claim with devices on a node that is not in the input."""

    claim: str
    node_name: str
    pods: Annotated[
        list[str],
        Meta(description="The other pods that use the claim. Its devices become free when these pods have ended."),
    ] = []
    deleted: Annotated[bool, Meta(description="Whether all pods in `pods` are being deleted.")] = False
    finalizers: Annotated[list[str], Meta(description="The finalizers that delay the deletion of these pods.")] = []


class LabelConflict(DocumentPart, frozen=True, kw_only=True):
    """A pod's requirements for a node label that no value can satisfy."""

    label: str
    wants: Annotated[list[str], Meta(description="The conflicting requirements, such as `zone=a` and `zone=b`.")]
    by_selector: Annotated[bool, Meta(description="Whether one of the requirements is in nodeSelector.")] = False

    def has(self, one: NodeObstacle) -> bool:
        """Return whether this conflict causes a node's obstacle."""
        return one.kind == "Label" and one.label == self.label


class DefaultedRequest(DocumentPart, frozen=True, kw_only=True):
    """A request that a LimitRange adds to a container."""

    container: str
    resource: str
    amount: str
    limit_range: str


class ClaimableDevices(DocumentPart, frozen=True, kw_only=True):
    """Free devices on nodes that lack an extended resource: pods with a claim for the class may have them."""

    resource: Text
    class_: str
    devices: Annotated[Amount, Meta(description="The number of these devices, or 0 if some are parts of others.")]
    nodes: Annotated[list[str], Meta(description="The nodes with such devices.", min_length=1)]


class LeavingClaim(DocumentPart, frozen=True, kw_only=True):
    """A pod's ResourceClaim that is being deleted, which no new pod may use."""

    name: Text
    pods: Annotated[
        list[str], Meta(description="The other pods that the claim is reserved for. The claim exists until they end.")
    ]
    generated: Annotated[bool, Meta(description="Whether the claim was created from a template for this pod.")] = False


class PodEvent(DocumentPart, frozen=True, kw_only=True):
    """A warning about a pod from an Event in the input.

    If several warnings have the same reason, this is the last one.
    """

    reason: Text
    message: Text
    component: Annotated[str, Meta(description="The component that reported the event, such as kubelet.")] = ""
    time: Annotated[str, Meta(description="The time at which the event last occurred.")] = ""
    count: Amount = 1
