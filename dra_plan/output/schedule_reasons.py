"""`schedule --explain`: why pods without a node were refused devices, under the scheduler's own message."""

from __future__ import annotations

from collections.abc import Iterator

from dra_plan.documents.schedule import ExplainedAttempt, ScheduleDocument

from . import explain_text
from .columns import Paragraph
from .explain_layout import Lines, indented
from .explain_words import counted, scheduler_says


def paragraphs(document: ScheduleDocument) -> Iterator[Paragraph]:
    """One for each attempt that is explained; pods that are alike are told with the first."""
    if document.explanations:
        yield from (Paragraph(list(_lines(attempt))) for attempt in document.explanations)


def _lines(of: ExplainedAttempt) -> Lines:
    first, *others = of.pods
    alike = f" and {counted(len(others), 'pod')} like it" if others else ""
    again = f", attempt {of.attempt}" if of.attempt > 1 else ""
    yield f"{first.namespace}/{first.name}{alike}{again}:"
    yield f"  {scheduler_says(of.message)}"
    yield from indented(explain_text.told_lines(of.absent, of.leading, of.stories))
