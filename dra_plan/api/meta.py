"""The base class of all structs, metadata, and label selectors (apimachinery meta/v1)."""

from __future__ import annotations

from typing import Annotated

import msgspec

# -- the base of every object ------------------------------------------------------------------------------------------

Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
"""An integer that fits in an int64. Decoding rejects others, as the API server does."""

QuantityText = str | int | float
"""A quantity as it is written in the manifest, which may be a JSON number."""

FieldPath = tuple[str | int, ...]
"""The path to a field, as field names and list indices."""


class Object(msgspec.Struct, frozen=True, kw_only=True, gc=False, rename="camel", omit_defaults=True):
    """A frozen value with the JSON field names of Kubernetes. Decoding ignores all other fields.

    Objects must not refer back to their owners, because they are not garbage-collected (`gc=False`).
    """


class StrictObject(
    Object, frozen=True, kw_only=True, gc=False, rename="camel", omit_defaults=True, forbid_unknown_fields=True
):
    """An object of resource.k8s.io. Decoding fails on a field that v1 does not have."""


# -- metadata and label selectors --------------------------------------------------------------------------------------


class OwnerReference(Object, frozen=True):
    """A reference to an owner of an object. `controller` is true if the owner manages the object."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None


class ObjectMeta(Object, frozen=True):
    """The metadata of an object, with the fields that planning reads. Times are RFC 3339 strings."""

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
        """Return whether the object comes from a cluster: only an API server sets a UID or a timestamp."""
        return bool(self.uid or self.creation_timestamp)

    @property
    def controller(self) -> OwnerReference | None:
        """The owner that manages the object, or None."""
        for owner in self.owner_references or ():
            if owner.controller:
                return owner
        return None


class LabelSelectorRequirement(Object, frozen=True):
    """A requirement on labels, with operator In, NotIn, Exists or DoesNotExist.

    A selector that is written as text may also use Gt and Lt.
    """

    key: str = ""
    operator: str = ""
    values: list[str] | None = None


class LabelSelector(Object, frozen=True):
    """A list of requirements. Labels must meet all of them.

    An empty selector selects everything; a missing selector selects nothing.
    """

    match_labels: dict[str, str] | None = None
    match_expressions: list[LabelSelectorRequirement] | None = None
