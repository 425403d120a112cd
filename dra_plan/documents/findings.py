"""Findings of `validate` in documents, with positions, fixes and rules."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from dra_plan.documents.base import Amount, DocumentPart, Text, one_of

RuleCode = Annotated[str, Meta(pattern="^DRA[0-9]{3}$")]


Refuser = Literal["APIServer", "Scheduler"]


SeverityName = Annotated[str, one_of("error", "warning", "info")]


SourceName = Annotated[
    str, Meta(description=("The name of the source as given: `-` for standard input, and empty if there is no file."))
]


CorrectedText = Annotated[str, Meta(description="The corrected text, or empty if there is none.")]


From1 = Annotated[int, Meta(ge=0, description="The first line or column is 1, and 0 means unknown.")]


class SourceExcerpt(DocumentPart, frozen=True, kw_only=True):
    """A line of a manifest, or the part of a long line around the marked text."""

    text: Annotated[str, Meta(description="The line, without its line ending.")]
    column: Annotated[int, Meta(ge=1, description="The column of the first character of `text`.")]


class TextEdit(DocumentPart, frozen=True, kw_only=True):
    """A range of characters in a file, and its replacement.

    Lines and columns are numbered from 1, and the end is exclusive.
    """

    line: Amount
    column: Amount
    end_line: Amount
    end_column: Amount
    text: str


class CertainFix(DocumentPart, frozen=True, kw_only=True):
    """A fix that `--fix` applies because it is the only possible one."""

    title: Text
    edits: Annotated[
        list[TextEdit], Meta(min_length=1, description=("The edits in the finding's file, which do not overlap."))
    ]


class FindingEntry(DocumentPart, frozen=True, kw_only=True):
    """A problem in a manifest, and its position."""

    code: RuleCode
    severity: SeverityName
    refused_by: Annotated[
        Refuser | None,
        Meta(description=("APIServer if the API server or kubectl rejects the object, and otherwise null.")),
    ]
    message: Text
    object: Annotated[str, Meta(description="The object as KIND NAMESPACE/NAME, without unknown parts.")]
    field: Annotated[
        str,
        Meta(
            description=(
                "The path of the field as the manifest or the API server writes it, or empty for the whole object."
            )
        ),
    ]
    file: SourceName
    line: From1
    column: From1
    end_line: Annotated[int, Meta(ge=0, description="The line on which the marked text ends, or 0 if unknown.")]
    end_column: Annotated[int, Meta(ge=0, description="The column after the last marked character, or 0 if unknown.")]
    excerpt: Annotated[
        SourceExcerpt | None, Meta(description="The line with the marked text, or null if there is no file.")
    ]
    suggestion: CorrectedText
    fix: Annotated[CertainFix | None, Meta(description="The certain fix, or null if there is none.")]


class RuleEntry(DocumentPart, frozen=True, kw_only=True):
    """A rule of `validate`: what it checks, why, and how to fix a violation."""

    code: RuleCode
    severity: SeverityName
    title: Text
    why: Text
    fix: Text
