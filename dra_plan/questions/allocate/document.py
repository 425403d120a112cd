"""`AllocationPlan`, the document of `allocate`."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from dra_plan.documents.base import PrintedDocument, PrintedWarning
from dra_plan.documents.claim_sets import Competition, PlannedClaimSet
from dra_plan.documents.reasons import REASONS
from dra_plan.documents.refusals import Refusals

PARTS = REASONS
"""Structs that are part of the document but do not appear in the types of its fields."""


class AllocationDocument(PrintedDocument, frozen=True, kw_only=True):
    """What kube-scheduler's device allocator finds for each claim set of the input on each node."""

    kind: Literal["AllocationPlan"] = "AllocationPlan"
    claim_sets: Annotated[
        list[PlannedClaimSet],
        Meta(description="The claim sets in input order. Each one is planned alone, against the cluster as it is."),
    ]
    competition: Annotated[
        Competition | UnsetType, Meta(description="What `schedule` reports for the pods; only with --require-fit.")
    ] = UNSET
    refusals: Refusals = UNSET
    warnings: list[PrintedWarning]
