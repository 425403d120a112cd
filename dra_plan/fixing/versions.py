"""The fix of an old API version: the object as the new one writes it, if that is the same object."""

from __future__ import annotations

from typing import Any

from dra_plan.api.meta import FieldPath
from dra_plan.manifests import defaults
from dra_plan.manifests.convert import REQUESTS
from dra_plan.manifests.diagnose import diagnose
from dra_plan.manifests.fitting import fits
from dra_plan.manifests.kinds import Kind
from dra_plan.manifests.objects import NOT_DECODED, typed
from dra_plan.manifests.paths import value_at

from . import moves, requests, scalars
from .edits import CharEdit
from .fix import Correction, Mending, changed

_FLAT = "v1beta1"


def newest(question: Mending) -> Correction | None:
    """The object in the version that the problem names; None unless it stays the same object, to the last field."""
    subject, kind = question.subject, question.subject.kind
    api_version = question.problem.value
    version = api_version.rpartition("/")[2]
    if kind is None or version not in kind.versions or subject.value.get("apiVersion") is None:
        return None
    head = scalars.rewritten(question, ("apiVersion",), api_version)
    moved = _moved(question, kind) if subject.version == _FLAT else Correction([], (), subject.value)
    if head is None or moved is None:
        return None
    value = {**changed(subject.value, moved.path, moved.to), "apiVersion": api_version}
    if not _is_same(subject.value, subject.version, value, version, kind):
        return None
    return Correction([*head.edits, *moved.edits], (), value)


def _moved(question: Mending, kind: Kind) -> Correction | None:
    """The fields of v1beta1 where later versions have them."""
    if kind.name == "ResourceSlice":
        nothing = Correction([], (), question.subject.value)
        devices = _entries(question.subject.value, ("spec", "devices"))
        has_any = any(isinstance(device, dict) and "basic" in device for device in devices)
        return requests.lifted(question, ("spec", "devices"), "basic") if has_any else nothing
    path = REQUESTS.get(kind.name)
    value, edits = question.subject.value, list[CharEdit]()
    for index, request in enumerate(_entries(value, path) if path else ()):
        if path is None or not isinstance(request, dict) or "firstAvailable" in request:
            continue
        at = (*path, index)
        made = moves.down(question.text, at, "exactly", "name")
        if made is None:
            return None
        edits += made
        value = changed(value, at, requests.wrapped(request))
    return Correction(edits, (), value)


def _entries(value: Any, path: FieldPath) -> list[Any]:
    """The list at a path; empty for whatever else stands there."""
    found = value_at(value, path)
    return found if isinstance(found, list) else []


def _is_same(old: dict[str, Any], old_version: str, new: dict[str, Any], new_version: str, kind: Kind) -> bool:
    """Whether two manifests are one object once they are read, and neither has anything that is dropped."""
    read = []
    for value, version in ((old, old_version), (new, new_version)):
        stored = value
        if not fits(value, kind, version):
            decoded = diagnose(value, kind, version)
            if decoded.wrong or decoded.unknown:
                return False
            stored = decoded.value
        try:
            read.append(defaults.apply(typed(stored, kind, version)))
        except NOT_DECODED:
            return False
    return bool(read[0] == _with_version(read[1], read[0]))


def _with_version(made: Any, like: Any) -> Any:
    """The object with the version of the other, if objects keep it."""
    import msgspec

    if not hasattr(made, "api_version"):
        return made
    return msgspec.structs.replace(made, api_version=like.api_version)
