"""`explain`: whether the API server accepts the objects that a suggested change edits.

The edited objects are checked as if they were created, because most of them have to be created again. What the objects
of the input already violate is not held against a change: dumps lack what was known when the objects were created.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

from msgspec import structs

from dra_plan.api.inventory import Inventory, ObjectKey
from dra_plan.claims.sets import Owner
from dra_plan.manifests.objects import pod_spec_of
from dra_plan.planner.refused import OwnerRefusals
from dra_plan.questions.explain.editing import found
from dra_plan.releases import Target

_KINDS = ("pods", "workloads", "claims", "templates", "classes")
"""The attributes of the input with the objects that are checked for an owner."""


def is_accepted(before: Inventory, changed: Inventory, owner: Owner, target: Target) -> bool:
    """Return whether the edited objects of the owner, and those that it needs, break no rule that they did not break.

    Neither input is changed.
    """
    edited = {_key(one) for kind in _KINDS for one in _added(getattr(before, kind), getattr(changed, kind))}
    return not edited or _broken(changed, owner, edited, target) <= _broken(before, owner, edited, target)


def _added(before: Sequence[Any], after: Sequence[Any]) -> Iterable[Any]:
    """Return the objects of the second list that are not in the first one; few of very many."""
    known, there = set(map(id, before)), dict(zip(map(id, after), after, strict=True))
    return [there[one] for one in there.keys() - known]


def _broken(inventory: Inventory, owner: Owner, edited: AbstractSet[ObjectKey], target: Target) -> set[tuple[str, ...]]:
    """Return the broken rules, with the fields, if the edited objects are created as they are in the inventory."""
    given = found(inventory, owner)
    if given is None:
        return set()
    asked_for = {entry.resource_claim_name for entry in pod_spec_of(given).resource_claims}
    needed = replace(inventory, claims=[one for one in inventory.claims if one.metadata.name in asked_for])
    created: dict[str, Any] = {kind: _as_new(getattr(needed, kind), edited) for kind in _KINDS}
    texts = dict(inventory.texts)
    for key in edited:
        texts.pop(key, None)
    made = replace(needed, texts=texts, **created)
    asked = found(made, owner)
    findings = OwnerRefusals(made, target).of(asked) if asked is not None else ()
    return {(one.rule.code, one.object, one.field) for one in findings}


def _as_new(objects: Iterable[Any], edited: AbstractSet[ObjectKey]) -> list[Any]:
    """Return the objects; the edited ones as if they were not stored yet."""
    names = {name for _, _, name in edited}
    return [_unstored(one) if one.metadata.name in names and _key(one) in edited else one for one in objects]


def _unstored(one: Any) -> Any:
    return structs.replace(one, metadata=structs.replace(one.metadata, uid="", creation_timestamp=None))


def _key(of: Any) -> ObjectKey:
    return of.kind, of.metadata.namespace, of.metadata.name
