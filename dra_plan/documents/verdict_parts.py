"""What is known about a pod besides its nodes: other pods, its claims, the cluster's last message."""

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
"""WouldBind: the scheduler would bind it now. WouldPreempt: it would bind it after evicting other pods. Unschedulable,
Error: as reported by the scheduler. Held: something keeps it from being tried, or bound. Suspended: a workload that
wants no pods now. Refused: the API server rejects the object. Stuck: it has a node, but one of its claims has no
devices, and nothing will allocate it. Bound: it has its node, or its devices. Finished: it is completed, or being
deleted. Unknown: the deciding objects are not in the input. Undecided: a search for it was cut short."""

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
"""The cause that holds a pod back: its gates, its group, claims that do not exist, volumes or devices that are not
ready, pods that must end first, a node that does not exist, another scheduler, a pod of its StatefulSet that is not
ready, another plugin."""

PodOutcome = Literal[
    "Bound", "Waiting", "Unschedulable", "Error", "Gated", "OverQuota", "Skipped", "Undecided", "Refused", "Unknown"
]
"""Bound: has its node. Waiting: about to be bound. Gated: not in the queue. OverQuota: a quota rejects its claim.
Skipped: not scheduled. Undecided: cut short. Refused: the API server rejects it. Unknown: the deciding objects are not
in the input."""


class OtherPod(DocumentPart, frozen=True, kw_only=True):
    """A pod that affects the explained pod."""

    namespace: str
    name: Text
    priority: int
    node_name: str = ""


OfAllNodes = Meta(
    description=("True if it was rejected before any node was checked, so that the reason applies to every node.")
)


class GangShortage(DocumentPart, frozen=True, kw_only=True):
    """A pod group that lacks nodes, because too few of its pods find a node at the same time."""

    name: Text
    least: Annotated[Amount, MinCount]
    found: Annotated[
        Amount, Meta(description="The number of pods that find a node at the same time, or already have one.")
    ]
    pod: Annotated[
        str,
        Meta(
            description="The first pod of the group that finds no node, as NAMESPACE/NAME. `nodes` is about this pod."
        ),
    ]


class AloneVerdict(DocumentPart, frozen=True, kw_only=True):
    """The result for a pod if no other pods were pending, or if nothing held the pod back."""

    verdict: Verdict
    node_name: str = ""
    of_all_nodes: Annotated[bool, OfAllNodes] = False
    nodes: Annotated[
        list[RefusingNodes],
        Meta(description=("The reasons why each node would reject the pod even if it were not held.")),
    ] = []
    gang: GangShortage | None = None
    would_bind: Annotated[Amount, Meta(description="For a workload: the number of its pods that would get a node.")] = 0


class BindingPod(DocumentPart, frozen=True, kw_only=True):
    """A pod of a workload that would be bound, and its node."""

    name: Annotated[str, Meta(description="The pod's name; empty if its controller has not created it yet.")]
    node_name: str


class GatedVerdict(AloneVerdict, frozen=True, kw_only=True):
    """The result with some feature gates switched on.

    These gates are off by default, but are probably on in the cluster.
    """

    gates: list[str]
    signs: Annotated[
        str, Meta(description="What the input contains that a cluster stores or uses only if the gates are on.")
    ]
    total_nodes: Amount = 0


class ChangedReason(DocumentPart, frozen=True, kw_only=True):
    """A reason that applied to a different number of nodes at an earlier time.

    That is the time at which the cluster's last message about the pod was written.
    """

    reason: SchedulerText
    nodes: Annotated[
        Amount, Meta(description="The number of nodes that have the reason now; 0 if none has it any longer.")
    ]
    before: Annotated[
        Amount, Meta(description="The number of nodes in the message; 0 if the message does not contain the reason.")
    ]


class LastMessage(DocumentPart, frozen=True, kw_only=True):
    """The last message about a pod from the cluster's own scheduler, as found in the condition PodScheduled."""

    reason: str
    message: Annotated[str, FailedScheduling]
    time: Annotated[str, Meta(description="The time at which the message first occurred.")] = ""
    seconds_ago: Annotated[
        Amount | None,
        Meta(description=("The number of seconds from then until the input was taken, if that is known.")),
    ] = None
    same_today: Annotated[bool, Meta(description="True if the result for the input is the same.")]
    changed: Annotated[
        list[ChangedReason],
        Meta(description="The differences between the message and the result, if both contain numbers of nodes."),
    ] = []


class TaintEviction(DocumentPart, frozen=True, kw_only=True):
    """A future eviction of a running pod because of a NoExecute taint of its node or of one of its devices."""

    pod: Annotated[str, Meta(description="The name of the pod, which is in the namespace of the owner.")]
    second: EvictionSecond
    time: EvictionTime = ""
    taint: TaintName
    device: Annotated[
        DeviceName | None, Meta(description="The device that has the taint; null if the node has it.")
    ] = None
    claim: Annotated[str, Meta(description="The claim of the pod that holds the device.")] = ""
    node: Annotated[str, Meta(description="The node that has the taint.")] = ""
    rule: Annotated[str, Meta(description="The DeviceTaintRule that sets the taint, if one does.")] = ""


class AwaitedCondition(DocumentPart, frozen=True, kw_only=True):
    """A condition of an allocated device.

    The scheduler waits for this condition before it binds the pod.
    """

    claim: str
    device: DeviceName
    condition: str
    failed: Annotated[
        bool, Meta(description="True if this is a failure condition with the status True, so that the binding fails.")
    ] = False
    status: Annotated[
        str, Meta(description="The status of the condition; empty if the driver has not reported it.")
    ] = ""
    reason: str = ""
    message: Text = ""


class FullClaim(DocumentPart, frozen=True, kw_only=True):
    """A claim of a pod that gets reserved for as many other pods as the API server allows."""

    claim: str
    pods: Annotated[Amount, Meta(description="The number of pods for which the claim is reserved in the input.")]
    most: Annotated[Amount, Meta(description="The largest number of pods for which a claim can be reserved.")]


class ClaimOfLostNode(DocumentPart, frozen=True, kw_only=True):
    """A pod's claim whose devices are on a node that is not in the input."""

    claim: str
    node_name: str
    pods: Annotated[
        list[str],
        Meta(description="The other pods that use the claim. Its devices are free once they have ended."),
    ] = []
    deleted: Annotated[bool, Meta(description="True if all of these pods are being deleted.")] = False
    finalizers: Annotated[list[str], Meta(description="The finalizers that keep these pods from being deleted.")] = []


class LabelConflict(DocumentPart, frozen=True, kw_only=True):
    """Requirements of a pod for one node label. No value of the label meets all of them."""

    label: str
    wants: Annotated[list[str], Meta(description="The requirements that conflict, such as `zone=a` and `zone=b`.")]
    by_selector: Annotated[bool, Meta(description="True if one of them is in nodeSelector.")] = False

    def has(self, one: NodeObstacle) -> bool:
        """Return whether an obstacle on nodes is a consequence of this conflict."""
        return one.kind == "Label" and one.label == self.label


class DefaultedRequest(DocumentPart, frozen=True, kw_only=True):
    """A request that a LimitRange adds to a container."""

    container: str
    resource: str
    amount: str
    limit_range: str


class LeavingClaim(DocumentPart, frozen=True, kw_only=True):
    """A pod's ResourceClaim that is being deleted. No pod may begin to use such a claim."""

    name: Text
    pods: Annotated[
        list[str], Meta(description="The other pods for which the claim is reserved. The claim exists until they end.")
    ]
    generated: Annotated[bool, Meta(description="True if the claim was created from a template for this pod.")] = False


class PodEvent(DocumentPart, frozen=True, kw_only=True):
    """A warning about a pod, read from an Event in the input. Of several warnings with one reason, this is the last."""

    reason: Text
    message: Text
    component: Annotated[str, Meta(description="The component that reports the event, such as kubelet.")] = ""
    time: Annotated[str, Meta(description="The time at which the event last occurred.")] = ""
    count: Amount = 1
