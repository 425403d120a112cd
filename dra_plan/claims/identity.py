"""The identity of objects: a UID belongs to one object, and no object controls itself.

Manifests that are copied from a cluster (`kubectl get -o yaml`) and then edited can break both rules. The scheduler and
the controllers identify objects by UID, so the UIDs of copies are removed. Controller references that lead back to the
object itself are ignored.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

from msgspec import structs

from dra_plan.api.inventory import Inventory, Notice, ObjectKey
from dra_plan.api.meta import ObjectMeta

from .owners import Controllers

_IDENTIFIED = ("claims", "pods", "workloads", "pod_groups", "volume_claims")
"""The lists in an inventory with objects that other objects name by UID."""
_RESOURCES = {"pods": "Pod", "podgroups": "PodGroup"}
_EXAMPLES = 4


def told_apart(inventory: Inventory) -> Inventory:
    """Return the inventory without duplicate UIDs and without objects that control themselves.

    If several objects have the same UID, only an object that others refer to by name and UID keeps it. If there is more
    than one such object, the first by name keeps it. The order of the input does not matter. A notice reports the
    changes.
    """
    copies = _copies(inventory)
    if copies:
        stripped = {key for keys in copies.values() for key in keys}
        inventory = _changed(inventory, stripped, lambda metadata: structs.replace(metadata, uid=""))
        inventory = replace(inventory, notices=[*inventory.notices, _uid_notice(inventory, copies)])
    circles = _in_circles(inventory)
    if circles:
        inventory = _changed(inventory, circles, _without_controller)
        inventory = replace(inventory, notices=[*inventory.notices, _circle_notice(inventory, circles)])
    return inventory


def _objects(inventory: Inventory) -> Iterator[tuple[ObjectKey, ObjectMeta]]:
    for obj in chain.from_iterable(getattr(inventory, name) for name in _IDENTIFIED):
        metadata = obj.metadata
        yield (obj.kind, metadata.namespace, metadata.name), metadata


def _changed(inventory: Inventory, keys: Collection[ObjectKey], change: Any) -> Inventory:
    """Return the inventory with the metadata of these objects changed."""

    def each(obj: Any) -> Any:
        metadata = obj.metadata
        if (obj.kind, metadata.namespace, metadata.name) not in keys:
            return obj
        return structs.replace(obj, metadata=change(metadata))

    changes: dict[str, Any] = {name: [each(obj) for obj in getattr(inventory, name)] for name in _IDENTIFIED}
    return replace(inventory, **changes)


# Copied uids


def _copies(inventory: Inventory) -> dict[str, list[ObjectKey]]:
    """Return the UIDs that several objects have, with the objects that lose them."""
    uids = [uid for name in _IDENTIFIED for one in getattr(inventory, name) if (uid := one.metadata.uid)]
    if len(set(uids)) == len(uids):
        return {}
    first: dict[str, ObjectKey] = {}
    shared: dict[str, set[ObjectKey]] = {}
    for key, metadata in _objects(inventory):
        other = first.setdefault(metadata.uid, key) if metadata.uid else key
        if other != key:
            shared.setdefault(metadata.uid, {other}).add(key)
    if not shared:
        return {}
    meant: dict[str, set[ObjectKey]] = defaultdict(set)
    for uid, key in _references(inventory):
        if key in shared.get(uid, ()):
            meant[uid].add(key)
    return {uid: sorted(keys - set(sorted(meant[uid])[:1])) for uid, keys in sorted(shared.items())}


def _references(inventory: Inventory) -> Iterator[tuple[str, ObjectKey]]:
    """Yield the UIDs that objects refer to, and the object that each reference names."""
    for (_, namespace, _), metadata in _objects(inventory):
        for owner in metadata.owner_references or ():
            yield owner.uid, (owner.kind, namespace, owner.name)
    for claim in inventory.claims:
        for user in claim.reserved_for:
            yield user.uid, (_RESOURCES.get(user.resource, ""), claim.metadata.namespace, user.name)
    for volume in inventory.volumes:
        bound = volume.spec.claim_ref
        if bound is not None:
            yield bound.uid, ("PersistentVolumeClaim", bound.namespace, bound.name)


def _uid_notice(inventory: Inventory, copies: dict[str, list[ObjectKey]]) -> Notice:
    copied = [key for keys in copies.values() for key in keys]
    text = (
        f"several objects have the same metadata.uid: {_names(copied)} "
        f"{'is' if len(copied) == 1 else 'are'} read as new objects without it; remove metadata.uid "
        "from copies"
    )
    return Notice("uid-repeated", text, source=inventory.source(copied[0]))


# Cycles of owners


def _in_circles(inventory: Inventory) -> frozenset[ObjectKey]:
    """Return the pods and workloads that control themselves, directly or through others."""
    everything = [*inventory.workloads, *inventory.pods]
    owners = Controllers(everything)
    done: set[ObjectKey] = set()
    found: set[ObjectKey] = set()
    for obj in everything:
        way: dict[ObjectKey, int] = {}
        current: Any = obj
        while current is not None and current.metadata.controller is not None:
            key = (current.kind, current.metadata.namespace, current.metadata.name)
            if key in way:
                found.update(list(way)[way[key] :])
                break
            if key in done:
                break
            way[key] = len(way)
            current = owners.of(current.metadata)
        done.update(way)
    return frozenset(found)


def _without_controller(metadata: ObjectMeta) -> ObjectMeta:
    others = [owner for owner in metadata.owner_references or () if not owner.controller]
    return structs.replace(metadata, owner_references=others)


def _circle_notice(inventory: Inventory, circles: frozenset[ObjectKey]) -> Notice:
    circle = sorted(circles)
    text = f"{_names(circle)}: metadata.ownerReferences form a circle, so these objects are read without a controller"
    return Notice("owner-circle", text, source=inventory.source(circle[0]))


def _names(keys: Collection[ObjectKey]) -> str:
    shown = [f"{kind} {namespace}/{name}" for kind, namespace, name in list(keys)[:_EXAMPLES]]
    more = len(keys) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
