"""Tested changes that make a claim set fit, as parts of an Explanation. docs/reasons.md describes every code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from msgspec import UNSET, Meta

from .base import Amount, DocumentPart, Text, any_of, one_of
from .claim_changes import (
    AlternativeAdded,
    CapacityChanged,
    ClassChanged,
    ConstraintDropped,
    CountLowered,
    PoolAwaited,
    RequestDropped,
    SelectorChanged,
    TaintRuleDeleted,
    TaintTolerated,
)
from .cluster_changes import (
    AffinityNamespacesAdded,
    ClaimDropped,
    ClaimReleased,
    ClaimTemplated,
    DevicesRepaired,
    GateEnabled,
    HostPortChanged,
    NodeAdded,
    NodeAwaited,
    NodeBoundMoved,
    NodeLabelled,
    NodeRequirementDropped,
    NodeRequirementsMerged,
    NodeSelectorChanged,
    NodeTaintMet,
    NodeUncordoned,
    PodRuleRelaxed,
    PodSelectorChanged,
    PodsGone,
    PriorityRaised,
    QuotaRaised,
    ReplicasLowered,
    ResourceClaimed,
    ResourceDropped,
    ResourceLowered,
    ResourceRenamed,
    ResourceServed,
    RolloutLoosened,
    VolumeClaimShrunk,
    VolumeFreed,
    WorkloadStarted,
)
from .reasons import UnreadyPod

SuggestedChange = (
    SelectorChanged
    | TaintTolerated
    | TaintRuleDeleted
    | CountLowered
    | CapacityChanged
    | ClassChanged
    | AlternativeAdded
    | RequestDropped
    | ConstraintDropped
    | PoolAwaited
    | NodeLabelled
    | NodeUncordoned
    | NodeAwaited
    | NodeAdded
    | DevicesRepaired
    | NodeTaintMet
    | NodeSelectorChanged
    | NodeRequirementsMerged
    | NodeBoundMoved
    | NodeRequirementDropped
    | AffinityNamespacesAdded
    | PodRuleRelaxed
    | HostPortChanged
    | ResourceLowered
    | ResourceDropped
    | ClaimDropped
    | ReplicasLowered
    | WorkloadStarted
    | PodSelectorChanged
    | RolloutLoosened
    | ClaimTemplated
    | ResourceRenamed
    | ResourceServed
    | ResourceClaimed
    | PriorityRaised
    | QuotaRaised
    | ClaimReleased
    | PodsGone
    | VolumeFreed
    | VolumeClaimShrunk
    | GateEnabled
)

CHANGES: dict[str, type[SuggestedChange]] = {
    "await-pods": PodsGone,
    "uncordon-node": NodeUncordoned,
    "await-node": NodeAwaited,
    "repair-devices": DevicesRepaired,
    "free-volume": VolumeFreed,
    "delete-taint-rule": TaintRuleDeleted,
    "honor-taints": PodRuleRelaxed,
    "correct-toleration": NodeTaintMet,
    "tolerate-node-taint": NodeTaintMet,
    "remove-node-taint": NodeTaintMet,
    "guard-selector": SelectorChanged,
    "fix-spelling": SelectorChanged,
    "change-node-selector": NodeSelectorChanged,
    "include-bound": NodeBoundMoved,
    "change-topology-key": PodRuleRelaxed,
    "merge-node-requirements": NodeRequirementsMerged,
    "add-affinity-namespaces": AffinityNamespacesAdded,
    "correct-pod-selector": PodSelectorChanged,
    "narrow-pod-selector": PodSelectorChanged,
    "raise-replicas": WorkloadStarted,
    "resume-job": WorkloadStarted,
    "rename-capacity": CapacityChanged,
    "rename-resource": ResourceRenamed,
    "claim-resource": ResourceClaimed,
    "serve-resource": ResourceServed,
    "wait-for-slice": PoolAwaited,
    "enable-gate": GateEnabled,
    "force-delete-pods": PodsGone,
    "loosen-rollout": RolloutLoosened,
    "use-claim-template": ClaimTemplated,
    "drop-resource": ResourceDropped,
    "drop-claim": ClaimDropped,
    "lower-count": CountLowered,
    "lower-capacity": CapacityChanged,
    "request-capacity": CapacityChanged,
    "lower-request": ResourceLowered,
    "lower-claim-size": VolumeClaimShrunk,
    "use-other-nodes": NodeSelectorChanged,
    "raise-quota": QuotaRaised,
    "change-value": SelectorChanged,
    "change-class": ClassChanged,
    "add-alternative": AlternativeAdded,
    "lower-min-domains": PodRuleRelaxed,
    "raise-max-skew": PodRuleRelaxed,
    "relax-spread": PodRuleRelaxed,
    "relax-affinity": PodRuleRelaxed,
    "relax-anti-affinity": PodRuleRelaxed,
    "change-host-port": HostPortChanged,
    "restart-pods": PodsGone,
    "drop-host-port": PodRuleRelaxed,
    "drop-node-requirement": NodeRequirementDropped,
    "loosen-selector": SelectorChanged,
    "drop-constraint": ConstraintDropped,
    "drop-capacity": CapacityChanged,
    "drop-selector": SelectorChanged,
    "count-instead-of-all": CountLowered,
    "add-node": NodeAdded,
    "remove-pods": PodsGone,
    "release-claim": ClaimReleased,
    "raise-priority": PriorityRaised,
    "tolerate-taint": TaintTolerated,
    "label-node": NodeLabelled,
    "drop-request": RequestDropped,
    "loosen-class": SelectorChanged,
    "lower-replicas": ReplicasLowered,
}
"""The struct of each code, most plausible change first.

The changes come in this order:

1. A node with free capacity accepts the pod.
2. A mistake is corrected.
3. Less or something else is requested. This costs nobody else anything.
4. A running pod is restarted on another node, or with other devices.
5. A rule or requirement of the pod is dropped.
6. A node is added.
7. Devices are taken from other pods.
8. A rule that affects others is changed, a request is removed, or there are fewer pods.
"""


if TYPE_CHECKING:
    AnyChange = SuggestedChange
else:
    AnyChange = Any  # a union without a distinguishing field cannot be decoded

SHAPES = tuple(dict.fromkeys(CHANGES.values()))


class PatchedObject(DocumentPart, frozen=True, kw_only=True):
    """An object to which a patch applies, in the API version for which the patch is written."""

    api_version: Text
    kind: Text
    namespace: str
    name: Text


class PatchOperation(DocumentPart, frozen=True, kw_only=True):
    """An operation of a JSON patch (RFC 6902). The path "" means that the whole object is created or deleted."""

    op: Annotated[str, one_of("add", "remove", "replace")]
    path: str
    value: Any = UNSET


class ObjectPatch(DocumentPart, frozen=True, kw_only=True):
    """A patch with the changes to an object."""

    object: PatchedObject
    patch: Annotated[list[PatchOperation], Meta(min_length=1)]
    recreate: Annotated[
        bool,
        Meta(
            description=(
                "True if the API server does not allow the change, so that the object must be deleted and recreated."
            )
        ),
    ] = False


class TriedChanges(DocumentPart, frozen=True, kw_only=True):
    """Changes that were tried together, and the node on which the claims then fit."""

    changes: Annotated[list[AnyChange], Meta(min_length=1, extra_json_schema={"items": any_of(*SHAPES)})]
    node: Annotated[str, Meta(description="The node on which the claim set then fits.")]
    also_on: Annotated[
        list[str],
        Meta(description="correct-toleration: other nodes on which the pod then also fits, as trials have shown."),
    ] = []
    failing: Annotated[
        list[UnreadyPod],
        Meta(description="Pods on the node that fail to start and seem to belong to the driver of the devices."),
    ] = []
    evicts: Annotated[
        list[str], Meta(description="The pods with lower priority that are then evicted, as NAMESPACE/NAME.")
    ] = []
    would_bind: Annotated[
        Amount, Meta(description="For a workload: the number of its pods that then get a node, unless all of them do.")
    ] = 0
    more: Annotated[
        Amount,
        Meta(
            description=(
                "In `nextCopy`: the number of additional copies that then fit, up to 20, or 0 if they were not counted."
            )
        ),
    ] = 0
    patches: Annotated[
        list[ObjectPatch], Meta(description="The changes as patches that can be applied, one per object.")
    ]
    feature_gates: Annotated[dict[str, bool], Meta(description="The feature gates that must also be set.")] = {}
