"""The result for a pod, workload or claim, and the reasons: parts of `Explanation`."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from dra_plan.documents.refusals import RefusalFinding

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
from .volume_needs import VolumeClaimNeeds, VolumeElsewhere, VolumesApart

DEVICES = "DynamicResources"
"""The plugin that handles devices."""

GOOD = ("WouldBind", "WouldPreempt")
"""Verdicts that promise a node."""

TRIED = ("Unschedulable", "Error")
"""Verdicts for which changes are tried with the whole scheduler."""

MOST_NODES_TRIED = 10_000
"""The maximum number of nodes in the clusters of all trials of one kind together."""

_LIFTS = {
    "uncordon-node": ("NodeUnschedulable", "TaintToleration"),
    "await-node": ("TaintToleration",),
    "tolerate-node-taint": ("TaintToleration",),
    "remove-node-taint": ("TaintToleration",),
}
"""The plugins that no longer reject a node after a change."""


class OwnerVerdict(DocumentPart, frozen=True, kw_only=True):
    """The result for an owner when all pending pods in the input are scheduled, and the reasons for it."""

    kind: Text
    namespace: str
    name: Text
    verdict: Verdict
    node_name: str = ""
    victims: Annotated[list[OtherPod], Meta(description="The pods that are evicted to make room.")] = []
    spared: Annotated[
        list[OtherPod], Meta(description="The pods that would be preempted if preemptionPolicy were not Never.")
    ] = []
    priority: Annotated[
        int | None,
        Meta(
            description="If no node can take the pod: its priority, if this is above 0 and the pod may preempt others."
        ),
    ] = None
    low_priority: Annotated[
        int | None, Meta(description="If no node can take the pod: its priority, if this is below 0.")
    ] = None
    held_by: HeldBy | Literal[""] = ""
    queue: Annotated[str, Meta(description="SchedulingGates, Suspended: the queue in the label that Kueue reads.")] = ""
    queue_exists: Annotated[bool, Meta(description="True if this LocalQueue is in the input.")] = False
    queue_message: Annotated[
        str, Meta(description="The reason why Kueue does not admit it yet, from its Workload.")
    ] = ""
    queues: Annotated[
        list[str],
        Meta(
            description="If the queue is not in the input: the other queues in its namespace, or else all queues as "
            "NAMESPACE/NAME."
        ),
    ] = []
    near_queue: Annotated[str, Meta(description="The one of these queues that has a similar name.")] = ""
    held: Annotated[
        list[str],
        Meta(
            description="What holds it: the scheduling gates, missing claims or templates, group, node, scheduler or "
            "queue."
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
        list[PodEvent], Meta(description="For a bound pod that does not run: warnings about it, the latest first.")
    ] = []
    driver_pods: Annotated[
        list[DriverPod],
        Meta(description="For a bound pod that does not run: pods of the drivers of its devices that are not ready."),
    ] = []
    failing: Annotated[
        list[UnreadyPod],
        Meta(
            description="If the pod gets a node: pods there that fail to start, and seem to belong to the driver of "
            "its devices."
        ),
    ] = []
    unready_pods: Annotated[
        list[UnreadyPod],
        Meta(description="If a driver publishes no devices at all: pods of DaemonSets that are not ready."),
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
        Meta(description="The result with feature gates that seem to be on in the cluster, if it differs."),
    ] = None
    group_pods: Annotated[Amount, GroupPods] = 0
    group_least: Annotated[Amount, MinCount] = 0
    findings: Annotated[list[RefusalFinding], Meta(description="The reasons why the API server rejects it.")] = []
    forbidden: Annotated[
        Amount,
        Meta(
            description="The number of pods that a quota or limit prevents. `message` is then the API server's message."
        ),
    ] = 0
    forbidden_claim: Annotated[
        str, Meta(description="If a claim of the pod is rejected and not the pod: its entry in resourceClaims.")
    ] = ""
    over: Annotated[list[str], Meta(description="The resources of which a quota does not allow enough.")] = []
    defaulted: Annotated[
        list[DefaultedRequest],
        Meta(
            description="The default requests from a LimitRange for resources of which the quota does not allow enough."
        ),
    ] = []
    missing: Annotated[
        list[str], Meta(description=("The kinds of objects that decide the answer and are not in the input."))
    ] = []
    left_over: Annotated[
        list[ClaimHolder],
        Meta(
            description="Claims that hold devices for pods that are not in the input, although the namespaces of the "
            "claims are."
        ),
    ] = []
    partial: Annotated[
        list[str],
        Meta(
            description="If pods would be bound: kinds of objects of which the input has only a part, so that devices, "
            "cpu or memory in use may count as free."
        ),
    ] = []
    doubted: Annotated[
        bool,
        Meta(
            description="True if pods would be bound in such an input, but the cluster last said that no node can take "
            "them, or gave a reason that only objects of kinds in `partial` can cause. The text output then calls the "
            "verdict unknown."
        ),
    ] = False
    unread: Annotated[
        list[str],
        Meta(
            description="Of a pod that no node can take: kinds of objects that the input lacks, although they cause a "
            "reason in the last message. `suggestions` may not be enough because of them."
        ),
    ] = []
    message: Annotated[str, FailedScheduling] = ""
    waiting: Annotated[str, Meta(description="What it is waiting for, in the words of the scheduler.")] = ""
    refused_by: Annotated[
        list[str], Meta(description=("The plugins because of which nodes reject it, the most common first."))
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
        Meta(description="The reasons why each node rejects it. The nodes that are closest to fitting come first."),
    ] = []
    absent: Annotated[
        list[AbsentName], Meta(description="Values that no device has, if they are not listed in `claimSets`.")
    ] = []
    volume_claims: Annotated[
        list[VolumeClaimNeeds],
        Meta(
            description="The PersistentVolumeClaims, if volumes keep the pod away from nodes. Of a pod that would be "
            "bound, or waits for its volumes: those whose volume is being created, or whose provisioner is not ready."
        ),
    ] = []
    uncreated: Annotated[
        list[str],
        Meta(
            description="Of a pod that would be bound: the ResourceClaimTemplates from which its claims have not been "
            "created yet."
        ),
    ] = []
    overdue: Annotated[
        bool,
        Meta(description="True if such a claim is missing although the newest time in the input is a minute later."),
    ] = False
    claim_creators: Annotated[
        list[UnreadyPod],
        Meta(description="If such claims are missing: the pods of kube-controller-manager, if none of them is ready."),
    ] = []
    limits_unknown: Annotated[
        bool,
        Meta(
            description="Of a pod that no node can take: it is not known how many volumes nodes can attach. Only "
            "`suggestions` depend on it."
        ),
    ] = False
    volumes_apart: Annotated[
        VolumesApart | None, Meta(description="Two volumes that cannot both be used from any node.")
    ] = None
    shared_claims: Annotated[
        list[SharedClaim], Meta(description="The claims that the pod shares with the other pods of its controller.")
    ] = []
    full_claims: Annotated[
        list[FullClaim], Meta(description="The claims that are reserved for too many other pods.")
    ] = []
    lost_claims: Annotated[
        list[ClaimOfLostNode], Meta(description="Of a pod that no node can take: claims with devices on missing nodes.")
    ] = []
    label_conflict: Annotated[
        LabelConflict | None, Meta(description="The requirements for a node label that no node can meet together.")
    ] = None
    suggestions: Annotated[
        list[TriedChanges],
        Meta(
            description="Changes that lead to a node. Each was tried with the whole scheduler; if there are too many "
            "owners or nodes for that, changes that make the claims fit where nothing else prevents it."
        ),
    ] = []
    tried: Annotated[
        Amount | None,
        Meta(
            description="The changes, and pairs of changes, that were tried with the whole scheduler; null if it was "
            "not run for that."
        ),
    ] = None
    repairs: Annotated[
        list[DriverPod],
        Meta(
            description="Pods of drivers that are not ready on nodes where only devices are missing. What their nodes "
            "have then is not known, so nothing was tried."
        ),
    ] = []
    after_rollout: Annotated[
        str, Meta(description="The node of a new pod after the rolling update of the Deployment has deleted old pods.")
    ] = ""
    held_by_siblings: Annotated[
        list[str],
        Meta(
            description="The pods of the same workload whose devices would be enough, as NAMESPACE/NAME. Their "
            "controller recreates them."
        ),
    ] = []
    scheduled: Annotated[
        PodOutcome | Literal[""], Meta(description="For a pod: the outcome that `schedule` prints.")
    ] = ""
    pods: Annotated[
        Amount,
        Meta(
            description=(
                "For a workload: the number of its pods that have no node, including those that do not exist yet."
            )
        ),
    ] = 0
    wanted: Annotated[
        Amount, Meta(description=("For a workload: the number of pods that it needs, including those that have nodes."))
    ] = 0
    would_bind: Annotated[Amount, Meta(description="The number of these pods that would be bound.")] = 0
    binding: Annotated[
        list[BindingPod], Meta(description="If only some of these pods would be bound: the first ones.")
    ] = []
    alone: Annotated[
        AloneVerdict | None, Meta(description=("The result without the other pending pods, if it differs."))
    ] = None
    freed: Annotated[
        AloneVerdict | None,
        Meta(
            description="The result without what holds the pod, or without its volumes if they keep it from all nodes. "
            "If its admin access is rejected, the result with the label on its namespace."
        ),
    ] = None
    first: Annotated[
        list[OtherPod], Meta(description="The pods that come first and take the room that the pod would get.")
    ] = []
    evicted_for: Annotated[
        list[OtherPod], Meta(description="The pods for which the pod would be evicted after getting a node.")
    ] = []
    not_tried: Annotated[
        Amount,
        Meta(
            description="The number of pods that come first, or that may affect the pod, and were not tried because "
            "there are too many."
        ),
    ] = 0
    kubelet: Annotated[
        str, Meta(description=("For a pod with claims: the minor version of its node's kubelet, if it is older."))
    ] = ""
    last_message: LastMessage | None = None
    evictions: Annotated[
        list[TaintEviction],
        Meta(
            description="The taints because of which pods that have a node will be evicted, the earliest first. There "
            "is one for each pod."
        ),
    ] = []

    @property
    def told_nodes(self) -> list[RefusingNodes]:
        """The nodes that reject the owner's pods, with their reasons.

        If something other than the nodes holds the pods back, these are the nodes that would reject the pods without
        it.
        """
        return (self.freed.nodes if self.freed is not None else []) or self.nodes

    @property
    def lacking(self) -> set[str]:
        """The resources that none of the nodes has, as the reasons of each say."""
        groups = [] if self.of_all_nodes else self.told_nodes
        none = [{one.resource for one in group.about if one.kind == "Resource" and one.room == "0"} for group in groups]
        return set.intersection(*none) if none else set()

    @property
    def told(self) -> str:
        """The verdict that people should read. If the cluster contradicts a yes, this verdict is Unknown."""
        return "Unknown" if self.doubted else self.verdict

    @property
    def depends_on_gates(self) -> bool:
        """True if the owner gets a node only while feature gates are off that seem to be on in the cluster."""
        return self.verdict in GOOD and self.with_gates is not None

    @property
    def never_together(self) -> int:
        """The number of a workload's pods that get no node even if no other pods are pending."""
        return self.pods - self.alone.would_bind if self.alone is not None and self.alone.would_bind else 0

    def is_met_by(self, tried: TriedChanges) -> bool:
        """Return whether the changes remove every obstacle on their node, apart from devices.

        If they do, the changes need not be tried with the whole scheduler.
        """
        lifted = {plugin for change in tried.changes for plugin in _LIFTS.get(change.code, ())}
        groups = [group for group in self.told_nodes if tried.node in group.nodes]
        there = {reason.plugin for group in groups for reason in group.reasons}
        return not self.of_all_nodes and there <= {DEVICES, *lifted}

    @property
    def object(self) -> ObjectName:
        """The kind and name of the owner."""
        return ObjectName(kind=self.kind, namespace=self.namespace, name=self.name)
