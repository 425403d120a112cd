"""What was found out for one claim set, told of another that asks for the same: only names of claims differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar, cast

from msgspec import Struct, structs

from dra_plan.api.inventory import Inventory, ObjectKey
from dra_plan.api.resource import ResourceClaim
from dra_plan.documents.base import ClaimName, ObjectName
from dra_plan.documents.suggestions import PatchedObject, SelectorChanged

from .sources import CLAIM, TEMPLATE

T = TypeVar("T")
Names = Mapping[ClaimName, ClaimName]


class Renaming:
    """Writes parts of documents with other names of claims; where users are listed they are those of `inventory`."""

    def __init__(self, names: Names, inventory: Inventory | None = None) -> None:
        self._names, self._inventory = names, inventory
        self._places: dict[ObjectKey, int] | None = None

    @classmethod
    def between(cls, told: Sequence[ResourceClaim], meant: Sequence[ResourceClaim], inventory: Inventory) -> Renaming:
        """What is told of some claims becomes what holds for others, claim by claim, and the reverse."""
        pairs = [(_name(one), _name(other)) for one, other in zip(told, meant, strict=True)]
        return cls(dict([*((other, one) for one, other in pairs), *pairs]), inventory)

    def of(self, part: T) -> T:
        """The part with the other names; what names no such claim is left as it is."""
        return cast(T, self._renamed(part))

    def _renamed(self, part: object) -> object:
        if isinstance(part, ClaimName):
            return self._names.get(part, part)
        if isinstance(part, ObjectName | PatchedObject):
            found = self._names.get(ClaimName(namespace=part.namespace, name=part.name)) if part.kind == CLAIM else None
            return part if found is None else structs.replace(part, namespace=found.namespace, name=found.name)
        if isinstance(part, Struct):
            changed = {}
            for field in part.__struct_fields__:
                before = getattr(part, field)
                after = self._renamed(before)
                if after is not before:
                    changed[field] = after
            if isinstance(part, SelectorChanged) and "used_by" in changed:
                changed["used_by"] = self._in_order(cast(list[ObjectName], changed["used_by"]))
            return structs.replace(part, **changed) if changed else part
        if isinstance(part, list | tuple):
            made = [self._renamed(each) for each in part]
            return part if all(a is b for a, b in zip(made, part, strict=True)) else type(part)(made)
        return part

    def _in_order(self, users: list[ObjectName]) -> list[ObjectName]:
        """Those who use a class: claims, then templates, in the order of the input."""
        if self._inventory is None:
            return users
        if self._places is None:
            objects = [(CLAIM, each.metadata) for each in self._inventory.claims]
            objects += [(TEMPLATE, each.metadata) for each in self._inventory.templates]
            self._places = {(kind, of.namespace, of.name): at for at, (kind, of) in enumerate(objects)}
        places = self._places
        return sorted(users, key=lambda user: places[user.kind, user.namespace, user.name])


def _name(claim: ResourceClaim) -> ClaimName:
    return ClaimName(namespace=claim.metadata.namespace, name=claim.metadata.name)
