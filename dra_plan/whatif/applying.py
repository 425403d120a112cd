"""Edits that apply objects to a cluster, and that restart every pod."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from msgspec import structs

from dra_plan.api.inventory import Inventory
from dra_plan.api.meta import Object
from dra_plan.claims.index import Index
from dra_plan.claims.owners import ended
from dra_plan.documents.base import AppliedEdit, AppliedObject
from dra_plan.manifests import kinds

from .edits import Edited, belongs_to_node, comes_back, depart, pod_name, replaced, successor

_LOOKUPS = ("origins", "as_written", "template_makers", "texts")
"""The inventory's attributes that hold facts about objects by name."""


@dataclass(frozen=True)
class Apply:
    """An edit that creates new objects and replaces existing ones, as `kubectl apply` does.

    Fields that the API server sets are kept if the manifest omits them: the status, the UID, the creation time and, for
    a pod, the node. All other omitted fields are lost.
    """

    objects: Inventory

    def apply(self, inventory: Inventory) -> Edited:
        """Return the cluster with the objects created or replaced."""
        changed: dict[str, Any] = {}
        written: list[AppliedObject] = []
        for holder in dict.fromkeys(kind.holder for kind in kinds.every()):
            new: Sequence[Any] = getattr(self.objects, holder)
            if new:
                changed[holder], told = _written(getattr(inventory, holder), new)
                written += told
        for lookup in _LOOKUPS:
            changed[lookup] = {**getattr(inventory, lookup), **getattr(self.objects, lookup)}
        changed["skipped"] = Counter(inventory.skipped) + self.objects.skipped
        changed["accounts"] = inventory.accounts | self.objects.accounts
        changed["queues"] = inventory.queues | self.objects.queues
        changed["queued"] = {**inventory.queued, **self.objects.queued}
        changed["events"] = [*inventory.events, *self.objects.events]
        after = replace(inventory, **changed)
        return Edited(after, AppliedEdit(edit="Apply", applied=written), list(self.objects.notices))


def _written(old: Sequence[Any], new: Sequence[Any]) -> tuple[list[Any], list[AppliedObject]]:
    """Return the objects of one list after the write, and the result for each."""
    there = {_key(each): each for each in old}
    written = {_key(each): _kept(there.get(_key(each)), each) for each in new}
    told = []
    for (kind, namespace, name), each in written.items():
        was = there.get((kind, namespace, name))
        change = "Created" if was is None else "Unchanged" if was == each else "Changed"
        told.append(AppliedObject(kind=kind, namespace=namespace, name=name, change=change))
    return [*(written.pop(key, each) for key, each in there.items()), *written.values()], told


def _key(each: Any) -> tuple[str, str, str]:
    return each.kind, each.metadata.namespace, each.metadata.name


def _kept(was: Any, new: Any) -> Any:
    """Return the new object with the fields that only the API server writes, unless it sets them itself."""
    if was is None:
        return new
    metadata = new.metadata
    kept = {
        field: getattr(was.metadata, field)
        for field in ("uid", "creation_timestamp", "owner_references")
        if not getattr(metadata, field)
    }
    changes: dict[str, Any] = {"metadata": structs.replace(metadata, **kept)}
    if hasattr(new, "status") and _is_default(new.status) and was.status is not None:
        changes["status"] = was.status
    if new.kind == "Pod" and not new.spec.node_name:
        changes["spec"] = structs.replace(new.spec, node_name=was.spec.node_name)
    return structs.replace(new, **changes)


def _is_default(status: Object | None) -> bool:
    return status is None or status == type(status)()


@dataclass(frozen=True)
class Restart:
    """An edit that evicts all running pods and makes them pending under the same names.

    This includes pods without a controller, which the user is expected to recreate. DaemonSet pods and static pods are
    not evicted.
    """

    def apply(self, inventory: Inventory) -> Edited:
        """Return the cluster after every pod that may leave its node has been evicted."""
        running = [pod for pod in inventory.pods if pod.spec.node_name and not ended(pod)]
        leaving = [pod for pod in running if not (belongs_to_node(pod) or pod.metadata.deletion_timestamp)]
        bare = [pod for pod in leaving if not comes_back(pod)]
        index = Index(inventory)
        departed = replaced(inventory, [pod for pod in leaving if comes_back(pod)], index)
        freed = depart(departed.inventory, bare)
        time = max((pod.metadata.creation_timestamp or "" for pod in bare), default="") or None
        after = replace(
            freed.inventory,
            pods=[*freed.inventory.pods, *(successor(pod, time) for pod in bare)],
            returning=freed.inventory.returning | {(pod.metadata.namespace, pod.metadata.name) for pod in bare},
        )
        entry = AppliedEdit(
            edit="Restart",
            pending=[pod_name(pod) for pod in leaving],
            gone=[*departed.claims_gone, *freed.claims_gone],
            deallocated=[*departed.deallocated, *freed.deallocated],
        )
        return Edited(after, entry)
