"""Collect the objects of an input into an inventory: recognize kinds, convert versions, set namespaces and defaults.

Contents: the pod templates in objects of unknown kinds, the claim templates that controllers create, and the collector.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from dra_plan.api import inventory
from dra_plan.api.core import Pod, PodTemplateSpec
from dra_plan.api.inventory import AsWritten, ClusterInfo, Inventory, ObjectKey, Origin, WrittenText
from dra_plan.api.meta import FieldPath, Object, ObjectMeta
from dra_plan.api.workloads import CustomWorkload, CustomWorkloadSpec, JobCondition, JobStatus

from . import defaults, kinds
from .diagnose import Report, expected
from .events import EVENTS, KUEUE_WORKLOAD, heard, queued
from .faults import ManifestErrors, given_twice
from .json_reader import Envelope, JsonError, JsonObject, JsonObjects
from .kinds import Kind, split_version
from .objects import NOT_DECODED, decode, has_unset_claims, label_of_value
from .opaque import TOO_DEEP, is_too_deep
from .paths import render, value_at
from .places import NO_HEADER, Header, Item, Place, label, label_of
from .quantities import are_readable
from .sharing import SharedParts
from .unwrap import contradict, merged, notices, overridden_notices, unwrap

# -- pod templates in objects of unknown kinds -------------------------------------------------------------------------
# Such kinds are JobSet, MPIJob, RayCluster and others. A pod template is recognized by its shape, which is a map whose
# `spec` has a list of `containers`, or such a spec under a name that ends in `podSpec`, as in a PodCliqueSet. The
# number of pods comes from fields such as `replicas` on the path to the template; other behaviour of a kind's
# controller is unknown here.

_DEEPEST = 12
"""The maximum depth below `spec` at which pod templates are searched for."""
_TIMES = ("replicas", "numOfHosts")
"""The fields with the number of copies of what the map describes, for most kinds and for the hosts in Ray's groups."""
_POD_SPEC = "podspec"
_SHADOWS = ("kueue.x-k8s.io/",)
"""API groups whose objects repeat the pod templates of other objects."""
_OVER = ("Complete", "Completed", "Succeeded", "Failed")


LOCAL_QUEUE = "LocalQueue.kueue.x-k8s.io"
"""Kueue's queue in a namespace. Pods and workloads name their queue in a label."""

_CUT = "kubectl writes it after items: the file looks cut off"
"""The hint for a List whose end is missing."""


class FoundTemplate(NamedTuple):
    """A pod template, its path, and the number of pods to create from it, which is 0 if the object is suspended."""

    path: FieldPath
    value: dict[str, Any]
    number: int
    is_suspended: bool = False


class NotPlannedError(ValueError):
    """The error raised for a pod template that cannot be decoded. `path` is its path in the object."""

    def __init__(self, path: FieldPath, why: str) -> None:
        super().__init__(why)
        self.path = path


def workloads(value: dict[str, Any]) -> list[CustomWorkload]:
    """Return a workload for each pod template in the object, in order. Raises `NotPlannedError`."""
    found = list(find(value))
    if not found:
        return []
    metadata = _metadata(value)
    parts = [_part(each.path) if len(found) > 1 else "" for each in found]
    return [
        CustomWorkload(
            api_version=value["apiVersion"],
            kind=value["kind"],
            metadata=metadata,
            spec=CustomWorkloadSpec(replicas=each.number, suspend=each.is_suspended, template=_template(each)),
            status=_status(value),
            part=part,
        )
        for each, part in zip(found, parts, strict=True)
    ]


def find(value: Mapping[str, Any]) -> Iterator[FoundTemplate]:
    """Yield the pod templates in the object's `spec`."""
    spec = value.get("spec")
    if isinstance(spec, dict) and not str(value.get("apiVersion")).startswith(_SHADOWS):
        yield from _below(spec, ("spec",), 1)


def _below(value: dict[str, Any], path: FieldPath, count: int, *, stopped: bool = False) -> Iterator[FoundTemplate]:
    """Yield the templates below a map with `count` copies; if `stopped` is set, all are suspended."""
    spec = value.get("spec")
    if isinstance(spec, dict) and _is_pod_spec(spec):
        yield FoundTemplate(path, value, count, stopped)
        return
    stopped = stopped or _is_suspended(value)
    if len(path) > _DEEPEST:
        return
    count *= _number(value)
    groups = _groups_of_cliques(value)
    for key, inner in value.items():
        below = count * _group_size(key, value)
        if isinstance(inner, dict) and str(key).lower().endswith(_POD_SPEC) and _is_pod_spec(inner):
            yield FoundTemplate((*path, key), {"spec": inner}, below, stopped)
        elif isinstance(inner, dict):
            yield from _below(inner, (*path, key), below, stopped=stopped)
        elif isinstance(inner, list):
            for index, item in enumerate(inner):
                if isinstance(item, dict):
                    times = groups.get(str(item.get("name")), 1) if key == "cliques" else 1
                    yield from _below(item, (*path, key, index), below * times, stopped=stopped)


def _is_pod_spec(spec: Mapping[str, Any]) -> bool:
    containers = spec.get("containers")
    return isinstance(containers, list) and bool(containers) and all(isinstance(each, dict) for each in containers)


def _is_suspended(value: Mapping[str, Any]) -> bool:
    """Return whether a map currently creates no pods; the jobs of Kubeflow set this in their `runPolicy`."""
    policy = value.get("runPolicy")
    return value.get("suspend") is True or (isinstance(policy, dict) and policy.get("suspend") is True)


def _number(value: Mapping[str, Any]) -> int:
    """Return the number of replicas in a map."""
    number = 1
    for field in _TIMES:
        number *= _count(value.get(field))
    if "parallelism" in value:
        parallel = _count(value["parallelism"])
        completions = value.get("completions")
        number *= parallel if completions is None else min(parallel, _count(completions))
    return number


def _count(value: object) -> int:
    return max(0, value) if isinstance(value, int) and not isinstance(value, bool) else 1


def _group_size(key: str, value: Mapping[str, Any]) -> int:
    """Return the pods in a LeaderWorkerSet's group: `size`, including the leader if it has its own template."""
    if key != "workerTemplate" or "size" not in value:
        return 1
    return max(0, _count(value["size"]) - ("leaderTemplate" in value))


def _groups_of_cliques(value: Mapping[str, Any]) -> dict[str, int]:
    """Return how many copies there are of each PodCliqueSet clique that is in a scaling group, by name."""
    groups = value.get("podCliqueScalingGroups")
    found: dict[str, int] = {}
    for group in groups if isinstance(groups, list) else ():
        names = group.get("cliqueNames") if isinstance(group, dict) else None
        for name in names if isinstance(names, list) else ():
            if isinstance(name, str):
                found[name] = found.get(name, 1) * _count(group.get("replicas"))
    return found


def _part(path: FieldPath) -> str:
    """Return the path to the template, without the part that all such paths have in common."""
    steps = list(path[1:])
    while len(steps) > 1 and steps[-1] in ("template", "spec", "podSpec"):
        steps.pop()
    return render(tuple(steps))


def _metadata(value: Mapping[str, Any]) -> ObjectMeta:
    try:
        return msgspec.convert(value.get("metadata") or {}, ObjectMeta)
    except NOT_DECODED as error:
        raise NotPlannedError(("metadata",), str(error)) from None


def _template(found: FoundTemplate) -> PodTemplateSpec:
    try:
        template = msgspec.convert(found.value, PodTemplateSpec)
    except NOT_DECODED as error:
        raise NotPlannedError(found.path, str(error)) from None
    if not are_readable(CustomWorkload(spec=CustomWorkloadSpec(template=template))):
        raise NotPlannedError(found.path, "a quantity cannot be read")
    return template


def _status(value: Mapping[str, Any]) -> JobStatus:
    """Return the condition that a job has finished, in the words of batch/v1."""
    status = value.get("status")
    conditions = status.get("conditions") if isinstance(status, dict) else None
    for condition in conditions if isinstance(conditions, list) else ():
        if isinstance(condition, dict) and condition.get("type") in _OVER and condition.get("status") == "True":
            return JobStatus(conditions=[JobCondition(type="Complete", status="True")])
    return JobStatus()


# -- claim templates created by controllers ----------------------------------------------------------------------------
# NVIDIA's ComputeDomain creates the template that its pods name, so manifests never contain both.

_FIELDS: Mapping[tuple[str, str], FieldPath] = {
    ("resource.nvidia.com", "ComputeDomain"): ("spec", "channel", "resourceClaimTemplate", "name"),
}
"""The field with the name of the created template, in the object's own namespace, by group and kind."""


def made_template(api_version: object, kind: object, value: Mapping[str, Any]) -> str:
    """Return the name of the claim template that the object's controller creates, or "" if it creates none."""
    if not isinstance(api_version, str) or not isinstance(kind, str):
        return ""
    path = _FIELDS.get((split_version(api_version)[0], kind))
    name = value_at(value, path) if path is not None else None
    return name if isinstance(name, str) else ""


# -- the collector -----------------------------------------------------------------------------------------------------

_CLUSTER_INFO = Header(inventory.API_VERSION, inventory.KIND)
_ASKED = frozenset({"ResourceClaim", "ResourceClaimTemplate", "DeviceClass"})
_RANDOM_SUFFIX = "xxxxx"
"""A placeholder for the random suffix that the API server appends to a generateName."""


def is_new_and_asked(obj: Object, kind: Kind) -> bool:
    """Return whether the user may be asking about the object, because it does not come from a cluster.

    Only pods, workloads, claims, claim templates and device classes are asked about.
    """
    return (bool(kind.pod_spec) or kind.name in _ASKED) and not obj.metadata.is_stored  # type: ignore[attr-defined]


class Collector:
    """A collector that builds an inventory from documents.

    If `strict` is set, every object needs a name and may occur only once in a source, and an object in a later source
    overrides the same object in an earlier one. Otherwise, repeated objects are kept.
    """

    def __init__(self, *, namespace: str, strict: bool = False) -> None:
        self.report = Report()
        self._inventory = Inventory()
        self._namespace = namespace
        self._strict = strict
        self._parts = SharedParts()
        self._positions: dict[ObjectKey, int] = {}
        """The position, in its list, of each object that may be overridden."""
        self._contradicted: dict[ObjectKey, tuple[Origin, Origin]] = {}
        """The overridden objects for which it is unclear which version counts."""
        self._snapshots: set[str] = set()
        """The sources that are snapshots of a cluster. Later sources override their objects."""
        self._custom: dict[ObjectKey, tuple[Place, list[CustomWorkload]]] = {}
        """The workloads in objects of unknown kinds, by KIND.GROUP, namespace and name."""
        self._place, self._origin = Place("", 0), Origin("")
        """The place of the last object, and its origin. All objects in a one-line file have the same place and origin.
        """

    @property
    def has_objects(self) -> bool:
        """True if the input contained any objects, even of kinds that planning does not use."""
        return bool(self._inventory.origins or self._inventory.skipped or self._inventory.cluster_info)

    def finish(self) -> Inventory:
        """Return the inventory. Raises `ManifestErrors` if any faults were found."""
        if self.report.faults:
            raise ManifestErrors(self.report.faults)
        self._inventory.notices.extend(self.report.notices())
        unsettled = {k: places for k, places in self._contradicted.items() if places[0].source not in self._snapshots}
        self._inventory.notices.extend(overridden_notices(unsettled))
        if self._inventory.cluster_info is not None:
            self._inventory.notices.extend(notices(self._inventory.cluster_info))
        self._inventory.workloads += [workload for _, parts in self._custom.values() for workload in parts]
        return self._inventory

    def add(self, value: object, place: Place, inherited: Header = NO_HEADER) -> None:
        """Add a document: an object, a List, or an array of objects."""
        for item in unwrap(value, place, self.report, inherited):
            kind = self._find_kind(item)
            if kind is not None:
                self._decode(item, kind)

    def add_json(self, data: bytes, begin: int, end: int, place: Place, envelope: Envelope | None = None) -> None:
        """Add a document that is well-formed JSON text, from `begin` to `end` in `data`."""
        objects = JsonObjects(data, begin, end, place, envelope)
        for found in objects:
            typed = found.typed(self._parts)
            if typed is None or not (typed.is_settled or _is_sound(typed.value, typed.kind)):
                self._add_plain(found)
            else:
                key = self._keep(*typed[:3], found.origin_place, is_settled=typed.is_settled)
                if key is not None and is_new_and_asked(typed.value, typed.kind):
                    self._note_text(key, typed.kind, typed.version, found.text)
        if objects.list_kind is not None:
            self.report.list_read(objects.list_kind, goes_on=False, origin=place.origin)

    def _add_plain(self, found: JsonObject) -> None:
        try:
            value = found.plain()
        except JsonError as error:
            self.report.fault(found.origin_place, f"JSON: {error.message}")
        else:
            self.add(value, found.place, found.inherited)

    def _find_kind(self, item: Item) -> Kind | None:
        """Return the kind of an object, or None, recorded as a fault or as skipped, if it is not to be decoded."""
        header = item.header
        shown = label_of(header.kind, item.value.get("metadata"))
        usable = True
        for name, given in (("apiVersion", header.api_version), ("kind", header.kind)):
            if given is None or given == "":
                cut = _CUT if name == "kind" and isinstance(item.value.get("items"), list) else ""
                self.report.fault(item.place, "missing", label=shown, path=(name,), hint=cut)
                usable = False
            elif not isinstance(given, str):
                self.report.fault(item.place, expected("a string", given), label=shown, path=(name,))
                usable = False
        if not usable:
            return None
        if header == _CLUSTER_INFO:
            self._read_cluster_info(item)
            return None
        kind = kinds.find(header.api_version, header.kind)
        group, version = kinds.split_version(header.api_version)
        if message := kinds.removed(header.api_version):
            self.report.fault(item.place, message, label=shown, path=("apiVersion",))
            return None
        if kind is None:
            near = kinds.near(header.api_version, header.kind) if self._strict else None
            if near is not None:
                message, hint = f"{header.api_version} has no kind {header.kind}", f"did you mean {near}?"
                self.report.fault(item.place, message, label=shown, path=("kind",), hint=hint)
                return None
            name = f"{header.kind}.{group}" if group else header.kind
            self._note_maker(item)
            if name in EVENTS and (event := heard(item.value)) is not None:
                self._inventory.events.append(event)
            elif not self._add_custom(item, name):
                self._inventory.skipped[name] += 1
            if name == "ServiceAccount":
                self._note_name(item, self._inventory.accounts)
            elif name == KUEUE_WORKLOAD:
                self._inventory.queued.update(queued(item.value))
            elif name == LOCAL_QUEUE:
                self._note_name(item, self._inventory.queues)
            return None
        if version not in kind.versions:
            hint = f"known: {kind.known_versions}"
            message = f"unknown version {header.api_version}"
            self.report.fault(item.place, message, label=shown, path=("apiVersion",), hint=hint)
            return None
        return kind

    def _note_name(self, item: Item, names: set[tuple[str, str]]) -> None:
        metadata = item.value.get("metadata")
        if isinstance(metadata, dict) and isinstance(metadata.get("name"), str):
            names.add((str(metadata.get("namespace") or self._namespace), metadata["name"]))

    def _read_cluster_info(self, item: Item) -> None:
        try:
            self._inventory.cluster_info = msgspec.convert(item.value, ClusterInfo)
            self._snapshots.add(item.place.source)
        except NOT_DECODED as error:
            self.report.fault(item.place, f"can't be decoded: {error}", label=inventory.KIND)

    def _decode(self, item: Item, kind: Kind) -> None:
        version = kinds.split_version(item.header.api_version)[1]
        shown = label_of_value(item.value, kind, self._namespace)
        obj = decode(item.value, kind, version, item.place, self.report, shown)
        if obj is None:
            return
        key = self._keep(obj, kind, version, item.place)
        if key is not None and is_new_and_asked(obj, kind):
            with contextlib.suppress(*NOT_DECODED, msgspec.MsgspecError, TypeError, OverflowError):
                self._note_text(key, kind, version, msgspec.json.encode(item.value))

    def _note_text(self, key: ObjectKey, kind: Kind, version: str, data: bytes) -> None:
        """Store the object's text; of two valid objects with the same name, neither can be chosen."""
        if not self._strict and key in self._inventory.texts:
            data = b""
        self._inventory.texts[key] = WrittenText(f"{kind.group}/{version}" if kind.group else version, kind.name, data)

    def _keep(
        self, obj: Object, kind: Kind, version: str, place: Place, *, is_settled: bool = False
    ) -> ObjectKey | None:
        """Add a decoded object to the inventory, as the API server would store it.

        Settled objects already have defaults.

        Return the object's key, if it counts.
        """
        metadata: ObjectMeta = obj.metadata  # type: ignore[attr-defined]
        settled = self._settled(metadata, kind)
        if not is_settled and is_too_deep(obj):
            name = label(kind.name, settled.namespace, settled.name)
            self.report.fault(place, TOO_DEEP, label=name)
            return None
        if settled.resource_version and not (isinstance(obj, Pod) and not obj.spec.node_name):
            settled = replace(settled, resource_version="")  # this only determines the order of pending pods
        if settled is not metadata:
            obj = replace(obj, metadata=settled)
        if not is_settled:
            obj = defaults.apply(obj)
        if obj.api_version != kind.api_version or obj.kind != kind.name:  # type: ignore[attr-defined]
            obj = replace(obj, api_version=kind.api_version, kind=kind.name)
        if version not in kind.current_versions:
            self.report.deprecated_version(kind, version, place.origin)
        if place is not self._place:
            self._place, self._origin = place, place.origin
        key = (kind.name, settled.namespace, settled.name)
        held, origins = getattr(self._inventory, kind.holder), self._inventory.origins
        if self.report.as_written or version != "v1":
            self._note_form(key, version)
        if self._strict:
            if (not settled.name or key in origins) and not self._accepts(key, place):
                return None
            if key in self._positions:
                self._override(key, held, obj, place)
                return key
            self._positions[key] = len(held)
        origins.setdefault(key, self._origin)
        held.append(obj)
        return key

    def _note_form(self, key: ObjectKey, version: str) -> None:
        """Record the form of an object, if planning reads a different one."""
        form = self.report.as_written.pop(label(*key), AsWritten())
        if version != "v1":
            form = form._replace(version=version)
        if form != AsWritten():
            self._inventory.as_written[key] = form
        else:
            self._inventory.as_written.pop(key, None)

    def _override(self, key: ObjectKey, held: list[Object], obj: Object, place: Place) -> None:
        """Replace an object from an earlier source."""
        position = self._positions[key]
        new, origins = merged(held[position], obj), self._inventory.origins
        if new != held[position]:
            if contradict(held[position], obj):
                self._contradicted[key] = (origins[key], place.origin)
            held[position] = new
            self._inventory.overridden[key] = (origins[key], place.origin)
            origins[key] = place.origin

    def _note_maker(self, item: Item) -> None:
        """Record the object from which a claim template will be created."""
        made = made_template(*item.header, item.value)
        metadata = item.value.get("metadata")
        if made and isinstance(metadata, dict):
            space, name = metadata.get("namespace"), metadata.get("name")
            namespace = space if isinstance(space, str) and space else self._namespace
            maker = (item.header.kind, namespace, name if isinstance(name, str) else "")
            self._inventory.template_makers.setdefault((namespace, made), maker)

    def _add_custom(self, item: Item, name: str) -> bool:
        """Add an object of an unknown kind if it has pod templates; return whether any of them can be planned."""
        header = item.header
        shown = label_of(header.kind, item.value.get("metadata"))
        try:
            parts = workloads({**item.value, "apiVersion": header.api_version, "kind": header.kind})
        except NotPlannedError as error:
            self.report.not_planned(shown, error.path, str(error), item.place.origin)
            return False
        if not parts:
            return False
        metadata = parts[0].metadata
        metadata = replace(metadata, namespace=metadata.namespace or self._namespace)
        parts = [defaults.apply(replace(part, metadata=metadata)) for part in parts]
        origins, key = self._inventory.origins, (header.kind, metadata.namespace, metadata.name)
        if self._strict and not metadata.name:
            self.report.fault(item.place, "missing", label=shown, path=("metadata", "name"))
        place, known = self._custom.get((name, *key[1:]), (item.place, []))
        if known and not self._strict:
            parts = [*known, *parts]
        elif known and place.source == item.place.source:
            self.report.fault(item.place, given_twice(place.origin), label=shown)
        elif known and known != parts:
            if contradict(known[0], parts[0]):
                self._contradicted[key] = (place.origin, item.place.origin)
            self._inventory.overridden[key] = (place.origin, item.place.origin)
        origins.setdefault(key, item.place.origin)
        self._custom[name, *key[1:]] = (item.place, parts)
        return True

    def _settled(self, metadata: ObjectMeta, kind: Kind) -> ObjectMeta:
        """Return the metadata with its namespace, and with a name where the API server would generate one."""
        given = metadata.namespace
        if metadata.name and (given if kind.namespaced else not given):
            return metadata
        namespace = (given or self._namespace) if kind.namespaced else ""
        name = metadata.name or (metadata.generate_name and self._generated(metadata.generate_name, kind, namespace))
        if namespace == metadata.namespace and name == metadata.name:
            return metadata
        return replace(metadata, namespace=namespace, name=name)

    def _generated(self, prefix: str, kind: Kind, namespace: str) -> str:
        """Return `PREFIXxxxxx`, with a higher suffix if it is taken."""
        name, count = prefix + _RANDOM_SUFFIX, 1
        while (kind.name, namespace, name) in self._inventory.origins:
            count += 1
            name = f"{prefix}{count:x>{len(_RANDOM_SUFFIX)}}"
        return name

    def _accepts(self, key: ObjectKey, place: Place) -> bool:
        """Check what the command line requires beyond decoding: a name, and no object of that name in the source."""
        if not key[2]:
            self.report.fault(place, "missing", label=label(*key), path=("metadata", "name"))
            return False
        first = self._inventory.origins.get(key)
        if first is not None and first.source == place.source:
            self.report.fault(place, given_twice(first), label=label(*key))
            return False
        return True


def _is_sound(obj: Object, kind: Kind) -> bool:
    """Return whether a decoded object needs no further check."""
    return are_readable(obj) and not (kind.pod_spec and has_unset_claims(obj))
