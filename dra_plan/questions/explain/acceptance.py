"""`explain`: whether the API server accepts the objects that a suggested change edits.

The edited objects are checked as if they were created, because most of them have to be created again. What the objects
of the input already violate is not held against a change: dumps lack what was known when the objects were created.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

from msgspec import structs

from dra_plan.api.inventory import Inventory, ObjectKey
from dra_plan.claims.sets import Owner
from dra_plan.planner.refused import OwnerRefusals
from dra_plan.questions.explain.editing import found
from dra_plan.releases import Target

_KINDS = ("pods", "workloads", "claims", "templates", "classes")
"""The attributes of the input with the objects that are checked for an owner."""


def is_accepted(before: Inventory, changed: Inventory, owner: Owner, target: Target) -> bool:
    """Return whether the edited objects of the owner, and those that it needs, break no rule that they did not break.

    Neither input is changed.
    """
    given = {id(one) for kind in _KINDS for one in getattr(before, kind)}
    edited = {_key(one) for kind in _KINDS for one in getattr(changed, kind) if id(one) not in given}
    return not edited or _broken(changed, owner, edited, target) <= _broken(before, owner, edited, target)


def _broken(inventory: Inventory, owner: Owner, edited: AbstractSet[ObjectKey], target: Target) -> set[tuple[str, ...]]:
    """Return the broken rules, with the fields, if the edited objects are created as they are in the inventory."""
    created: dict[str, Any] = {kind: list(_as_new(getattr(inventory, kind), edited)) for kind in _KINDS}
    texts = {key: text for key, text in inventory.texts.items() if key not in edited}
    made = replace(inventory, texts=texts, **created)
    asked = found(made, owner)
    findings = OwnerRefusals(made, target).of(asked) if asked is not None else ()
    return {(one.rule.code, one.object, one.field) for one in findings}


def _as_new(objects: Iterable[Any], edited: AbstractSet[ObjectKey]) -> Iterable[Any]:
    """Yield the objects; the edited ones as if they were not stored yet."""
    for one in objects:
        is_edited = _key(one) in edited
        metadata = structs.replace(one.metadata, uid="", creation_timestamp=None) if is_edited else one.metadata
        yield structs.replace(one, metadata=metadata) if is_edited else one


def _key(of: Any) -> ObjectKey:
    return of.kind, of.metadata.namespace, of.metadata.name
