"""Unwrap Lists and arrays into objects, and handle the special cases of cluster dumps.

Contents: API server responses without objects, Lists, objects in two sources, and notices about resources that a
snapshot could not list. This module does not decode objects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from msgspec.structs import replace

from dra_plan.api.core import Pod
from dra_plan.api.inventory import FORBIDDEN, NOT_SERVED, ClusterInfo, Notice, ObjectKey, Origin, UnlistedKind
from dra_plan.api.meta import FieldPath, Object

from .diagnose import Report, describe
from .places import NO_HEADER, Header, Item, Place, label, label_of

# -- responses without objects -----------------------------------------------------------------------------------------
# Such responses are Status objects, tables for printing, and metadata alone. A file that contains them does not
# describe a cluster, and reading it must report that.

_META = "meta.k8s.io/"


def is_no_objects(api_version: object, kind: object) -> bool:
    """Return whether the header belongs to a response that contains no objects, such as a table or an error."""
    if kind == "Status":
        return api_version == "v1"
    named = kind in ("Table", "PartialObjectMetadata", "PartialObjectMetadataList")
    return named and isinstance(api_version, str) and api_version.startswith(_META)


def explained(value: Mapping[str, Any], header: Header) -> str:
    """Return a message that says what the response is and what to request instead."""
    if header.kind == "Status":
        said = ", ".join(str(value[key]) for key in ("reason", "code") if value.get(key))
        return (f"an error of the API server instead of objects: {value.get('message') or 'no message'}") + (
            f" ({said})" if said else ""
        )
    if header.kind == "Table":
        return "a table instead of objects: use -o json, or Accept: application/json"
    return "only metadata, without spec and status: use -o json, or Accept: application/json"


# -- Lists and arrays --------------------------------------------------------------------------------------------------

MAX_DEPTH = 20
"""The maximum length of the path to an object in nested Lists. Each List takes two steps."""
_NO_STEPS: FieldPath = ()


def unwrap(value: object, place: Place, report: Report, inherited: Header = NO_HEADER) -> Iterator[Item]:
    """Yield the objects in a document, including those in Lists and arrays. Anything else is a fault."""
    pending: list[tuple[object, Place, Header]] = [(value, place, inherited)]
    while pending:
        value, place, inherited = pending.pop()
        header = inherited
        if len(place.prefix) > MAX_DEPTH:
            report.fault(place._replace(prefix=()), f"Lists nested more than {MAX_DEPTH // 2} levels deep")
            continue
        if isinstance(value, list) and not place.prefix:
            items, steps = value, _NO_STEPS
        elif isinstance(value, dict):
            line = place.start_of(id(value)) or place.line
            place = place if line == place.line else place._replace(line=line)
            header = Header(value.get("apiVersion", inherited.api_version), value.get("kind", inherited.kind))
            if is_no_objects(*header):
                report.fault(place, explained(value, header))
                continue
            if not is_list(header.kind, "items" in value):
                yield Item(value, header, place)
                continue
            items, steps = _items(value, header, place, report), ("items",)
            report.list_read(header.kind, goes_on=_goes_on(value), origin=place.origin)
            header = header_of_items(header)
        else:
            report.fault(place, f"expected a Kubernetes object, got {describe(value)}", line=_line_of_item(place))
            continue
        below = [(item, place._replace(prefix=(*place.prefix, *steps, i)), header) for i, item in enumerate(items)]
        pending.extend(reversed(below))


def is_list(kind: object, has_items: bool) -> bool:
    """Return whether an object of this kind is a List, either of any objects or of one kind."""
    return kind == "List" or (isinstance(kind, str) and kind.endswith("List") and has_items)


def header_of_items(header: Header) -> Header:
    """Return the header for items that have none of their own, as in API responses."""
    if header.kind == "List" or not isinstance(header.kind, str):
        return NO_HEADER
    return Header(header.api_version, header.kind.removesuffix("List"))


def _items(value: dict[str, Any], header: Header, place: Place, report: Report) -> list[Any]:
    label = label_of(header.kind, value.get("metadata"))
    if "items" not in value:
        report.fault(place, "missing; a List needs it", label=label, path=("items",))
        return []
    items = value["items"]
    if items is None:
        return []
    if not isinstance(items, list):
        report.fault(place, f"expected a list, got {describe(items)}", label=label, path=("items",))
        return []
    return items


def _goes_on(value: dict[str, Any]) -> bool:
    metadata = value.get("metadata")
    return isinstance(metadata, dict) and bool(metadata.get("continue"))


def _line_of_item(place: Place) -> int:
    return place.lines([()])[0]


# -- the same object in two sources ------------------------------------------------------------------------------------
# The later object overrides the earlier one, as with `kubectl apply`.

_MOST_NAMED = 5
"""The maximum number of objects in two sources that are named individually."""

_Known = TypeVar("_Known", bound=Object)

_OF_THE_SERVER = ("uid", "creation_timestamp", "deletion_timestamp", "owner_references")
"""Metadata that only the cluster sets."""


def contradict(earlier: Object, later: Object) -> bool:
    """Return whether it is unclear which of two versions of an object counts.

    It is clear only if the earlier version comes from a cluster and the later one does not: the later version then
    counts.
    """
    old: Any = earlier
    new: Any = later
    return not (old.metadata.is_stored and not new.metadata.is_stored)


def overridden_notices(contradicted: Mapping[ObjectKey, tuple[Origin, Origin]]) -> Iterator[Notice]:
    """Yield a warning for each object that differs between two sources.

    If there are many, the last warning covers all the others.
    """
    code = "object-overridden"
    for key, (first, later) in list(contradicted.items())[:_MOST_NAMED]:
        text = f"different content in two sources; {later} is used, not {first}"
        yield Notice(code, text, label(*key), str(later))
    more = len(contradicted) - _MOST_NAMED
    if more > 0:
        yield Notice(
            code, f"{more} more {'object has' if more == 1 else 'objects have'} different content in two sources"
        )


def merged(earlier: _Known, later: _Known) -> _Known:
    """Return the later object, completed with the fields that only the cluster sets: status, UID, times, owners, node.

    Fields that are set in the later object do not change. The claims of a pod are immutable, so a pending pod with
    other claims is a different pod, with its own UID and without created claims.
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
    """Return the pod as it is after it was deleted and recreated."""
    uid = f"{pod.metadata.uid}-anew" if pod.metadata.uid else ""
    status = replace(pod.status, resource_claim_statuses=[], conditions=[], nominated_node_name="")
    return replace(pod, metadata=replace(pod.metadata, uid=uid), status=status)


# -- resources that a snapshot could not list --------------------------------------------------------------------------
# Unlisted resources count as missing, so the user must know about them. A resource that a server does not have is not a
# gap, but without resource.k8s.io, there are no devices at all.

_GROUP = "resource.k8s.io"
_OF_DEVICES = frozenset(f"{name}.{_GROUP}" for name in ("resourceslices", "deviceclasses", "resourceclaims"))


def notices(info: ClusterInfo) -> Iterator[Notice]:
    """Yield a notice for each API group that the user may not list, and for each list that failed."""
    forbidden: dict[str, list[str]] = {}
    for entry in info.not_listed:
        if entry.reason == FORBIDDEN:
            plural, _, group = entry.resource.partition(".")
            forbidden.setdefault(group, []).append(plural)
    for number, (group, plurals) in enumerate(forbidden.items()):
        whole_role = "" if number else (" (`dra-plan snapshot --print-rbac` prints all rules that are needed)")
        yield Notice("not-listed", _forbidden(group, plurals) + whole_role)
    for entry in info.not_listed:
        if entry.reason not in (FORBIDDEN, NOT_SERVED):
            yield Notice("not-listed", _failed(entry))
    if {entry.resource for entry in info.not_listed if entry.reason == NOT_SERVED} >= _OF_DEVICES:
        yield Notice(
            "not-served",
            (
                f"the cluster does not serve {_GROUP}, so it has no slices, classes and claims: Dynamic "
                "Resource Allocation is disabled, or the cluster is older than Kubernetes 1.31"
            ),
        )


def rule(group: str, plurals: list[str]) -> str:
    """Return an RBAC rule that allows a user to list these resources."""
    return f'{{apiGroups: ["{group}"], resources: [{", ".join(plurals)}], verbs: [list]}}'


def _forbidden(group: str, plurals: list[str]) -> str:
    names = ", ".join(f"{plural}.{group}" if group else plural for plural in plurals)
    return f"{names}: you may not list them, so they count as missing; this rule allows it: {rule(group, plurals)}"


def _failed(entry: UnlistedKind) -> str:
    said = f": {entry.message}" if entry.message else ""
    return f"{entry.resource}: could not be read completely, so they count as missing{said}"
