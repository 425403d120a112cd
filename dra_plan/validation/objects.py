"""Checks of single objects of every kind, and of objects that are listed twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import convert

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Origin
from dra_plan.api.meta import FieldPath, Object, ObjectMeta
from dra_plan.api.resource import (
    Condition,
    DeviceClass,
    DeviceTaintRule,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)
from dra_plan.manifests.faults import given_twice
from dra_plan.manifests.objects import pod_spec_of
from dra_plan.manifests.paths import value_at
from dra_plan.releases import Target

from . import (
    claim_status,
    claims,
    classes,
    devices,
    gates,
    metadata,
    names,
    pod_specs,
    resources,
    schema,
    selectors,
    served,
    workloads,
)
from .rule import Problem, warning
from .served import RuntimeConfig
from .subject import Subject

# -- keys that YAML reads as true or false -----------------------------------------------------------------------------
# DRA015, in maps with free keys. Only objects that were read from YAML text have such keys.

BARE_KEY = warning(
    "DRA015",
    "key that YAML reads as true or false",
    (
        "Kubernetes reads unquoted y, yes, on, n, no and off as booleans, even in keys. The entry is then "
        "named `true` or `false`, and references to its intended name fail."
    ),
    "Put the key in quotes.",
)
BARE_KEY_RULES = (BARE_KEY,)

_BOOLEANS = frozenset({"true", "false"})
_Maps = Iterator[tuple[FieldPath, Mapping[str, object] | None]]


def check_bare_keys(subject: Subject) -> Iterator[Problem]:
    """Yield a problem for each unquoted key that YAML reads as a boolean."""
    if subject.obj is None:
        return
    for path, entries in _free_maps(subject.obj):
        for key in _BOOLEANS & entries.keys() if entries else ():
            from dra_plan.manifests.yaml_builder import BOOLEAN_WORDS  # most inputs need no YAML parser

            word = _written(subject, (*path, key))
            if word in BOOLEAN_WORDS:
                message = f"{word} without quotes is the boolean {key}, so the entry is called {key!r}"
                yield Problem(BARE_KEY, (*path, key), message, f'"{word}":', of_key=True)


def _written(subject: Subject, path: FieldPath) -> str:
    """Return a key as in the text; empty if there is none."""
    document = subject.place.find_text()
    extent = document.extents.get((*subject.place.prefix, *subject.as_written(path))) if document else None
    return document.lines.text[extent.key_begin : extent.key_end] if document and extent else ""


def _free_maps(obj: Object) -> _Maps:
    """Yield the maps in an object that may have any keys."""
    metadata = getattr(obj, "metadata", None)
    for name in ("labels", "annotations") if metadata is not None else ():
        yield ("metadata", name), getattr(metadata, name)
    if isinstance(obj, ResourceSlice):
        yield from _of_slice(obj)
    elif isinstance(obj, ResourceClaim):
        yield from _of_claim(obj, ("spec",))
    elif isinstance(obj, ResourceClaimTemplate):
        yield from _of_claim(ResourceClaim(metadata=obj.metadata, spec=obj.spec.spec), ("spec", "spec"))


def _of_slice(obj: ResourceSlice) -> _Maps:
    for index, counter_set in enumerate(obj.spec.shared_counters):
        yield ("spec", "sharedCounters", index, "counters"), counter_set.counters
    for index, device in enumerate(obj.spec.devices):
        path: FieldPath = ("spec", "devices", index)
        yield (*path, "attributes"), device.attributes
        yield (*path, "capacity"), device.capacity
        for at, taken in enumerate(device.consumes_counters):
            yield (*path, "consumesCounters", at, "counters"), taken.counters


def _of_claim(claim: ResourceClaim, path: FieldPath) -> _Maps:
    for index, request in enumerate(claim.spec.devices.requests):
        at: FieldPath = (*path, "devices", "requests", index)
        if request.exactly is not None and request.exactly.capacity is not None:
            yield (*at, "exactly", "capacity", "requests"), request.exactly.capacity.requests
        for option, each in enumerate(request.first_available or ()):
            if each.capacity is not None:
                yield (*at, "firstAvailable", option, "capacity", "requests"), each.capacity.requests


# -- all checks of one object ------------------------------------------------------------------------------------------

_QUOTA = ("v1", "ResourceQuota")


def check(
    subjects: Iterable[Subject], target: Target, config: RuntimeConfig | None = None
) -> Iterator[tuple[Subject, Problem]]:
    """Yield every problem that is visible in a single object, and a problem for every object that is listed twice.

    `config` is the API server's `--runtime-config`, or None if it serves all versions that the release can serve.
    """
    first: dict[tuple[str, str, str], Subject] = {}
    for subject in subjects:
        for problem in of_one(subject, target, config):
            yield subject, problem
        if subject.kind is None or not subject.name:
            continue
        generated = not (subject.value.get("metadata") or {}).get("name")
        other = first.setdefault(subject.key, subject)
        if other is not subject and not generated:
            yield subject, schema.GIVEN_TWICE.at((), given_twice(_where(other, subject)))


def _where(first: Subject, again: Subject) -> str:
    """Return the place of the first of two objects, for the message about the second."""
    line = first.place.lines([()])[0]
    if not line:
        return "an earlier object"
    same = first.place.source == again.place.source
    return f"line {line} of this file" if same else str(Origin(first.place.source, line))


def of_one(subject: Subject, target: Target, config: RuntimeConfig | None) -> Iterator[Problem]:
    """Yield every problem that is visible in the object alone."""
    yield from subject.problems
    if (subject.value.get("apiVersion"), subject.value.get("kind")) == _QUOTA:
        yield from resources.check_quota(subject.value)
    if subject.kind is None:
        return
    if subject.version in subject.kind.versions:
        yield from version(subject, target, config)
    if not subject.name:
        yield schema.NO_NAME.at(("metadata", "name"), "missing")
    yield from check_bare_keys(subject)
    if subject.obj is not None:
        told = {problem.path for problem in subject.problems if problem.rule is schema.MISSING_FIELD}
        for problem in of_typed(subject, subject.obj, target):
            # A missing field also counts as empty.
            if problem.rule is not schema.MISSING_FIELD or subject.as_written(problem.path) not in told:
                yield problem


def version(subject: Subject, target: Target, config: RuntimeConfig | None) -> Iterator[Problem]:
    """Check whether the object's API version is served, and whether it is deprecated.

    If the object has a UID, it comes from an API server that serves the version.
    """
    kind, obj = subject.kind, subject.obj
    if kind is None or not served.is_versioned(kind):
        return
    if obj is not None and obj.metadata.is_stored:  # type: ignore[attr-defined]
        config = None
    versions, here = served.served(kind, target, config), f"{kind.group}/{subject.version}"
    newest = f"{kind.group}/{versions[0]}" if versions else ""
    if subject.version not in versions:
        could = subject.version in served.could_serve(kind, target)
        unless = " unless its --runtime-config enables this version" if could else ""
        message = f"Kubernetes {target.version} does not serve {kind.name} in {here}{unless}"
        yield schema.wrong_version(schema.NOT_SERVED, message, newest)
    elif kind.group == served.DRA and subject.version != versions[0]:
        message = f"{here} is deprecated; {kind.group}/{versions[0]} replaces it"
        yield schema.wrong_version(schema.DEPRECATED, message, newest)


def of_metadata(subject: Subject, given: ObjectMeta) -> Iterator[Problem]:
    """Yield the problems with an object's names, labels and owners."""
    kind = subject.kind
    if kind is not None and (kind.group == served.DRA or kind.name == "Pod"):
        yield from metadata.check_name(("metadata",), given, generated=kind.name != "DeviceClass")
    if kind is not None and kind.namespaced and given.namespace:
        yield from names.dns_label(("metadata", "namespace"), given.namespace, "namespace")
    yield from metadata.check(given)
    if kind is not None and (kind.group == served.DRA or kind.name == "Pod"):
        counted = kind.name not in ("ResourceClaim", "ResourceClaimTemplate")
        yield from metadata.check_written(("metadata",), subject.value.get("metadata"), counted=counted)


def of_typed(subject: Subject, given: Object, target: Target) -> Iterator[Problem]:
    """Yield the problems with the decoded object and with the object as the target would store it."""
    stored = gates.stored(given, target)
    yield from map(stored.explained, _of_stored(subject, stored.kept, target))
    yield from stored.problems


def _of_stored(subject: Subject, obj: Any, target: Target) -> Iterator[Problem]:
    yield from of_metadata(subject, obj.metadata)
    spec: FieldPath = ("spec",)
    if subject.is_flat and isinstance(obj, ResourceClaim | ResourceClaimTemplate):
        depth = spec if isinstance(obj, ResourceClaim) else (*spec, "spec")
        yield from claims.without_class((*depth, "devices", "requests"), subject.value)
    if isinstance(obj, ResourceSlice):
        yield from devices.check_slice(obj, target, subject.value.get("spec"))
    elif isinstance(obj, DeviceClass):
        yield from classes.check(obj, target)
    elif isinstance(obj, ResourceClaim):
        yield from claims.check_spec(spec, obj.spec, target)
        if obj.status is not None:
            yield from claim_status.check(obj.status, obj.spec)
    elif isinstance(obj, ResourceClaimTemplate):
        written = value_at(subject.value, ("spec", "metadata"))
        yield from metadata.check_copied((*spec, "metadata"), obj.spec.metadata, written)
        yield from claims.check_spec((*spec, "spec"), obj.spec.spec, target)
    elif isinstance(obj, DeviceTaintRule):
        yield from selectors.selector((*spec, "deviceSelector"), obj.spec.device_selector)
        yield from selectors.taint((*spec, "taint"), obj.spec.taint)
        reported = obj.status.get("conditions") if isinstance(obj.status, dict) else None
        yield from claim_status.check_conditions(("status", "conditions"), convert(reported or [], list[Condition]))
    if subject.kind is not None and subject.kind.pod_spec:
        yield from pod_specs.check_pod(subject.kind.pod_spec, pod_spec_of(obj))
    if not obj.metadata.is_stored:
        yield from _of_new(subject, obj, target)


def _of_new(subject: Subject, obj: Any, target: Target) -> Iterator[Problem]:
    """Check what is validated only on creation; cluster dumps omit fields that existed then."""
    if subject.kind is not None and subject.kind.pod_spec:
        path = subject.kind.pod_spec
        yield from pod_specs.check(path, pod_spec_of(obj), subject.value, target)
        if not isinstance(obj, Pod):
            yield from workloads.check(obj, path[:-1], subject.value)
    yield from workloads.check_other(obj)
