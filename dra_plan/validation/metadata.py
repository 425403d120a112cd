"""DRA157, and the rules of names, for object metadata: the same for every kind (`ValidateObjectMeta`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dra_plan.api.meta import ObjectMeta, OwnerReference
from dra_plan.manifests.paths import FieldPath

from . import formats, names
from .limits import ANNOTATIONS_BYTES, at_most_bytes
from .rule import Problem, refused
from .words import shown

METADATA = refused(
    "DRA157",
    "metadata that the API server refuses",
    "Finalizers have a domain, owners say who they are, only one of them is the controller, and of the metadata for "
    "the claims of a template there are labels and annotations only.",
    "Correct the field, or leave it out; finalizers and owners are controllers' work.",
)
RULES = (METADATA,)

_STANDARD_FINALIZERS = ("foregroundDeletion", "kubernetes", "orphan")
_COPIED = ("labels", "annotations")
"""What claims get from their template's metadata."""


def check(metadata: ObjectMeta, path: FieldPath = ("metadata",)) -> Iterator[Problem]:
    """The metadata at a path, apart from the names of the object and of its namespace."""
    for key, value in (metadata.labels or {}).items():
        yield from names.label_name((*path, "labels", key), key)
        yield from names.label_value((*path, "labels", key), value)
    annotations = metadata.annotations or {}
    for key in annotations:
        yield from names.label_name((*path, "annotations", key), key, key.lower())
    whole = "".join(f"{key}{value}" for key, value in annotations.items())
    yield from at_most_bytes((*path, "annotations"), whole, ANNOTATIONS_BYTES, "annotations")
    for index, finalizer in enumerate(metadata.finalizers or ()):
        at = (*path, "finalizers", index)
        yield from names.label_name(at, finalizer)
        if formats.is_label_name(finalizer) and "/" not in finalizer and finalizer not in _STANDARD_FINALIZERS:
            yield METADATA.at(at, f"{shown(finalizer)} has no domain and is none of {', '.join(_STANDARD_FINALIZERS)}")
    yield from _owners((*path, "ownerReferences"), metadata.owner_references or [])


def _owners(path: FieldPath, owners: list[OwnerReference]) -> Iterator[Problem]:
    for index, owner in enumerate(owners):
        fields = {"apiVersion": owner.api_version, "kind": owner.kind, "name": owner.name, "uid": owner.uid}
        for name, value in fields.items():
            if not value:
                yield from names.required((*path, index, name), value)
    controllers = [index for index, owner in enumerate(owners) if owner.controller]
    for index in controllers[1:]:
        yield METADATA.at((*path, index, "controller"), "another owner is the controller already")


def check_name(path: FieldPath, metadata: ObjectMeta, *, generated: bool) -> Iterator[Problem]:
    """The object's name, a DNS subdomain, and the start of a generated one, which may end in a dash.

    Without `generated` the start is not checked, but the name that is made of it.
    """
    if metadata.name:
        yield from names.subdomain((*path, "name"), metadata.name, "object name")
    start = metadata.generate_name
    if start and (generated or not metadata.name) and not formats.is_subdomain(f"{start.removesuffix('-')}a"):
        message = f"{shown(start)} is no start of an object name: {formats.SUBDOMAIN}"
        yield names.BAD_NAME.at((*path, "generateName" if generated else "name"), message)


def check_copied(path: FieldPath, metadata: ObjectMeta, written: Any) -> Iterator[Problem]:
    """The metadata that a template's claims get; `written` is what stands in the manifest."""
    yield from check(metadata, path)
    for name, value in (written if isinstance(written, dict) else {}).items():
        if name not in _COPIED and value:
            yield METADATA.at((*path, name), "can't be set: claims get only labels and annotations from their template")
