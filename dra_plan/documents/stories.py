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
    Meta(description="The reason why the request cannot be met even by itself."),
]


class RequestDevices(RequestName, frozen=True, kw_only=True):
    """What a request or alternative needs, and the devices of a node that are left after its checks."""

    class_: str
    alternative: bool
    mode: Annotated[str, one_of("ExactCount", "All")]
    need: Amount
    devices: Amount
    problem: RequestProblem
    removed: Annotated[
        list[RemovedDevices],
        Meta(description="The devices that the checks reject, in the order of the allocator's checks."),
    ]
    left: Amount


class MostLeft(RequestName, frozen=True, kw_only=True):
    """A request that no node can meet, and the node that comes closest."""

    class_: str
    need: Amount
    left: Annotated[Amount, Meta(description="The number of devices that are left for the request on `node`.")]
    devices: Annotated[Amount, Meta(description="The number of devices on `node`.")]
    node: Text
    nodes: Annotated[Amount, Meta(description="The number of all nodes whose devices were checked.")]


class PassedAlternative(RequestDevices, frozen=True, kw_only=True):
    """An alternative that was not chosen. It is checked as if nothing were allocated."""

    left_devices: Annotated[list[DeviceName], Meta(description="Examples of the devices that are left.")]


class StoryRequest(RequestDevices, frozen=True, kw_only=True):
    """A request on the nodes of a story. Each number is given as its smallest and its largest value on these nodes."""

    left_from: Annotated[Amount, Meta(description=("The smallest number of devices left on any node of the story."))]
    left_to: Amount
    devices_from: Annotated[Amount, Meta(description=("The smallest number of devices on any node of the story."))]
    devices_to: Amount
    left_devices: Annotated[list[DeviceName], Meta(description="Examples of the devices that are left.")]


class ChosenDevice(RequestName, frozen=True, kw_only=True):
    """The device chosen for one slot of a request, and the devices that were skipped before it."""

    slot: Position
    device: DeviceName | None
    passed_over: Annotated[
        list[PassedOver],
        Meta(description="The devices that were skipped. Devices in use that would not match anyway are left out."),
    ]
    alternatives_before: Annotated[
        list[PassedAlternative],
        Meta(description="For a firstAvailable request: the alternatives that come before the chosen one."),
    ]


class ClaimElsewhere(ClaimName, frozen=True, kw_only=True):
    """A claim whose devices cannot be reached from this node."""

    devices: Annotated[list[DeviceName], Meta(description="The devices that the claim has.")]
    pods: Annotated[list[str], Meta(description="The pods that use the claim.")] = []


class NearSlice(DocumentPart, frozen=True, kw_only=True):
    """A slice whose node selector requires a label value that is similar to the node's value but does not match it."""

    slice: Text
    pool: Text
    label: str
    wanted: str
    found: Annotated[str, Meta(description="The value that the node has.")]


class PoolElsewhere(DocumentPart, frozen=True, kw_only=True):
    """A pool whose devices are for other nodes. It is shown for a node that has no devices."""

    pool: PoolName
    labels: Annotated[str, Meta(description="What it wants of a node and this one lacks, as -l of kubectl takes it.")]


class MissingDriver(DocumentPart, frozen=True, kw_only=True):
    """A driver that publishes nothing for a node although a request wants the driver's devices."""

    driver: Text
    nodes: Annotated[Amount, Meta(description="The number of other nodes for which the driver publishes devices.")]


class DriverPod(DocumentPart, frozen=True, kw_only=True):
    """A DaemonSet that runs on all nodes for which a driver publishes devices, but not on the nodes of a story."""

    driver: Text
    daemon_set: Annotated[Text, Meta(description="The DaemonSet, as NAMESPACE/NAME.")]
    node: Annotated[Text, Meta(description="One of the nodes for which the driver publishes devices.")]
    nodes: Annotated[Amount, Meta(description="The number of nodes for which the driver publishes devices.")]
    lacking: Annotated[
        list[str], Meta(description="The nodes of the story on which no pod of the DaemonSet runs.")
    ] = []
    state: Annotated[
        str,
        one_of("fault", "pending", "not-ready", "deleted", "absent", "taint", "label"),
        Meta(
            description="fault: a container of its pod waits. pending: its pod has no node yet. absent: there is no "
            "pod, for no known reason. taint: it does not tolerate `taint`. label: the node lacks "
            "`labels`."
        ),
    ] = "absent"
    pod: Annotated[
        str, Meta(description="The pod of the DaemonSet for the first of the nodes in `lacking`, as NAMESPACE/NAME.")
    ] = ""
    reason: Annotated[str, Meta(description="fault: the reason why the container waits, in one word.")] = ""
    message: Annotated[str, Meta(description="fault, pending: the message of the kubelet or the scheduler.")] = ""
    labels: Annotated[
        str, Meta(description="The node labels that the DaemonSet requires, in the format of kubectl's `-l`.")
    ] = ""
    found: Annotated[
        list[str],
        Meta(description="label: the labels that the nodes have instead, as KEY=VALUE, or the KEY that they lack."),
    ] = []
    unlikely: Annotated[
        bool,
        Meta(
            description="label: nothing shows that the nodes have such devices, because they have neither the instance "
            "type nor a PCI label of a node on which the DaemonSet runs."
        ),
    ] = False
    taint: TaintName | None = None


class NodeStory(DocumentPart, frozen=True, kw_only=True):
    """The result for a claim set on nodes that are alike."""

    nodes: Annotated[list[str], Meta(min_length=1, description="The nodes. The details are those of the first node.")]
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
        Meta(description="The number of devices that slices offer to the node; null if its pools are not known."),
    ]
    missing_drivers: Annotated[
        list[MissingDriver],
        Meta(description="On a node that has other devices: the drivers whose devices a failing request wants."),
    ] = []
    driver_pods: Annotated[
        list[DriverPod],
        Meta(description="The reasons why drivers that a failing request needs do not run on the nodes."),
    ] = []
    near_slices: Annotated[
        list[NearSlice],
        Meta(
            description="For a node without devices: slices that select a value that is similar to that of one of its "
            "labels."
        ),
    ] = []
    pools: list[UnusablePool]
    requests: list[StoryRequest]
    blocking_set: NotTogether | None
    counter_sets: Annotated[
        list[SeenCounterSet],
        Meta(description=("The counter sets of which too little is left, or that the claim set uses up.")),
    ] = []
    choices: Annotated[
        list[ChosenDevice],
        Meta(
            description=("For nodes that fit: the device for each slot, and the devices that were skipped before it.")
        ),
    ]


class SharedClaim(DocumentPart, frozen=True, kw_only=True):
    """An allocated claim that all pods of a controller name. All of these pods use the same devices."""

    claim: str
    by: Annotated[ObjectName, Meta(description="The controller of the pods.")]
    pods: Annotated[Amount, Meta(description="The number of pods that the controller wants, or that exist.")]
    node: Annotated[str, Meta(description="The only node in the input that can reach the devices.")] = ""


class AbsentName(RequestName, frozen=True, kw_only=True):
    """A value, `wanted`, that a selector requires and that no device in the cluster has.

    Numbers of devices are totals over all devices in the input.
    """

    class_: Annotated[
        str, Meta(description="The class that has the selector. Absent if it is the request's own selector.")
    ] = ""
    selector: Position
    clause: str
    kind: Annotated[str, one_of("attribute", "driver")]
    domain: str
    name: str
    wanted: Any
    values: Annotated[list[FoundValue], Meta(min_length=1)]
    other_values: Amount
