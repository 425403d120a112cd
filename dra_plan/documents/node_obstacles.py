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
    """A value, and the number of nodes with it."""

    value: str
    nodes: Amount


class ResourceUser(DocumentPart, frozen=True, kw_only=True):
    """A pod that has, or is promised, some of a node's resource."""

    pod: Annotated[str, Meta(description="NAMESPACE/NAME.")]
    amount: str
    priority: int
    state: Annotated[str, LeavingState] = ""


class ShortAlternative(DocumentPart, frozen=True, kw_only=True):
    """Another alternative of a request, of which there are too few devices as well."""

    request: str
    need: Amount
    left: Annotated[Amount, Meta(description="The most on any of the nodes.")]
    matches: Annotated[bool, Meta(description="Any device there matches, in use or not.")]


class NodeObstacle(DocumentPart, frozen=True, kw_only=True):
    """The subject of a rejection, for a group of nodes; each kind has fields of its own."""

    kind: ObstacleKind
    resource: Annotated[str, Meta(description="VolumeLimit: the CSI driver whose volumes are counted.")] = ""
    need: Annotated[str, Meta(description="The amount of the resource that the pod requests.")] = ""
    left: Annotated[str, Meta(description="The largest amount left on any of the nodes.")] = ""
    left_from: Annotated[str, Meta(description="The smallest amount left, if the nodes differ.")] = ""
    room: Annotated[
        str,
        Meta(
            description=(
                "The largest amount that any of the nodes has when empty; for devices only if it is never enough."
            )
        ),
    ] = ""
    message: Annotated[str, Meta(description="Taint not-ready: why the kubelet says that the node is not.")] = ""
    never: Annotated[bool, Meta(description="Even an empty node of these would not have it.")] = False
    taint: TaintName | None = None
    label: Annotated[str, Meta(description="The label key; metadata.name means the name of the node.")] = ""
    operator: str = ""
    values: Annotated[list[str], Meta(description="What the pod requires of the label.")] = []
    found: Annotated[list[FoundLabel], Meta(description="The values on the nodes, the most common first.")] = []
    values_found: Annotated[
        Amount, Meta(description="The number of values on the nodes; `found` has those of the most nodes.")
    ] = 0
    without: Annotated[Amount, Meta(description="The number of nodes without the label.")] = 0
    near: Annotated[
        str,
        Meta(
            description="A similar resource, key or value that nodes of the cluster have; for a taint, what the pod "
            "tolerates of that key; for the node's name, the DaemonSet that pins the pod to it."
        ),
    ] = ""
    protocol: str = ""
    port: Amount = 0
    term: Annotated[str, one_of("affinity", "anti-affinity", "existing")] = ""
    topology_key: str = ""
    domain: Annotated[str, Meta(description="On the first of the nodes; empty where it lacks the key.")] = ""
    pods: Annotated[Amount, Meta(description="Pods in the domain that a spread constraint counts.")] = 0
    least: Annotated[Amount, Meta(description="Those in the emptiest domain.")] = 0
    emptiest: Annotated[str, Meta(description="Its name; empty where there are fewer domains than minDomains.")] = ""
    tainted: Annotated[
        Amount, Meta(description="The nodes of the emptiest domain, if all have taints that the pod does not tolerate.")
    ] = 0
    max_skew: Amount = 0
    domains: Annotated[Amount, Meta(description="How many domains there are, where minDomains asks for more.")] = 0
    min_domains: Annotated[Amount, Meta(description="What minDomains asks for, where there are fewer.")] = 0
    selector: Annotated[str, Meta(description="The pods that a term of affinity or spread selects, as -l would.")] = ""
    elsewhere: Annotated[list[str], Meta(description="Other namespaces in which there are such pods.")] = []
    finished: Annotated[
        list[str],
        Meta(description="NAMESPACE/NAME of finished pods that a term of affinity would select."),
    ] = []
    claim: Annotated[str, Meta(description="A PersistentVolumeClaim of the pod.")] = ""
    volume: Annotated[str, Meta(description="VolumeInUse, without a claim: the kind of disk.")] = ""
    pod: Annotated[str, Meta(description=("NAMESPACE/NAME of a pod that prevents it, on the first of the nodes."))] = ""
    state: Annotated[str, LeavingState] = ""
    users: Annotated[
        list[ResourceUser],
        Meta(
            description="The pods with the largest requests for a resource on the node with the most left, as far as "
            "the pod would fit without them."
        ),
    ] = []
    promised: Annotated[
        list[ResourceUser],
        Meta(description="Pods that come first and are nominated to that node: what they request does not count."),
    ] = []
    free: Annotated[str, Meta(description="What that node has left without them.")] = ""
    on: Annotated[
        str, Meta(description="The node that users, devices and values are about, if the obstacle is about several.")
    ] = ""
    devices: Annotated[LeadingReason | None, Meta(description="Why the claims do not fit.")] = None
    alternatives: Annotated[
        list[ShortAlternative], Meta(description="Of a request with alternatives: the others, which fail there, too.")
    ] = []
    missing_drivers: Annotated[
        list[MissingDriver],
        Meta(description="Drivers that the claims want and that publish nothing for the first of the nodes."),
    ] = []
    pools_elsewhere: Annotated[
        list[PoolElsewhere],
        Meta(
            description="If the first of the nodes has no devices: pools of wanted drivers that are for other labels."
        ),
    ] = []
    pools: Annotated[
        list[PoolName], Meta(description="The first of the pools that end the attempt, on the first of the nodes.")
    ] = []
    removed: Annotated[
        list[RemovedDevices],
        Meta(description="Of the request that fails, on the first of the nodes: devices that match and can't be had."),
    ] = []
    deciding: Annotated[
        DecidingClause | None,
        Meta(description="If no device matches: the part of the selector that is false on the most of them."),
    ] = None
    together: Annotated[
        NotTogether | None,
        Meta(description="Requirements of the claims that can't be met together on the first of the nodes."),
    ] = None
    parts: Annotated[
        list[str], Meta(description="What `need` adds up to, if not only of what the containers were given to request.")
    ] = []
    holders: Annotated[
        list[str],
        Meta(
            description=(
                "NAMESPACE/NAME of the pods that have an extended resource, on the first of the nodes, or a host port, "
                "on each of several."
            )
        ),
    ] = []
    not_ready: Annotated[
        str, Meta(description="A pod of a DaemonSet on a node without devices that is not ready, and why, if known.")
    ] = ""
    driver: Annotated[str, Meta(description="The driver that the claims want and that this pod seems to be.")] = ""
    unhealthy: Annotated[
        str, Meta(description="What the nodes have of an extended resource of which their device plugin offers less.")
    ] = ""
    varies: Annotated[
        bool, Meta(description=("The pod or domain of the first of the nodes; other nodes have different ones."))
    ] = False
    taken_before: Annotated[
        bool, Meta(description="The claims fit now, but pods that come first take the devices.")
    ] = False

    @property
    def is_reserved(self) -> bool:
        """Return whether it is the taint of a node reserved for the control plane, which outweighs everything else."""
        return self.taint is not None and self.taint.key in CONTROL_PLANE

    @property
    def is_of_cordon(self) -> bool:
        """Return whether it is the taint that comes with a cordon."""
        return self.taint is not None and self.taint.key == UNSCHEDULABLE.key

    @property
    def is_of_room(self) -> bool:
        """Return whether other pods leave no room: without them, the node might accept the pod."""
        if self.kind == "Affinity":
            return self.term in ("anti-affinity", "existing")
        return self.kind in ("Resource", "Port", "VolumeLimit") and not self.never

    @property
    def is_of_other_node(self) -> bool:
        """Return whether the pod may only run on nodes that it names."""
        names = self.kind == "Label" and self.operator == "In" and self.label in (HOSTNAME, "metadata.name")
        return names or self.kind == "NodeName"

    @property
    def is_of_volume(self) -> bool:
        """Return whether the node can never use the pod's volume: then it does not matter what else it lacks."""
        return self.kind == "Volume" and bool(self.volume)


class NodeRefusalReason(DocumentPart, frozen=True, kw_only=True):
    """One reason of one plugin, and its subject."""

    plugin: str
    message: SchedulerText
    counted: Annotated[
        bool, Meta(description=("Whether it is in the scheduler's message, which has one plugin for each node."))
    ]
    about: list[NodeObstacle] = []


class RefusingNodes(DocumentPart, frozen=True, kw_only=True):
    """Nodes that reject a pod for the same reasons."""

    nodes: Annotated[list[str], Meta(min_length=1)]
    reasons: Annotated[list[NodeRefusalReason], Meta(min_length=1)]
    lower_priority: Annotated[
        Amount, Meta(description="Pods there of a lower priority, if the pod has one above 0 and may preempt.")
    ] = 0
    priority: Annotated[
        int | None, Meta(description="If no pod there has a lower priority: the lowest of theirs, if there are any.")
    ] = None

    @property
    def about(self) -> list[NodeObstacle]:
        """Return all obstacles."""
        return [one for reason in self.reasons for one in reason.about]
