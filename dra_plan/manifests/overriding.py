"""The same object in two sources: the later one overrides, as `kubectl apply` would."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from msgspec.structs import replace

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Notice, ObjectKey, Origin
from dra_plan.api.meta import Object

from .places import label

_MOST_NAMED = 5
"""How many objects that two sources have are named one by one."""

_Known = TypeVar("_Known", bound=Object)

_OF_THE_SERVER = ("uid", "creation_timestamp", "deletion_timestamp", "owner_references")
"""Metadata that manifests leave to the cluster."""


def contradict(earlier: Object, later: Object) -> bool:
    """Whether nothing says which of two different objects is meant: not so if a manifest is put over a cluster's."""
    old: Any = earlier
    new: Any = later
    return not (old.metadata.is_stored and not new.metadata.is_stored)


def notices(contradicted: Mapping[ObjectKey, tuple[Origin, Origin]]) -> Iterator[Notice]:
    """A warning for each object that sources have with different content, the many in one."""
    code = "object-overridden"
    for key, (first, later) in list(contradicted.items())[:_MOST_NAMED]:
        text = f"different content in two sources; that of {later} counts, not that of {first}"
        yield Notice(code, text, label(*key), str(later))
    more = len(contradicted) - _MOST_NAMED
    if more > 0:
        yield Notice(
            code, f"{more} more {'object has' if more == 1 else 'objects have'} different content in two sources"
        )


def merged(earlier: _Known, later: _Known) -> _Known:
    """The later object with what only the cluster says: status, uid, times, owners, and the node that a pod is on.

    What the later one says itself stays as it says. A pod that waits and asks for other claims than before can only be
    another pod, as these can't be edited: it has a uid of its own, and its claims are not made yet.
    """
    old: Any = earlier
    new: Any = later
    kept = {
        field: getattr(old.metadata, field)
        for field in _OF_THE_SERVER
        if not getattr(new.metadata, field) and getattr(old.metadata, field)
    }
    changes: dict[str, Any] = {"metadata": replace(new.metadata, **kept)} if kept else {}
    if "status" in new.__struct_fields__ and new.status == type(new)().status:
        changes["status"] = old.status
    if isinstance(later, Pod) and not later.spec.node_name and old.spec.node_name:
        changes["spec"] = replace(later.spec, node_name=old.spec.node_name)
    found: Any = replace(later, **changes) if changes else later
    is_named_anew = later.metadata.uid not in ("", old.metadata.uid) if isinstance(later, Pod) else False
    if isinstance(later, Pod) and not is_named_anew and _asks_for_others(old, found):
        found = _as_another(found)
    same_kind: _Known = found
    return same_kind


def _asks_for_others(earlier: Pod, later: Pod) -> bool:
    return not later.spec.node_name and later.spec.resource_claims != earlier.spec.resource_claims


def _as_another(pod: Pod) -> Pod:
    """The pod as it is when it was deleted and made anew."""
    uid = f"{pod.metadata.uid}-anew" if pod.metadata.uid else ""
    status = replace(pod.status, resource_claim_statuses=[], conditions=[], nominated_node_name="")
    return replace(pod, metadata=replace(pod.metadata, uid=uid), status=status)
