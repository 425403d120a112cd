"""The result for a pod, workload or claim, and the reasons, as parts of an `Explanation`."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from dra_plan.documents.refusals import OverQuota, RefusalFinding

from .base import (
    Amount,
    DocumentPart,
    FailedScheduling,
    GroupPods,
    MinCount,
    ObjectName,
    Text,
)
from .devices import ClaimHolder
from .node_obstacles import RefusingNodes
from .reasons import UnreadyPod
from .stories import AbsentName, DriverPod, SharedClaim
from .suggestions import TriedChanges
from .verdict_parts import (
    AloneVerdict,
    AwaitedCondition,
    BindingPod,
    ClaimableDevices,
    ClaimOfLostNode,
    DefaultedRequest,
    FullClaim,
    GangShortage,
    GatedVerdict,
    HeldBy,
    LabelConflict,
    LastMessage,
    LeavingClaim,
    OfAllNodes,
    OtherPod,
    PodEvent,
    PodOutcome,
    TaintEviction,
    Verdict,
)
from .volume_needs import PodlessWorkload, VolumeClaimNeeds, VolumeElsewhere, VolumesApart

DEVICES = "DynamicResources"
"""The scheduler plugin that handles devices."""

GOOD = ("WouldBind", "WouldPreempt")
"""The verdicts with which the owner gets a node."""

TRIED = ("Unschedulable", "Error")
"""The verdicts for which changes are tried with the whole scheduler."""

MOST_NODES_TRIED = 10_000
"""The maximum total number of nodes in the clusters of all trials of one kind."""

_LIFTS = {
    "uncordon-node": ("NodeUnschedulable", "TaintToleration"),
    "await-node": ("TaintToleration",),
    "correct-toleration": ("TaintToleration",),
    "tolerate-node-taint": ("TaintToleration",),
    "remove-node-taint": ("TaintToleration",),
}
"""The plugins that no longer reject a node after a change."""


class OwnerVerdict(DocumentPart, frozen=True, kw_only=True):
    """The result for an owner when all pending pods in the input are scheduled, and the reasons."""

    kind: Text
    namespace: str
    name: Text
    verdict: Verdict
    node_name: str = ""
    victims: Annotated[list[OtherPod], Meta(description="The pods that are evicted to make room.")] = []
    spared: Annotated[
        list[OtherPod], Meta(description="The pods that would be preempted if the preemptionPolicy were not Never.")
    ] = []
    priority: Annotated[
        int | None,
        Meta(
            description=(
                "The pod's priority. Set if no node can take the pod, the priority is above 0, and the pod "
                "may preempt others."
            )
        ),
    ] = None
    low_priority: Annotated[
        int | None, Meta(description="The pod's priority. Set if no node can take the pod and the priority is below 0.")
    ] = None
    held_by: HeldBy | Literal[""] = ""
    queue: Annotated[str, Meta(description="SchedulingGates, Suspended: the queue in the label that Kueue reads.")] = ""
    queue_exists: Annotated[bool, Meta(description="Whether the LocalQueue is in the input.")] = False
    queue_message: Annotated[str, Meta(description="Why Kueue has not admitted it yet, according to its Workload.")] = (
        ""
    )
    queues: Annotated[
        list[str],
        Meta(
            description=(
                "If the queue is not in the input: the other queues in the namespace or, if there are none, "
                "all queues as NAMESPACE/NAME."
            )
        ),
    ] = []
    near_queue: Annotated[str, Meta(description="The queue in `queues` with a similar name.")] = ""
    gate_controllers: Annotated[
        list[UnreadyPod],
        Meta(
            description=(
                "SchedulingGates, Suspended: the pods of the controller that removes the gates, if it was found and "
                "none of its pods is ready."
            )
        ),
    ] = []
    scheduler_workload: Annotated[
        PodlessWorkload | None,
        Meta(description="OtherScheduler: the workload that probably runs the scheduler, if it has no pods."),
    ] = None
    scheduler_pods: Annotated[
        list[UnreadyPod],
        Meta(description="OtherScheduler: the pods that probably run the scheduler, if none of them is ready."),
    ] = []
    running_schedulers: Annotated[
        list[Text],
        Meta(description="OtherScheduler: the ready pods that probably run the scheduler, as NAMESPACE/NAME."),
    ] = []
    held: Annotated[
        list[str],
        Meta(
            description=(
                "The cause of the delay: scheduling gates, missing claims or templates, or the name of a "
                "group, node, scheduler or queue."
            )
        ),
    ] = []
    leaving_claims: Annotated[
        list[LeavingClaim], Meta(description="MissingClaim: the named claims that are being deleted.")
    ] = []
    awaited: Annotated[
        list[AwaitedCondition], Meta(description="BindingConditions: the conditions of the pod's devices.")
    ] = []
    volumes_elsewhere: Annotated[
        list[VolumeElsewhere],
        Meta(description="For a bound pod that does not run: its volumes that are in use on other nodes."),
    ] = []
    events: Annotated[
        list[PodEvent], Meta(description="For a bound pod that does not run: warnings about it, latest first.")
    ] = []
    driver_pods: Annotated[
        list[DriverPod],
        Meta(description="For a bound pod that does not run: the pods of its devices' drivers that are not ready."),
    ] = []
    failing: Annotated[
        list[UnreadyPod],
        Meta(
            description=(
                "If the pod gets a node: pods on it that fail to start and seem to belong to the driver of "
                "the pod's devices."
            )
        ),
    ] = []
    unready_pods: Annotated[
        list[UnreadyPod],
        Meta(description="If a driver publishes no devices at all: DaemonSet pods that are not ready."),
    ] = []
    awaited_pods: Annotated[
        list[UnreadyPod],
        Meta(
            description="For a StatefulSet that creates its pods in order: the pod that it waits for. For a workload "
            "whose pods have nodes: the pods that are not ready."
        ),
    ] = []
    until: Annotated[
        str,
        Meta(
            description="For a pod that waits for pods that are being deleted: the time at which their grace periods "
            "end."
        ),
    ] = ""
    gang: Annotated[GangShortage | None, Meta(description="The pod group, if too few of its pods find a node.")] = None
    with_gates: Annotated[
        GatedVerdict | None,
        Meta(description="The result with the feature gates that seem to be on in the cluster, if it is different."),
    ] = None
    group_pods: Annotated[Amount, GroupPods] = 0
    group_least: Annotated[Amount, MinCount] = 0
    findings: Annotated[list[RefusalFinding], Meta(description="Why the API server rejects it.")] = []
    forbidden: Annotated[
        Amount,
        Meta(
            description=(
                "The number of pods that cannot be created because of a quota or limit. `message` is then "
                "the API server's message."
            )
        ),
    ] = 0
    outdated: Annotated[
        Amount,
        Meta(
            description="The number of pods with an older template that a rolling update cannot replace, because the "
            "API server rejects the next pod."
        ),
    ] = 0
    forbidden_claim: Annotated[
        str,
        Meta(
            description=(
                "If a claim of the pod is rejected instead of the pod: the name of the claim in the pod's "
                "resourceClaims."
            )
        ),
    ] = ""
    over: Annotated[list[OverQuota], Meta(description="The resources that exceed a quota.")] = []
    defaulted: Annotated[
        list[DefaultedRequest],
        Meta(description="The default requests that a LimitRange adds for the resources in `over`."),
    ] = []
    missing: Annotated[list[str], Meta(description=("The kinds of deciding objects that are not in the input."))] = []
    left_over: Annotated[
        list[ClaimHolder],
        Meta(
            description=(
                "Claims with devices that are reserved for pods missing from the input, although their "
                "namespaces are in the input."
            )
        ),
    ] = []
    partial: Annotated[
        list[str],
        Meta(
            description=(
                "If pods would be bound: the kinds of objects that are only partly in the input. Devices, "
                "cpu or memory in use may therefore count as free."
            )
        ),
    ] = []
    doubted: Annotated[
        bool,
        Meta(
            description=(
                "True if pods would be bound in such an input, but the cluster last reported that no node "
                "can take them, or gave a reason that only objects of the kinds in `partial` can cause. The "
                "text output then shows the verdict Unknown."
            )
        ),
    ] = False
    unread: Annotated[
        list[str],
        Meta(
            description=(
                "If no node can take the pod: the kinds of missing objects that the cluster's last message "
                "depends on. Because they are missing, `suggestions` may not be enough."
            )
        ),
    ] = []
    message: Annotated[str, FailedScheduling] = ""
    waiting: Annotated[str, Meta(description="What it is waiting for, in the scheduler's words.")] = ""
    refused_by: Annotated[
        list[str], Meta(description=("The plugins that make nodes reject it, most common first."))
    ] = []
    of_all_nodes: Annotated[bool, OfAllNodes] = False
    total_nodes: Annotated[
        Amount,
        Meta(
            description=(
                "The number of nodes that were checked. For a pod group with a topology key, it is the number "
                "in one domain."
            )
        ),
    ] = 0
    nodes: Annotated[
        list[RefusingNodes],
        Meta(description="Why each node rejects it. The nodes that are closest to fitting come first."),
    ] = []
    absent: Annotated[
        list[AbsentName], Meta(description="Values that no device has, unless they are listed in `claimSets`.")
    ] = []
    volume_claims: Annotated[
        list[VolumeClaimNeeds],
        Meta(
            description=(
                "The PersistentVolumeClaims, if volumes keep the pod from nodes. If the pod would be bound "
                "or waits for its volumes: the PersistentVolumeClaims whose volume is being created, or "
                "whose provisioner is not ready."
            )
        ),
    ] = []
    uncreated: Annotated[
        list[str],
        Meta(
            description="If the pod would be bound: the ResourceClaimTemplates whose claims have not been created yet."
        ),
    ] = []
    overdue: Annotated[
        bool,
        Meta(
            description=(
                "True if claims are still missing, although the input is at least a minute newer than the pod."
            )
        ),
    ] = False
    claim_creators: Annotated[
        list[UnreadyPod],
        Meta(description="If claims are missing: the pods of kube-controller-manager, if none of them is ready."),
    ] = []
    limits_unknown: Annotated[
        bool,
        Meta(
            description=(
                "If no node can take the pod: whether the number of volumes that nodes can attach is "
                "unknown. Only `suggestions` depend on it."
            )
        ),
    ] = False
    claimable: Annotated[
        list[ClaimableDevices],
        Meta(
            description=(
                "If nodes lack an extended resource that the pod requests: the free devices there of classes of the "
                "same vendor."
            )
        ),
    ] = []
    volumes_apart: Annotated[VolumesApart | None, Meta(description="Two volumes that no node can use together.")] = None
    shared_claims: Annotated[
        list[SharedClaim], Meta(description="The claims that the pod shares with the other pods of its controller.")
    ] = []
    full_claims: Annotated[
        list[FullClaim], Meta(description="The claims that are already reserved for the maximum number of pods.")
    ] = []
    lost_claims: Annotated[
        list[ClaimOfLostNode],
        Meta(description="If no node can take the pod: the claims with devices on missing nodes."),
    ] = []
    label_conflict: Annotated[
        LabelConflict | None, Meta(description="Requirements for a node label that no node can satisfy together.")
    ] = None
    suggestions: Annotated[
        list[TriedChanges],
        Meta(
            description=(
                "Changes after which the owner gets a node, each tried with the whole scheduler. If there "
                "are too many owners or nodes for this: changes after which the claims fit on nodes without "
                "other obstacles."
            )
        ),
    ] = []
    tried: Annotated[
        Amount | None,
        Meta(
            description=(
                "The number of changes and pairs of changes that were tried with the whole scheduler, or "
                "null if none could be tried."
            )
        ),
    ] = None
    repairs: Annotated[
        list[DriverPod],
        Meta(
            description=(
                "Driver pods that are not ready, on nodes where only devices are missing. Nothing was "
                "tried, because it is not known which devices the nodes will then have."
            )
        ),
    ] = []
    after_rollout: Annotated[
        str,
        Meta(description="The node that a new pod gets after the Deployment's rolling update has deleted old pods."),
    ] = ""
    held_by_siblings: Annotated[
        list[str],
        Meta(
            description=(
                "The workload's own pods, as NAMESPACE/NAME, whose devices would be enough. Their "
                "controller would recreate them."
            )
        ),
    ] = []
    moves_help: Annotated[
        Amount,
        Meta(
            description=(
                "The number of running pods on one node which, if all of them move to other nodes, make room. It is 0 "
                "if no such pods were found, or if a suggestion restarts a pod."
            )
        ),
    ] = 0
    scheduled: Annotated[
        PodOutcome | Literal[""], Meta(description="For a pod: the outcome that `schedule` prints.")
    ] = ""
    pods: Annotated[
        Amount,
        Meta(
            description=("For a workload: the number of its pods without a node, including pods that do not exist yet.")
        ),
    ] = 0
    wanted: Annotated[
        Amount, Meta(description=("For a workload: the number of pods that it needs, including pods that have a node."))
    ] = 0
    would_bind: Annotated[Amount, Meta(description="The number of pods in `pods` that would be bound.")] = 0
    binding: Annotated[
        list[BindingPod], Meta(description="If only some of the pods would be bound: the first of them.")
    ] = []
    alone: Annotated[
        AloneVerdict | None, Meta(description=("The result without the other pending pods, if it is different."))
    ] = None
    freed: Annotated[
        AloneVerdict | None,
        Meta(
            description=(
                "The result if nothing held the pod back, or without its volumes if they keep it from all "
                "nodes. If its admin access is rejected: the result with the label on its namespace."
            )
        ),
    ] = None
    first: Annotated[
        list[OtherPod], Meta(description="The pods that take precedence and use the room that the pod would get.")
    ] = []
    evicted_for: Annotated[
        list[OtherPod], Meta(description="The pods for which this pod would be evicted after it gets a node.")
    ] = []
    not_tried: Annotated[
        Amount,
        Meta(
            description=(
                "The number of pods that take precedence or may affect the pod, but were not tried because "
                "there are too many."
            )
        ),
    ] = 0
    kubelet: Annotated[
        str, Meta(description=("For a pod with claims: the minor version of its node's kubelet, if it is older."))
    ] = ""
    last_message: LastMessage | None = None
    evictions: Annotated[
        list[TaintEviction],
        Meta(description="Evictions of pods that have a node, earliest first. There is one entry for each pod."),
    ] = []

    @property
    def told_nodes(self) -> list[RefusingNodes]:
        """The nodes that reject the owner's pods, with their reasons.

        If something else holds the pods back, these are the nodes that would reject the pods without it.
        """
        return (self.freed.nodes if self.freed is not None else []) or self.nodes

    @property
    def lacking(self) -> set[str]:
        """The resources that none of the rejecting nodes has, as the reasons for the rejections show."""
        groups = [] if self.of_all_nodes else self.told_nodes
        none = [{one.resource for one in group.about if one.kind == "Resource" and one.room == "0"} for group in groups]
        return set.intersection(*none) if none else set()

    @property
    def told(self) -> str:
        """The verdict to show. It is Unknown if the cluster contradicts a positive verdict."""
        return "Unknown" if self.doubted else self.verdict

    @property
    def depends_on_gates(self) -> bool:
        """Whether the owner gets a node only if gates are off that seem to be on in the cluster."""
        return self.verdict in GOOD and self.with_gates is not None

    @property
    def never_together(self) -> int:
        """The number of a workload's pods that get no node even if no other pods are pending."""
        return self.pods - self.alone.would_bind if self.alone is not None and self.alone.would_bind else 0

    def is_met_by(self, tried: TriedChanges) -> bool:
        """Return whether the changes remove every obstacle on their node other than devices.

        Such changes need not be tried with the whole scheduler.
        """
        lifted = {plugin for change in tried.changes for plugin in _LIFTS.get(change.code, ())}
        groups = [group for group in self.told_nodes if tried.node in group.nodes]
        there = {reason.plugin for group in groups for reason in group.reasons}
        return not self.of_all_nodes and there <= {DEVICES, *lifted}

    @property
    def object(self) -> ObjectName:
        """The kind and name of the owner."""
        return ObjectName(kind=self.kind, namespace=self.namespace, name=self.name)
