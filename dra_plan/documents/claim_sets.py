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
    """A claim and the devices that it would get."""

    namespace: str
    name: str
    allocation: ClaimAllocation


class NodeExclusion(DocumentPart, frozen=True, kw_only=True):
    """A node's rejection by a scheduler filter that considers only the node and the pod, not devices."""

    plugin: Text
    message: SchedulerText
    about: Annotated[
        list[NodeObstacle],
        Meta(description=("The cause of the rejection: a taint, the cordon, a label or the name of the node.")),
    ] = []

    def __hash__(self) -> int:
        """Return a hash for grouping nodes by their exclusions."""
        return hash((self.plugin, self.message))


class PlannedNode(DocumentPart, frozen=True, kw_only=True):
    """The result for a claim set on a node."""

    name: str
    outcome: Annotated[
        NodeAnswer,
        Meta(
            description=(
                "DoesNotFit: the search is complete and found no solution. NodeError: an error rejects only "
                "this node. Error: the scheduler stops with an error. Undecided: the search ran out of "
                "steps."
            )
        ),
    ]
    message: Annotated[str, Meta(description="The scheduler's message, or empty if the claim set fits.")]
    claims: Annotated[
        list[PlannedClaim], Meta(description=("The devices allocated to each claim, if the claim set fits."))
    ]
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
                "True if the claims would fit, but one of them is already allocated to devices that the "
                "node cannot reach."
            )
        ),
    ] = False
    excluded_by: Annotated[
        list[NodeExclusion],
        Meta(
            description=(
                "The reasons why the pod cannot run on the node even if it gets devices. Such a node does "
                "not count as fitting."
            )
        ),
    ] = []


_MESSAGE_UNLESS_FITS = {
    "if": {"properties": {"outcome": {"const": "Fits"}}},
    "then": {"properties": {"message": {"const": ""}}},
    "else": {"properties": {"message": {"minLength": 1}, "claims": {"maxItems": 0}}},
}


class ClaimSetName(DocumentPart, frozen=True, kw_only=True):
    """The owner of a claim set, which is a set of claims that must fit together on one node."""

    owner: Annotated[
        ObjectName | None,
        Meta(description="The pod or workload that uses the claims, or null if no pod uses them."),
    ]
    claims: list[ClaimName]
    copies: Annotated[
        int, Meta(ge=1, description=("The number of the owner's pods that have no node. The plan is for one of them."))
    ] = 1
    not_judged: Annotated[
        list[str], Meta(description=("The pod's other requirements, which only `dra-plan schedule` checks."))
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
                "If the claim set fits on no node: the reasons, most common first. They come from at most "
                "50 nodes; nodes with devices are examined first."
            )
        ),
    ] = []
    nodes: list[Annotated[PlannedNode, Meta(extra_json_schema=_MESSAGE_UNLESS_FITS)]]


class PodWithoutNode(DocumentPart, frozen=True, kw_only=True):
    """A pod that gets no node when all selected pods are scheduled one after another."""

    namespace: str
    name: Text
    undecided: Annotated[bool, Meta(description="Whether a search for a node was cut short.")] = False
    message: Annotated[str | None, Meta(description=("The scheduler's message, or what the pod is waiting for."))]


class Competition(DocumentPart, frozen=True, kw_only=True):
    """The result when the selected pods compete. All of their replicas are scheduled with the whole scheduler."""

    pods: Annotated[
        Amount, Meta(description=("The number of pending pods, including pods that workloads have yet to create."))
    ]
    without_node: list[PodWithoutNode]


class ExcludedNodes(DocumentPart, frozen=True, kw_only=True):
    """Nodes that reject the pod for reasons other than devices."""

    nodes: Annotated[list[str], Meta(min_length=1)]
    excluded_by: Annotated[list[NodeExclusion], Meta(min_length=1)]
    has_room: Annotated[bool, Meta(description="Whether all claims would get devices on these nodes.")] = False


class ExplainedClaimSet(ClaimSetSummary, frozen=True, kw_only=True):
    """The reasons why a claim set fits or does not fit, and the changes that would make it fit."""

    fault: AttemptFault | None
    absent: Annotated[
        list[AbsentName],
        Meta(description="Values that selectors require but no device in the cluster has, so that no node can fit."),
    ]
    leading: Annotated[
        list[LeadingReason], Meta(description=("The reasons why nodes reject the claim set, most common first."))
    ]
    stories: Annotated[
        list[NodeStory],
        Meta(
            description=(
                "What happens on the nodes. Nodes with the same reasons share an entry, and the decisive "
                "one comes first."
            )
        ),
    ]
    suggestions: Annotated[
        list[TriedChanges],
        Meta(
            description=(
                "Tested changes that make the claim set fit, most plausible first. Each entry contains one "
                "or two changes."
            )
        ),
    ]
    tried: Annotated[Amount, Meta(description=("The number of changes and pairs of changes that were tried."))]
    excluded: Annotated[
        list[ExcludedNodes], Meta(description="The nodes that `stories` does not cover, and the reasons.")
    ] = []


class JudgedRequest(RequestName, frozen=True, kw_only=True):
    """The checks of a device for a request, and whether the device passes all of them."""

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
        list[str],
        Meta(description=("The nodes that can reach the device. The checks are those on the first of these nodes.")),
    ]
    holders: list[ClaimHolder]
    pool: UnusablePool | None
    claim_sets: list[JudgedClaimSet]


class PlacedPodClaim(DocumentPart, frozen=True, kw_only=True):
    """A claim and the devices that it would get."""

    namespace: str
    name: Text
    allocation: ClaimAllocation


OwnerState = Literal["Bound", "Finished", "Deleting", "Allocated", "WithoutClaims"]
"""Bound: a pod that has a node. Finished: a completed pod or job. Allocated: a claim that has devices."""


class AskedResource(DocumentPart, frozen=True, kw_only=True):
    """A resource that a pod requests directly, not through a claim."""

    name: Text
    amount: Text
    device_class: Annotated[str, Meta(description="The device class that provides this extended resource.")] = ""
    nodes: Annotated[Amount, Meta(description="The number of nodes that have a nonzero amount of the resource.")]
    near: Annotated[
        str,
        Meta(description="If nothing provides this resource, a similarly named resource that a class provides."),
    ] = ""
    near_class: Annotated[str, Meta(description="The device class that provides `near`.")] = ""
    gate: Annotated[
        str, Meta(description="The disabled feature gate that keeps `gatedClass` from providing the resource.")
    ] = ""
    gated_class: Annotated[
        str, Meta(description="The device class that would provide the resource if `gate` were enabled.")
    ] = ""
    emptied: Annotated[list[str], Meta(description="The nodes that advertise none of the resource.")] = []


class WaitingContainer(DocumentPart, frozen=True, kw_only=True):
    """A container that the kubelet has not started, with the kubelet's reason.

    It may also be a running init container that other containers wait for.
    """

    name: str
    reason: Annotated[
        str, Meta(description="The one-word reason. Running means that other containers wait for this one.")
    ]
    message: str = ""
    since: Annotated[str, Meta(description="For Running: the time at which the container started.")] = ""
    ended: Annotated[bool, Meta(description="Whether this is an init container that ended with an error.")] = False
    init: Annotated[bool, Meta(description="Whether this is an init container.")] = False
    sidecar: Annotated[
        bool, Meta(description="Whether this is a sidecar, which is an init container that keeps running.")
    ] = False


class UnplannedOwner(DocumentPart, frozen=True, kw_only=True):
    """A named pod, workload or claim that needs no devices or already has them."""

    owner: ObjectName
    state: Annotated[
        OwnerState,
        Meta(
            description=(
                "Bound: a pod that has a node. Finished: a pod or job that has ended. Deleting: an object "
                "that is being deleted. Allocated: a claim that has devices. WithoutClaims: a pod that does "
                "not request devices through claims."
            )
        ),
    ]
    node_name: Annotated[str, Meta(description="The node that the pod is bound to.")] = ""
    phase: Annotated[str, Meta(description="The phase of a finished pod.")] = ""
    claims: Annotated[
        list[PlannedClaim], Meta(description="The claims that have devices, and the devices of each.")
    ] = []
    pending_claims: Annotated[list[ClaimName], Meta(description="The claims without devices.")] = []
    missing_claims: Annotated[
        list[str], Meta(description=("The entries of resourceClaims whose claims are not in the input."))
    ] = []
    used_by: Annotated[
        list[ObjectName], Meta(description=("The pods and other users that an allocated claim is reserved for."))
    ] = []
    asks: Annotated[
        list[AskedResource], Meta(description="The resources that a pod requests directly, not through claims.")
    ] = []
    waiting: Annotated[
        list[WaitingContainer],
        Meta(description="If the pod has a node: the containers that the kubelet has not started or restarted."),
    ] = []
    finalizers: Annotated[list[str], Meta(description="The finalizers of an object that is being deleted.")] = []
