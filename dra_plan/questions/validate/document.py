"""`ValidationReport`, the document of `validate`."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from dra_plan.documents.base import Amount, DocumentPart, PrintedDocument, PrintedWarning
from dra_plan.documents.findings import FindingEntry, RuleEntry


class FindingCounts(DocumentPart, frozen=True, kw_only=True):
    """The number of findings of each severity, and the number of objects."""

    objects: Annotated[Amount, Meta(description="The number of checked objects.")]
    errors: Amount
    warnings: Amount
    infos: Amount
    spared: Annotated[Amount, Meta(description=("The number of findings that settings, options or comments suppress."))]


class ValidationDocument(PrintedDocument, frozen=True, kw_only=True):
    """Problems in manifests."""

    kind: Literal["ValidationReport"] = "ValidationReport"
    summary: FindingCounts
    findings: Annotated[list[FindingEntry], Meta(description="The findings, in input order.")]
    rules: Annotated[list[RuleEntry], Meta(description="The rules that the findings refer to, by code.")]
    warnings: list[PrintedWarning]
