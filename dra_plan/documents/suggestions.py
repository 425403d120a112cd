"""Tested changes that make a claim set fit, as parts of an Explanation. docs/reasons.md describes every code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from msgspec import UNSET, Meta

from dra_plan.api.resource import DeviceToleration

from .base import Amount, ClaimName, DocumentPart, ObjectName, PoolName, Position, Text, any_of, one_of
from .devices import TaintName
from .reasons import UnreadyPod
from .stories import DriverPod


class OtherAmount(DocumentPart, frozen=True, kw_only=True):
    """The largest amount of a capacity or counter, before and after a change of the requested value.

    `from` is the amount on the devices with the old value, and `to` is the amount on those with the new value.
    """

    name: Text
    from_: str
    to: str


class SelectorChanged(DocumentPart, frozen=True, kw_only=True):
    """A selector of a class or a request is replaced, or removed if the new selector is null."""

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
        Meta(description="For a selector of a class: the other claims and templates in the input that use the class."),
    ] = []
    amount: Annotated[
        OtherAmount | None,
        Meta(description="change-value: how the sizes of these devices and the requested ones differ."),
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
        list[str], Meta(description="The devices on the node with the taint, as DRIVER/POOL/DEVICE.")
    ] = []
    needed: Annotated[Amount, Meta(description="The smallest number of these devices that the request needs.")] = 0
    since: Annotated[
        str, Meta(description="The time at which the first of these devices got the taint, from timeAdded.")
    ] = ""


class TaintRuleDeleted(DocumentPart, frozen=True, kw_only=True):
    """A DeviceTaintRule is deleted, which removes its taint from devices."""

    code: Annotated[str, one_of("delete-taint-rule")]
    rule: Annotated[Text, Meta(description="The name of the DeviceTaintRule.")]
    taint: TaintName


class CountLowered(RequestChange, frozen=True, kw_only=True):
    """Fewer devices are requested, or a fixed number of devices instead of all that match."""

    code: Annotated[str, one_of("lower-count", "count-instead-of-all")]
    from_: int | None = None
    to: int
    claims: Annotated[
        int,
        Meta(
            description=(
                "The number of the pod's claims that come from the template. Each of them contains the request."
            )
        ),
    ] = 1


class CapacityChanged(RequestChange, frozen=True, kw_only=True):
    """A smaller amount of a capacity, another capacity, or no capacity is requested.

    `request-capacity`: an explicit amount replaces the one that applies if the request states none.
    """

    code: Annotated[str, one_of("lower-capacity", "request-capacity", "rename-capacity", "drop-capacity")]
    capacity: str
    from_: str = ""
    to: str = ""
    also: Annotated[
        dict[str, str],
        Meta(description="request-capacity: the amounts of other capacities that are requested too."),
    ] = {}


class ClassChanged(RequestChange, frozen=True, kw_only=True):
    """Another class is requested."""

    code: Annotated[str, one_of("change-class")]
    from_: str = ""
    to: str
    amount: Annotated[
        OtherAmount | None, Meta(description="How much less the devices have than those of the current class.")
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
    """The claim waits for the pool's missing slices."""

    code: Annotated[str, one_of("wait-for-slice")]
    pool: PoolName
    generation: int
    seen: Amount
    expected: int
    on: Annotated[str, Meta(description="The node of the slices, or empty if several nodes may use them.")] = ""
    driver_pods: Annotated[list[DriverPod], Meta(description="The driver's pods on that node that are not ready.")] = []


class NodeAdded(DocumentPart, frozen=True, kw_only=True):
    """A copy of a node is added, with the pods and devices of such a node. No patch can do this."""

    code: Annotated[str, one_of("add-node")]
    like: Annotated[str, Meta(description="The node that is copied.")]


class NodeLabelled(DocumentPart, frozen=True, kw_only=True):
    """The node gets labels."""

    code: Annotated[str, one_of("label-node")]
    labels: dict[str, str]
    runtime_class: Annotated[
        str,
        Meta(
            description=(
                "The RuntimeClass that requires the label. Other nodes have the label, so the component "
                "that sets it may have failed on this node."
            )
        ),
    ] = ""


class NodeUncordoned(DocumentPart, frozen=True, kw_only=True):
    """The node is uncordoned."""

    code: Annotated[str, one_of("uncordon-node")]
    uncordon: Annotated[str, Meta(description="The node that is uncordoned.")]
    upgrade: Annotated[str, Meta(description="The node's label for the state of a driver upgrade, as KEY=VALUE.")] = ""


class NodeAwaited(DocumentPart, frozen=True, kw_only=True):
    """A node becomes ready again, and controllers then remove their taints from it."""

    code: Annotated[str, one_of("await-node")]
    awaited: Annotated[str, Meta(description="The node that becomes ready.")]
    taints: Annotated[list[TaintName], Meta(description="The taints that are removed as a result.", min_length=1)]
    since: Annotated[
        str, Meta(description="The time at which the node got the first of these taints, from timeAdded.")
    ] = ""
    ends: Annotated[
        list[str],
        Meta(description="The pods on the node that are being deleted and end as a result, as NAMESPACE/NAME."),
    ] = []


class DevicesRepaired(DocumentPart, frozen=True, kw_only=True):
    """A device plugin offers all devices of a resource again."""

    code: Annotated[str, one_of("repair-devices")]
    resource: str
    on: Annotated[Text, Meta(description="The node.")]
    from_: Annotated[
        str, Meta(description="The amount that the device plugin currently offers (`status.allocatable`).")
    ]
    to: Annotated[str, Meta(description="The amount that the node has (`status.capacity`).")]


class NodeTaintMet(DocumentPart, frozen=True, kw_only=True):
    """The pod tolerates a taint of the node, or the taint is removed."""

    code: Annotated[str, one_of("correct-toleration", "tolerate-node-taint", "remove-node-taint")]
    tainted: Annotated[str, Meta(description="The node whose taint is tolerated or removed.")]
    taint: TaintName
    cron_job: Annotated[
        str,
        Meta(description="The CronJob that creates the pod's Job, which cannot be edited."),
    ] = ""
    field: Annotated[
        str,
        one_of("key", "value", "effect", ""),
        Meta(description="correct-toleration: the field in which the toleration and the taint differ."),
    ] = ""
    from_: Annotated[str, Meta(description="correct-toleration: the toleration's current value of the field.")] = ""
    to: Annotated[str, Meta(description="correct-toleration: the taint's value of the field.")] = ""


class NodeSelectorChanged(DocumentPart, frozen=True, kw_only=True):
    """The pod requires another value of a node label, or another label.

    `use-other-nodes`: some nodes have the new value, and the nodes with the current value have no room.
    """

    code: Annotated[str, one_of("change-node-selector", "use-other-nodes")]
    label: str
    from_: str
    to: str
    to_label: Annotated[str, Meta(description="The label that is required instead, if it is another label.")] = ""


class NodeRequirementsMerged(DocumentPart, frozen=True, kw_only=True):
    """Conflicting requirements for a node label are replaced by one that accepts any of their values."""

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
    has: Annotated[str, Meta(description="The node's value, or absent if the node lacks the label.")] = ""
    places: Annotated[
        list[str],
        Meta(
            description="The fields that contain the requirement: `nodeSelector`, `nodeAffinity` or both.", min_length=1
        ),
    ]


class AffinityNamespacesAdded(DocumentPart, frozen=True, kw_only=True):
    """A required pod affinity term also selects pods in other namespaces."""

    code: Annotated[str, one_of("add-affinity-namespaces")]
    selector: Annotated[str, Meta(description="The label selector of the term, in the format of `-l`.")]
    topology_key: str
    namespaces: Annotated[list[str], Meta(description="The additional namespaces.", min_length=1)]


class PodRuleRelaxed(DocumentPart, frozen=True, kw_only=True):
    """A rule of the pod about other pods becomes a preference, or a container no longer uses its host port.

    - `honor-taints`: a topology spread constraint no longer counts nodes whose taints the pod does not tolerate.
    - `raise-max-skew`: a topology spread constraint allows a larger difference.
    - `lower-min-domains`: a topology spread constraint requires only as many domains as there are.
    - `change-topology-key`: the rules use the new name of a label instead of the old name, which no node has.
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
    from_: Annotated[Amount, Meta(description="The current value of minDomains or maxSkew.")] = 0
    to: Annotated[Amount, Meta(description="The new value of minDomains or maxSkew.")] = 0
    port: Amount = 0


class HostPortChanged(DocumentPart, frozen=True, kw_only=True):
    """Containers use another port of the node. In the host's network, this is the port on which the process listens."""

    code: Annotated[str, one_of("change-host-port")]
    protocol: str
    from_: Amount
    to: Amount
    listens: Annotated[bool, Meta(description="True in the host's network, where containerPort changes too.")] = False


class ResourceLowered(DocumentPart, frozen=True, kw_only=True):
    """A container, or the pod as a whole, requests less of a resource."""

    code: Annotated[str, one_of("lower-request")]
    container: Annotated[str, Meta(description="The container, or empty for the pod's own spec.resources.")]
    resource: str
    from_: str
    to: str


class ResourceDropped(DocumentPart, frozen=True, kw_only=True):
    """Containers no longer request an extended resource that devices provide, in addition to the devices of a claim."""

    code: Annotated[str, one_of("drop-resource")]
    resource: str
    amount: Amount
    containers: Annotated[list[str], Meta(min_length=1)]
    class_: Annotated[str, Meta(description="The device class that provides `resource`.")]
    uses_claim: Annotated[
        bool, Meta(description="Whether these containers also use a claim that competes for the same devices.")
    ] = False


class PriorityRaised(DocumentPart, frozen=True, kw_only=True):
    """The pods get a PriorityClass with a higher value. They then preempt the pods in `evicts` of the suggestion."""

    code: Annotated[str, one_of("raise-priority")]
    priority_class: Text
    value: int
    is_new: Annotated[bool, Meta(description="Whether the PriorityClass has to be created.")] = False
    placed: Annotated[
        list[str], Meta(description="The preempted pods whose replacements would get other nodes, as NAMESPACE/NAME.")
    ] = []
    without_place: Annotated[
        list[str], Meta(description="The preempted pods whose replacements would get no node, as NAMESPACE/NAME.")
    ] = []
    not_recreated: Annotated[
        list[str], Meta(description="The preempted pods without a controller, which nothing recreates.")
    ] = []


class ClaimDropped(DocumentPart, frozen=True, kw_only=True):
    """One of the pod's claims is removed, because other requests of the pod compete for the same devices."""

    code: Annotated[str, one_of("drop-claim")]
    entry: Annotated[Text, Meta(description="The name of the claim in the pod's resourceClaims.")]
    claim: ClaimName
    beside: Annotated[
        str,
        Meta(description="The extended resource that the containers with this claim also request, if all of them do."),
    ] = ""


class ReplicasLowered(DocumentPart, frozen=True, kw_only=True):
    """The workload has fewer replicas."""

    code: Annotated[str, one_of("lower-replicas")]
    from_: int
    to: int


class WorkloadStarted(DocumentPart, frozen=True, kw_only=True):
    """A workload without pods creates pods that a pod affinity term selects."""

    code: Annotated[str, one_of("raise-replicas", "resume-job")]
    kind: Text
    namespace: str
    name: Text
    to: Annotated[Amount, Meta(description="raise-replicas: the new number of replicas.")] = 0


class PodSelectorChanged(DocumentPart, frozen=True, kw_only=True):
    """A rule of the pod about other pods selects them by different labels.

    `narrow-pod-selector`: the labels with which the pod's own workload selects its pods.
    """

    code: Annotated[str, one_of("correct-pod-selector", "narrow-pod-selector")]
    rule: Annotated[str, one_of("spread", "affinity", "anti-affinity")]
    topology_key: str
    from_: Annotated[str, Meta(description="The current label selector, in the format of `-l`.")]
    to: Annotated[str, Meta(description="The new label selector, in the format of `-l`.")]


class RolloutLoosened(DocumentPart, frozen=True, kw_only=True):
    """A rolling update deletes an old pod before a new pod is ready (`maxUnavailable` of the Deployment)."""

    code: Annotated[str, one_of("loosen-rollout")]
    deployment: str
    to: int


class ClaimTemplated(DocumentPart, frozen=True, kw_only=True):
    """Each pod gets its own claim instead of sharing one with other pods.

    The claims are created from a template with the spec of the shared claim, which may exist or is new.
    """

    code: Annotated[str, one_of("use-claim-template")]
    shared: Annotated[ClaimName, Meta(description="The claim that the pods currently use.")]
    template: Annotated[str, Meta(description="The name of the ResourceClaimTemplate.")]
    exists: Annotated[bool, Meta(description="Whether the template is in the input already.")] = False
    kept_by: Annotated[
        list[str],
        Meta(
            description=(
                "If only pods of other owners use the shared claim: the pods because of which it stays on its node."
            )
        ),
    ] = []
    on: Annotated[str, Meta(description="The only node that can reach the claim's devices.")] = ""


class ResourceRenamed(DocumentPart, frozen=True, kw_only=True):
    """The pod requests a similarly named resource instead of one that no node has."""

    code: Annotated[str, one_of("rename-resource")]
    resource: str
    to: str


class ResourceServed(DocumentPart, frozen=True, kw_only=True):
    """The `extendedResourceName` of a device class is set, so that the class provides a resource that no node has."""

    code: Annotated[str, one_of("serve-resource")]
    class_: str
    resource: str


class ResourceClaimed(DocumentPart, frozen=True, kw_only=True):
    """A container gets devices by a claim from a template, instead of an extended resource that nodes lack."""

    code: Annotated[str, one_of("claim-resource")]
    resource: str
    amount: Amount
    container: str
    class_: Annotated[str, Meta(description="The device class that the claim requests.")]
    entry: Annotated[Text, Meta(description="The name of the claim in the pod's resourceClaims.")]
    namespace: str
    template: Annotated[str, Meta(description="The name of the ResourceClaimTemplate.")]
    exists: Annotated[bool, Meta(description="Whether the template is in the input already.")] = False


class QuotaRaised(DocumentPart, frozen=True, kw_only=True):
    """A ResourceQuota allows more of a resource."""

    code: Annotated[str, one_of("raise-quota")]
    namespace: Text
    quota: Text
    resource: Text
    from_: str
    to: str


class ClaimReleased(DocumentPart, frozen=True, kw_only=True):
    """A claim is released, and its devices become free."""

    code: Annotated[str, one_of("release-claim")]
    release: ClaimName
    pods: list[str] = []
    stays: Annotated[
        str,
        one_of("", "NoController", "DaemonSet", "Static", "Leaving", "WithoutPlace"),
        Meta(
            description=(
                "If no pod with the claim can be moved: the reason why the first of them cannot. WithoutPlace: no node "
                "takes the pods that a controller creates instead."
            )
        ),
    ] = ""


class PodsGone(DocumentPart, frozen=True, kw_only=True):
    """Pods leave a node.

    `await-pods`: the pods are being deleted and will end. `force-delete-pods`: the pods are being deleted but do not
    end, because their node does not report. `remove-pods`: the pods are running and have to be deleted or moved.
    `restart-pods`: the pods are running and have to be deleted, and all the pods that replace them get nodes.
    """

    code: Annotated[str, one_of("await-pods", "force-delete-pods", "restart-pods", "remove-pods")]
    pods: Annotated[list[str], Meta(description="The pods, as NAMESPACE/NAME.", min_length=1)]
    on: Annotated[Text, Meta(description="The node of the pods.")]
    until: Annotated[str, Meta(description="`await-pods`: the time at which the last grace period ends.")] = ""
    overdue: Annotated[
        bool, Meta(description="`await-pods`: whether `until` is well before the time of the input.")
    ] = False
    finalizers: Annotated[list[str], Meta(description="`await-pods`: the finalizers of the overdue pods.")] = []
    stays: Annotated[
        str,
        one_of("", "NoController", "WithoutPlace"),
        Meta(
            description=(
                "`remove-pods`: NoController: the pods can only be deleted, because no controller recreates "
                "them. WithoutPlace: a controller recreates them, but no node takes the new pods."
            )
        ),
    ] = ""
    then_on: Annotated[
        list[Text],
        Meta(description="`restart-pods`: the nodes that take the replacements, in the order of `pods`."),
    ] = []


class VolumeFreed(DocumentPart, frozen=True, kw_only=True):
    """A volume is no longer reserved for a deleted claim, so that a new claim of the same name gets it."""

    code: Annotated[str, one_of("free-volume")]
    volume: Annotated[Text, Meta(description="The name of the PersistentVolume.")]
    namespace: str
    for_: Annotated[Text, Meta(description="The name of the PersistentVolumeClaim.")]


class VolumeClaimShrunk(DocumentPart, frozen=True, kw_only=True):
    """A PersistentVolumeClaim without a volume is recreated with the size of a free volume that was too small."""

    code: Annotated[str, one_of("lower-claim-size")]
    namespace: str
    volume_claim: Annotated[Text, Meta(description="The name of the PersistentVolumeClaim.")]
    from_: str
    to: str
    stateful_set: Annotated[
        str, Meta(description="The StatefulSet to recreate, because its template for the claim changes too.")
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
