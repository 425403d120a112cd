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
        list[str], Meta(description="Its new ResourceSlices, which replace those of the same drivers.")
    ] = []
    devices: Annotated[list[str], Meta(description="DRIVER/POOL/DEVICE of the new slices.")] = []
    kubelet_version: Annotated[str, Meta(description="The release of its kubelet; empty if it stays.")] = ""


class Wave(DocumentPart, frozen=True, kw_only=True):
    """Nodes that are drained together, and return to service before the next wave. Surge nodes are removed instead."""

    nodes: list[str]
    moved: Annotated[list[MovedPod], Meta(description="In the order in which budgets allow them to be evicted.")]
    given_back: Annotated[list[GivenBackNode], Meta(description="Those of the nodes that are changed by then.")] = []


class PodAndNode(DocumentPart, frozen=True, kw_only=True):
    """A pod and its node."""

    namespace: str
    name: Text
    node: Text


class Stop(DocumentPart, frozen=True, kw_only=True):
    """The point at which the best attempt stopped."""

    node: Text
    done: Annotated[list[str], Meta(description="The nodes that were drained and uncordoned before.")]
    pod: Annotated[str, Meta(description="NAMESPACE/NAME of the pod that stops it.")]
    reason: StopReason
    message: Annotated[str, Meta(description="The message of the scheduler, or of the API server that rejects it.")] = (
        ""
    )
    lacks_room: Annotated[
        bool,
        Meta(description="True if another node might help: no node fits the pod, but nothing rejects it."),
    ] = False
    budget: Annotated[str, Meta(description="NAMESPACE/NAME of the budget that protects it.")] = ""
    started: Annotated[
        list[PodAndNode],
        Meta(description="Pending pods that got a node in earlier drains, and so took room that is missing now."),
    ] = []
    moved: Annotated[
        list[MovedPod], Meta(description="Pods that this drain moved before, whose new places may be missing now.")
    ] = []
    not_made_anew: Annotated[
        list[PodAndNode], Meta(description="Pods of all nodes to drain that no controller recreates.")
    ] = []


class MaintenanceDocument(PrintedDocument, frozen=True, kw_only=True):
    """An order in which nodes can be drained and returned to service, with the nodes that the pods move to."""

    kind: Literal["MaintenancePlan"] = "MaintenancePlan"
    outcome: MaintenanceOutcome
    waves: list[Wave]
    stop: Annotated[Stop | None, Meta(description="Null if there is an order.")]
    surge: Annotated[list[str], Meta(description="Temporary nodes, drained last and removed.")] = []
    selectors: Annotated[
        list[ChangedSelector],
        Meta(
            description="Selectors in use that match no device, or stop with an error, once all nodes are back with the"
            " slices of --to."
        ),
    ] = []
    tried: Annotated[Amount, Meta(description="The number of drains that were simulated.")]
    warnings: list[PrintedWarning]
