"""A snapshot under pseudonyms, which gives the same answers: for a bug report that shows nobody's names.

First the constants of selectors, then which texts of an object are names (any that is not known to be none), then the
whole snapshot. All names share one table, in which they keep their order: what is equal stays equal (a node, its pool
and its hostname label), and what is sorted stays sorted, so that every answer is the same up to the renaming.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import msgspec

from dra_plan.api import well_known
from dra_plan.api.resource import Device
from dra_plan.cel import Selector, compile_selector
from dra_plan.cel.format_strings import string
from dra_plan.cel.lexer import Token, tokenize
from dra_plan.cel.rewrite import constant_text
from dra_plan.errors import DraPlanError

from .snapshot import Snapshot

# -- constants in selectors --------------------------------------------------------------------------------------------
# Only those that are compared: what an attribute is equal to, or one of. Others may be patterns.

_EQUAL = ("==", "!=")


def renamed(expression: str, rename: Callable[[str], str]) -> str:
    """The expression with each text constant that is compared renamed."""
    changed = expression
    for token in reversed(list(_compared(tokenize(expression)[0]))):
        value = string(token.text)
        if value is not None and (new := rename(value)) != value:
            changed = changed[: token.offset] + constant_text(new) + changed[token.offset + len(token.text) :]
    return changed


def _compared(tokens: list[Token]) -> Iterator[Token]:
    in_list = False
    for before, token, after in zip([tokens[0], *tokens], tokens, tokens[1:], strict=False):
        if token.kind == "[" and before.kind == "in":
            in_list = True
        elif token.kind == "]":
            in_list = False
        elif token.kind == "STRING" and (in_list or before.kind in _EQUAL or after.kind in _EQUAL):
            yield token


# -- names in an object ------------------------------------------------------------------------------------------------

Rename = Callable[[str], str]

_TECHNICAL = frozenset(
    [
        "apiVersion",
        "kind",
        "operator",
        "effect",
        "phase",
        "type",
        "reason",
        "protocol",
        "restartPolicy",
        "preemptionPolicy",
        "whenUnsatisfiable",
        "nodeAffinityPolicy",
        "nodeTaintsPolicy",
        "allocationMode",
        "creationTimestamp",
        "deletionTimestamp",
        "startTime",
        "timeAdded",
        "allocationTimestamp",
        "lastTransitionTime",
        "kubeletVersion",
        "version",
        "versions",
        "driver",
        "provisioner",
        "volumeBindingMode",
        "apiGroup",
        "resource",
        "source",
        "disruptionMode",
        "schedulerName",
        "matchAttribute",
        "distinctAttribute",
        "partitionTypeAttribute",
        "extendedResourceName",
        "capacityKey",
        "allocationMultiplier",
        "status",
        "completionMode",
        "accessModes",
        "volumeMode",
        "finalizers",
        "bindingConditions",
        "bindingFailureConditions",
        "declaredFeatures",
        "skipNodeOperations",
        "attacher",
    ]
)
"""Fields whose texts are the API's, a driver's or a time, and no names."""
_AMOUNTS = frozenset(
    ["capacity", "allocatable", "requests", "limits", "overhead", "consumedCapacity", "counters", "allocatedResources"]
)
"""Maps from names of resources, or of a driver's capacities, to amounts; both stay."""
_LABEL_MAPS = frozenset(("labels", "matchLabels", "nodeSelector", "selector"))
_LABEL_KEYS = frozenset(("key", "topologyKey", "matchLabelKeys", "mismatchLabelKeys", "topologyKeys"))
_OWN_DOMAIN = re.compile(r"(?:[a-z0-9.-]+\.)?(?:kubernetes|k8s)\.io/")
_COMMON_KEYS = frozenset(
    [
        "metadata.name",
        "pod-template-hash",
        "controller-revision-hash",
        "pod-template-generation",
        "job-name",
        "controller-uid",
    ]
)
_COMMON = frozenset(
    [
        "default",
        "kube-system",
        "kube-public",
        "kube-node-lease",
        "system-node-critical",
        "system-cluster-critical",
        "linux",
        "windows",
        "amd64",
        "arm64",
        "true",
        "false",
        "yes",
        "no",
    ]
) | {""}
_NUMBER = re.compile(r"[0-9]+%?")
_OF_CLASS = well_known.IMPLICIT_PREFIX
_ANNOTATIONS = {
    well_known.POD_CLAIM_ANNOTATION: True,
    well_known.SPECIAL_ANNOTATION: False,
    well_known.CLASS_ANNOTATION: True,
    well_known.SELECTED_NODE: True,
    well_known.BIND_COMPLETED: False,
    well_known.BOUND_BY_CONTROLLER: False,
    well_known.PROVISIONED_BY: False,
    well_known.MIGRATED_PLUGINS: False,
}
"""The annotations that planning reads, and whether what they say is a name."""


class Pseudonymizing:
    """One pass over objects: `rename` is called with each name, and its result takes the name's place.

    `kept` are names that stay, those of drivers. Unless `values`, texts that drivers publish as attributes, and
    constants of selectors, stay.
    """

    def __init__(self, rename: Rename, kept: Iterable[str], *, values: bool) -> None:
        self._rename, self._kept, self._values = rename, frozenset(kept), values

    def object(self, value: dict[str, Any]) -> dict[str, Any]:
        """The object with other names."""
        return {key: self._field(key, item, ()) for key, item in value.items()}

    def _name(self, text: str) -> str:
        if text in self._kept or text in _COMMON or _NUMBER.fullmatch(text):
            return text
        return self._rename(text)

    def _field(self, key: str, value: Any, above: tuple[str, ...]) -> Any:
        if isinstance(value, str):
            return self._text(key, value, above)
        if isinstance(value, list):
            return [self._item(key, item, above) for item in value]
        if isinstance(value, dict):
            return self._map(key, value, above)
        return value

    def _item(self, key: str, value: Any, above: tuple[str, ...]) -> Any:
        """A value of a list; a map there is an object, whatever the list is called."""
        if isinstance(value, dict):
            return {name: self._field(name, item, (*above, key)) for name, item in value.items()}
        return self._field(key, value, above)

    def _map(self, key: str, value: dict[str, Any], above: tuple[str, ...]) -> dict[str, Any]:
        inner = (*above, key)
        if key == "annotations":
            return {
                name: self._name(text) if _ANNOTATIONS[name] else text
                for name, text in value.items()
                if name in _ANNOTATIONS
            }
        if key in _LABEL_MAPS and all(isinstance(text, str) for text in value.values()):
            return {self._label_key(name): self._name(text) for name, text in value.items()}
        if key in _AMOUNTS:
            return {self._resource(name): item for name, item in value.items()}
        if key == "disruptedPods":
            return {self._name(name): item for name, item in value.items()}
        if key == "attributes" and not self._values:
            return value
        return {name: self._field(name, item, inner) for name, item in value.items()}

    def _text(self, key: str, text: str, above: tuple[str, ...]) -> str:
        if key in _TECHNICAL:
            return text
        if key == "message":
            return ""  # a sentence of the cluster, with names in it
        if key == "expression":
            return renamed(text, self._name) if self._values else text
        if key in _LABEL_KEYS:
            return self._label_key(text)
        if key in ("requests", "request"):
            return "/".join(map(self._name, text.split("/")))
        if key == "resourceName":
            return self._resource(text)
        if key == "image" or (key == "names" and "images" in above):
            return self._image(text)
        return self._name(text)

    def _label_key(self, key: str) -> str:
        return key if key in _COMMON_KEYS or _OWN_DOMAIN.match(key) else self._name(key)

    def _resource(self, name: str) -> str:
        return _OF_CLASS + self._name(name.removeprefix(_OF_CLASS)) if name.startswith(_OF_CLASS) else name

    def _image(self, text: str) -> str:
        name, at, digest = text.partition("@")
        last = name.rfind(":")
        tag = last if last > name.rfind("/") else len(name)
        return self._name(name[:tag]) + name[tag:] + at + digest


def drivers(objects: Iterable[dict[str, Any]]) -> set[str]:
    """The names of drivers, which are kept because selectors and attributes contain them."""
    found: set[str] = set()
    waiting: list[tuple[str, Any]] = [("", value) for value in objects]
    while waiting:
        key, value = waiting.pop()
        if isinstance(value, str):
            if key in ("driver", "provisioner", "attacher"):
                found.add(value)
        elif isinstance(value, list):
            waiting += [(key, item) for item in value]
        elif isinstance(value, dict):
            if key == "drivers" and isinstance(value.get("name"), str):
                found.add(value["name"])
            waiting += value.items()
    return found


# -- a whole snapshot --------------------------------------------------------------------------------------------------
# Drivers, the names of attributes and capacities, and amounts stay; so do times, versions and gates.

_UNREADABLE = (DraPlanError, msgspec.MsgspecError)


class Anonymized(NamedTuple):
    """A snapshot under pseudonyms; `values_stay` if it still shows the texts that drivers publish as attributes."""

    snapshot: Snapshot
    values_stay: bool


def anonymized(snapshot: Snapshot) -> Anonymized:
    """The snapshot with other names, in the same order.

    Texts that drivers publish as attributes become others, too, unless a selector looks into them (`startsWith`,
    `matches`): then they all stay, and so do the constants of selectors.
    """
    objects = [msgspec.json.decode(text) for text in snapshot.objects]
    kept = drivers(objects)
    values = True
    names = _table(objects, kept, values=True)
    if not _selects_the_same(objects, names, kept):
        values = False
        names = _table(objects, kept, values=False)
    renaming = Pseudonymizing(lambda text: names.get(text, text), kept, values=values)
    told = [msgspec.structs.replace(entry, message="") for entry in snapshot.info.not_listed]
    info = msgspec.structs.replace(snapshot.info, anonymized=True, not_listed=told)
    texts = [msgspec.json.encode(renaming.object(value)) for value in objects]
    return Anonymized(replace(snapshot, info=info, objects=texts), not values)


def _table(objects: list[dict[str, Any]], kept: set[str], *, values: bool) -> dict[str, str]:
    """A pseudonym for each name, all equally long, in the names' order."""
    found: set[str] = set()

    def note(text: str) -> str:
        found.add(text)
        return text

    renaming = Pseudonymizing(note, kept, values=values)
    for value in objects:
        renaming.object(value)
    width = len(str(len(found)))
    return {name: f"x{number:0{width}}" for number, name in enumerate(sorted(found), 1)}


def _selects_the_same(objects: list[dict[str, Any]], names: dict[str, str], kept: set[str]) -> bool:
    """Whether every selector has the same result on every device as before."""
    devices = _different_devices(objects)
    renaming = Pseudonymizing(lambda text: names.get(text, text), kept, values=True)
    new = [renaming.object({"devices": [device]})["devices"][0] for _, device in devices]
    for expression in sorted(set(_expressions(objects))):
        before, after = _compiled(expression), _compiled(renamed(expression, lambda text: names.get(text, text)))
        if before is None or after is None:
            if before is not after:
                return False
            continue
        for (driver, old), other in zip(devices, new, strict=True):
            if _verdict(before, old, driver) != _verdict(after, other, driver):
                return False
    return True


def _different_devices(objects: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """Devices with their drivers, one of those that are equal to selectors."""
    found: dict[bytes, tuple[str, dict[str, Any]]] = {}
    for value in objects:
        spec = value.get("spec") if value.get("kind") == "ResourceSlice" else None
        for device in (spec or {}).get("devices") or ():
            seen = {key: device[key] for key in ("attributes", "capacity", "allowMultipleAllocations") if key in device}
            driver = str((spec or {}).get("driver"))
            found.setdefault(msgspec.json.encode([driver, seen]), (driver, seen))
    return list(found.values())


def _expressions(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _expressions(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key == "expression" and isinstance(item, str):
                yield item
            else:
                yield from _expressions(item)


def _compiled(expression: str) -> Selector | None:
    try:
        return compile_selector(expression, feature_gates={"DRAListTypeAttributes": True})
    except _UNREADABLE:
        return None


def _verdict(selector: Selector, device: dict[str, Any], driver: str) -> object:
    """The selector's result on a device, or the kind of its error."""
    return _said(lambda: selector.matches(msgspec.convert(device, Device), driver))


def _said(asked: Callable[[], bool]) -> object:
    try:
        return asked()
    except _UNREADABLE as error:
        return type(error).__name__
