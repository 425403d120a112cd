"""Plain dicts to typed v1 objects: Lists unwrapped, versions converted, defaults set, faults and notices collected.

Knows documents, not files; what reads text is in `load`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from dra_plan.api.base import Object
from dra_plan.api.inventory import Inventory
from dra_plan.api.meta import ObjectMeta
from dra_plan.api.notice import Notice, Origin

from . import defaults, kinds
from .convert import UnfitError, lift_claim_sources
from .diagnose import Diagnosis, describe, diagnose
from .faults import Fault, ManifestErrors
from .kinds import Kind
from .paths import FieldPath, render, summary

_HERE: FieldPath = ()

LineFinder = Callable[[list[FieldPath]], list[int]]
"""Gives the lines of fields of one document, 0 where unknown."""


def _no_lines(paths: list[FieldPath]) -> list[int]:
    return [0] * len(paths)


class Place(NamedTuple):
    """Where a value was read: the source, the document in it, and the path inside that document."""

    source: str
    document: int = 0
    line: int = 0
    prefix: FieldPath = ()
    find_lines: LineFinder = _no_lines

    def lines(self, paths: list[FieldPath]) -> list[int]:
        """The lines of fields below this place; the place's own line where a field's is unknown."""
        return [line or self.line for line in self.find_lines([(*self.prefix, *path) for path in paths])]


class Header(NamedTuple):
    """What says of which kind an object is."""

    api_version: Any
    kind: Any


def from_dicts(objects: Iterable[dict[str, Any]], *, namespace: str = "default") -> Inventory:
    """The typed objects, in order. The dicts are left as they are.

    Refuses only what can't be decoded: raises `ManifestErrors` (an `InputError`) that lists every fault.
    Objects without a namespace are put into `namespace`; repeated objects are kept.
    """
    collector = Collector(namespace=namespace)
    for index, value in enumerate(objects):
        collector.add(value, Place(f"objects[{index}]"))
    return collector.finish()


class Collector:
    """Gathers the objects, faults and notices of one input."""

    def __init__(self, *, namespace: str, strict: bool = False) -> None:
        self.faults: list[Fault] = []
        self._inventory = Inventory()
        self._namespace = namespace
        self._strict = strict
        self._deprecated: set[str] = set()

    def finish(self) -> Inventory:
        """The inventory, or `ManifestErrors` when there are faults."""
        if self.faults:
            raise ManifestErrors(self.faults)
        return self._inventory

    def fault(self, place: Place, message: str, *, label: str = "", path: FieldPath = (), hint: str = "") -> None:
        """Notes a fault."""
        line = place.lines([path])[0] if path else place.line
        where = render((*place.prefix, *path) if not label else path)
        self.faults.append(Fault(place.source, message, line, place.document, label, where, hint))

    def add(self, value: object, place: Place) -> None:
        """Takes one document: an object, a List, or an array of objects."""
        for item, header, inner in self._flatten(value, place):
            kind = self.find_kind(header, item, inner)
            if kind is not None:
                self._decode(item, kind, str(header.api_version), inner)

    def _flatten(self, value: object, place: Place) -> Iterator[tuple[dict[str, Any], Header, Place]]:
        pending: list[tuple[object, Header, Place]] = [(value, Header(None, None), place)]
        while pending:
            value, inherited, place = pending.pop()
            if isinstance(value, list):
                items, item_header, prefix = value, inherited, _HERE
            elif isinstance(value, dict):
                header = Header(value.get("apiVersion", inherited.api_version), value.get("kind", inherited.kind))
                if not is_list(header.kind, value):
                    yield value, header, place
                    continue
                items, item_header, prefix = self._items(value, header, place), items_header(header), ("items",)
            else:
                self.fault(place, f"expected a Kubernetes object, got {describe(value)}")
                continue
            below = [
                (item, item_header, place._replace(prefix=(*place.prefix, *prefix, index)))
                for index, item in enumerate(items)
            ]
            pending.extend(reversed(below))

    def _items(self, value: dict[str, Any], header: Header, place: Place) -> list[Any]:
        items = value.get("items", ...)
        if items is None:
            return []
        if isinstance(items, list):
            return items
        if items is ...:
            self.fault(place, "missing; a List needs items", label=str(header.kind), path=("items",))
        else:
            self.fault(place, f"expected a list, got {describe(items)}", label=str(header.kind), path=("items",))
        return []

    def find_kind(self, header: Header, value: dict[str, Any], place: Place) -> Kind | None:
        """The kind of an object; None, noted as fault or as skipped, if it isn't decoded."""
        label = label_of(header.kind, value.get("metadata"))
        ok = True
        for name, given in (("apiVersion", header.api_version), ("kind", header.kind)):
            if given is None or given == "":
                self.fault(place, "missing", label=label, path=(name,))
                ok = False
            elif not isinstance(given, str):
                self.fault(place, f"expected a string, got {describe(given)}", label=label, path=(name,))
                ok = False
        if not ok:
            return None
        kind = kinds.find(header.api_version, header.kind)
        group, version = kinds.split_version(header.api_version)
        if kind is None:
            self._inventory.skipped[f"{header.kind}.{group}" if group else header.kind] += 1
        elif version not in kind.versions:
            message = f"unknown version {header.api_version}"
            self.fault(place, message, label=label, path=("apiVersion",), hint=f"known: {kind.known_versions}")
            return None
        return kind

    def _decode(self, value: dict[str, Any], kind: Kind, api_version: str, place: Place) -> None:
        version = kinds.split_version(api_version)[1]
        try:
            obj = typed(value, kind, version)
        except (msgspec.ValidationError, UnfitError, RecursionError):
            diagnosed = self._diagnosed(value, kind, version, place)
            if diagnosed is None:
                return
            obj = diagnosed
        if kind.pod_spec and has_unset_claims(obj):
            obj = self._lifted(obj, value, kind, version, place)
        self.keep(obj, kind, version, place)

    def _diagnosed(self, value: dict[str, Any], kind: Kind, version: str, place: Place) -> Object | None:
        """Decodes what the API server would accept of it; None, with faults noted, if it would not."""
        label = label_of(kind.name, value.get("metadata"), kind, self._namespace)
        diagnosis = diagnose(value, kind, version)
        if diagnosis.wrong:
            lines = place.lines([path for path, _, _ in diagnosis.wrong])
            for (path, message, hint), line in zip(diagnosis.wrong, lines, strict=True):
                self.faults.append(Fault(place.source, message, line, place.document, label, render(path), hint))
            return None
        try:
            obj = typed(diagnosis.value, kind, version)
        except (msgspec.ValidationError, UnfitError) as error:
            self.fault(place, f"can't be decoded: {error}", label=label)
            return None
        if kind.group == "resource.k8s.io" and diagnosis.unknown:
            self._note_unknown(diagnosis, kind, version, label, place)
        return obj

    def _note_unknown(self, found: Diagnosis, kind: Kind, version: str, label: str, place: Place) -> None:
        line = place.lines(found.unknown[:1])[0]
        message = f"{kind.group}/{version} has no {summary(found.unknown)}; dropped, as the API server does"
        if version in ("v1", "v1beta2") and any(path[-1] == "basic" for path in found.unknown):
            message += "; `basic` belongs to v1beta1, so these devices have only their names"
        self._inventory.notices.append(Notice("unknown-field", message, label, str(Origin(place.source, line))))

    def _lifted(self, obj: Object, value: dict[str, Any], kind: Kind, version: str, place: Place) -> Object:
        lifted = _replace_at(value, kind.pod_spec, lift_claim_sources)
        if lifted == value:
            return obj
        label = label_of(kind.name, value.get("metadata"), kind, self._namespace)
        message = (
            "`resourceClaims[].source` is the form before Kubernetes 1.31; read as if its fields stood one level up"
        )
        self._inventory.notices.append(Notice("deprecated-api", message, label, str(Origin(place.source, place.line))))
        return self._diagnosed(lifted, kind, version, place) or obj

    def keep(self, obj: Object, kind: Kind, version: str, place: Place) -> None:
        """Settles namespace, version and defaults of a decoded object, and puts it into the inventory."""
        metadata: ObjectMeta = obj.metadata  # type: ignore[attr-defined]
        namespace = (metadata.namespace or self._namespace) if kind.namespaced else ""
        if metadata.namespace != namespace:
            metadata = replace(metadata, namespace=namespace)
            obj = replace(obj, metadata=metadata)
        obj = defaults.apply(obj)
        canonical = kind.canonical_version
        if obj.api_version != canonical or obj.kind != kind.name:  # type: ignore[attr-defined]
            obj = replace(obj, api_version=canonical, kind=kind.name)
        if version not in ("v1", next(iter(kind.versions))):
            self._note_deprecated(f"{kind.group}/{version}", place)
        key = (kind.name, namespace, metadata.name)
        if self._strict and not self._accepts(key, metadata, place):
            return
        self._inventory.origins.setdefault(key, Origin(place.source, place.line))
        getattr(self._inventory, kind.holder).append(obj)

    def _accepts(self, key: tuple[str, str, str], metadata: ObjectMeta, place: Place) -> bool:
        """What the command line asks for beyond decoding: a name, and no other object of the same name."""
        label = _label(key[0], key[1], key[2])
        if not metadata.name:
            self.fault(place, "missing", label=label, path=("metadata", "name"))
            return False
        first = self._inventory.origins.get(key)
        if first is not None:
            self.fault(place, f"duplicate; already read from {first}", label=label)
            return False
        return True

    def _note_deprecated(self, api_version: str, place: Place) -> None:
        if api_version in self._deprecated:
            return
        self._deprecated.add(api_version)
        message = f"{api_version} is converted to resource.k8s.io/v1"
        self._inventory.notices.append(Notice("deprecated-api", message, "", str(Origin(place.source, place.line))))


def typed(value: dict[str, Any], kind: Kind, version: str) -> Object:
    """The value as v1 object, converted; raises `msgspec.ValidationError` or `UnfitError` unless all of it fits."""
    convert = kind.versions[version]
    return msgspec.convert(convert(value) if convert else value, kind.type)


def has_unset_claims(obj: Object) -> bool:
    """Whether a pod claim names neither claim nor template, as in the form before 1.31."""
    spec: Any = obj.spec  # type: ignore[attr-defined]
    while not hasattr(spec, "resource_claims"):
        spec = (spec.template if hasattr(spec, "template") else spec.job_template).spec
    return any(
        claim.resource_claim_name is None and claim.resource_claim_template_name is None
        for claim in spec.resource_claims
    )


def is_list(kind: object, value: dict[str, Any]) -> bool:
    """Whether an object is a List, of any or of one kind."""
    return kind == "List" or (isinstance(kind, str) and kind.endswith("List") and "items" in value)


def items_header(header: Header) -> Header:
    """What the items of a typed list are, should they not say it themselves (raw API responses)."""
    if header.kind == "List" or not isinstance(header.kind, str):
        return Header(None, None)
    return Header(header.api_version, header.kind.removesuffix("List"))


def label_of(kind: object, metadata: object, known: Kind | None = None, namespace: str = "") -> str:
    """`KIND NAMESPACE/NAME` of an undecoded object, as far as it can be told."""
    if not isinstance(kind, str) or not kind:
        kind = "object"
    metadata = metadata if isinstance(metadata, dict) else {}
    space, name = metadata.get("namespace"), metadata.get("name")
    if known is not None and known.namespaced:
        space = space or namespace
    return _label(kind, space if isinstance(space, str) else "", name if isinstance(name, str) else "")


def _label(kind: str, namespace: str, name: str) -> str:
    if not name:
        return kind
    return f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"


def _replace_at(value: Any, path: tuple[str, ...], change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    if not isinstance(value, dict):
        return value
    if not path:
        return change(value)
    if path[0] not in value:
        return value
    return {**value, path[0]: _replace_at(value[path[0]], path[1:], change)}
