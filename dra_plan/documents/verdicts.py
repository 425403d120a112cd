"""The result for a pod, workload or claim, and the reasons: parts of `Explanation`."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from dra_plan.documents.refusals import RefusalFinding

from .base import (
    Amount,
    DeviceName,
    DocumentPart,
    EvictionSecond,
    EvictionTime,
    FailedScheduling,
    GroupPods,
    MinCount,
    ObjectName,
    SchedulerText,
    Text,
    one_of,
)
from .devices import ClaimHolder, TaintName
from .node_obstacles import NodeObstacle, RefusingNodes
from .stories import AbsentName, DriverPod, SharedClaim, UnreadyPod
from .suggestions import TriedChanges

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
    "Bound", "Waiting", "Unschedulable", "Error", "Gated", "Skipped", "Undecided", "Refused", "Unknown"
]
"""Bound: has its node. Waiting: about to be bound. Gated: not in the queue. Skipped: not scheduled. Undecided: cut
short. Refused: the API server rejects it. Unknown: the deciding objects are not in the input."""


class OtherPod(DocumentPart, frozen=True, kw_only=True):
    """A pod that affects the explained one."""

    namespace: str
    name: Text
    priority: int
    node_name: str = ""


OfAllNodes = Meta(description=("It was rejected before any node was checked, so every node has this reason."))


class GangShortage(DocumentPart, frozen=True, kw_only=True):
    """A pod group of which too few pods find a node at the same time."""

    name: Text
    least: Annotated[Amount, MinCount]
    found: Annotated[Amount, Meta(description="The pods that find a node at the same time, or have one.")]
    pod: Annotated[str, Meta(description="NAMESPACE/NAME of the first pod of it that finds none; `nodes` is about it.")]


class AloneVerdict(DocumentPart, frozen=True, kw_only=True):
    """The result for a pod if no other pod were pending, or without what holds it back."""

    verdict: Verdict
    node_name: str = ""
    of_all_nodes: Annotated[bool, OfAllNodes] = False
    nodes: Annotated[
        list[RefusingNodes], Meta(description=("Why each node would reject it even if it were not held."))
    ] = []
    gang: GangShortage | None = None
    would_bind: Annotated[Amount, Meta(description="For a workload: the number of its pods that would get a node.")] = 0


class GatedVerdict(AloneVerdict, frozen=True, kw_only=True):
    """The result with feature gates that are off by default and probably on in the cluster."""

    gates: list[str]
    signs: Annotated[str, Meta(description="What the input has that a cluster stores or uses only with the gates.")]
    total_nodes: Amount = 0


class ChangedReason(DocumentPart, frozen=True, kw_only=True):
    """A reason whose number of nodes in the cluster's last message differs from the present one."""

    reason: SchedulerText
    nodes: Annotated[Amount, Meta(description="With the reason now; 0 if none has it any more.")]
    before: Annotated[Amount, Meta(description="In the message; 0 if it does not have the reason.")]


class LastMessage(DocumentPart, frozen=True, kw_only=True):
    """The last message of the cluster's own scheduler about a pod (its condition PodScheduled)."""

    reason: str
    message: Annotated[str, FailedScheduling]
    time: Annotated[str, Meta(description="The time of the first such message.")] = ""
    seconds_ago: Annotated[
        Amount | None, Meta(description=("The seconds from then until the input was taken, if that time is known."))
    ] = None
    same_today: Annotated[bool, Meta(description="Whether the same is found in the input.")]
    changed: Annotated[
        list[ChangedReason],
        Meta(description="The differences, if both the message and the result count nodes."),
    ] = []


class TaintEviction(DocumentPart, frozen=True, kw_only=True):
    """A future eviction of a running pod, because of a NoExecute taint of its node or of one of its devices."""

    pod: Annotated[str, Meta(description="Its name, in the namespace of the owner.")]
    second: EvictionSecond
    time: EvictionTime = ""
    taint: TaintName
    device: Annotated[DeviceName | None, Meta(description="What has the taint; null if the node has it.")] = None
    claim: Annotated[str, Meta(description="The pod's claim that has the device.")] = ""
    node: Annotated[str, Meta(description="The node that has the taint.")] = ""
    rule: Annotated[str, Meta(description="The DeviceTaintRule that sets the taint, if one does.")] = ""


class UnmatchedVolume(DocumentPart, frozen=True, kw_only=True):
    """A volume of a claim's class, and what keeps the volume controller from binding it to the claim.

    Without `faults`, the controller binds it.
    """

    name: str
    faults: list[Annotated[str, one_of("held", "small", "form", "deleted", "phase", "selector", "access-modes")]] = []
    phase: str = ""
    size: str = ""
    holder: Annotated[str, Meta(description="held: the claim (NAMESPACE/NAME) in spec.claimRef.")] = ""


class VolumeClaimNeeds(DocumentPart, frozen=True, kw_only=True):
    """A PersistentVolumeClaim of a pod that volumes exclude from nodes: its volume, or its StorageClass."""

    name: str
    missing: Annotated[bool, Meta(description="There is no such claim in its namespace.")] = False
    volume: Annotated[str, Meta(description="Empty if it is not bound.")] = ""
    storage_class: str = ""
    class_missing: Annotated[bool, Meta(description="The StorageClass is not in the input, which has others.")] = False
    near: Annotated[str, Meta(description="A StorageClass, or a claim, with a similar name.")] = ""
    classes: Annotated[
        list[str], Meta(description="The existing StorageClasses, if that of the claim is missing, or it names none.")
    ] = []
    classless: Annotated[bool, Meta(description="The claim does not name a StorageClass, not even an empty one.")] = (
        False
    )
    default_class: Annotated[str, Meta(description="The default StorageClass, which a claim without one gets.")] = ""
    size: Annotated[str, Meta(description="The storage that a claim without volume requests.")] = ""
    provisions: Annotated[
        bool | None, Meta(description="The class has a provisioner, which creates volumes; null if it is not known.")
    ] = None
    volumes: Annotated[
        list[UnmatchedVolume],
        Meta(description="Of a claim without volume: existing volumes of its class, the best match first."),
    ] = []
    waits: Annotated[
        bool, Meta(description=("The volume is provisioned once the pod has a node (WaitForFirstConsumer)."))
    ] = False
    labels: Annotated[list[str], Meta(description="The node labels that the volume or the class requires.")] = []
    nowhere: Annotated[bool, Meta(description="No node of the input can use the volume.")] = False
    stateful_set: Annotated[str, Meta(description="The StatefulSet that creates the claim from a template.")] = ""
    template_class: Annotated[
        str, Meta(description="The StorageClass of this template, if it is not in the input, which has others.")
    ] = ""


class VolumePlace(DocumentPart, frozen=True, kw_only=True):
    """A volume claim, and the values of a node label with which its volume can be used."""

    claim: str
    values: list[str]


class VolumesApart(DocumentPart, frozen=True, kw_only=True):
    """Two volume claims of a pod whose volumes no node can reach both."""

    label: Annotated[str, Meta(description="The node label whose values exclude each other.")]
    places: list[VolumePlace]
    at_once: Annotated[
        list[str], Meta(description="The StorageClasses that make volumes before the pod has a node (Immediate).")
    ] = []
    waiting: Annotated[
        list[str], Meta(description="StorageClasses of the same provisioner that wait for the pod instead.")
    ] = []


class AwaitedCondition(DocumentPart, frozen=True, kw_only=True):
    """A condition of an allocated device for which the scheduler waits before it binds the pod."""

    claim: str
    device: DeviceName
    condition: str
    failed: Annotated[bool, Meta(description="It is a failure condition that is True: the binding fails.")] = False
    status: Annotated[str, Meta(description="Empty if the driver has not reported it.")] = ""
    reason: str = ""
    message: Text = ""


class ClaimOfLostNode(DocumentPart, frozen=True, kw_only=True):
    """A claim of a pod whose devices are on a node that the input does not have."""

    claim: str
    node_name: str
    pods: Annotated[
        list[str], Meta(description="Other pods that use the claim: only when they end are they free.")
    ] = []
    deleted: Annotated[bool, Meta(description="All of them are being deleted.")] = False
    finalizers: Annotated[list[str], Meta(description="What keeps them from being gone.")] = []


class VolumeElsewhere(DocumentPart, frozen=True, kw_only=True):
    """A volume claim of a bound pod that only one node may use, and that a pod on another node uses."""

    claim: str
    pod: str
    node_name: str
    deleted: Annotated[bool, Meta(description="That pod is being deleted.")] = False
    unreachable: Annotated[bool, Meta(description="Its node does not exist, or its kubelet does not report.")] = False


class LabelConflict(DocumentPart, frozen=True, kw_only=True):
    """Requirements of a pod for a node label that no value meets."""

    label: str
    wants: Annotated[list[str], Meta(description="The requirements, such as `zone=a` and `zone=b`.")]
    by_selector: Annotated[bool, Meta(description="Whether one of them is in nodeSelector.")] = False

    def has(self, one: NodeObstacle) -> bool:
        """Return whether an obstacle on nodes follows from it."""
        return one.kind == "Label" and one.label == self.label


DEVICES = "DynamicResources"
"""The plugin that handles devices."""

GOOD = ("WouldBind", "WouldPreempt")
"""Verdicts that promise a node."""

TRIED = ("Unschedulable", "Error")
"""Verdicts for which changes are tried with the whole scheduler."""

_LIFTS = {
    "uncordon-node": ("NodeUnschedulable", "TaintToleration"),
    "await-node": ("TaintToleration",),
    "tolerate-node-taint": ("TaintToleration",),
    "remove-node-taint": ("TaintToleration",),
}
"""The plugins that no longer reject a node after a change."""


class DefaultedRequest(DocumentPart, frozen=True, kw_only=True):
    """A request that a LimitRange adds to a container."""

    container: str
    resource: str
    amount: str
    limit_range: str


class LeavingClaim(DocumentPart, frozen=True, kw_only=True):
    """A ResourceClaim of a pod that is being deleted, so that no pod may begin to use it."""

    name: Text
    pods: Annotated[list[str], Meta(description="The other pods for which it is reserved; it exists until they end.")]
    generated: Annotated[bool, Meta(description="It was created from a template, for this pod.")] = False


class PodEvent(DocumentPart, frozen=True, kw_only=True):
    """A warning about a pod, from an Event of the input: the last one of its reason."""

    reason: Text
    message: Text
    component: Annotated[str, Meta(description="Who says it, such as kubelet.")] = ""
    time: Annotated[str, Meta(description="The time of the last occurrence.")] = ""
    count: Amount = 1


class OwnerVerdict(DocumentPart, frozen=True, kw_only=True):
    """The result for an owner, with all pending pods of the input, and the reasons."""

    kind: Text
    namespace: str
    name: Text
    verdict: Verdict
    node_name: str = ""
    victims: Annotated[list[OtherPod], Meta(description="Pods that are evicted for it.")] = []
    spared: Annotated[
        list[OtherPod], Meta(description="Pods that it would preempt if its preemptionPolicy were not Never.")
    ] = []
    priority: Annotated[
        int | None,
        Meta(description="Of a pod that no node can take: its priority, if that is above 0 and it may preempt others."),
    ] = None
    low_priority: Annotated[
        int | None, Meta(description="Of a pod that no node can take: its priority, if that is below 0.")
    ] = None
    held_by: HeldBy | Literal[""] = ""
    queue: Annotated[str, Meta(description="SchedulingGates, Suspended: the queue that its label for Kueue names.")] = (
        ""
    )
    queue_exists: Annotated[bool, Meta(description="The input has this LocalQueue.")] = False
    queue_message: Annotated[str, Meta(description="Why Kueue does not admit it yet, from its Workload.")] = ""
    queues: Annotated[
        list[str],
        Meta(description="If the input lacks the queue: others of its namespace, else NAMESPACE/NAME."),
    ] = []
    near_queue: Annotated[str, Meta(description="The one of these with a similar name.")] = ""
    held: Annotated[
        list[str],
        Meta(description="The gates, missing claims or templates, group, node, scheduler or queue that hold it."),
    ] = []
    leaving_claims: Annotated[
        list[LeavingClaim], Meta(description="MissingClaim: the claims that it names and that are being deleted.")
    ] = []
    awaited: Annotated[
        list[AwaitedCondition], Meta(description="BindingConditions: the conditions of its devices.")
    ] = []
    volumes_elsewhere: Annotated[
        list[VolumeElsewhere], Meta(description="Of a bound pod that does not run: its volumes in use on other nodes.")
    ] = []
    events: Annotated[
        list[PodEvent], Meta(description="Of a bound pod that does not run: warnings about it, the latest first.")
    ] = []
    driver_pods: Annotated[
        list[DriverPod], Meta(description="Of a bound pod that does not run: pods of its devices' drivers, not ready.")
    ] = []
    unready_pods: Annotated[
        list[UnreadyPod],
        Meta(description="If a driver publishes no devices at all: pods of DaemonSets that are not ready."),
    ] = []
    until: Annotated[
        str, Meta(description="Of a pod that waits for pods that are being deleted: when their grace periods end.")
    ] = ""
    gang: Annotated[GangShortage | None, Meta(description="Its pod group, if too few of its pods find a node.")] = None
    with_gates: Annotated[
        GatedVerdict | None, Meta(description="The result with gates that seem to be on, if it differs.")
    ] = None
    group_pods: Annotated[Amount, GroupPods] = 0
    group_least: Annotated[Amount, MinCount] = 0
    findings: Annotated[list[RefusalFinding], Meta(description="Why the API server rejects it.")] = []
    forbidden: Annotated[
        Amount,
        Meta(description="Pods that a quota or limit prevents; `message` is that of the API server."),
    ] = 0
    forbidden_claim: Annotated[
        str, Meta(description="The entry of resourceClaims, if its claim is rejected and not the pod.")
    ] = ""
    over: Annotated[list[str], Meta(description="The resources of which a quota has too little.")] = []
    defaulted: Annotated[
        list[DefaultedRequest], Meta(description="Requests that a LimitRange makes, of what the quota has too little.")
    ] = []
    missing: Annotated[list[str], Meta(description=("Kinds that the input lacks and that decide the answer."))] = []
    left_over: Annotated[
        list[ClaimHolder],
        Meta(description="Claims that hold devices for pods that are not in the input, although their namespaces are."),
    ] = []
    partial: Annotated[
        list[str],
        Meta(
            description="Of what would be bound: kinds of which the input has only a part, so that devices, cpu or "
            "memory count as free that may be in use."
        ),
    ] = []
    message: Annotated[str, FailedScheduling] = ""
    waiting: Annotated[str, Meta(description="What it is waiting for, as the scheduler's message.")] = ""
    refused_by: Annotated[list[str], Meta(description=("The plugins that reject nodes, the most common first."))] = []
    of_all_nodes: Annotated[bool, OfAllNodes] = False
    total_nodes: Annotated[
        Amount,
        Meta(description=("The nodes that were checked; for a pod group with a topology key, those of one domain.")),
    ] = 0
    nodes: Annotated[list[RefusingNodes], Meta(description="Why each node rejects; the closest nodes come first.")] = []
    absent: Annotated[
        list[AbsentName], Meta(description="Values that no device has, if `claimSets` does not list them.")
    ] = []
    volume_claims: Annotated[
        list[VolumeClaimNeeds], Meta(description="Its volume claims, if volumes keep it off nodes.")
    ] = []
    limits_unknown: Annotated[
        bool,
        Meta(
            description="Of a pod that no node can take: it is not known how many volumes nodes can attach. Only "
            "`suggestions` depend on it."
        ),
    ] = False
    volumes_apart: Annotated[
        VolumesApart | None, Meta(description="Two of its volumes that no node can reach both.")
    ] = None
    lost_claims: Annotated[
        list[ClaimOfLostNode], Meta(description="Of a pod that no node can take: claims with devices on missing nodes.")
    ] = []
    shared_claims: Annotated[list[SharedClaim], Meta(description="Claims that it shares with pods like it.")] = []
    label_conflict: Annotated[
        LabelConflict | None, Meta(description="What it requires of a node label, if no node can meet it.")
    ] = None
    suggestions: Annotated[
        list[TriedChanges],
        Meta(
            description="Changes that give it a node, each tried with the whole scheduler; with too many owners or "
            "nodes for that, changes that make its claims fit where nothing else prevents it."
        ),
    ] = []
    after_rollout: Annotated[
        str, Meta(description="The node of a new pod once the Deployment's rolling update has deleted old pods.")
    ] = ""
    held_by_siblings: Annotated[
        list[str],
        Meta(
            description="NAMESPACE/NAME of pods of the same workload whose devices would be enough; their controller "
            "recreates them."
        ),
    ] = []
    scheduled: Annotated[PodOutcome | Literal[""], Meta(description="What `schedule` calls it, of a pod.")] = ""
    pods: Annotated[Amount, Meta(description=("For a workload: its pods without a node, or not yet created."))] = 0
    wanted: Annotated[
        Amount, Meta(description=("For a workload: the pods that it needs, including those with nodes."))
    ] = 0
    would_bind: Annotated[Amount, Meta(description="The number of these that would be bound.")] = 0
    alone: Annotated[
        AloneVerdict | None, Meta(description=("The result without the other pending pods, if it differs."))
    ] = None
    freed: Annotated[
        AloneVerdict | None,
        Meta(
            description="Of a held pod, or one that its volumes keep from all nodes: what it would be without what "
            "holds it, or without its volumes. Of one whose admin access is rejected: with the label on its namespace."
        ),
    ] = None
    first: Annotated[list[OtherPod], Meta(description="Pods that come first and take the room that it would get.")] = []
    evicted_for: Annotated[list[OtherPod], Meta(description="It would get a node, and then be evicted for these.")] = []
    not_tried: Annotated[
        Amount, Meta(description="Pods that come before it, or may matter to it, and were not tried for their number.")
    ] = 0
    kubelet: Annotated[
        str, Meta(description=("The minor version of its node's kubelet, if it is older, for a pod with claims."))
    ] = ""
    last_message: LastMessage | None = None
    evictions: Annotated[
        list[TaintEviction],
        Meta(description="Taints that will evict a pod with a node, the earliest first; one per pod."),
    ] = []

    @property
    def told_nodes(self) -> list[RefusingNodes]:
        """Return the obstacles by node; nothing if it is held back, or all nodes reject it for the same reasons."""
        return (self.freed.nodes if self.freed is not None else []) or self.nodes

    @property
    def depends_on_gates(self) -> bool:
        """Return whether it promises a node only with gates off that seem to be on in the cluster."""
        return self.verdict in GOOD and self.with_gates is not None

    @property
    def never_together(self) -> int:
        """Return the number of a workload's pods that have no node even if no other pods are pending."""
        return self.pods - self.alone.would_bind if self.alone is not None and self.alone.would_bind else 0

    def is_met_by(self, tried: TriedChanges) -> bool:
        """Return whether devices, and the rules that the changes lift, are the only obstacles on the fitting node.

        This replaces trying the changes with the whole scheduler.
        """
        lifted = {plugin for change in tried.changes for plugin in _LIFTS.get(change.code, ())}
        groups = [group for group in self.told_nodes if tried.node in group.nodes]
        there = {reason.plugin for group in groups for reason in group.reasons}
        return not self.of_all_nodes and there <= {DEVICES, *lifted}

    @property
    def object(self) -> ObjectName:
        """Return the object of the verdict."""
        return ObjectName(kind=self.kind, namespace=self.namespace, name=self.name)
