"""Object metadata and label selectors (apimachinery meta/v1)."""

from __future__ import annotations

from .base import Object


class OwnerReference(Object, frozen=True):
    """An owner of an object; `controller` marks the one that manages it."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None


class ObjectMeta(Object, frozen=True):
    """The metadata that planning reads. Times stay RFC 3339 text."""

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    uid: str = ""
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: list[OwnerReference] | None = None
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    finalizers: list[str] | None = None
    resource_version: str = ""

    @property
    def is_stored(self) -> bool:
        """Whether a cluster has the object: only its API server gives uids and times."""
        return bool(self.uid or self.creation_timestamp)

    @property
    def controller(self) -> OwnerReference | None:
        """The managing owner, or None."""
        return next((owner for owner in self.owner_references or () if owner.controller), None)


class LabelSelectorRequirement(Object, frozen=True):
    """One requirement on labels: In, NotIn, Exists or DoesNotExist; in a selector written as text Gt and Lt too."""

    key: str = ""
    operator: str = ""
    values: list[str] | None = None


class LabelSelector(Object, frozen=True):
    """A conjunction of requirements; empty selects everything, absent selects nothing."""

    match_labels: dict[str, str] | None = None
    match_expressions: list[LabelSelectorRequirement] | None = None
