"""`Replay`, the document of `replay`."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from dra_plan.documents.base import Amount, DocumentPart, ModelName, PrintedDocument, PrintedWarning, Text

Second = Annotated[float, Meta(description="Seconds after the start.", ge=0)]
Devices = Annotated[float, Meta(description="In devices; a shared device counts by its share.", ge=0)]


class ModelUse(DocumentPart, frozen=True, kw_only=True):
    """The number of devices of one model, and how many of them are allocated."""

    model: ModelName
    devices: Amount
    allocated: Devices


class FleetSample(DocumentPart, frozen=True, kw_only=True):
    """The state of the cluster at one moment. Averages over several node orders may be fractions."""

    second: Second
    arrived: Annotated[int | float, Meta(description=("Pods that were pending at the start or created since."))]
    bound: Annotated[int | float, Meta(description="Pods that have a node now.")]
    waiting: Annotated[int | float, Meta(description="Pods that have none now.")]
    ended: Annotated[int | float, Meta(description="Pods that ended for any reason.")]
    evicted: Annotated[
        int | float, Meta(description=("The number of these that ended without an event or a duration."))
    ]
    devices: Annotated[
        int | float, Meta(description=("Devices of nodes; those that several nodes can reach are left out."))
    ]
    allocated: Devices
    fragmented: Annotated[
        float,
        Meta(description="Idle devices that a pod of the mix cannot use, averaged over the mix (FGD's measure)."),
    ]
    largest_whole_group: Annotated[
        int | float, Meta(description=("The largest number of entirely idle devices on one node."))
    ]
    whole_idle_nodes: Annotated[int | float, Meta(description=("Nodes that have devices, all of them idle."))]


class Band(DocumentPart, frozen=True, kw_only=True):
    """The mean, minimum and maximum of a figure over all node orders at one moment."""

    mean: FleetSample
    least: FleetSample
    most: FleetSample


class WaitingTimes(DocumentPart, frozen=True, kw_only=True):
    """How long pods waited for a node, in seconds."""

    pods: Amount
    mean: float
    median: float
    percentile95: Annotated[float, Meta(description="The 95th percentile of waiting times.")]
    longest: float


class ReplayedPod(DocumentPart, frozen=True, kw_only=True):
    """What happened to a pod in a run."""

    namespace: str
    name: Text
    arrived: Second
    bound: Annotated[float | None, Meta(description="When it got its node; null if it never did.")]
    ended: Annotated[float | None, Meta(description="When it ended; null if it exists at the end.")]
    ended_by: Annotated[str, Meta(description="What ended it, if no event and no duration did.")] = ""
    node_name: Annotated[str | None, Meta(description="Where it is or was.")]
    message: Annotated[
        str, Meta(description=("The message of the scheduler for a pod that is pending at the end."))
    ] = ""


class ReplayRun(DocumentPart, frozen=True, kw_only=True):
    """The cluster over time with one configuration. All values except the bands are from the node order by name."""

    name: Annotated[Text, Meta(description="The policy, or the file of the configuration.")]
    policy: Text
    orders: Annotated[int, Meta(description="How many orders of nodes were tried.", ge=1)]
    samples: list[FleetSample]
    bands: Annotated[list[Band], Meta(description="One per sample, if there are several orders.")] = []
    used: Annotated[float, Meta(description="The share of all devices that was allocated, on average over time.")]
    used_least: Annotated[float, Meta(description="The same, over all orders.")]
    used_most: Annotated[float, Meta(description="The same, over all orders.")]
    waiting_times: WaitingTimes
    models: Annotated[list[ModelUse], Meta(description="At the end.")] = []
    pods: list[ReplayedPod]
    refused: Annotated[list[str], Meta(description="What the API server did not create, with its message.")] = []
    unsettled: Annotated[str, Meta(description="Why the simulation did not settle, if it did not.")] = ""


class ReplayComparison(DocumentPart, frozen=True, kw_only=True):
    """How many more devices are allocated in the second run, in percentage points of all devices.

    The runs are compared for the same node orders, so differences are not caused by the order.
    """

    at_the_end: float
    least: Annotated[float, Meta(description="Over all orders.")]
    most: Annotated[float, Meta(description="Over all orders.")]
    over_time: Annotated[float, Meta(description="The same for the average over time.")]
    over_time_least: Annotated[float, Meta(description="Over all orders.")]
    over_time_most: Annotated[float, Meta(description="Over all orders.")]


class ReplayDocument(PrintedDocument, frozen=True, kw_only=True):
    """How a cluster is used over time."""

    kind: Literal["Replay"] = "Replay"
    ties: Text
    seconds: Annotated[float, Meta(description="The time until nothing more happens.", ge=0)]
    runs: Annotated[list[ReplayRun], Meta(description="One, or two that are compared.")]
    comparison: Annotated[ReplayComparison | UnsetType, Meta(description="With --against.")] = UNSET
    warnings: list[PrintedWarning]
