"""A fix for selectors that compare quantities or versions with operators: `a >= b` becomes `a.compareTo(b) >= 0`."""

from __future__ import annotations

from dra_plan.cel import compile_selector
from dra_plan.cel.environment import environment
from dra_plan.cel.lexer import CelCompileError
from dra_plan.cel.rewrite import compare_to_edits
from dra_plan.manifests.paths import value_at
from dra_plan.manifests.places import positions

from .edits import CharEdit, Correction, Mending, applied


def compared(question: Mending) -> Correction | None:
    """Replace each operator that compares two quantities or two versions with a call of `compareTo`."""
    expression = value_at(question.subject.value, question.path)
    extent = question.text.extent(question.path)
    if extent is None or not isinstance(expression, str) or not ("<" in expression or ">" in expression):
        return None
    places = positions(question.text.text, extent, expression)
    scope = environment(question.newest, question.gates, "new")
    edits = [CharEdit(*edit) for edit in compare_to_edits(expression, scope)]
    made = applied(expression, edits)
    if places is None or not edits or not _compiles(made, question):
        return None
    moved = [CharEdit(places[edit.begin], places[edit.end], edit.text) for edit in edits]
    return Correction(moved, question.path, made)


def _compiles(expression: str, question: Mending) -> bool:
    try:
        compile_selector(expression, kubernetes_version=question.newest, feature_gates=question.gates, rules="new")
    except CelCompileError:
        return False
    return True
