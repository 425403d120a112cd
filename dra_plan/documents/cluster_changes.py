"""Changes to nodes, pods, workloads and other objects of a cluster: parts of suggestions."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from .base import Amount, ClaimName, DocumentPart, Text, one_of
from .devices import TaintName


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
