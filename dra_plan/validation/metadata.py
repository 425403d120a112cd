"""Rules about object metadata (DRA157), which are the same for every kind (`ValidateObjectMeta`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dra_plan.api.meta import FieldPath, ObjectMeta, OwnerReference
from dra_plan.manifests.paths import render

from . import formats, names
from .formats import shown
from .limits import ANNOTATIONS_BYTES, MANAGER_BYTES, SUBRESOURCE_BYTES, at_most_bytes
from .rule import Problem, refused
from .schema import MISSING_FIELD

METADATA = refused(
    "DRA157",
    "metadata that the API server rejects",
    (
        "Finalizers must have a domain, and owner references must have all their fields. Only one owner "
        "can be the controller. A template can set only labels and annotations on its claims."
    ),
    "Correct or remove the field. Controllers normally set finalizers and owner references.",
)
RULES = (METADATA,)

_STANDARD_FINALIZERS = ("foregroundDeletion", "kubernetes", "orphan")
_EXCLUSIVE_FINALIZERS = ("foregroundDeletion", "orphan")
_OPERATIONS = ("Apply", "Update")
_LONGEST_START = 58
"""The number of characters in `generateName` that are kept; five letters follow."""
_COPIED = ("labels", "annotations")
"""The metadata that claims get from their templates."""


def check(metadata: ObjectMeta, path: FieldPath = ("metadata",)) -> Iterator[Problem]:
    """Check an object's metadata, except for its name and namespace."""
    if not (metadata.labels or metadata.annotations or metadata.finalizers or metadata.owner_references):
        return
    for key, value in (metadata.labels or {}).items():
        yield from names.label_name((*path, "labels", key), key)
        yield from names.label_value((*path, "labels", key), value)
    annotations = metadata.annotations or {}
    for key in annotations:
        yield from names.label_name((*path, "annotations", key), key, key.lower())
    whole = "".join(f"{key}{value}" for key, value in annotations.items())
    yield from at_most_bytes((*path, "annotations"), whole, ANNOTATIONS_BYTES, "annotations")
    finalizers = metadata.finalizers or ()
    if all(name in finalizers for name in _EXCLUSIVE_FINALIZERS):
        yield METADATA.at((*path, "finalizers"), f"{' and '.join(_EXCLUSIVE_FINALIZERS)} exclude each other")
    for index, finalizer in enumerate(finalizers):
        at = (*path, "finalizers", index)
        yield from names.label_name(at, finalizer)
        if formats.is_label_name(finalizer) and "/" not in finalizer and finalizer not in _STANDARD_FINALIZERS:
            yield METADATA.at(
                at, f"{shown(finalizer)} has no domain and is not one of {', '.join(_STANDARD_FINALIZERS)}"
            )
    yield from _owners((*path, "ownerReferences"), metadata.owner_references or [])


def _owners(path: FieldPath, owners: list[OwnerReference]) -> Iterator[Problem]:
    for index, owner in enumerate(owners):
        fields = {"apiVersion": owner.api_version, "kind": owner.kind, "name": owner.name, "uid": owner.uid}
        for name, value in fields.items():
            if not value:
                yield MISSING_FIELD.at((*path, index, name), "missing or empty").called(f"{render(path)}.{name}")
        if owner.api_version and not _version(owner.api_version):
            message = f"{shown(owner.api_version)} is not an apiVersion, such as v1 or apps/v1"
            yield METADATA.at((*path, index, "apiVersion"), message).called(f"{render(path)}.apiVersion")
        if (owner.api_version, owner.kind) == ("v1", "Event"):
            yield METADATA.at((*path, index), "an Event can't own anything").called(render(path))
    controllers = [index for index, owner in enumerate(owners) if owner.controller]
    for index in controllers[1:]:
        yield METADATA.at((*path, index, "controller"), "another owner is the controller already")


def _version(api_version: str) -> str:
    """Return the version of an apiVersion; empty if it has none."""
    group, slash, version = api_version.partition("/")
    return "" if "/" in version else version if slash else group


def check_name(path: FieldPath, metadata: ObjectMeta, *, generated: bool) -> Iterator[Problem]:
    """Check an object's name, which must be a DNS subdomain, and its generateName, which may end with a dash.

    If `generated` is not set, a name generated from generateName is checked, and not generateName itself.
    """
    if metadata.name:
        yield from names.subdomain((*path, "name"), metadata.name, "object name")
    start = metadata.generate_name
    # As in upstream, the dash at the end and the letter before it count as one valid letter.
    wrong = bool(start) and not formats.is_subdomain(f"{start[:-2]}a" if len(start) > 1 and start[-1] == "-" else start)
    if generated and wrong:
        message = f"{shown(start)} cannot begin an object name: {formats.SUBDOMAIN}"
        yield names.BAD_NAME.at((*path, "generateName"), message)
    made = f"{start[:_LONGEST_START]}abcde"
    if start and not metadata.name and ((generated and wrong) or not formats.is_subdomain(made)):
        yield names.BAD_NAME.at((*path, "name"), f"missing, and {shown(start)} gives no name")


def check_written(path: FieldPath, written: Any, *, counted: bool) -> Iterator[Problem]:
    """Check metadata that controllers and the API server write. dra-plan does not use this metadata otherwise.

    `counted` says whether the API server counts the generation itself and ignores the given value.
    """
    if not isinstance(written, dict):
        return
    generation = written.get("generation")
    if not counted and isinstance(generation, int) and generation < 0:
        yield METADATA.at((*path, "generation"), f"{generation} is negative")
    entries = written.get("managedFields")
    for index, entry in enumerate(entries if isinstance(entries, list) else ()):
        if isinstance(entry, dict):
            yield from _managed((*path, "managedFields", index), entry)


def _managed(path: FieldPath, entry: dict[str, Any]) -> Iterator[Problem]:
    operation, form = entry.get("operation") or "", entry.get("fieldsType") or ""
    if operation not in _OPERATIONS:
        yield METADATA.at((*path, "operation"), f"{shown(str(operation))} is neither {' nor '.join(_OPERATIONS)}")
    if form not in ("", "FieldsV1"):
        yield METADATA.at((*path, "fieldsType"), f"{shown(str(form))} is not FieldsV1")
    for name, most in (("manager", MANAGER_BYTES), ("subresource", SUBRESOURCE_BYTES)):
        text = entry.get(name)
        if isinstance(text, str):
            yield from at_most_bytes((*path, name), text, most, "text")
    manager = entry.get("manager")
    if isinstance(manager, str) and not manager.isprintable():
        yield METADATA.at((*path, "manager"), "not all characters are printable")


def check_copied(path: FieldPath, metadata: ObjectMeta, written: Any) -> Iterator[Problem]:
    """Check the metadata that claims get from a claim template. `written` is the metadata as it is in the manifest."""
    yield from check(metadata, path)
    for name, value in (written if isinstance(written, dict) else {}).items():
        # Missing values and empty strings count as not set; empty lists and other zeros count as set.
        if name not in _COPIED and value is not None and value != "" and (name, value) != ("generation", 0):
            yield METADATA.at((*path, name), "can't be set: claims get only labels and annotations from their template")
