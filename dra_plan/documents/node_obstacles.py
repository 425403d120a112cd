"""Why nodes reject a pod: the subject of each reason, and the groups of nodes with the same reasons."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from dra_plan.api.well_known import CONTROL_PLANE, HOSTNAME, UNSCHEDULABLE
from dra_plan.documents.reasons import LeadingReason, NotTogether

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
"""Whether a pod is being deleted; Stuck if it cannot end, because its node does not exist or does not report."""


class FoundLabel(DocumentPart, frozen=True, kw_only=True):
    """A value of a node label, and the number of nodes that have it."""

    value: str
    nodes: Amount


class ResourceUser(DocumentPart, frozen=True, kw_only=True):
    """A pod that has, or is promised, some of a node's resource."""

    pod: Annotated[str, Meta(description="NAMESPACE/NAME.")]
    amount: str
    priority: int
    state: Annotated[str, LeavingState] = ""


class ShortAlternative(DocumentPart, frozen=True, kw_only=True):
    """Another alternative of a request. There are too few devices for this alternative as well."""

    request: str
    need: Amount
    left: Annotated[Amount, Meta(description="The largest number of devices that are left for it on one of the nodes.")]
    matches: Annotated[bool, Meta(description="True if any device there matches, whether it is in use or not.")]


class NodeShare(DocumentPart, frozen=True, kw_only=True):
    """What one of several nodes with the same obstacle has left, and who has the rest.

    The fields have the same meanings as in the obstacle.
    """

    node: str
    left: str
    users: list[ResourceUser] = []
    holders: list[str] = []
    removed: list[RemovedDevices] = []


class RequirementOrigin(DocumentPart, frozen=True, kw_only=True):
    """What requires a label of nodes, if it is neither the pod nor its controller. It does so for each new pod."""

    annotation: Annotated[str, Meta(description="The annotation of the namespace that does so, if it is known.")] = ""
    namespace: str = ""
    controller: Annotated[
        str, Meta(description="The controller of the pod, as KIND NAME, which does not require the label.")
    ] = ""
    runtime_class: Annotated[
        str,
        Meta(
            description="The RuntimeClass of the pod that requires the label. If `controller` is set as well, the "
            "RuntimeClass is not in the input, and it is only probable."
        ),
    ] = ""


class NodeObstacle(DocumentPart, frozen=True, kw_only=True):
    """The object or condition that makes a group of nodes reject the pod. The kind determines which fields are set."""

    kind: ObstacleKind
    resource: Annotated[
        str,
        Meta(
            description="The resource that is short. Volume: `storage`, if only the free space for a new volume is too "
            "small. VolumeLimit: the CSI driver whose volumes are counted."
        ),
    ] = ""
    need: Annotated[str, Meta(description="The amount of the resource that the pod requests.")] = ""
    left: Annotated[str, Meta(description="The largest amount that is left on one of the nodes.")] = ""
    left_from: Annotated[str, Meta(description="The smallest amount that is left, if the nodes differ.")] = ""
    room: Annotated[
        str,
        Meta(
            description=(
                "The largest amount that one of the nodes would have without pods. For devices, it is given "
                "only if it is never enough."
            )
        ),
    ] = ""
    message: Annotated[
        str, Meta(description="Taint not-ready: the reason that the kubelet gives for the node not being ready.")
    ] = ""
    never: Annotated[bool, Meta(description="True if these nodes would not have the amount even without pods.")] = False
    taint: TaintName | None = None
    more_taints: Annotated[
        list[TaintName],
        Meta(description="The other taints of all these nodes that keep the pod away. The scheduler names only one."),
    ] = []
    label: Annotated[str, Meta(description="The key of the label; metadata.name stands for the name of the node.")] = ""
    operator: str = ""
    values: Annotated[
        list[str],
        Meta(
            description="The values that the pod requires of the label. Volume: the node labels that the volume or the "
            "StorageClass requires."
        ),
    ] = []
    origin: Annotated[
        RequirementOrigin | None, Meta(description="What requires the label, if pod and controller do not.")
    ] = None
    found: Annotated[list[FoundLabel], Meta(description="The values that the nodes have, the most common first.")] = []
    values_found: Annotated[
        Amount,
        Meta(
            description="The number of different values that the nodes have. `found` contains only the most common "
            "ones."
        ),
    ] = 0
    without: Annotated[Amount, Meta(description="The number of nodes without the label.")] = 0
    near: Annotated[
        str,
        Meta(
            description="A similar resource, key or value that nodes in the cluster have. For a taint: what the pod "
            "tolerates with the same key. For the name of the node: the DaemonSet that binds the pod to "
            "it."
        ),
    ] = ""
    protocol: str = ""
    port: Amount = 0
    term: Annotated[str, one_of("affinity", "anti-affinity", "existing")] = ""
    topology_key: str = ""
    domain: Annotated[
        str, Meta(description="The topology domain of the first node; empty if that node lacks the label.")
    ] = ""
    nowhere: Annotated[
        bool, Meta(description="True if no node has the topology key. `near` is then the label that replaced it.")
    ] = False
    pods: Annotated[
        Amount, Meta(description="The number of pods in the domain that a topology spread constraint counts.")
    ] = 0
    least: Annotated[Amount, Meta(description="The number of such pods in the domain that has the fewest.")] = 0
    emptiest: Annotated[
        str,
        Meta(
            description="The name of the domain that has the fewest pods; empty if there are fewer domains than "
            "minDomains."
        ),
    ] = ""
    tainted: Annotated[
        Amount,
        Meta(
            description="The number of nodes in that domain, if all of them have taints that the pod does not tolerate."
        ),
    ] = 0
    max_skew: Amount = 0
    domains: Annotated[Amount, Meta(description="The number of domains, if minDomains requires more.")] = 0
    min_domains: Annotated[Amount, Meta(description="The value of minDomains, if there are fewer domains.")] = 0
    selector: Annotated[
        str,
        Meta(
            description="The label selector of an affinity term or of a topology spread constraint, in the format of "
            "`-l`."
        ),
    ] = ""
    elsewhere: Annotated[
        list[str], Meta(description="The other namespaces in which there are pods that this selector matches.")
    ] = []
    finished: Annotated[
        list[str],
        Meta(
            description="The finished pods that an affinity term would match, as NAMESPACE/NAME. Resource pods: one "
            "that was on the nodes; it does not count."
        ),
    ] = []
    claim: Annotated[str, Meta(description="The name of a PersistentVolumeClaim of the pod.")] = ""
    storage_class: Annotated[str, Meta(description="Volume: the StorageClass that would make the volume.")] = ""
    volume: Annotated[str, Meta(description="VolumeInUse, for a volume without a claim: the type of disk.")] = ""
    pod: Annotated[
        str, Meta(description=("On the first node: a pod because of which the node rejects, as NAMESPACE/NAME."))
    ] = ""
    state: Annotated[str, LeavingState] = ""
    users: Annotated[
        list[ResourceUser],
        Meta(
            description="The pods with the largest requests for the resource, on the node that has the most left. If "
            "they were gone, the pod would fit."
        ),
    ] = []
    promised: Annotated[
        list[ResourceUser],
        Meta(description="The pods that come first and are nominated to that node, so that their room is not free."),
    ] = []
    each: Annotated[
        list[NodeShare],
        Meta(
            description="Each of the nodes, those with the most left first, if there are only a few and they differ in "
            "what is left or in who has the rest."
        ),
    ] = []
    free: Annotated[str, Meta(description="The amount that node would have left without the nominated pods.")] = ""
    on: Annotated[
        str,
        Meta(
            description="The node that `users`, `devices` and values are about, if the obstacle is about several nodes."
        ),
    ] = ""
    devices: Annotated[LeadingReason | None, Meta(description="The reason why the claims do not fit.")] = None
    alternatives: Annotated[
        list[ShortAlternative],
        Meta(description="The other alternatives of a `firstAvailable` request, which fail on the node as well."),
    ] = []
    missing_drivers: Annotated[
        list[MissingDriver],
        Meta(description="The drivers whose devices the claims need and that publish nothing for the first node."),
    ] = []
    pools_elsewhere: Annotated[
        list[PoolElsewhere],
        Meta(
            description="If the first of the nodes has no devices: pools of wanted drivers that are for other labels."
        ),
    ] = []
    pools: Annotated[
        list[PoolName], Meta(description="On the first node: the first pools with which the attempt ends in an error.")
    ] = []
    removed: Annotated[
        list[RemovedDevices],
        Meta(description="On the first node: the devices that match the request that fails, and that it cannot get."),
    ] = []
    deciding: Annotated[
        DecidingClause | None,
        Meta(description="If no device matches: the part of the selector that is false on the most of them."),
    ] = None
    together: Annotated[
        NotTogether | None,
        Meta(description="On the first node: the requirements of the claims that cannot be met together."),
    ] = None
    parts: Annotated[
        list[str],
        Meta(
            description="The amounts that add up to `need`, if it contains more than what the containers state as "
            "requests."
        ),
    ] = []
    holders: Annotated[
        list[str],
        Meta(
            description=(
                "The pods that use an extended resource on the first node, or a host port on each of several "
                "nodes, as NAMESPACE/NAME."
            )
        ),
    ] = []
    not_ready: Annotated[
        str,
        Meta(
            description="If the node has no devices: a pod of a DaemonSet that is not ready on it, and the reason, if "
            "it is known."
        ),
    ] = ""
    driver: Annotated[str, Meta(description="The driver that the claims want and that this pod seems to be.")] = ""
    unhealthy: Annotated[
        str,
        Meta(
            description="The amount of an extended resource that the nodes have, if their device plugin offers less of "
            "it."
        ),
    ] = ""
    varies: Annotated[
        bool,
        Meta(
            description=(
                "True if the pod or domain given here applies to the first node only, and other nodes have a "
                "different one."
            )
        ),
    ] = False
    taken_before: Annotated[
        bool, Meta(description="True if the claims fit now, but pods that come first take the devices.")
    ] = False

    @property
    def is_reserved(self) -> bool:
        """True if this is the taint of a node that is reserved for the control plane.

        Such a taint takes precedence over all other reasons.
        """
        return self.taint is not None and self.taint.key in CONTROL_PLANE

    @property
    def is_of_cordon(self) -> bool:
        """True if this is the taint that a cordon sets."""
        return self.taint is not None and self.taint.key == UNSCHEDULABLE.key

    @property
    def is_of_room(self) -> bool:
        """True if other pods leave too little room on the node, so that the node might accept the pod without them."""
        if self.kind == "Affinity":
            return self.term in ("anti-affinity", "existing")
        return self.kind in ("Resource", "Port", "VolumeLimit") and not self.never

    @property
    def is_of_other_node(self) -> bool:
        """Return whether the pod may only run on nodes that it names."""
        names = self.kind == "Label" and self.operator == "In" and self.label in (HOSTNAME, "metadata.name")
        return names or self.kind == "NodeName"

    @property
    def is_of_daemon_set(self) -> bool:
        """Return whether a DaemonSet created the pod for another node. What else these nodes lack does not matter."""
        return self.kind == "Label" and self.label == "metadata.name" and bool(self.near)

    @property
    def is_of_volume(self) -> bool:
        """True if the node can never use the pod's volume. It then does not matter what else the node lacks."""
        return self.kind == "Volume" and bool(self.volume)


class NodeRefusalReason(DocumentPart, frozen=True, kw_only=True):
    """One reason why one plugin rejects nodes, and the objects or conditions behind the reason."""

    plugin: str
    message: SchedulerText
    counted: Annotated[
        bool,
        Meta(
            description=(
                "True if the reason is in the scheduler's message, which counts only one plugin for each node."
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
            description="The number of pods of lower priority on these nodes, if the pod has a priority above 0 and "
            "may preempt others."
        ),
    ] = 0
    priority: Annotated[
        int | None,
        Meta(
            description="If there are pods on these nodes, but none of lower priority: the lowest priority among them."
        ),
    ] = None

    @property
    def about(self) -> list[NodeObstacle]:
        """The objects or conditions that make these nodes reject the pod."""
        return [one for reason in self.reasons for one in reason.about]
