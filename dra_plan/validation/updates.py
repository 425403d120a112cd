"""Rules about updates of existing objects (DRA30x): immutable fields, and existing problems that may remain.

They follow `ValidateResourceClaimUpdate` and similar upstream functions. No run of an API server was recorded for them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from dra_plan.api.meta import FieldPath
from dra_plan.api.quantity import QuantityError, parse
from dra_plan.api.resource import DeviceClass, ResourceClaim
from dra_plan.manifests.diagnose import describe
from dra_plan.manifests.paths import render, value_at
from dra_plan.releases import Target

from . import objects, schema
from .rule import Problem, refused
from .subject import Subject

IMMUTABLE = refused(
    "DRA301",
    "change to an immutable field",
    (
        "The immutable fields are the spec of claims and templates, the driver, pool and node of slices, "
        "the claims of pods and jobs, and an allocation until it is removed. The API server rejects the "
        "update. This rule is checked only with `--against`."
    ),
    "Keep the old value, or delete the object and create it again.",
)
BEING_DELETED = refused(
    "DRA302",
    "addition to an object that is being deleted",
    (
        "If an object has a deletionTimestamp, no finalizer can be added to it, and no consumer "
        "can be added to a claim. The API server rejects the update. This rule is checked only "
        "with `--against`."
    ),
    "Wait until the object has been deleted, and create it again.",
)
RULES = (IMMUTABLE, BEING_DELETED)

_FIXED: dict[str, tuple[FieldPath, ...]] = {
    "ResourceClaim": (("spec",),),
    "ResourceClaimTemplate": (("spec",),),
    "ResourceSlice": (("spec", "driver"), ("spec", "pool", "name"), ("spec", "nodeName")),
    "Pod": (("spec", "resourceClaims"),),
    "Job": (("spec", "template", "spec", "resourceClaims"),),
}
"""The immutable fields, by kind, as paths in v1."""
_WITH_CONTAINERS = frozenset({"Pod", "Job"})
_DECODING = frozenset({one.code for one in schema.RULES} - {schema.MISSING_FIELD.code})
"""The rules whose violations are rejected before the old object is read."""
_AS_A_WHOLE: tuple[FieldPath, ...] = (("spec", "selectors"), ("spec", "config"))
"""Lists in a class that are validated again if anything in them changes."""


def as_updates(
    found: Iterable[tuple[Subject, Problem]], subjects: Sequence[Subject], against: Iterable[Subject], target: Target
) -> Iterator[tuple[Subject, Problem]]:
    """Yield the problems with the subjects. A subject is validated as an update if `against` contains the object.

    For an update, problems that the old object already has are left out, and changes to immutable fields are added.
    """
    old = {subject.key: subject for subject in against if _is_named(subject)}
    pairs = {subject: old[subject.key] for subject in subjects if _is_named(subject) and subject.key in old}
    known: dict[Subject, set[tuple[str, FieldPath, str]]] = {}
    for subject, problem in objects.check(set(pairs.values()), target):
        known.setdefault(subject, set()).add(_told(subject, problem))
    for subject, problem in found:
        before = pairs.get(subject)
        if before is None or not _is_spared(subject, before, problem, known.get(before, set())):
            yield subject, problem
    for subject, before in pairs.items():
        if subject.obj is not None and before.obj is not None:
            for problem in _changes(subject, msgspec.to_builtins(before.obj), msgspec.to_builtins(subject.obj)):
                yield subject, problem


def _is_named(subject: Subject) -> bool:
    metadata = subject.value.get("metadata")
    return subject.kind is not None and isinstance(metadata, dict) and bool(metadata.get("name"))


# Existing faults


def _is_spared(subject: Subject, before: Subject, problem: Problem, known: set[tuple[str, FieldPath, str]]) -> bool:
    """Return whether the API server does not report the problem for an update.

    It existed before, or the spec is immutable.
    """
    rule = problem.rule
    if rule.refused_by != "APIServer" or rule.code in _DECODING:
        return False
    if problem.path[:1] == ("spec",) and _spec_is_fixed(subject):
        return True  # for a different spec, only the change is reported
    if any(problem.path[: len(path)] == path and _differ(subject, before, path) for path in _AS_A_WHOLE):
        return False
    return _told(subject, problem) in known


def _spec_is_fixed(subject: Subject) -> bool:
    return subject.kind is not None and ("spec",) in _FIXED.get(subject.kind.name, ())


def _differ(subject: Subject, before: Subject, path: FieldPath) -> bool:
    """Return whether a list of a class has changed."""
    if not isinstance(subject.obj, DeviceClass):
        return False
    new, old = msgspec.to_builtins(subject.obj), msgspec.to_builtins(before.obj)
    return any(True for _ in _differences(value_at(old, path), value_at(new, path), path))


def _told(subject: Subject, problem: Problem) -> tuple[str, FieldPath, str]:
    """Return a key for the problem that stays the same when list entries move."""
    path = problem.path if problem.written else subject.as_written(problem.path)
    named = tuple(
        _name(value_at(subject.value, path[: at + 1]), step) if isinstance(step, int) else step
        for at, step in enumerate(path)
    )
    return problem.rule.code, named, problem.message


def _name(entry: Any, index: int) -> str | int:
    name = entry.get("name") if isinstance(entry, dict) else entry
    return name if isinstance(name, str) else index


# Immutable fields


def _changes(subject: Subject, old: dict[str, Any], new: dict[str, Any]) -> Iterator[Problem]:
    kind = subject.kind
    if kind is None:
        return
    for path in _FIXED.get(kind.name, ()):
        yield from _fixed(old, new, path)
    if kind.name in _WITH_CONTAINERS:
        for field in ("initContainers", "containers"):
            many = value_at(new, (*kind.pod_spec, field)) or ()
            for index in range(min(len(many), len(value_at(old, (*kind.pod_spec, field)) or ()))):
                yield from _fixed(old, new, (*kind.pod_spec, field, index, "resources", "claims"))
    if value_at(old, ("metadata", "uid")) and value_at(new, ("metadata", "uid")):
        yield from _fixed(old, new, ("metadata", "uid"))
    if isinstance(subject.obj, ResourceClaim):
        allocation: FieldPath = ("status", "allocation")
        if value_at(old, allocation) and value_at(new, allocation):
            yield from _fixed(old, new, allocation)
    if value_at(old, ("metadata", "deletionTimestamp")):
        yield from _added(old, new, ("metadata", "finalizers"), "finalizers")
        yield from _added(old, new, ("status", "reservedFor"), "users")


def _fixed(old: dict[str, Any], new: dict[str, Any], path: FieldPath) -> Iterator[Problem]:
    """Yield one problem for all differences below a path, at the first difference."""
    found = list(_differences(value_at(old, path), value_at(new, path), path))
    if not found:
        return
    at, was, now = found[0]
    about = f"{render(at)[len(render(path)) :].lstrip('.')} " if at != path else ""
    if was is None:
        message = f"{about}can't be added"
    elif now is None:
        message = f"{about}can't be removed: it was {describe(was)}"
    else:
        message = f"{about}can't be changed: it was {describe(was)}"
    more = len(found) - 1
    message += f"; {more} more {'field differs' if more == 1 else 'fields differ'}" if more else ""
    suggestion = f"{at[-1]}: {json.dumps(was)}" if isinstance(was, str | int) and isinstance(at[-1], str) else ""
    yield IMMUTABLE.at(at, message, suggestion).called(render(path))


def _differences(old: Any, new: Any, path: FieldPath) -> Iterator[tuple[FieldPath, Any, Any]]:
    """Yield the fields that differ, with both values; a missing value is None. An empty value counts as missing."""
    if _is_empty(old) and _is_empty(new):
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*new, *(key for key in old if key not in new)]:
            yield from _differences(old.get(key), new.get(key), (*path, key))
    elif isinstance(old, list) and isinstance(new, list):
        for index in range(max(len(old), len(new))):
            here = (old[index] if index < len(old) else None, new[index] if index < len(new) else None)
            yield from _differences(*here, (*path, index))
    elif old != new and not _same_amount(old, new, path):
        yield path, old, new


def _is_empty(value: Any) -> bool:
    return value is None or value == {} or value == []


def _same_amount(old: Any, new: Any, path: FieldPath) -> bool:
    if "capacity" not in path or not isinstance(old, str) or not isinstance(new, str):
        return False
    try:
        return parse(old) == parse(new)
    except QuantityError:
        return False


def _added(old: dict[str, Any], new: dict[str, Any], path: FieldPath, noun: str) -> Iterator[Problem]:
    before = value_at(old, path) or []
    for index, entry in enumerate(value_at(new, path) or ()):
        if entry not in before:
            yield BEING_DELETED.at((*path, index), f"cannot add {noun}: the object is being deleted")
            return
