"""`MaintenancePlan`, the document of `maintain`."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from dra_plan.documents.base import Amount, DocumentPart, HeldDevices, PrintedDocument, PrintedWarning, Text
from dra_plan.documents.devices import ChangedSelector

MaintenanceOutcome = Literal["Possible", "Impossible", "Undecided"]
"""Possible: such an order exists. Impossible: every order was tried. Undecided: none was found before a limit, or the
input lacks deciding objects."""


StopReason = Literal["Budget", "NoPlace", "NotMadeAnew", "NotKnown", "NoNewDevices"]
"""Budget: a budget does not allow the eviction. NoPlace: the replacement of the pod, or a pod that it displaces, gets
no node. NotMadeAnew: no controller recreates it. NotKnown: it gets no node within the search limit (`--max-steps`), or
because the input lacks deciding objects. NoNewDevices: the pod stays on its node (of a DaemonSet), has devices that the
node does not return with, and gets none of the new ones."""


class MovedPod(DocumentPart, frozen=True, kw_only=True):
    """A pod that leaves a node, and the node of its replacement.

    If the replacement is on the same node, the pod belongs to a DaemonSet and stays on the node. It is recreated when
    the node returns with other devices.
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
    """Nodes that are drained together, and that return before the next wave.

    Surge nodes do not return but are removed.
    """

    nodes: list[str]
    moved: Annotated[list[MovedPod], Meta(description="In the order in which budgets allow them to be evicted.")]
    given_back: Annotated[list[GivenBackNode], Meta(description="Those of the nodes that are changed by then.")] = []


class PodAndNode(DocumentPart, frozen=True, kw_only=True):
    """A pod and its node."""

    namespace: str
    name: Text
    node: Text


class Stop(DocumentPart, frozen=True, kw_only=True):
    """The point at which the best attempt stops."""

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
    """An order in which nodes can be drained and returned to service, with a node for every pod."""

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
