"""`RuleList`, the document of `rule`."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from dra_plan.documents.base import DocumentPart, PrintedDocument, PrintedWarning, Text
from dra_plan.documents.findings import FindingEntry, Refuser, RuleCode, SeverityName


class ShownExample(DocumentPart, frozen=True, kw_only=True):
    """Manifests that violate a rule, and the corrected manifests."""

    bad: Text
    good: Text
    around: Annotated[str, Meta(description="Objects that both need; often empty.")]
    old: Annotated[str, Meta(description="The old object of both (--against); often empty.")]
    feature_gates: Annotated[
        dict[str, bool], Meta(description=("Gates that the examples need and that differ from the release's defaults."))
    ]
    findings: Annotated[list[FindingEntry], Meta(description="The findings for the bad example.")]


class RuleGuide(DocumentPart, frozen=True, kw_only=True):
    """What a rule checks, why it matters and how to fix a violation, with examples."""

    code: RuleCode
    severity: SeverityName
    refused_by: Refuser | None
    title: Text
    why: Text
    fix: Text
    example: Annotated[ShownExample | None, Meta(description="null in the list of all rules.")]


class RulesDocument(PrintedDocument, frozen=True, kw_only=True):
    """The rules of `validate`."""

    kind: Literal["RuleList"] = "RuleList"
    rules: Annotated[list[RuleGuide], Meta(description="In the order of their codes.")]
    warnings: list[PrintedWarning]
