"""DRA015: keys of free maps that YAML reads as true or false. Only what is read from YAML text has such keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dra_plan.api.meta import FieldPath, Object
from dra_plan.api.resource import ResourceClaim, ResourceClaimTemplate, ResourceSlice
from dra_plan.manifests.yaml_builder import BOOLEAN_WORDS

from .rule import Problem, warning
from .subject import Subject

BARE_KEY = warning(
    "DRA015",
    "key that YAML reads as true or false",
    "Kubernetes reads YAML in which y, yes, on, n, no and off without quotes are booleans, as keys, too: the entry is "
    "called `true` or `false` afterwards, and nothing finds it under the name that stands there.",
    "Put the key in quotes.",
)
RULES = (BARE_KEY,)

_BOOLEANS = frozenset({"true", "false"})
_Maps = Iterator[tuple[FieldPath, Mapping[str, object] | None]]


def check(subject: Subject) -> Iterator[Problem]:
    """The keys of an object that are not what stands in its text."""
    if subject.obj is None:
        return
    for path, entries in _free_maps(subject.obj):
        for key in _BOOLEANS & entries.keys() if entries else ():
            word = _written(subject, (*path, key))
            if word in BOOLEAN_WORDS:
                message = f"{word} without quotes is the boolean {key}: the entry is called {key!r}"
                yield Problem(BARE_KEY, (*path, key), message, f'"{word}":', of_key=True)


def _written(subject: Subject, path: FieldPath) -> str:
    """A key as it stands in the text; empty if there is none."""
    document = subject.place.find_text()
    extent = document.extents.get((*subject.place.prefix, *subject.as_written(path))) if document else None
    return document.lines.text[extent.key_begin : extent.key_end] if document and extent else ""


def _free_maps(obj: Object) -> _Maps:
    """The maps in which any key may stand."""
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
