"""A fix as documents have it: with lines and columns."""

from __future__ import annotations

from dra_plan.documents.validation import CertainFix, TextEdit
from dra_plan.manifests.places import LinedText
from dra_plan.releases import Target
from dra_plan.validation.rule import Problem
from dra_plan.validation.subject import Subject

from .edits import CharEdit
from .fixes import correction


def entry(subject: Subject, problem: Problem, target: Target) -> CertainFix | None:
    """The fix of a problem, or None."""
    found = correction(subject, problem, target)
    document = subject.place.find_text() if found is not None else None
    if found is None or document is None:
        return None
    fix, made = found
    return CertainFix(title=fix.title, edits=[_edit(edit, document.lines) for edit in sorted(made.edits)])


def _edit(edit: CharEdit, lines: LinedText) -> TextEdit:
    line, column = lines.place(edit.begin)
    end_line, end_column = lines.place(edit.end)
    return TextEdit(line=line, column=column, end_line=end_line, end_column=end_column, text=edit.text)
