"""A fix, and how it is known to be right: the edited text gives the value that the fix says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dra_plan.api.meta import FieldPath
from dra_plan.manifests.json_reader import JsonError, plain
from dra_plan.manifests.places import Form
from dra_plan.manifests.yaml_builder import YamlError
from dra_plan.validation.rule import Problem
from dra_plan.validation.subject import Subject

from .edits import CharEdit, ObjectText, applied


@dataclass(frozen=True, slots=True)
class Correction:
    """Edits of an object's text, and the value that the field at `path` of the object has afterwards."""

    edits: list[CharEdit]
    path: FieldPath
    to: Any


@dataclass(frozen=True, slots=True)
class Mending:
    """What a fix is asked for."""

    subject: Subject
    problem: Problem
    text: ObjectText
    newest: str
    """The minor version of Kubernetes that is judged for."""
    gates: dict[str, bool]

    @property
    def path(self) -> FieldPath:
        """The path of the problem as the manifest has it."""
        return self.problem.path if self.problem.written else self.subject.as_written(self.problem.path)


def changed(value: Any, path: FieldPath, to: Any) -> Any:
    """A copy of a plain value with another one at the path, which is there."""
    if not path:
        return to
    step: Any = path[0]
    if isinstance(value, list):
        return [changed(item, path[1:], to) if index == step else item for index, item in enumerate(value)]
    return {key: changed(item, path[1:], to) if key == step else item for key, item in value.items()}


def gives(text: ObjectText, value: dict[str, Any], correction: Correction) -> bool:
    """Whether the edited text of an object, which has the value, is by itself the corrected value."""
    whole = text.whole
    if whole is None:
        return False
    begin = text.line_start(whole.begin) if whole.form is Form.NESTED else whole.begin
    edited = applied(
        text.text[begin : whole.end],
        [CharEdit(edit.begin - begin, edit.end - begin, edit.text) for edit in correction.edits],
    )
    if whole.form is Form.NESTED:
        # What stands before the object in its first line, such as the dash of a list, becomes space.
        edited = " " * (whole.begin - begin) + edited[whole.begin - begin :]
    return bool(_read(edited) == changed(value, correction.path, correction.to))


def _read(text: str) -> Any:
    if text.startswith("{"):
        try:
            return plain(text.encode())
        except JsonError:
            pass  # YAML in brackets
    from dra_plan.manifests.yaml_builder import Builder

    builder = Builder(text, 1)
    try:
        return builder.value if builder.next_document() else None
    except YamlError:
        return None
