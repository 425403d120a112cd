"""Why claims do not fit on a node, or the devices that they get there: parts of an Explanation."""

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
    Meta(description="Why the request cannot be met even alone."),
]


class RequestDevices(RequestName, frozen=True, kw_only=True):
    """The needs of a request or alternative, and the devices of a node left by its checks."""

    class_: str
    alternative: bool
    mode: Annotated[str, one_of("ExactCount", "All")]
    need: Amount
    devices: Amount
    problem: RequestProblem
    removed: Annotated[list[RemovedDevices], Meta(description="In the order of the allocator's checks.")]
    left: Amount


class PassedAlternative(RequestDevices, frozen=True, kw_only=True):
    """An alternative that was not chosen, checked while nothing is allocated."""

    left_devices: Annotated[list[DeviceName], Meta(description="Examples of those left.")]


class StoryRequest(RequestDevices, frozen=True, kw_only=True):
    """A request on the nodes of a story: the minimum and the maximum of each number over them."""

    left_from: Annotated[Amount, Meta(description=("The smallest number left over the nodes of the story."))]
    left_to: Amount
    devices_from: Annotated[Amount, Meta(description=("The smallest number of devices over the nodes of the story."))]
    devices_to: Amount
    left_devices: Annotated[list[DeviceName], Meta(description="Examples of those left.")]


class ChosenDevice(RequestName, frozen=True, kw_only=True):
    """The device of a slot of a request, and the devices skipped before it."""

    slot: Position
    device: DeviceName | None
    passed_over: Annotated[
        list[PassedOver],
        Meta(description="Earlier devices, without devices in use that would not match anyway."),
    ]
    alternatives_before: Annotated[
        list[PassedAlternative],
        Meta(description="For a firstAvailable request: the alternatives before the chosen one."),
    ]


class ClaimElsewhere(ClaimName, frozen=True, kw_only=True):
    """A claim whose devices this node cannot reach."""

    devices: Annotated[list[DeviceName], Meta(description="The devices that the claim has.")]
    pods: Annotated[list[str], Meta(description="The pods that use the claim.")] = []


class NearSlice(DocumentPart, frozen=True, kw_only=True):
    """A slice for nodes with a label value that is similar to that of a node which it does not select."""

    slice: Text
    pool: Text
    label: str
    wanted: str
    found: Annotated[str, Meta(description="The value that the node has.")]


class PoolElsewhere(DocumentPart, frozen=True, kw_only=True):
    """A pool whose devices are for other nodes than one without any."""

    pool: PoolName
    labels: Annotated[str, Meta(description="What it wants of a node and this one lacks, as -l of kubectl takes it.")]


class MissingDriver(DocumentPart, frozen=True, kw_only=True):
    """A driver that a request wants, and that publishes nothing for a node."""

    driver: Text
    nodes: Annotated[Amount, Meta(description="The other nodes for which it publishes devices.")]


class DriverPod(DocumentPart, frozen=True, kw_only=True):
    """A DaemonSet that runs wherever a driver publishes devices, but not on the nodes of a story."""

    driver: Text
    daemon_set: Annotated[Text, Meta(description="NAMESPACE/NAME.")]
    node: Annotated[Text, Meta(description="One of the nodes for which the driver publishes devices.")]
    nodes: Annotated[Amount, Meta(description="The number of these.")]
    lacking: Annotated[list[str], Meta(description="The nodes of the story on which its pod does not run.")] = []
    state: Annotated[
        str,
        one_of("fault", "pending", "not-ready", "deleted", "absent", "taint", "label"),
        Meta(
            description="fault: a container of its pod waits. pending: its pod has no node yet. absent: there is no "
            "pod, for no known reason. taint: it does not tolerate `taint`. label: the node lacks `labels`."
        ),
    ] = "absent"
    pod: Annotated[str, Meta(description="NAMESPACE/NAME of its pod for the first of these nodes.")] = ""
    reason: Annotated[str, Meta(description="fault: why the container waits, in one word.")] = ""
    message: Annotated[str, Meta(description="fault, pending: the message of the kubelet or the scheduler.")] = ""
    labels: Annotated[str, Meta(description="What it wants of a node, as -l of kubectl takes it.")] = ""
    taint: TaintName | None = None


class UnreadyPod(DocumentPart, frozen=True, kw_only=True):
    """A pod of a DaemonSet that is not ready, while a driver publishes no devices at all."""

    pod: Annotated[Text, Meta(description="NAMESPACE/NAME.")]
    node: str
    reason: Annotated[str, Meta(description="Why its first container waits, in one word, if one does.")] = ""
    message: Annotated[str, Meta(description="The message of the kubelet or the scheduler.")] = ""


class NodeStory(DocumentPart, frozen=True, kw_only=True):
    """The result for a claim set on similar nodes."""

    nodes: Annotated[list[str], Meta(min_length=1, description="The details are those of the first.")]
    outcome: NodeAnswer
    message: str
    steps: Amount
    defect: OwedToDefects | None
    fault: AttemptFault | None
    claims_elsewhere: Annotated[list[ClaimElsewhere], Meta(description=("Claims that are allocated on other nodes."))]
    devices: Annotated[
        int | None, Meta(description="Devices that slices offer to the node; null if its pools are not known.")
    ]
    missing_drivers: Annotated[
        list[MissingDriver], Meta(description="On a node with other devices: drivers that a failing request wants.")
    ] = []
    driver_pods: Annotated[
        list[DriverPod], Meta(description="Why the drivers that a failing request wants do not run on the nodes.")
    ] = []
    near_slices: Annotated[
        list[NearSlice],
        Meta(description="For a node without devices: slices for a similar value of one of its labels."),
    ] = []
    pools: list[UnusablePool]
    requests: list[StoryRequest]
    blocking_set: NotTogether | None
    counter_sets: Annotated[
        list[SeenCounterSet], Meta(description=("Counter sets with too little left, or that the set exhausts."))
    ] = []
    choices: Annotated[
        list[ChosenDevice],
        Meta(description=("For nodes that fit: the device of each slot, and the devices that were skipped before it.")),
    ]


class SharedClaim(DocumentPart, frozen=True, kw_only=True):
    """An allocated claim that all pods of a controller name, so that they share its devices."""

    claim: str
    by: Annotated[ObjectName, Meta(description="The controller of the pods.")]
    pods: Annotated[Amount, Meta(description="The number of pods that it wants, or that exist.")]
    node: Annotated[str, Meta(description="The only node of the input that has access to the devices.")] = ""


class AbsentName(RequestName, frozen=True, kw_only=True):
    """A value that a selector requires and no device of the cluster has: devices have values other than `wanted`.

    Counts are over all devices of the input.
    """

    class_: Annotated[str, Meta(description="Whose selector it is; absent for the request's own.")] = ""
    selector: Position
    clause: str
    kind: Annotated[str, one_of("attribute", "driver")]
    domain: str
    name: str
    wanted: Any
    values: Annotated[list[FoundValue], Meta(min_length=1)]
    other_values: Amount
