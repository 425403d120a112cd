"""Findings of `validate` in documents, with their positions, fixes and rules."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from dra_plan.documents.base import Amount, DocumentPart, Text, one_of

RuleCode = Annotated[str, Meta(pattern="^DRA[0-9]{3}$")]


Refuser = Literal["APIServer", "Scheduler"]


SeverityName = Annotated[str, one_of("error", "warning", "info")]


SourceName = Annotated[str, Meta(description=("The name as given; - for standard input, empty without a file."))]


CorrectedText = Annotated[str, Meta(description="The corrected text, or empty if there is none.")]


From1 = Annotated[int, Meta(ge=0, description="From 1; 0 if unknown.")]


class SourceExcerpt(DocumentPart, frozen=True, kw_only=True):
    """A line of a manifest, or the part of a long line around the position."""

    text: Annotated[str, Meta(description="The line in the file, without its line end.")]
    column: Annotated[int, Meta(ge=1, description="The column of its first character.")]


class TextEdit(DocumentPart, frozen=True, kw_only=True):
    """A range of characters in a file, and the text that replaces it.

    Lines and columns are counted from 1, and the end is exclusive.
    """

    line: Amount
    column: Amount
    end_line: Amount
    end_column: Amount
    text: str


class CertainFix(DocumentPart, frozen=True, kw_only=True):
    """A change that `--fix` makes because there is only one way to fix the problem."""

    title: Text
    edits: Annotated[
        list[TextEdit], Meta(min_length=1, description=("Edits in the file of the finding; they do not overlap."))
    ]


class FindingEntry(DocumentPart, frozen=True, kw_only=True):
    """A problem in a manifest, and its position."""

    code: RuleCode
    severity: SeverityName
    refused_by: Annotated[
        Refuser | None, Meta(description=("APIServer: the API server, or kubectl before it. null: not rejected."))
    ]
    message: Text
    object: Annotated[str, Meta(description="KIND NAMESPACE/NAME, as far as it is known.")]
    field: Annotated[
        str,
        Meta(description="The path as the manifest has it, or as the API server names it; empty for the whole object."),
    ]
    file: SourceName
    line: From1
    column: From1
    end_line: Annotated[int, Meta(ge=0, description="Where the place ends; 0 if unknown.")]
    end_column: Annotated[int, Meta(ge=0, description="The column after its last character; 0 if unknown.")]
    excerpt: Annotated[SourceExcerpt | None, Meta(description="The line of the place; null without a file.")]
    suggestion: CorrectedText
    fix: Annotated[CertainFix | None, Meta(description="null if no correction is certain.")]


class RuleEntry(DocumentPart, frozen=True, kw_only=True):
    """A rule of `validate`: what it checks, why, and how to fix a violation."""

    code: RuleCode
    severity: SeverityName
    title: Text
    why: Text
    fix: Text
