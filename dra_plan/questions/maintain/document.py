"""`MaintenancePlan`, the document of `maintain`."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from dra_plan.documents.base import Amount, DocumentPart, HeldDevices, PrintedDocument, PrintedWarning, Text
from dra_plan.documents.devices import ChangedSelector

MaintenanceOutcome = Literal["Possible", "Impossible", "Undecided"]
"""Possible: an order was found. Impossible: every order fails. Undecided: the search reached a limit before it found an
order, or the input lacks objects that decide the result."""


StopReason = Literal["Budget", "NoPlace", "NotMadeAnew", "NotKnown", "NoNewDevices"]
"""Budget: a disruption budget does not allow the eviction. NoPlace: the pod's replacement gets no node, or displaces a
pod that then gets no node. NotMadeAnew: no controller recreates the pod. NotKnown: the pod gets no node within the
search limit (`--max-steps`), or the input lacks objects that decide whether it does. NoNewDevices: a DaemonSet's pod
uses devices that its node no longer has when it returns, and the pod gets none of the new devices."""


class MovedPod(DocumentPart, frozen=True, kw_only=True):
    """A pod that leaves a node, and the node of its replacement.

    If both nodes are the same, the pod belongs to a DaemonSet, and is recreated because its node returns with other
    devices.
    """

    namespace: str
    name: Text
    from_node: str
    to_node: str
    devices: HeldDevices = []


class GivenBackNode(DocumentPart, frozen=True, kw_only=True):
    """A node that returns to service with changes."""

    name: str
    slices: Annotated[
        list[str], Meta(description="The node's new ResourceSlices, which replace the slices of the same drivers.")
    ] = []
    devices: Annotated[list[str], Meta(description="The devices of the new slices, as DRIVER/POOL/DEVICE.")] = []
    kubelet_version: Annotated[
        str, Meta(description="The new version of the node's kubelet; empty if it does not change.")
    ] = ""


class Wave(DocumentPart, frozen=True, kw_only=True):
    """Nodes that are drained together, and return to service before the next wave. Surge nodes are removed instead."""

    nodes: list[str]
    moved: Annotated[
        list[MovedPod], Meta(description="The pods that move, in the order in which budgets allow them to be evicted.")
    ]
    given_back: Annotated[
        list[GivenBackNode], Meta(description="The nodes of this wave that return with changes.")
    ] = []


class PodAndNode(DocumentPart, frozen=True, kw_only=True):
    """A pod and its node."""

    namespace: str
    name: Text
    node: Text


class Stop(DocumentPart, frozen=True, kw_only=True):
    """The point at which the best attempt stopped."""

    node: Text
    done: Annotated[list[str], Meta(description="The nodes that were drained and uncordoned before the stop.")]
    pod: Annotated[str, Meta(description="NAMESPACE/NAME of the pod at which the drain stops.")]
    reason: StopReason
    message: Annotated[
        str, Meta(description="The message of the scheduler, or of the API server that rejects the pod.")
    ] = ""
    lacks_room: Annotated[
        bool,
        Meta(description="Whether another node might help: the pod fits on no node, but nothing else rejects it."),
    ] = False
    budget: Annotated[str, Meta(description="NAMESPACE/NAME of the budget that protects the pod.")] = ""
    started: Annotated[
        list[PodAndNode],
        Meta(description="Pending pods that got a node in earlier drains. They may occupy what the pod needs."),
    ] = []
    moved: Annotated[
        list[MovedPod],
        Meta(description="Pods that this drain moved before it stopped. They may occupy what the pod needs."),
    ] = []
    not_made_anew: Annotated[
        list[PodAndNode], Meta(description="Pods on the nodes to drain that no controller recreates.")
    ] = []


class MaintenanceDocument(PrintedDocument, frozen=True, kw_only=True):
    """An order in which nodes can be drained and returned to service, with the nodes that the pods move to."""

    kind: Literal["MaintenancePlan"] = "MaintenancePlan"
    outcome: MaintenanceOutcome
    waves: list[Wave]
    stop: Annotated[Stop | None, Meta(description="Where the best attempt stopped. Null if there is an order.")]
    surge: Annotated[list[str], Meta(description="Temporary nodes, which are drained last and then removed.")] = []
    selectors: Annotated[
        list[ChangedSelector],
        Meta(
            description=(
                "Selectors in use that match no device, or fail with an error, once all nodes are back "
                "with the slices in --to."
            )
        ),
    ] = []
    tried: Annotated[Amount, Meta(description="The number of drains that were simulated.")]
    warnings: list[PrintedWarning]
