"""`AllocationPlan`, the document of `allocate`."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from dra_plan.documents.base import PrintedDocument, PrintedWarning
from dra_plan.documents.claim_sets import Competition, PlannedClaimSet
from dra_plan.documents.reasons import REASONS
from dra_plan.documents.refusals import Refusals

PARTS = REASONS
"""The structs of values that their types do not name."""


class AllocationDocument(PrintedDocument, frozen=True, kw_only=True):
    """The result of kube-scheduler's device allocator for each claim set of the input, on each node."""

    kind: Literal["AllocationPlan"] = "AllocationPlan"
    claim_sets: Annotated[
        list[PlannedClaimSet],
        Meta(description="In input order. Each is planned against the cluster as given, independently of the others."),
    ]
    competition: Annotated[Competition | UnsetType, Meta(description="With --require-fit: what `schedule` says.")] = (
        UNSET
    )
    refusals: Refusals = UNSET
    warnings: list[PrintedWarning]
