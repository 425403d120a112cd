"""A finding: a broken rule with its place in the input, ready for any output."""

from __future__ import annotations

from dataclasses import dataclass

from dra_plan.documents.validation import FindingEntry, SourceExcerpt

from .rule import Rule, Severity


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong and where. Lines and columns count from 1, the end is not included; 0 means unknown.

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
    end_line: int = 0
    end_column: int = 0
    field_line: int = 0
    """The line of the field's key, which comments stand behind; the value may begin below it."""
    excerpt: SourceExcerpt | None = None

    @property
    def code(self) -> str:
        """The rule's code."""
        return self.rule.code

    @property
    def severity(self) -> Severity:
        """The rule's severity."""
        return self.rule.severity

    def entry(self) -> FindingEntry:
        """As documents have it, but for its fix, of which nothing is known here."""
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
            end_line=self.end_line,
            end_column=self.end_column,
            excerpt=self.excerpt,
            suggestion=self.suggestion,
            fix=None,
        )
