"""Tested changes that make a claim set fit: parts of an Explanation. docs/reasons.md describes every code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from msgspec import UNSET, Meta

from dra_plan.api.resource import DeviceToleration

from .base import Amount, ClaimName, DocumentPart, ObjectName, PoolName, Position, Text, any_of, one_of
from .devices import TaintName
from .stories import DriverPod


class OtherAmount(DocumentPart, frozen=True, kw_only=True):
    """The largest amount of a capacity or counter that a device has, before and after a change of the requested value.

    `from` is the amount of the devices with the requested value, and `to` is the amount of the devices with another
    value.
    """

    name: Text
    from_: str
    to: str


class SelectorChanged(DocumentPart, frozen=True, kw_only=True):
    """A selector in a class or in a request is rewritten, or removed if the new selector is null."""

    code: Annotated[
        str,
        one_of("guard-selector", "fix-spelling", "change-value", "loosen-selector", "drop-selector", "loosen-class"),
    ]
    class_: str = ""
    claim: ClaimName | None = None
    request: str = ""
    selector: Position
    expression: str
    replacement: str | None
    dropped: Annotated[str, Meta(description="The part of the selector that is dropped.")] = ""
    used_by: Annotated[
        list[ObjectName],
        Meta(description="For a selector in a class: other claims and templates in the input that use the class."),
    ] = []
    amount: Annotated[
        OtherAmount | None,
        Meta(description="change-value: the difference in size between these devices and the requested ones."),
    ] = None


class RequestChange(DocumentPart, frozen=True, kw_only=True):
    """A change to a request or to an alternative."""

    code: str
    claim: ClaimName
    request: str


class TaintTolerated(RequestChange, frozen=True, kw_only=True):
    """A toleration is added."""

    code: Annotated[str, one_of("tolerate-taint")]
    toleration: DeviceToleration
    tainted: Annotated[
        list[str], Meta(description="The devices on the node that have the taint, as DRIVER/POOL/DEVICE.")
    ] = []
    needed: Annotated[Amount, Meta(description="The least number of these devices that the request needs.")] = 0
    since: Annotated[
        str, Meta(description="The time at which the first of these devices got the taint, from timeAdded.")
    ] = ""


class TaintRuleDeleted(DocumentPart, frozen=True, kw_only=True):
    """A DeviceTaintRule is deleted, so that its devices no longer have the taint."""

    code: Annotated[str, one_of("delete-taint-rule")]
    rule: Annotated[Text, Meta(description="The name of the DeviceTaintRule.")]
    taint: TaintName


class CountLowered(RequestChange, frozen=True, kw_only=True):
    """Fewer devices are requested, or a fixed number of devices is requested instead of all that match."""

    code: Annotated[str, one_of("lower-count", "count-instead-of-all")]
    from_: int | None = None
    to: int
    claims: Annotated[
        int, Meta(description="The number of the pod's claims that come from the template: each has the request.")
    ] = 1


class CapacityChanged(RequestChange, frozen=True, kw_only=True):
    """Less of a capacity is requested, or another capacity is requested, or the request for the capacity is removed.

    `request-capacity`: an amount is requested explicitly, and replaces the amount that applies otherwise.
    """

    code: Annotated[str, one_of("lower-capacity", "request-capacity", "rename-capacity", "drop-capacity")]
    capacity: str
    from_: str = ""
    to: str = ""
    also: Annotated[
        dict[str, str],
        Meta(description="request-capacity: the amounts of other capacities that are requested as well."),
    ] = {}


class ClassChanged(RequestChange, frozen=True, kw_only=True):
    """A different class is requested."""

    code: Annotated[str, one_of("change-class")]
    from_: str = ""
    to: str
    amount: Annotated[
        OtherAmount | None, Meta(description="How much less the devices have than those of the class asked for now.")
    ] = None


class AlternativeAdded(RequestChange, frozen=True, kw_only=True):
    """An alternative is added."""

    code: Annotated[str, one_of("add-alternative")]
    class_: str
    count: Amount


class RequestDropped(RequestChange, frozen=True, kw_only=True):
    """The request is removed."""

    code: Annotated[str, one_of("drop-request")]


class ConstraintDropped(DocumentPart, frozen=True, kw_only=True):
    """A constraint is removed."""

    code: Annotated[str, one_of("drop-constraint")]
    claim: ClaimName
    constraint: Position
    attribute: str


class PoolAwaited(DocumentPart, frozen=True, kw_only=True):
    """The claim waits until the pool has the slices that are missing."""

    code: Annotated[str, one_of("wait-for-slice")]
    pool: PoolName
    generation: int
    seen: Amount
    expected: int
    on: Annotated[str, Meta(description="The node of the slices; empty if several nodes may use them.")] = ""
    driver_pods: Annotated[
        list[DriverPod], Meta(description="The pods of the driver on that node that are not ready.")
    ] = []


class NodeAdded(DocumentPart, frozen=True, kw_only=True):
    """A copy of a node is added, with the pods and devices that every node of this type has.

    No patch can add a node.
    """

    code: Annotated[str, one_of("add-node")]
    like: Annotated[str, Meta(description="The node that is copied.")]


class NodeLabelled(DocumentPart, frozen=True, kw_only=True):
    """The node gets labels."""

    code: Annotated[str, one_of("label-node")]
    labels: dict[str, str]


class NodeUncordoned(DocumentPart, frozen=True, kw_only=True):
    """The node is uncordoned."""

    code: Annotated[str, one_of("uncordon-node")]
    uncordon: Annotated[str, Meta(description="The node that is uncordoned.")]


class NodeAwaited(DocumentPart, frozen=True, kw_only=True):
    """A node becomes ready again, so that controllers remove the taints that they set because of its problem."""

    code: Annotated[str, one_of("await-node")]
    awaited: Annotated[str, Meta(description="The node that becomes ready.")]
    taints: Annotated[list[TaintName], Meta(description="The taints that are then removed.", min_length=1)]
    since: Annotated[
        str, Meta(description="The time at which the node got the first of these taints, from timeAdded.")
    ] = ""
    ends: Annotated[
        list[str],
        Meta(description="The pods on the node that are being deleted and then end, as NAMESPACE/NAME."),
    ] = []


class DevicesRepaired(DocumentPart, frozen=True, kw_only=True):
    """A device plugin again offers all devices of a resource that its node has."""

    code: Annotated[str, one_of("repair-devices")]
    resource: str
    on: Annotated[Text, Meta(description="The node.")]
    from_: Annotated[str, Meta(description="The amount that the device plugin offers now (`status.allocatable`).")]
    to: Annotated[str, Meta(description="The amount that the node has (`status.capacity`).")]


class NodeTaintMet(DocumentPart, frozen=True, kw_only=True):
    """The pod tolerates a taint of the node, or the taint is removed from the node."""

    code: Annotated[str, one_of("correct-toleration", "tolerate-node-taint", "remove-node-taint")]
    tainted: Annotated[str, Meta(description="The node whose taint is tolerated or removed.")]
    taint: TaintName
    cron_job: Annotated[
        str,
        Meta(description="The CronJob that creates the pod's Job, which cannot be edited."),
    ] = ""
    field: Annotated[str, one_of("key", "value", "effect", ""), Meta(description="correct-toleration: the field.")] = ""
    from_: Annotated[str, Meta(description="correct-toleration: what the toleration has in this field.")] = ""
    to: Annotated[str, Meta(description="correct-toleration: what the taint has in this field.")] = ""


class NodeSelectorChanged(DocumentPart, frozen=True, kw_only=True):
    """The pod requires a different value of a node label, or a different label.

    `use-other-nodes`: some nodes have the present value and some have the new value, but the nodes with the present
    value have no room.
    """

    code: Annotated[str, one_of("change-node-selector", "use-other-nodes")]
    label: str
    from_: str
    to: str
    to_label: Annotated[str, Meta(description="The label that is required instead, if it is a different label.")] = ""


class NodeRequirementsMerged(DocumentPart, frozen=True, kw_only=True):
    """Requirements for a node label that exclude each other are replaced by one requirement.

    The new requirement accepts any of the values that the replaced requirements accept.
    """

    code: Annotated[str, one_of("merge-node-requirements")]
    label: str
    values: list[str]


class NodeBoundMoved(DocumentPart, frozen=True, kw_only=True):
    """A bound that the pod requires of a node label is moved by one, because Gt and Lt exclude the bound itself."""

    code: Annotated[str, one_of("include-bound")]
    label: str
    operator: Annotated[str, one_of("Gt", "Lt")]
    from_: str
    to: str


class NodeRequirementDropped(DocumentPart, frozen=True, kw_only=True):
    """The pod no longer requires anything of a node label."""

    code: Annotated[str, one_of("drop-node-requirement")]
    label: str
    operator: str
    values: list[str] = []
    has: Annotated[str, Meta(description="The value that the node has; absent if it lacks the label.")] = ""
    places: Annotated[
        list[str],
        Meta(description="The fields with the requirement: `nodeSelector`, `nodeAffinity` or both.", min_length=1),
    ]


class AffinityNamespacesAdded(DocumentPart, frozen=True, kw_only=True):
    """A required pod affinity term also selects pods of other namespaces."""

    code: Annotated[str, one_of("add-affinity-namespaces")]
    selector: Annotated[str, Meta(description="The label selector of the term, in the format of `-l`.")]
    topology_key: str
    namespaces: Annotated[list[str], Meta(description="The namespaces that are added.", min_length=1)]


class PodRuleRelaxed(DocumentPart, frozen=True, kw_only=True):
    """A rule of the pod about other pods becomes a preference, or a container no longer uses its host port.

    `honor-taints`: a topology spread constraint no longer counts nodes with taints that the pod does not tolerate.
    `raise-max-skew`: the topology spread constraint allows as much difference as is needed.
    `lower-min-domains`: the topology spread constraint requires only as many domains as there are.
    `change-topology-key`: the rules have the label that nodes have instead of its former name, which no node has.
    """

    code: Annotated[
        str,
        one_of(
            *("honor-taints", "lower-min-domains", "raise-max-skew", "change-topology-key"),
            *("relax-spread", "relax-affinity", "relax-anti-affinity", "drop-host-port"),
        ),
    ]
    topology_key: str = ""
    to_key: Annotated[str, Meta(description="change-topology-key: the new topology key.")] = ""
    from_: Annotated[Amount, Meta(description="The present value of minDomains or maxSkew.")] = 0
    to: Annotated[Amount, Meta(description="The new value of minDomains or maxSkew.")] = 0
    port: Amount = 0


class HostPortChanged(DocumentPart, frozen=True, kw_only=True):
    """Containers use another port of the node. In the host's network, it is the port on which the process listens."""

    code: Annotated[str, one_of("change-host-port")]
    protocol: str
    from_: Amount
    to: Amount
    listens: Annotated[bool, Meta(description="True in the host's network: containerPort is changed as well.")] = False


class ResourceLowered(DocumentPart, frozen=True, kw_only=True):
    """A container, or the pod as a whole, requests less of a resource."""

    code: Annotated[str, one_of("lower-request")]
    container: Annotated[str, Meta(description="The container; empty for spec.resources of the pod.")]
    resource: str
    from_: str
    to: str


class ResourceDropped(DocumentPart, frozen=True, kw_only=True):
    """Containers no longer request an extended resource that devices serve, beside the devices of a claim."""

    code: Annotated[str, one_of("drop-resource")]
    resource: str
    amount: Amount
    containers: Annotated[list[str], Meta(min_length=1)]
    class_: Annotated[str, Meta(description="The class that serves the resource.")]
    uses_claim: Annotated[
        bool, Meta(description="Whether these containers also use a claim that competes for the same devices.")
    ] = False


class ClaimDropped(DocumentPart, frozen=True, kw_only=True):
    """The pod no longer has one of its claims, because other requests of the pod compete for the same devices."""

    code: Annotated[str, one_of("drop-claim")]
    entry: Annotated[Text, Meta(description="The name of the claim in the pod's resourceClaims.")]
    claim: ClaimName
    beside: Annotated[
        str,
        Meta(description="The extended resource that the containers with this claim also request, if they all do."),
    ] = ""


class ReplicasLowered(DocumentPart, frozen=True, kw_only=True):
    """The workload has fewer replicas."""

    code: Annotated[str, one_of("lower-replicas")]
    from_: int
    to: int


class WorkloadStarted(DocumentPart, frozen=True, kw_only=True):
    """A workload without pods creates the pods that a pod affinity term selects."""

    code: Annotated[str, one_of("raise-replicas", "resume-job")]
    kind: Text
    namespace: str
    name: Text
    to: Annotated[Amount, Meta(description="raise-replicas: the new number of replicas.")] = 0


class PodSelectorChanged(DocumentPart, frozen=True, kw_only=True):
    """A rule of the pod about other pods selects these pods by other labels.

    `narrow-pod-selector`: these are the labels by which the pod's own workload selects its pods.
    """

    code: Annotated[str, one_of("correct-pod-selector", "narrow-pod-selector")]
    rule: Annotated[str, one_of("spread", "affinity", "anti-affinity")]
    topology_key: str
    from_: Annotated[str, Meta(description="The present label selector, in the format of `-l`.")]
    to: Annotated[str, Meta(description="The new label selector, in the format of `-l`.")]


class RolloutLoosened(DocumentPart, frozen=True, kw_only=True):
    """A rolling update deletes an old pod before its new pod is ready (`maxUnavailable` of the Deployment)."""

    code: Annotated[str, one_of("loosen-rollout")]
    deployment: str
    to: int


class ClaimTemplated(DocumentPart, frozen=True, kw_only=True):
    """Each pod gets a claim of its own instead of a claim that it shares with other pods.

    The claims are created from a new template, which has the specification of the shared claim.
    """

    code: Annotated[str, one_of("use-claim-template")]
    shared: Annotated[ClaimName, Meta(description="The claim that the pods currently name.")]
    template: Annotated[str, Meta(description="The name of the new ResourceClaimTemplate.")]
    kept_by: Annotated[
        list[str],
        Meta(description="If only pods of other owners use the shared claim: these pods, which keep it on its node."),
    ] = []
    on: Annotated[str, Meta(description="The only node from which the devices of the claim can be used.")] = ""


class ResourceRenamed(DocumentPart, frozen=True, kw_only=True):
    """The pod requests another resource, with a similar name, instead of one that no node has."""

    code: Annotated[str, one_of("rename-resource")]
    resource: str
    to: str


class ResourceServed(DocumentPart, frozen=True, kw_only=True):
    """The `extendedResourceName` of a device class is set, so that the class provides a resource that no node has."""

    code: Annotated[str, one_of("serve-resource")]
    class_: str
    resource: str


class QuotaRaised(DocumentPart, frozen=True, kw_only=True):
    """A ResourceQuota allows more of a resource."""

    code: Annotated[str, one_of("raise-quota")]
    namespace: Text
    quota: Text
    resource: Text
    from_: str
    to: str


class ClaimReleased(DocumentPart, frozen=True, kw_only=True):
    """A claim is released, so that its devices become free."""

    code: Annotated[str, one_of("release-claim")]
    release: ClaimName
    pods: list[str] = []
    stays: Annotated[
        str,
        one_of("", "NoController", "DaemonSet", "Static", "Leaving"),
        Meta(description="If no pod with the claim can be moved: the reason for the first of these pods."),
    ] = ""


class PodsGone(DocumentPart, frozen=True, kw_only=True):
    """Pods of one node no longer exist.

    `await-pods`: the pods are being deleted and end without further action. `force-delete-pods`: the pods are being
    deleted but do not end, because their node does not report. `remove-pods`: the pods run, and are to be deleted or
    moved.
    """

    code: Annotated[str, one_of("await-pods", "force-delete-pods", "remove-pods")]
    pods: Annotated[list[str], Meta(description="The pods, as NAMESPACE/NAME.", min_length=1)]
    on: Annotated[Text, Meta(description="The node of the pods.")]
    stays: Annotated[
        str,
        one_of("", "NoController", "WithoutPlace"),
        Meta(
            description="`remove-pods`: NoController: the pods can only be deleted, because no controller creates them "
            "again. WithoutPlace: a controller creates them again, but no node takes the new pods."
        ),
    ] = ""


class VolumeFreed(DocumentPart, frozen=True, kw_only=True):
    """A volume is no longer reserved for a deleted claim, so that a new claim with the same name gets it."""

    code: Annotated[str, one_of("free-volume")]
    volume: Annotated[Text, Meta(description="The name of the PersistentVolume.")]
    namespace: str
    for_: Annotated[Text, Meta(description="The name of the PersistentVolumeClaim.")]


class VolumeClaimShrunk(DocumentPart, frozen=True, kw_only=True):
    """A PersistentVolumeClaim without a volume is created again with the size of a free volume that is too small."""

    code: Annotated[str, one_of("lower-claim-size")]
    namespace: str
    volume_claim: Annotated[Text, Meta(description="The name of the PersistentVolumeClaim.")]
    from_: str
    to: str
    stateful_set: Annotated[
        str, Meta(description="The StatefulSet whose template for the claim is changed too, by creating it again.")
    ] = ""


class GateEnabled(DocumentPart, frozen=True, kw_only=True):
    """A feature gate is enabled."""

    code: Annotated[str, one_of("enable-gate")]
    gate: str


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
    "tolerate-taint": TaintTolerated,
    "label-node": NodeLabelled,
    "drop-request": RequestDropped,
    "loosen-class": SelectorChanged,
    "lower-replicas": ReplicasLowered,
}
"""The struct of every code, most plausible first.

The order is: a node with free capacity accepts the pod; a mistake is fixed; less or something else is requested, or a
rule of the pod is given up, which costs nobody else anything; one more node; what other pods have; and last, changes
to rules that affect others, those that remove a request entirely, and fewer pods, which is what happens without any
change.
"""


if TYPE_CHECKING:
    AnyChange = SuggestedChange
else:
    AnyChange = Any  # a union without a distinguishing field cannot be decoded

SHAPES = tuple(dict.fromkeys(CHANGES.values()))


class PatchedObject(DocumentPart, frozen=True, kw_only=True):
    """An object to which a patch applies, in the API version that the paths of the patch refer to."""

    api_version: Text
    kind: Text
    namespace: str
    name: Text


class PatchOperation(DocumentPart, frozen=True, kw_only=True):
    """An operation of a JSON patch (RFC 6902). The path "" means the whole object, which is deleted or created."""

    op: Annotated[str, one_of("add", "remove", "replace")]
    path: str
    value: Any = UNSET


class ObjectPatch(DocumentPart, frozen=True, kw_only=True):
    """The changes to one object, as a patch."""

    object: PatchedObject
    patch: Annotated[list[PatchOperation], Meta(min_length=1)]
    recreate: Annotated[
        bool,
        Meta(
            description=(
                "True if the API server does not allow this change, so that the object must be deleted and "
                "created again as patched."
            )
        ),
    ] = False


class TriedChanges(DocumentPart, frozen=True, kw_only=True):
    """Changes that were tried together, and the node on which the claims fit after these changes."""

    changes: Annotated[list[AnyChange], Meta(min_length=1, extra_json_schema={"items": any_of(*SHAPES)})]
    node: Annotated[str, Meta(description="The node on which the claim set then fits.")]
    also_on: Annotated[
        list[str], Meta(description="correct-toleration: other nodes on which the pod then fits, found by trials.")
    ] = []
    evicts: Annotated[
        list[str], Meta(description="The pods of lower priority that are then evicted, as NAMESPACE/NAME.")
    ] = []
    would_bind: Annotated[
        Amount, Meta(description="For a workload: the number of its pods that then get nodes, unless all of them do.")
    ] = 0
    more: Annotated[
        Amount, Meta(description="In `nextCopy`: how many more copies then fit, counted up to 20; 0 if not counted.")
    ] = 0
    patches: Annotated[
        list[ObjectPatch], Meta(description="The changes as patches that are ready to apply, one per object.")
    ]
    feature_gates: Annotated[dict[str, bool], Meta(description="The feature gates that must be set as well.")] = {}
