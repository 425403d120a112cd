"""The formats of `explain`: text and markdown for people, the document for programs."""

from __future__ import annotations

from dra_plan.documents.explanation import ExplanationDocument

from . import explain_markdown, explain_text
from .formats import DATA, Format, choose, whole


def parse(option: str) -> Format[ExplanationDocument]:
    """The format that `-o OPTION` asks for. UsageError for an unknown one or a malformed template."""
    return choose(option, {"text": whole(explain_text.render), "markdown": whole(explain_markdown.render), **DATA})
