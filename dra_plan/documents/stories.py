"""Why claims do not fit on a node, or which devices they get on it, as parts of an Explanation."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from dra_plan.documents.base import (
    Amount,
    ClaimName,
    DeviceName,
    DocumentPart,
    ObjectName,
    PoolName,
    Position,
    RequestName,
    Text,
    one_of,
)
from dra_plan.documents.devices import FoundValue, PassedOver, RemovedDevices, TaintName
from dra_plan.documents.reasons import (
    AttemptFault,
    NodeAnswer,
    NotTogether,
    OwedToDefects,
    SeenCounterSet,
    UnusablePool,
)

RequestProblem = Annotated[
    str | None,
    one_of(None, "too-few-devices", "all-not-free", "nothing-matches", "too-many-devices"),
    Meta(description="Why the request could not be satisfied even if it were the only one."),
]


class RequestDevices(RequestName, frozen=True, kw_only=True):
    """What a request or alternative needs, and the devices of a node that pass its checks."""

    class_: str
    alternative: bool
    mode: Annotated[str, one_of("ExactCount", "All")]
    need: Amount
    devices: Amount
    problem: RequestProblem
    removed: Annotated[
        list[RemovedDevices],
        Meta(description="The devices that fail a check, in the order in which the allocator checks them."),
    ]
    left: Amount


class MostLeft(RequestName, frozen=True, kw_only=True):
    """A request that no node can meet, and the node that comes closest."""

    class_: str
    need: Amount
    left: Annotated[Amount, Meta(description="The number of devices left for the request on `node`.")]
    devices: Annotated[Amount, Meta(description="The number of devices on `node`.")]
    node: Text
    nodes: Annotated[Amount, Meta(description="The number of nodes whose devices were checked.")]


class PassedAlternative(RequestDevices, frozen=True, kw_only=True):
    """An alternative that was not chosen, checked as if nothing were allocated."""

    left_devices: Annotated[list[DeviceName], Meta(description="Examples of the remaining devices.")]


class StoryRequest(RequestDevices, frozen=True, kw_only=True):
    """A request on a group of nodes.

    Numbers that differ between the nodes are given as their smallest and largest values.
    """

    left_from: Annotated[Amount, Meta(description=("The smallest number of remaining devices on any of the nodes."))]
    left_to: Amount
    devices_from: Annotated[Amount, Meta(description=("The smallest number of devices on any of the nodes."))]
    devices_to: Amount
    left_devices: Annotated[list[DeviceName], Meta(description="Examples of the remaining devices.")]


class ChosenDevice(RequestName, frozen=True, kw_only=True):
    """The device chosen for a slot of a request, and the devices that were skipped before it."""

    slot: Position
    device: DeviceName | None
    passed_over: Annotated[
        list[PassedOver],
        Meta(description="The devices that were skipped, except for devices in use that do not match either."),
    ]
    alternatives_before: Annotated[
        list[PassedAlternative],
        Meta(description="For a firstAvailable request: the alternatives before the chosen one."),
    ]


class ClaimElsewhere(ClaimName, frozen=True, kw_only=True):
    """A claim whose devices cannot be reached from this node."""

    devices: Annotated[list[DeviceName], Meta(description="The devices that the claim has.")]
    pods: Annotated[list[str], Meta(description="The pods that use the claim.")] = []


class NearSlice(DocumentPart, frozen=True, kw_only=True):
    """A slice whose node selector requires a label value that is similar, but not equal, to the node's."""

    slice: Text
    pool: Text
    label: str
    wanted: str
    found: Annotated[str, Meta(description="The node's value.")]


class PoolElsewhere(DocumentPart, frozen=True, kw_only=True):
    """A pool whose devices are for other nodes, shown for a node that has no devices."""

    pool: PoolName
    labels: Annotated[
        str, Meta(description="The labels that the pool requires and the node lacks, in the format of kubectl's `-l`.")
    ]


class MissingDriver(DocumentPart, frozen=True, kw_only=True):
    """A driver that a request needs but that publishes nothing for a node."""

    driver: Text
    nodes: Annotated[Amount, Meta(description="The number of other nodes for which the driver publishes devices.")]


class DriverPod(DocumentPart, frozen=True, kw_only=True):
    """A DaemonSet that runs on all nodes for which a driver publishes devices, but not on the explained nodes."""

    driver: Text
    daemon_set: Annotated[Text, Meta(description="The DaemonSet, as NAMESPACE/NAME.")]
    node: Annotated[Text, Meta(description="One of the nodes for which the driver publishes devices.")]
    nodes: Annotated[Amount, Meta(description="The number of nodes for which the driver publishes devices.")]
    lacking: Annotated[list[str], Meta(description="The explained nodes that have no pod of the DaemonSet.")] = []
    state: Annotated[
        str,
        one_of("fault", "pending", "not-ready", "deleted", "absent", "taint", "label"),
        Meta(
            description=(
                "fault: a container of its pod is waiting. pending: its pod has no node yet. absent: there "
                "is no pod, for no known reason. taint: it does not tolerate `taint`. label: the node lacks "
                "`labels`."
            )
        ),
    ] = "absent"
    pod: Annotated[str, Meta(description="The DaemonSet's pod for the first node in `lacking`, as NAMESPACE/NAME.")] = (
        ""
    )
    reason: Annotated[str, Meta(description="fault: the one-word reason why the container is waiting.")] = ""
    message: Annotated[str, Meta(description="fault, pending: the message of the kubelet or the scheduler.")] = ""
    labels: Annotated[
        str, Meta(description="The node labels that the DaemonSet requires, in the format of kubectl's `-l`.")
    ] = ""
    found: Annotated[
        list[str],
        Meta(description="label: the current labels of the nodes, as KEY=VALUE, or KEY if they lack the label."),
    ] = []
    unlikely: Annotated[
        bool,
        Meta(
            description=(
                "label: whether the nodes probably have no such devices, because they have neither the "
                "instance type nor a PCI label of a node on which the DaemonSet runs."
            )
        ),
    ] = False
    taint: TaintName | None = None


class NodeStory(DocumentPart, frozen=True, kw_only=True):
    """The result for a claim set on nodes with the same reasons."""

    nodes: Annotated[list[str], Meta(min_length=1, description="The nodes. The details are those of the first one.")]
    outcome: NodeAnswer
    message: str
    steps: Amount
    defect: OwedToDefects | None
    fault: AttemptFault | None
    claims_elsewhere: Annotated[
        list[ClaimElsewhere], Meta(description=("The claims that are allocated on other nodes."))
    ]
    devices: Annotated[
        int | None,
        Meta(description="The number of devices that slices offer to the node, or null if its pools are not known."),
    ]
    missing_drivers: Annotated[
        list[MissingDriver],
        Meta(description="On a node with other devices: the drivers that a failing request needs."),
    ] = []
    driver_pods: Annotated[
        list[DriverPod],
        Meta(description="Why the drivers that a failing request needs do not run on the nodes."),
    ] = []
    near_slices: Annotated[
        list[NearSlice],
        Meta(
            description=(
                "For a node without devices: slices whose node selectors require values that are similar to "
                "the node's label values."
            )
        ),
    ] = []
    pools: list[UnusablePool]
    requests: list[StoryRequest]
    blocking_set: NotTogether | None
    counter_sets: Annotated[
        list[SeenCounterSet],
        Meta(description=("The counter sets of which too little is left, or that the claim set exhausts.")),
    ] = []
    choices: Annotated[
        list[ChosenDevice],
        Meta(
            description=("For nodes that fit: the device for each slot, and the devices that were skipped before it.")
        ),
    ]


class SharedClaim(DocumentPart, frozen=True, kw_only=True):
    """An allocated claim that all pods of a controller use, so that they share its devices."""

    claim: str
    by: Annotated[ObjectName, Meta(description="The controller of the pods.")]
    pods: Annotated[Amount, Meta(description="The number of pods that the controller wants, or that exist.")]
    node: Annotated[str, Meta(description="The only node in the input that can reach the devices.")] = ""


class AbsentName(RequestName, frozen=True, kw_only=True):
    """The value `wanted`, which a selector requires but no device in the cluster has.

    Device counts are totals over all devices in the input.
    """

    class_: Annotated[
        str, Meta(description="The class that has the selector. Absent for the request's own selector.")
    ] = ""
    selector: Position
    clause: str
    kind: Annotated[str, one_of("attribute", "driver")]
    domain: str
    name: str
    wanted: Any
    values: Annotated[list[FoundValue], Meta(min_length=1)]
    other_values: Amount
