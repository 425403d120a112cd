"""Claim sets in documents: their names, their results on nodes, and why they do not fit."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from dra_plan.allocator import Outcome
from dra_plan.documents.base import (
    Amount,
    ClaimAllocation,
    ClaimName,
    DeviceName,
    DocumentPart,
    ObjectName,
    RequestName,
    SchedulerText,
    TemplatePart,
    Text,
    any_of,
    one_of,
)
from dra_plan.documents.devices import ClaimHolder, DeviceCheck
from dra_plan.documents.node_obstacles import NodeObstacle
from dra_plan.documents.reasons import REASONS, AnyReason, AttemptFault, LeadingReason, NodeAnswer, UnusablePool
from dra_plan.documents.stories import AbsentName, NodeStory
from dra_plan.documents.suggestions import TriedChanges

SetOutcome = Annotated[Outcome, one_of("Fits", "DoesNotFit", "Error", "Undecided", "Refused", "Unknown")]


class PlannedClaim(DocumentPart, frozen=True, kw_only=True):
    """A claim, and the devices that it would get."""

    namespace: str
    name: str
    allocation: ClaimAllocation


class NodeExclusion(DocumentPart, frozen=True, kw_only=True):
    """A rejection by a scheduler filter that depends only on the node and the pod, and not on devices."""

    plugin: Text
    message: SchedulerText
    about: Annotated[
        list[NodeObstacle],
        Meta(description=("What the rejection is about: a taint, the cordon, a label or the name of the node.")),
    ] = []

    def __hash__(self) -> int:
        """Return a hash for grouping nodes by their exclusions; `about` contains lists."""
        return hash((self.plugin, self.message))


class PlannedNode(DocumentPart, frozen=True, kw_only=True):
    """The result for one claim set on one node."""

    name: str
    outcome: Annotated[
        NodeAnswer,
        Meta(
            description="DoesNotFit: the search is complete and found no solution. NodeError: an error rejects only "
            "this node. Error: the scheduler stops the attempt with an error. Undecided: the step budget "
            "ran out."
        ),
    ]
    message: Annotated[str, Meta(description="The scheduler's message; empty if the claim set fits.")]
    claims: Annotated[list[PlannedClaim], Meta(description=("The allocation of each claim, if the claim set fits."))]
    reasons: Annotated[
        list[AnyReason],
        Meta(
            description="The reasons why the claim set does not fit, if it is explained.",
            extra_json_schema={"items": any_of(*REASONS)},
        ),
    ]
    steps: Annotated[Amount, Meta(description="The number of steps that the search took.")]
    out_of_reach: Annotated[
        bool,
        Meta(
            description=(
                "True if the claims would fit, but a claim that is already allocated has devices that the node "
                "cannot reach."
            )
        ),
    ] = False
    excluded_by: Annotated[
        list[NodeExclusion],
        Meta(
            description=(
                "The reasons why the pod cannot run on the node, even with devices. Such a node does not count "
                "as fitting."
            )
        ),
    ] = []


_MESSAGE_UNLESS_FITS = {
    "if": {"properties": {"outcome": {"const": "Fits"}}},
    "then": {"properties": {"message": {"const": ""}}},
    "else": {"properties": {"message": {"minLength": 1}, "claims": {"maxItems": 0}}},
}


class ClaimSetName(DocumentPart, frozen=True, kw_only=True):
    """The owner of a claim set. The claims in a claim set must fit together on one node."""

    owner: Annotated[
        ObjectName | None,
        Meta(description="The pod or workload that uses the claims; null if no pod uses them."),
    ]
    claims: list[ClaimName]
    copies: Annotated[
        int, Meta(ge=1, description=("The number of pods of the owner that have no node. One of them is planned."))
    ] = 1
    not_judged: Annotated[
        list[str], Meta(description=("The other requirements of the pod, which only `dra-plan schedule` checks."))
    ] = []
    part: TemplatePart = ""


class ClaimSetSummary(ClaimSetName, frozen=True, kw_only=True):
    """The outcome of a claim set, and the nodes on which it fits."""

    outcome: SetOutcome
    fitting_nodes: Annotated[list[str], Meta(extra_json_schema={"uniqueItems": True})]


class PlannedClaimSet(ClaimSetSummary, frozen=True, kw_only=True):
    """A set of claims that must fit together on one node, with the result for every node."""

    leading: Annotated[
        list[LeadingReason],
        Meta(
            description=(
                "If the claim set fits on no node: the reasons, the most common first. At most 50 nodes are "
                "checked for this, those with devices first."
            )
        ),
    ] = []
    nodes: list[Annotated[PlannedNode, Meta(extra_json_schema=_MESSAGE_UNLESS_FITS)]]


class PodWithoutNode(DocumentPart, frozen=True, kw_only=True):
    """A pod that gets no node when all selected pods are scheduled one after another."""

    namespace: str
    name: Text
    undecided: Annotated[bool, Meta(description="True if a search for a node was cut short.")] = False
    message: Annotated[str | None, Meta(description=("The scheduler's message, or what the pod is waiting for."))]


class Competition(DocumentPart, frozen=True, kw_only=True):
    """The result if the selected pods compete: the whole scheduler schedules all their replicas."""

    pods: Annotated[
        Amount, Meta(description=("The number of pending pods, including those that workloads still have to create."))
    ]
    without_node: list[PodWithoutNode]


class ExcludedNodes(DocumentPart, frozen=True, kw_only=True):
    """Nodes that reject the pod because of rules that do not concern devices."""

    nodes: Annotated[list[str], Meta(min_length=1)]
    excluded_by: Annotated[list[NodeExclusion], Meta(min_length=1)]
    has_room: Annotated[bool, Meta(description="True if all claims would get devices there.")] = False


class ExplainedClaimSet(ClaimSetSummary, frozen=True, kw_only=True):
    """The reasons why a claim set fits or does not fit, and the changes that would make it fit."""

    fault: AttemptFault | None
    absent: Annotated[
        list[AbsentName],
        Meta(
            description="Values that selectors require and that no device in the cluster has, so that no node can fit."
        ),
    ]
    leading: Annotated[
        list[LeadingReason], Meta(description=("The reasons why nodes reject the claim set, the most common first."))
    ]
    stories: Annotated[
        list[NodeStory],
        Meta(
            description="What happens on the nodes. Nodes with the same reasons have one story; the decisive story "
            "comes first."
        ),
    ]
    suggestions: Annotated[
        list[TriedChanges],
        Meta(
            description=(
                "Changes that were tried and that make the claim set fit, the most plausible first. Each "
                "contains at most two changes."
            )
        ),
    ]
    tried: Annotated[Amount, Meta(description=("The number of changes and combinations of changes that were tried."))]
    excluded: Annotated[list[ExcludedNodes], Meta(description="The nodes that have no story, and the reasons.")] = []


class JudgedRequest(RequestName, frozen=True, kw_only=True):
    """The checks of a device for a request, and whether the device passes them all."""

    passes: bool
    checks: list[DeviceCheck]


class JudgedClaimSet(ClaimSetName, frozen=True, kw_only=True):
    """The checks of a device for the requests of a claim set."""

    requests: list[JudgedRequest]


class DeviceStory(DocumentPart, frozen=True, kw_only=True):
    """All checks of a device."""

    device: DeviceName
    slices: list[str]
    nodes: Annotated[
        list[str], Meta(description=("The nodes that can reach the device. The checks are those on the first node."))
    ]
    holders: list[ClaimHolder]
    pool: UnusablePool | None
    claim_sets: list[JudgedClaimSet]


class PlacedPodClaim(DocumentPart, frozen=True, kw_only=True):
    """A claim, and the devices that it would get."""

    namespace: str
    name: Text
    allocation: ClaimAllocation


OwnerState = Literal["Bound", "Finished", "Deleting", "Allocated", "WithoutClaims"]
"""Bound: a pod that has its node. Finished: a completed pod or job. Allocated: a claim that has its devices."""


class AskedResource(DocumentPart, frozen=True, kw_only=True):
    """A resource that a pod requests directly and not by a claim."""

    name: Text
    amount: Text
    device_class: Annotated[str, Meta(description="The class that provides this extended resource.")] = ""
    nodes: Annotated[Amount, Meta(description="The number of nodes that have any amount of the resource.")]
    near: Annotated[
        str,
        Meta(description="If nothing provides this resource: a resource with a similar name that a class provides."),
    ] = ""
    near_class: Annotated[str, Meta(description="The class that provides `near`.")] = ""
    gate: Annotated[
        str, Meta(description="The feature gate that is off, so that `gatedClass` does not provide the resource.")
    ] = ""
    gated_class: Annotated[str, Meta(description="The class that would provide the resource if `gate` were on.")] = ""
    emptied: Annotated[list[str], Meta(description="The nodes that advertise the amount 0 of the resource.")] = []


class WaitingContainer(DocumentPart, frozen=True, kw_only=True):
    """A container that the kubelet has not started, and the reason that the kubelet gives.

    It may also be an init container that has been started and for which the others wait.
    """

    name: str
    reason: Annotated[str, Meta(description="The reason in one word. Running: the others wait for this container.")]
    message: str = ""
    since: Annotated[str, Meta(description="Running: the time at which it was started.")] = ""
    ended: Annotated[bool, Meta(description="True for an init container that has ended with an error.")] = False
    init: Annotated[bool, Meta(description="True for an init container.")] = False
    sidecar: Annotated[bool, Meta(description="True for an init container that keeps running.")] = False


class UnplannedOwner(DocumentPart, frozen=True, kw_only=True):
    """A named pod, workload or claim that needs no devices, or that already has them."""

    owner: ObjectName
    state: Annotated[
        OwnerState,
        Meta(
            description=(
                "Bound: a pod with a node. Finished: a pod or job that has ended. Deleting: an object that is "
                "being deleted. Allocated: a claim that has devices. WithoutClaims: a pod that does not "
                "request devices by claims."
            )
        ),
    ]
    node_name: Annotated[str, Meta(description="The node to which the pod is bound.")] = ""
    phase: Annotated[str, Meta(description="The phase of a finished pod.")] = ""
    claims: Annotated[list[PlannedClaim], Meta(description="The claims that have devices, with these devices.")] = []
    pending_claims: Annotated[list[ClaimName], Meta(description="The claims that have no devices.")] = []
    missing_claims: Annotated[
        list[str], Meta(description=("The entries of resourceClaims whose claims are not in the input."))
    ] = []
    used_by: Annotated[
        list[ObjectName], Meta(description=("The pods and other users for which an allocated claim is reserved."))
    ] = []
    asks: Annotated[
        list[AskedResource], Meta(description="The resources that a pod requests other than by claims.")
    ] = []
    waiting: Annotated[
        list[WaitingContainer],
        Meta(
            description="If the pod has a node: the containers that its kubelet has not started, or not started again."
        ),
    ] = []
    finalizers: Annotated[list[str], Meta(description="The finalizers of an object that is being deleted.")] = []
