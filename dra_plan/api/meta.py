"""The common parts of all objects: the base of all structs, metadata and label selectors (apimachinery meta/v1)."""

from __future__ import annotations

from typing import Annotated

import msgspec

# -- the base of every object ------------------------------------------------------------------------------------------

Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
"""An integer in the range of Go's int64; decoding rejects others, as the API server does."""

QuantityText = str | int | float
"""A quantity as written in the manifest; JSON numbers are allowed, as in Kubernetes."""

FieldPath = tuple[str | int, ...]
"""The path to a field: field names, and positions in lists."""


class Object(msgspec.Struct, frozen=True, kw_only=True, gc=False, rename="camel", omit_defaults=True):
    """A frozen value with the field names of Kubernetes' JSON. Decoding ignores fields that planning does not read.

    `gc=False` is safe because no object refers back to its owner, and it makes large clusters cheap to hold in memory.
    """


class StrictObject(
    Object, frozen=True, kw_only=True, gc=False, rename="camel", omit_defaults=True, forbid_unknown_fields=True
):
    """An object in resource.k8s.io. Decoding is strict: it fails on a field that v1 does not have."""


# -- metadata and label selectors --------------------------------------------------------------------------------------


class OwnerReference(Object, frozen=True):
    """A reference to an owner of an object. `controller` is set if this owner manages the object."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None


class ObjectMeta(Object, frozen=True):
    """The metadata of an object, limited to the fields that planning reads. Times remain RFC 3339 strings."""

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
        """Return whether the object comes from a cluster. Only an API server sets a UID and timestamps."""
        return bool(self.uid or self.creation_timestamp)

    @property
    def controller(self) -> OwnerReference | None:
        """The owner that manages the object, or None."""
        for owner in self.owner_references or ():
            if owner.controller:
                return owner
        return None


class LabelSelectorRequirement(Object, frozen=True):
    """One requirement on labels, with the operator In, NotIn, Exists or DoesNotExist.

    In a selector that is written as text, the operator may also be Gt or Lt.
    """

    key: str = ""
    operator: str = ""
    values: list[str] | None = None


class LabelSelector(Object, frozen=True):
    """A set of requirements that must all be met.

    An empty selector selects everything; a missing selector selects nothing.
    """

    match_labels: dict[str, str] | None = None
    match_expressions: list[LabelSelectorRequirement] | None = None
