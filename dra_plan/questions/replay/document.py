"""`Replay`, the document of `replay`."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from dra_plan.documents.base import Amount, DocumentPart, ModelName, PrintedDocument, PrintedWarning, Text

Second = Annotated[float, Meta(description="Seconds after the start.", ge=0)]
Devices = Annotated[
    float, Meta(description="A number of devices. A shared device counts as the fraction that is in use.", ge=0)
]


class ModelUse(DocumentPart, frozen=True, kw_only=True):
    """The number of devices of one model, and how many of them are allocated."""

    model: ModelName
    devices: Amount
    allocated: Devices


class FleetSample(DocumentPart, frozen=True, kw_only=True):
    """The state of the cluster at one moment. Averages over several node orders may be fractions."""

    second: Second
    arrived: Annotated[
        int | float, Meta(description=("The number of pods that were pending at the start or have been created since."))
    ]
    bound: Annotated[int | float, Meta(description="The number of pods that have a node.")]
    waiting: Annotated[int | float, Meta(description="The number of pods that have no node.")]
    ended: Annotated[int | float, Meta(description="The number of pods that have ended, for any reason.")]
    evicted: Annotated[
        int | float,
        Meta(
            description=("The number of pods that ended neither because of an event nor at the end of their duration.")
        ),
    ]
    devices: Annotated[
        int | float, Meta(description=("The number of devices on nodes, without those that several nodes can access."))
    ]
    allocated: Devices
    fragmented: Annotated[
        float,
        Meta(
            description=(
                "The number of idle devices that a pod of the mix cannot use, averaged over the mix "
                "(the measure of FGD)."
            )
        ),
    ]
    largest_whole_group: Annotated[
        int | float, Meta(description=("The largest number of entirely idle devices on one node."))
    ]
    whole_idle_nodes: Annotated[
        int | float, Meta(description=("The number of nodes that have devices and whose devices are all idle."))
    ]


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
    bound: Annotated[float | None, Meta(description="When the pod got its node, in seconds. Null if it never did.")]
    ended: Annotated[float | None, Meta(description="When the pod ended, in seconds. Null if it exists at the end.")]
    ended_by: Annotated[str, Meta(description="Why the pod ended, unless an event or its duration ended it.")] = ""
    node_name: Annotated[str | None, Meta(description="The last node of the pod.")]
    message: Annotated[str, Meta(description=("The scheduler's message, if the pod is pending at the end."))] = ""


class ReplayRun(DocumentPart, frozen=True, kw_only=True):
    """The cluster over time with one configuration. All values except the bands are from the node order by name."""

    name: Annotated[Text, Meta(description="The policy, or the file of the configuration.")]
    policy: Text
    orders: Annotated[int, Meta(description="The number of node orders that were tried.", ge=1)]
    samples: list[FleetSample]
    bands: Annotated[list[Band], Meta(description="The bands of each sample, if there are several node orders.")] = []
    used: Annotated[float, Meta(description="The share of devices that was allocated, averaged over time.")]
    used_least: Annotated[float, Meta(description="The smallest value of `used` in any node order.")]
    used_most: Annotated[float, Meta(description="The largest value of `used` in any node order.")]
    waiting_times: WaitingTimes
    models: Annotated[list[ModelUse], Meta(description="The allocation of each model at the end.")] = []
    pods: list[ReplayedPod]
    refused: Annotated[list[str], Meta(description="Objects that the API server rejected, with its messages.")] = []
    unsettled: Annotated[str, Meta(description="Why the simulation did not settle; empty if it did.")] = ""


class ReplayComparison(DocumentPart, frozen=True, kw_only=True):
    """How many more devices are allocated in the second run, in percentage points of all devices.

    Both runs use the same node orders, so the order does not cause any difference.
    """

    at_the_end: float
    least: Annotated[float, Meta(description="The smallest difference in any node order.")]
    most: Annotated[float, Meta(description="The largest difference in any node order.")]
    over_time: Annotated[float, Meta(description="The difference between the averages over time.")]
    over_time_least: Annotated[float, Meta(description="The smallest `overTime` in any node order.")]
    over_time_most: Annotated[float, Meta(description="The largest `overTime` in any node order.")]


class ReplayDocument(PrintedDocument, frozen=True, kw_only=True):
    """How a cluster is used over time."""

    kind: Literal["Replay"] = "Replay"
    ties: Text
    seconds: Annotated[float, Meta(description="The duration of the simulation, until nothing more happens.", ge=0)]
    runs: Annotated[list[ReplayRun], Meta(description="One run, or the two runs that are compared.")]
    comparison: Annotated[
        ReplayComparison | UnsetType, Meta(description="The comparison of the two runs; only with --against.")
    ] = UNSET
    warnings: list[PrintedWarning]
