"""`AllocationPlan`, the document of `allocate`."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from dra_plan.allocator import Outcome

from .base import (
    Amount,
    ClaimAllocation,
    ClaimName,
    DocumentPart,
    ObjectName,
    PrintedDocument,
    PrintedWarning,
    SchedulerText,
    TemplatePart,
    Text,
    any_of,
    one_of,
)
from .leading import LeadingReason
from .reasons import REASONS, AnyReason

SetOutcome = Annotated[Outcome, one_of("Fits", "DoesNotFit", "Error", "Undecided")]
"""A set is never NodeError: that is what single nodes are."""


class PlannedClaim(DocumentPart, frozen=True, kw_only=True):
    """What a claim would be given."""

    namespace: str
    name: str
    allocation: ClaimAllocation


class NodeExclusion(DocumentPart, frozen=True, kw_only=True):
    """A filter of the scheduler that looks at nothing but the node and the pod, and refuses."""

    plugin: Text
    message: SchedulerText


class PlannedNode(DocumentPart, frozen=True, kw_only=True):
    """What becomes of a claim set on a node."""

    name: str
    outcome: Annotated[
        Outcome,
        Meta(
            description="DoesNotFit: searched to the end. NodeError: rejects this node only. "
            "Error: ends the scheduling attempt. Undecided: the budget ran out."
        ),
    ]
    message: Annotated[str, Meta(description="In the scheduler's words; empty if the set fits.")]
    claims: Annotated[list[PlannedClaim], Meta(description="What each claim would be given, if the set fits.")]
    reasons: Annotated[
        list[AnyReason],
        Meta(
            description="Why the set does not fit, as far as explained.",
            extra_json_schema={"items": any_of(*REASONS)},
        ),
    ]
    steps: Annotated[Amount, Meta(description="Search steps taken.")]
    out_of_reach: Annotated[
        bool, Meta(description="The claims would fit, but the node does not reach devices of one that has its devices.")
    ] = False
    excluded_by: Annotated[
        list[NodeExclusion],
        Meta(description="What keeps the pod off the node, whatever becomes of its devices; such nodes do not fit."),
    ] = []


_MESSAGE_UNLESS_FITS = {
    "if": {"properties": {"outcome": {"const": "Fits"}}},
    "then": {"properties": {"message": {"const": ""}}},
    "else": {"properties": {"message": {"minLength": 1}, "claims": {"maxItems": 0}}},
}


class ClaimSetName(DocumentPart, frozen=True, kw_only=True):
    """Claims that must be satisfied on one node together, and whose they are."""

    owner: Annotated[
        ObjectName | None,
        Meta(description="The pod or workload that uses the claims; null for claims that no pod uses."),
    ]
    claims: list[ClaimName]
    copies: Annotated[int, Meta(ge=1, description="How many such pods have no node yet; it is planned for one.")] = 1
    not_judged: Annotated[
        list[str], Meta(description="What else the pod asks for: `dra-plan schedule` judges it.")
    ] = []
    part: TemplatePart = ""


class ClaimSetSummary(ClaimSetName, frozen=True, kw_only=True):
    """Whether the claims of a set fit, and where."""

    outcome: SetOutcome
    fitting_nodes: Annotated[list[str], Meta(extra_json_schema={"uniqueItems": True})]


class PlannedClaimSet(ClaimSetSummary, frozen=True, kw_only=True):
    """Claims that must be satisfied on one node together, on every node."""

    leading: Annotated[
        list[LeadingReason],
        Meta(
            description="Of a set that fits on no node: what is in the way, the commonest first, on those of its nodes "
            "that were looked at for that (up to 50, with devices if any have them)."
        ),
    ] = []
    nodes: list[Annotated[PlannedNode, Meta(extra_json_schema=_MESSAGE_UNLESS_FITS)]]


PARTS = REASONS
"""The structs of values that their types do not name."""


class AllocationDocument(PrintedDocument, frozen=True, kw_only=True):
    """What kube-scheduler's device allocator would do with each claim set of the input, on each node."""

    kind: Literal["AllocationPlan"] = "AllocationPlan"
    claim_sets: Annotated[
        list[PlannedClaimSet],
        Meta(description="In input order. Each is planned against the cluster as given, independently of the others."),
    ]
    warnings: list[PrintedWarning]
