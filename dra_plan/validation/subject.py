"""One object under judgement: as it was written, and as the API server would store it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec

from dra_plan.api.meta import FieldPath, Object
from dra_plan.documents.validation import SourceExcerpt
from dra_plan.manifests.convert import FLAT_VERSIONS
from dra_plan.manifests.kinds import Kind
from dra_plan.manifests.paths import render, value_at
from dra_plan.manifests.places import Place

from .finding import Finding
from .flatrequests import flattened, is_flat
from .pointing import mark
from .rule import Problem

"""Versions in which devices are wrapped in `basic` and requests have no `exactly`."""


class Subject(msgspec.Struct, frozen=True, eq=False):
    """An object with its place. `obj` is None when it can't be decoded; `kind` is None for kinds that are skipped."""

    value: dict[str, Any]
    place: Place
    label: str
    kind: Kind | None = None
    version: str = ""
    namespace: str = ""
    name: str = ""
    obj: Object | None = None
    problems: tuple[Problem, ...] = ()
    """What reading the object found."""
    faults: tuple[FieldPath, ...] = ()
    """The fields, as written, that can't be decoded. In `obj` stands what was probably meant by them."""
    lost: bool = False
    """Whether nobody can tell what was meant by one of them."""

    @property
    def key(self) -> tuple[str, str, str]:
        """(kind, namespace, name)."""
        return self.kind.name if self.kind else "", self.namespace, self.name

    @property
    def is_flat(self) -> bool:
        """Whether the version has the fields of `exactly` in the request itself, and devices in `basic`."""
        return self.version in FLAT_VERSIONS

    def follows_from_fault(self, problem: Problem) -> bool:
        """Whether the problem is with a field that can't be decoded, with its parts, or with what it is part of."""
        if not self.faults or problem in self.problems:
            return False
        path = problem.path if problem.written else self.as_written(problem.path)
        return any(path[: len(fault)] == fault or path == fault[:-1] for fault in self.faults)

    def as_written(self, path: FieldPath) -> FieldPath:
        """The path of a v1 field in the version in which the object is written."""
        if self.kind is None or not self.is_flat:
            if self.kind is not None and is_flat(self.value, self.kind, path):
                return flattened(self.kind, path)
            return self._with_source(path)
        if self.kind.name == "ResourceSlice":
            return self._wrapped(path)
        return flattened(self.kind, path)

    def _wrapped(self, path: FieldPath) -> FieldPath:
        if path[:2] != ("spec", "devices") or len(path) < 4 or path[3] == "name":
            return path
        inner = path[3:]
        if self.version == "v1alpha3" and inner[0] == "capacity" and inner[2:] == ("value",):
            inner = inner[:2]
        return (*path[:3], "basic", *inner)

    def _with_source(self, path: FieldPath) -> FieldPath:
        """Pod claims before 1.31 had their references in `source`."""
        if path[-1:] not in (("resourceClaimName",), ("resourceClaimTemplateName",)):
            return path
        entry = value_at(self.value, path[:-1])
        if isinstance(entry, dict) and isinstance(entry.get("source"), dict):
            return (*path[:-1], "source", path[-1])
        return path

    def finding(self, problem: Problem) -> Finding:
        """The problem with its place in the input."""
        path = problem.path if problem.written else self.as_written(problem.path)
        document = self.place.find_text()
        found = Finding(
            rule=problem.rule,
            message=problem.message,
            file=self.place.source,
            object=self.label,
            field=problem.field or render(path),
            suggestion=problem.suggestion,
        )
        if document is None:
            return found
        marked = mark(document, self.place.prefix, path, problem, self.value)
        return replace(
            found,
            line=marked.line,
            column=marked.column,
            end_line=marked.end_line,
            end_column=marked.end_column,
            field_line=marked.field_line,
            excerpt=SourceExcerpt(text=marked.excerpt, column=marked.excerpt_column),
        )
