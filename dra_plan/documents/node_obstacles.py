"""Why nodes reject a pod: the subject of each reason, and the nodes with the same reasons."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from dra_plan.api.well_known import CONTROL_PLANE, HOSTNAME, UNSCHEDULABLE
from dra_plan.documents.reasons import LeadingReason, NotTogether, UnreadyPod

from .base import Amount, DocumentPart, PoolName, SchedulerText, one_of
from .devices import DecidingClause, RemovedDevices, TaintName
from .stories import MissingDriver, PoolElsewhere

ObstacleKind = Literal[
    "Resource",
    "Devices",
    "Taint",
    "Cordoned",
    "NodeName",
    "Label",
    "Port",
    "Affinity",
    "Spread",
    "Volume",
    "VolumeInUse",
    "VolumeLimit",
]


LeavingState = one_of("", "Leaving", "Stuck")
"""Whether a pod is being deleted. Stuck: it cannot end, because its node does not exist or does not report."""


class FoundLabel(DocumentPart, frozen=True, kw_only=True):
    """A value of a node label, and the number of nodes with it."""

    value: str
    nodes: Amount


class ResourceUser(DocumentPart, frozen=True, kw_only=True):
    """A pod that uses a part of a node's resource, or is nominated to the node."""

    pod: Annotated[str, Meta(description="The namespace and name of the pod, as NAMESPACE/NAME.")]
    amount: str
    priority: int
    state: Annotated[str, LeavingState] = ""


class ShortAlternative(DocumentPart, frozen=True, kw_only=True):
    """Another alternative of a request. Too few devices are left for it as well."""

    request: str
    need: Amount
    left: Annotated[
        Amount, Meta(description="The largest number of devices left for the alternative on any of the nodes.")
    ]
    matches: Annotated[bool, Meta(description="Whether any device on the nodes matches, even if it is in use.")]


class NodeShare(DocumentPart, frozen=True, kw_only=True):
    """What one of several nodes with the same obstacle has left, and what uses the rest.

    See NodeObstacle for the fields.
    """

    node: str
    left: str
    users: list[ResourceUser] = []
    holders: list[str] = []
    holders_of: str = ""
    removed: list[RemovedDevices] = []


class RequirementOrigin(DocumentPart, frozen=True, kw_only=True):
    """What makes each new pod require a node label, if neither the pod's own spec nor its controller does."""

    annotation: Annotated[
        str, Meta(description="The namespace annotation that requires the label, if it is known.")
    ] = ""
    namespace: str = ""
    controller: Annotated[str, Meta(description="The pod's controller, as KIND NAME.")] = ""
    runtime_class: Annotated[
        str,
        Meta(
            description=(
                "The pod's RuntimeClass, which requires the label. If `controller` is also set, this is "
                "only probable, because the RuntimeClass is not in the input."
            )
        ),
    ] = ""


class PodSource(DocumentPart, frozen=True, kw_only=True):
    """A pod without a node, or a workload without running pods, whose labels a pod affinity term selects."""

    kind: str
    namespace: str
    name: str
    state: Annotated[
        str,
        one_of("NoReplicas", "Suspended", "Pending", "NoPods"),
        Meta(
            description=(
                "NoReplicas: the workload wants no pods. Suspended: it creates no pods until it is resumed. "
                "Pending: the pod, or each of the workload's pods, has no node. NoPods: the workload has no "
                "pods for another reason."
            )
        ),
    ]
    pod: Annotated[str, Meta(description="Pending: one of the workload's pods, as NAMESPACE/NAME.")] = ""
    pods: Annotated[Amount, Meta(description="Pending: the number of pods without a node.")] = 0


class CountedPods(DocumentPart, frozen=True, kw_only=True):
    """A workload's pods among those that a topology spread constraint counts in a domain."""

    kind: Annotated[str, Meta(description="The kind of the workload, or Pod for a pod without a controller.")]
    name: str
    pods: Amount
    own: Annotated[
        bool, Meta(description="Whether this is the rejected pod's own workload, which may have no pods in the domain.")
    ] = False


class NodeObstacle(DocumentPart, frozen=True, kw_only=True):
    """The object or condition that makes nodes reject the pod. The kind determines which fields are set."""

    kind: ObstacleKind
    resource: Annotated[
        str,
        Meta(
            description=(
                "The resource that is short. Volume: `storage`, if only the free space for a new volume is "
                "too small. VolumeLimit: the CSI driver whose volumes are counted."
            )
        ),
    ] = ""
    need: Annotated[str, Meta(description="The amount of the resource that the pod requests.")] = ""
    left: Annotated[str, Meta(description="The largest amount left on any of the nodes.")] = ""
    left_from: Annotated[str, Meta(description="The smallest amount left, if it differs between the nodes.")] = ""
    room: Annotated[
        str,
        Meta(
            description=(
                "The largest amount that any of the nodes would have without pods. For devices, it is set "
                "only if it is never enough."
            )
        ),
    ] = ""
    message: Annotated[str, Meta(description="Taint not-ready: the kubelet's reason why the node is not ready.")] = ""
    never: Annotated[bool, Meta(description="Whether the nodes would lack the amount even without pods.")] = False
    taint: TaintName | None = None
    agent: Annotated[
        UnreadyPod | None,
        Meta(
            description=(
                "Taint of an agent that is not ready: a DaemonSet pod on the first node that is not ready "
                "and may be the agent."
            )
        ),
    ] = None
    more_taints: Annotated[
        list[TaintName],
        Meta(description="Other untolerated taints that all of these nodes have. The scheduler names only one taint."),
    ] = []
    label: Annotated[str, Meta(description="The label's key, or metadata.name for the name of the node.")] = ""
    operator: str = ""
    values: Annotated[
        list[str],
        Meta(
            description=(
                "The label values that the pod requires. Volume: the node labels that the volume or the "
                "StorageClass requires."
            )
        ),
    ] = []
    origin: Annotated[
        RequirementOrigin | None,
        Meta(description="What requires the label, if neither the pod's own spec nor its controller does."),
    ] = None
    found: Annotated[list[FoundLabel], Meta(description="The values on the nodes, most common first.")] = []
    values_found: Annotated[
        Amount,
        Meta(description="The number of different values on the nodes. `found` contains only the most common ones."),
    ] = 0
    without: Annotated[Amount, Meta(description="The number of nodes without the label.")] = 0
    near: Annotated[
        str,
        Meta(
            description=(
                "A similar resource, key or value that nodes in the cluster have. For a taint: the pod's "
                "toleration with the same key. For a node name: the DaemonSet that binds the pod to the "
                "node."
            )
        ),
    ] = ""
    protocol: str = ""
    port: Amount = 0
    term: Annotated[str, one_of("affinity", "anti-affinity", "existing")] = ""
    topology_key: str = ""
    domain: Annotated[
        str, Meta(description="The first node's topology domain, or empty if the node lacks the label.")
    ] = ""
    nowhere: Annotated[
        bool, Meta(description="True if no node has the topology key. `near` is then the label that replaced the key.")
    ] = False
    pods: Annotated[
        Amount, Meta(description="The number of pods in the domain that match the topology spread constraint.")
    ] = 0
    counted: Annotated[
        list[CountedPods],
        Meta(
            description=(
                "The workloads of these pods, if there are several, largest number first. `pods` may include others."
            )
        ),
    ] = []
    excludes_itself: Annotated[
        bool, Meta(description="True if the selector of a topology spread constraint does not select the pod itself.")
    ] = False
    least: Annotated[Amount, Meta(description="The smallest number of matching pods in any domain.")] = 0
    emptiest: Annotated[
        str,
        Meta(
            description=(
                "The name of the domain with the fewest matching pods, or empty if there are fewer domains "
                "than minDomains."
            )
        ),
    ] = ""
    tainted: Annotated[
        Amount,
        Meta(
            description=(
                "The number of nodes in the domain `emptiest`, if the pod does not tolerate the taints of any of them."
            )
        ),
    ] = 0
    useless: Annotated[
        list[str],
        Meta(
            description=(
                "What the nodes in the domain `emptiest` lack, if none of them can ever run the pod: names "
                "of resources and labels, or `devices`."
            )
        ),
    ] = []
    max_skew: Amount = 0
    domains: Annotated[Amount, Meta(description="The number of domains, if it is less than minDomains.")] = 0
    min_domains: Annotated[Amount, Meta(description="The value of minDomains, if there are fewer domains.")] = 0
    selector: Annotated[
        str,
        Meta(
            description="The label selector of the affinity term or topology spread constraint, in the format of `-l`."
        ),
    ] = ""
    absent: Annotated[
        bool,
        Meta(
            description=(
                "True if no node has a pod that the affinity term selects. `near` may then be a similar "
                "label of other pods."
            )
        ),
    ] = False
    sources: Annotated[
        list[PodSource],
        Meta(description="If `absent`: the pods without a node, and the workloads that would create such pods."),
    ] = []
    elsewhere: Annotated[list[str], Meta(description="Other namespaces with pods that the selector matches.")] = []
    finished: Annotated[
        list[str],
        Meta(
            description=(
                "The finished pods that the affinity term would match, as NAMESPACE/NAME. Resource pods: a "
                "finished pod that was on the nodes. It does not count."
            )
        ),
    ] = []
    claim: Annotated[str, Meta(description="The name of a PersistentVolumeClaim of the pod.")] = ""
    storage_class: Annotated[str, Meta(description="Volume: the StorageClass that would create the volume.")] = ""
    volume: Annotated[str, Meta(description="VolumeInUse, for a volume without a claim: the type of disk.")] = ""
    pod: Annotated[
        str,
        Meta(description=("On the first node: the pod that makes the node reject this one, as NAMESPACE/NAME.")),
    ] = ""
    state: Annotated[str, LeavingState] = ""
    users: Annotated[
        list[ResourceUser],
        Meta(
            description=(
                "The pods with the largest requests for the resource on the node that has the most left. "
                "Without them, the rejected pod would fit."
            )
        ),
    ] = []
    promised: Annotated[
        list[ResourceUser],
        Meta(
            description=(
                "The pods that take precedence and are nominated to the node in `on`, where they reserve resources."
            )
        ),
    ] = []
    each: Annotated[
        list[NodeShare],
        Meta(
            description=(
                "The nodes with what is left on each, largest amount first. Set if there are only a few "
                "nodes and they differ in what is left or in what uses the rest."
            )
        ),
    ] = []
    free: Annotated[
        str, Meta(description="The amount that the node in `on` would have left without the nominated pods.")
    ] = ""
    on: Annotated[
        str,
        Meta(description="The node that `users`, `devices` and the amounts describe, if there are several nodes."),
    ] = ""
    devices: Annotated[LeadingReason | None, Meta(description="The reason why the claims do not fit.")] = None
    alternatives: Annotated[
        list[ShortAlternative],
        Meta(description="The other alternatives of a `firstAvailable` request. None of them fits on the node."),
    ] = []
    missing_drivers: Annotated[
        list[MissingDriver],
        Meta(description="The drivers that the claims need and that publish nothing for the first node."),
    ] = []
    pools_elsewhere: Annotated[
        list[PoolElsewhere],
        Meta(
            description=(
                "If the first node has no devices: pools of the requested drivers that are for nodes with other labels."
            )
        ),
    ] = []
    pools: Annotated[
        list[PoolName],
        Meta(description="On the first node: the first pools that make the scheduler stop with an error."),
    ] = []
    removed: Annotated[
        list[RemovedDevices],
        Meta(description="On the first node: the devices that match the failing request but are not available to it."),
    ] = []
    deciding: Annotated[
        DecidingClause | None,
        Meta(description="If no device matches: the part of the selector that is false for the most devices."),
    ] = None
    together: Annotated[
        NotTogether | None,
        Meta(description="On the first node: the requirements of the claims that cannot be met together."),
    ] = None
    parts: Annotated[
        list[str],
        Meta(description="The amounts that add up to `need`, if the containers' requests are only a part of it."),
    ] = []
    holders: Annotated[
        list[str],
        Meta(
            description=(
                "The pods, as NAMESPACE/NAME, that use an extended resource on the first node, or the host "
                "port on several nodes."
            )
        ),
    ] = []
    holders_of: Annotated[
        str,
        Meta(description="The workload to which all pods that use the extended resource belong, as NAMESPACE/NAME."),
    ] = ""
    not_ready: Annotated[
        str,
        Meta(
            description=(
                "If the node has no devices: a DaemonSet pod on the node that is not ready, and the reason, if known."
            )
        ),
    ] = ""
    driver: Annotated[str, Meta(description="The requested driver to which the pod in `notReady` seems to belong.")] = (
        ""
    )
    unhealthy: Annotated[
        str,
        Meta(description="The amount of an extended resource that the nodes have, if their device plugin offers less."),
    ] = ""
    varies: Annotated[
        bool,
        Meta(
            description=(
                "True if `pod` or `domain` applies only to the first node, and other nodes have different ones."
            )
        ),
    ] = False
    taken_before: Annotated[
        bool, Meta(description="True if the claims fit now, but pods that take precedence use the devices.")
    ] = False

    @property
    def is_reserved(self) -> bool:
        """Whether this is the taint of a control plane node. It takes precedence over all other reasons."""
        return self.taint is not None and self.taint.key in CONTROL_PLANE

    @property
    def is_of_cordon(self) -> bool:
        """Whether this is the taint that a cordon sets."""
        return self.taint is not None and self.taint.key == UNSCHEDULABLE.key

    @property
    def is_of_room(self) -> bool:
        """Whether the node could accept the pod if other pods were removed."""
        if self.kind == "Affinity":
            return self.term in ("anti-affinity", "existing")
        return self.kind in ("Resource", "Port", "VolumeLimit") and not self.never

    @property
    def is_lasting(self) -> bool:
        """Whether the node would have this obstacle even without other pods, as long as its labels stay the same."""
        if self.kind == "Label":
            return not self.is_of_other_node
        return self.kind in ("Resource", "Devices") and self.never

    @property
    def is_of_other_node(self) -> bool:
        """Return whether the pod may run only on the nodes that it names."""
        names = self.kind == "Label" and self.operator == "In" and self.label in (HOSTNAME, "metadata.name")
        return names or self.kind == "NodeName"

    @property
    def is_of_daemon_set(self) -> bool:
        """Return whether a DaemonSet created the pod for another node.

        If so, the node's other obstacles do not matter.
        """
        return self.kind == "Label" and self.label == "metadata.name" and bool(self.near)

    @property
    def is_of_volume(self) -> bool:
        """Whether the node can never use the pod's volume. If so, the node's other obstacles do not matter."""
        return self.kind == "Volume" and bool(self.volume)


class NodeRefusalReason(DocumentPart, frozen=True, kw_only=True):
    """A reason why a plugin rejects nodes, and the objects or conditions behind it."""

    plugin: str
    message: SchedulerText
    counted: Annotated[
        bool,
        Meta(
            description=(
                "Whether the reason is in the scheduler's message, which counts only one plugin for each node."
            )
        ),
    ]
    about: list[NodeObstacle] = []


class RefusingNodes(DocumentPart, frozen=True, kw_only=True):
    """Nodes that reject a pod for the same reasons."""

    nodes: Annotated[list[str], Meta(min_length=1)]
    reasons: Annotated[list[NodeRefusalReason], Meta(min_length=1)]
    lower_priority: Annotated[
        Amount,
        Meta(
            description=(
                "The number of pods with lower priority on these nodes, if the pod has a priority above 0 "
                "and may preempt other pods."
            )
        ),
    ] = 0
    priority: Annotated[
        int | None,
        Meta(
            description=(
                "The lowest priority of the pods on these nodes, if none of them has a lower priority than this pod."
            )
        ),
    ] = None

    @property
    def about(self) -> list[NodeObstacle]:
        """The objects and conditions that make these nodes reject the pod."""
        return [one for reason in self.reasons for one in reason.about]
