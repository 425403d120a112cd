"""The base of every object read from a manifest."""

from __future__ import annotations

from typing import Annotated

import msgspec

Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
"""An integer as Go's int64; decoding refuses others, as the API server does."""

QuantityText = str | int | float
"""A quantity as written in the manifest; a JSON number is allowed, as in Kubernetes."""

FieldPath = tuple[str | int, ...]
"""The way to a field: names of fields, and positions in lists."""


class Object(msgspec.Struct, frozen=True, kw_only=True, gc=False, rename="camel", omit_defaults=True):
    """A frozen value with Kubernetes' JSON names; fields that planning does not read are ignored when decoding.

    `gc=False` is safe because no object refers back to its owner, and it makes large clusters cheap to hold.
    """


class StrictObject(
    Object, frozen=True, kw_only=True, gc=False, rename="camel", omit_defaults=True, forbid_unknown_fields=True
):
    """An object of resource.k8s.io: decoding fails on a field that v1 does not have, as strict decoding would."""
