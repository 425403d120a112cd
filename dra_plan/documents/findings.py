"""Findings of `validate` in documents, with their positions, fixes and rules."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from dra_plan.documents.base import Amount, DocumentPart, Text, one_of

RuleCode = Annotated[str, Meta(pattern="^DRA[0-9]{3}$")]


Refuser = Literal["APIServer", "Scheduler"]


SeverityName = Annotated[str, one_of("error", "warning", "info")]


SourceName = Annotated[
    str, Meta(description=("The name of the source as given; - for standard input, and empty if there is no file."))
]


CorrectedText = Annotated[str, Meta(description="The corrected text, or empty if there is none.")]


From1 = Annotated[int, Meta(ge=0, description="From 1; 0 if unknown.")]


class SourceExcerpt(DocumentPart, frozen=True, kw_only=True):
    """A line of a manifest, or the part of a long line around the position."""

    text: Annotated[str, Meta(description="The line in the file, without its line ending.")]
    column: Annotated[int, Meta(ge=1, description="The column of the first character of the text.")]


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
        list[TextEdit], Meta(min_length=1, description=("The edits in the file of the finding. They do not overlap."))
    ]


class FindingEntry(DocumentPart, frozen=True, kw_only=True):
    """A problem in a manifest, and its position."""

    code: RuleCode
    severity: SeverityName
    refused_by: Annotated[
        Refuser | None,
        Meta(
            description=("APIServer if the API server, or kubectl before it, rejects the object; null if neither does.")
        ),
    ]
    message: Text
    object: Annotated[str, Meta(description="The object as KIND NAMESPACE/NAME, without the parts that are not known.")]
    field: Annotated[
        str,
        Meta(
            description="The path of the field as the manifest or the API server writes it; empty for the whole object."
        ),
    ]
    file: SourceName
    line: From1
    column: From1
    end_line: Annotated[int, Meta(ge=0, description="The line in which the place ends; 0 if it is not known.")]
    end_column: Annotated[
        int, Meta(ge=0, description="The column after the last character of the place; 0 if it is not known.")
    ]
    excerpt: Annotated[
        SourceExcerpt | None, Meta(description="The line that contains the place; null if there is no file.")
    ]
    suggestion: CorrectedText
    fix: Annotated[CertainFix | None, Meta(description="The certain correction, or null if there is none.")]


class RuleEntry(DocumentPart, frozen=True, kw_only=True):
    """A rule of `validate`: what it checks, why, and how to fix a violation."""

    code: RuleCode
    severity: SeverityName
    title: Text
    why: Text
    fix: Text
