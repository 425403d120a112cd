"""A finding: a broken rule with its place in the input, ready for any output."""

from __future__ import annotations

from dataclasses import dataclass

from dra_plan.documents.validation import FindingEntry

from .rule import Rule, Severity


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong and where. Lines and columns count from 1; 0 means unknown.

    `file` is as the user named it (`-` for standard input), `object` is `KIND NAMESPACE/NAME`, `field` the path as
    the manifest has it; `suggestion` is the corrected text, or empty where there is none.
    """

    rule: Rule
    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    object: str = ""
    field: str = ""
    suggestion: str = ""

    @property
    def code(self) -> str:
        """The rule's code."""
        return self.rule.code

    @property
    def severity(self) -> Severity:
        """The rule's severity."""
        return self.rule.severity

    def entry(self) -> FindingEntry:
        """As documents have it."""
        return FindingEntry(
            code=self.code,
            severity=str(self.severity),
            refused_by=self.rule.refused_by,
            message=self.message,
            object=self.object,
            field=self.field,
            file=self.file,
            line=self.line,
            column=self.column,
            suggestion=self.suggestion,
        )
