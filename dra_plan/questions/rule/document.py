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
    around: Annotated[str, Meta(description="Objects that both examples need; often empty.")]
    old: Annotated[str, Meta(description="The previous version of both examples, for --against; often empty.")]
    feature_gates: Annotated[
        dict[str, bool],
        Meta(description=("The feature gates that the examples need, where they differ from the release's defaults.")),
    ]
    findings: Annotated[list[FindingEntry], Meta(description="The findings in the bad example.")]


class RuleGuide(DocumentPart, frozen=True, kw_only=True):
    """What a rule checks, why it matters and how to fix a violation, with examples."""

    code: RuleCode
    severity: SeverityName
    refused_by: Refuser | None
    title: Text
    why: Text
    fix: Text
    example: Annotated[
        ShownExample | None, Meta(description="The examples of the rule. Null in the list of all rules.")
    ]


class RulesDocument(PrintedDocument, frozen=True, kw_only=True):
    """The rules of `validate`."""

    kind: Literal["RuleList"] = "RuleList"
    rules: Annotated[list[RuleGuide], Meta(description="The rules, in the order of their codes.")]
    warnings: list[PrintedWarning]
