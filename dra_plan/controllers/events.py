"""The steps in an events file, and their effects on the API server."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec
from msgspec.structs import replace

from dra_plan.api.resource import DeviceTaint, ResourceSlice
from dra_plan.errors import InputError
from dra_plan.manifests import kinds
from dra_plan.manifests.decode import from_dicts
from dra_plan.manifests.diagnose import expected
from dra_plan.manifests.faults import ManifestErrors
from dra_plan.manifests.kinds import Kind
from dra_plan.near import nearest
from dra_plan.scheduler.clock import format_time
from dra_plan.whatif.edits import belongs_to_node

from .apiserver import ApiServer
from .endings import BY_EVENT, DRAINED

_VERBS = ("create", "patch", "status", "delete", "drain", "wait", "settle")
_OPTIONS = ("time", "runs")
_WITH_AN_END = ("Pod", "Job")
"""The kinds of objects whose pods end on their own."""
LONGEST_WAIT = 10.0 * 365 * 86400
"""The maximum time that a step may wait, in seconds: ten years."""


@dataclass(frozen=True)
class EventStep:
    """A line in an events file: an action and, if given, its time in seconds after the first line.

    If `runs` is given, each pod that the step creates ends after running for that many seconds.
    """

    verb: str
    value: Any
    origin: str
    time: float | None = None
    runs: float | None = None

    @cached_property
    def created(self) -> list[tuple[Kind, Any]]:
        """The objects that the step creates, each with its kind.

        Raises InputError if the objects cannot be decoded, or if `runs` is given and none of them can end on its own.
        """
        if self.verb != "create":
            return []
        found = _decoded(self.value, self.origin)
        if self.runs is not None and not any(kind.name in _WITH_AN_END for kind, _ in found):
            raise InputError(f"{self.origin}: runs: only a Pod and the pods of a Job end by themselves")
        return found


@dataclass(frozen=True)
class RefusedCreate:
    """An object that the API server refused to create."""

    kind: str
    namespace: str
    name: str
    message: str


def read_steps(lines: Iterable[tuple[str, Any]]) -> list[EventStep]:
    """Return the steps for decoded lines. Each line comes with its position in the input.

    Raises InputError for a line that is not a step.
    """
    return [_step(origin, line) for origin, line in lines]


def _step(origin: str, line: Any) -> EventStep:
    if not isinstance(line, dict):
        wanted = 'an object such as {"create": ...}'
        raise InputError(f"{origin}: {expected(wanted, line)}")
    verbs = [key for key in line if key not in _OPTIONS]
    if len(verbs) != 1:
        raise InputError(f"{origin}: expected one of {', '.join(_VERBS)}, got {', '.join(map(repr, verbs)) or 'none'}")
    [verb] = verbs
    if verb not in _VERBS:
        near = nearest(verb, _VERBS)
        hint = f" (did you mean {near!r}?)" if near else f": use one of {', '.join(_VERBS)}"
        raise InputError(f"{origin}: unknown step {verb!r}{hint}")
    value, time, runs = line[verb], line.get("time"), line.get("runs")
    for name in _OPTIONS:
        if line.get(name) is not None and not _is_seconds(line[name]):
            raise InputError(f"{origin}: {name}: {expected('seconds', line[name])}")
    problem = _problem(verb, value)
    if problem:
        raise InputError(f"{origin}: {verb}: {problem}")
    if runs is not None and verb != "create":
        raise InputError(f"{origin}: runs: only created objects can run for some time")
    return EventStep(verb, value, origin, _seconds(time), _seconds(runs))


def _seconds(given: float | None) -> float | None:
    return None if given is None else float(given)


def _problem(verb: str, value: Any) -> str:
    """Return the problem with a step's value, or ""."""
    if verb == "create":
        return "" if isinstance(value, dict) else "expected an object"
    if verb in ("patch", "status"):
        fits = isinstance(value, list) and len(value) == 3 and isinstance(value[2], dict)
        return "" if fits and _named(value) else "expected [KIND, NAME, PATCH]"
    if verb == "delete":
        return "" if isinstance(value, list) and len(value) == 2 and _named(value) else "expected [KIND, NAME]"
    if verb == "drain":
        return "" if isinstance(value, str) else "expected the name of a node"
    if verb == "wait":
        return "" if _is_seconds(value) else f"expected seconds, at most {LONGEST_WAIT:g}"
    return ""


def _named(value: list[Any]) -> bool:
    return isinstance(value[0], str) and isinstance(value[1], str)


def _is_seconds(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= LONGEST_WAIT


# Effects of steps


class Events:
    """The steps carried out so far. `refused` are the objects that could not be created, in order."""

    def __init__(self, server: ApiServer) -> None:
        self._server = server
        self.refused: list[RefusedCreate] = []

    def carry_out(self, step: EventStep) -> None:
        """Carry out the step. `wait` and `settle` have no effect here.

        Raises InputError if the step cannot be carried out.
        """
        do = {
            "create": self._create,
            "patch": self._patch,
            "status": self._patch,
            "delete": self._delete,
            "drain": self._drain,
        }.get(step.verb)
        if do is not None:
            do(step)

    def _create(self, step: EventStep) -> None:
        for kind, obj in step.created:
            if self._find(kind, obj.metadata.namespace, obj.metadata.name) is not None:
                message = f'{_resource(kind)} "{obj.metadata.name}" already exists'
                self._refuse(kind, obj, message)
                continue
            self._server.runs.pop((kind.name, obj.metadata.namespace, obj.metadata.name), None)
            if step.runs is not None and kind.name in _WITH_AN_END:
                self._server.runs[kind.name, obj.metadata.namespace, obj.metadata.name] = step.runs
            refusal = self._put_new(kind, _stamped(obj, self._server.now))
            if refusal:
                self._refuse(kind, obj, refusal)

    def _put_new(self, kind: Kind, obj: Any) -> str:
        server = self._server
        if kind.holder == "pods":
            return server.create_pod(obj, made=False)
        refusal = server.quotas.refuses(obj)
        if refusal:
            return refusal
        server.note_change(kind.name, obj.metadata.namespace, obj.metadata.name)
        if kind.holder == "claims":
            server.write_claim(obj)
        else:
            server.replace_objects(kind.holder, [*server.objects(kind.holder), obj])
        return ""

    def _refuse(self, kind: Kind, obj: Any, message: str) -> None:
        self.refused.append(RefusedCreate(kind.name, obj.metadata.namespace, obj.metadata.name, message))

    def _patch(self, step: EventStep) -> None:
        """Apply a merge patch (RFC 7386) to the object, or to its status."""
        kind, old = self._named(step)
        document = {**msgspec.to_builtins(old), "apiVersion": old.api_version, "kind": old.kind}
        merged = _merge(document, step.value[2])
        [(_, new)] = _decoded(merged, step.origin)
        self._replace(kind, old, _stamped(new, self._server.now))

    def _replace(self, kind: Kind, old: Any, new: Any) -> None:
        server = self._server
        server.note_change(kind.name, old.metadata.namespace, old.metadata.name)
        if kind.holder == "pods":
            server.update_pod(old, new)
        elif kind.holder == "claims":
            server.write_claim(new)
        else:
            objects = [new if each is old else each for each in server.objects(kind.holder)]
            server.replace_objects(kind.holder, objects)

    def _delete(self, step: EventStep) -> None:
        server = self._server
        namespace, _, name = step.value[1].rpartition("/")
        if step.value[0] == "Pod" and server.is_gone(namespace or "default", name):
            return  # the pod has already ended
        kind, old = self._named(step)
        if kind.holder == "pods":
            server.delete_pod(old, BY_EVENT)
        elif kind.holder == "claims":
            server.ask_to_delete_claim(old)
        else:
            server.replace_objects(kind.holder, [each for each in server.objects(kind.holder) if each is not old])
            if kind.pod_spec:
                self._orphaned(old)

    def _orphaned(self, owner: Any) -> None:
        """Delete the dependents of a deleted workload: its pods, and ReplicaSets with theirs."""
        index = self._server.state().index
        for pod in index.pods_of(owner):
            self._server.delete_pod(pod, BY_EVENT)
        owned = [id(each) for each in index.dependent_workloads.of(owner)]
        if owned:
            left = [each for each in self._server.objects("workloads") if id(each) not in owned]
            self._server.replace_objects("workloads", left)

    def _drain(self, step: EventStep) -> None:
        """Cordon the node and delete its pods, except those that belong to it."""
        kind = _kind("Node", step.origin)
        node = self._find(kind, "", step.value)
        if node is None:
            raise InputError(f"{step.origin}: drain: no node {step.value!r}")
        cordoned = replace(node, spec=replace(node.spec, unschedulable=True))
        self._replace(kind, node, cordoned)
        for pod in self._server.objects("pods"):
            if pod.spec.node_name == step.value and not belongs_to_node(pod):
                self._server.delete_pod(pod, DRAINED)

    def _named(self, step: EventStep) -> tuple[Kind, Any]:
        kind = _kind(step.value[0], step.origin)
        namespace, _, name = step.value[1].rpartition("/")
        found = self._find(kind, (namespace or "default") if kind.namespaced else "", name)
        if found is None:
            raise InputError(f"{step.origin}: {step.verb}: no {kind.name} {step.value[1]!r}")
        return kind, found

    def _find(self, kind: Kind, namespace: str, name: str) -> Any:
        if kind.holder == "pods":
            return self._server.pod(namespace, name)
        if kind.holder == "claims":
            return self._server.claim(namespace, name)
        for each in self._server.objects(kind.holder):
            metadata = each.metadata
            if (each.kind, metadata.namespace, metadata.name) == (kind.name, namespace, name):
                return each
        return None


def _kind(name: str, origin: str) -> Kind:
    for kind in kinds.every():
        if kind.name == name:
            return kind
    near = nearest(name, (kind.name for kind in kinds.every()))
    raise InputError(f"{origin}: unknown kind {name!r}" + (f" (did you mean {near!r}?)" if near else ""))


def _resource(kind: Kind) -> str:
    return f"{kind.plural}.{kind.group}" if kind.group else kind.plural


def _decoded(document: Mapping[str, Any], origin: str) -> list[tuple[Kind, Any]]:
    """Return the typed objects of a document, which may be a List. Raises InputError if it cannot be decoded."""
    try:
        inventory = from_dicts([dict(document)])
    except ManifestErrors as error:
        raise InputError(f"{origin}: {error}") from None
    found = [(kind, obj) for kind in kinds.every() for obj in getattr(inventory, kind.holder) if obj.kind == kind.name]
    if not found:
        raise InputError(f"{origin}: events cannot make objects of kind {document.get('kind')!r}")
    return found


def serves_taint_rules(steps: Iterable[EventStep]) -> bool:
    """Return whether the steps create device taint rules, which the API server accepts only if their gate is on."""
    return any(step.verb == "create" and step.value.get("kind") == "DeviceTaintRule" for step in steps)


def _merge(document: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    merged = dict(document) if isinstance(document, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = _merge(merged.get(key), value)
    return merged


def _stamped(new: Any, now: float) -> Any:
    """Return a slice with its taints' times, which the API server adds if they are missing."""
    if not isinstance(new, ResourceSlice):
        return new

    def stamped(taint: DeviceTaint) -> DeviceTaint:
        return taint if taint.time_added is not None else replace(taint, time_added=format_time(now))

    devices = [replace(each, taints=[stamped(taint) for taint in each.taints]) for each in new.spec.devices]
    return replace(new, spec=replace(new.spec, devices=devices))
