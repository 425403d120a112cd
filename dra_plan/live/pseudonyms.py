"""Replace the names in a snapshot so that a bug report reveals none of them.

Every command still gives the same answer, apart from the names: equal names stay equal, such as a node, its pool and
its hostname label, and the pseudonyms sort in the order of the names. Contents: constants in selectors, names in an
object, and the whole snapshot. Any text that is not known to be something else counts as a name.
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
# Only compared constants, which are the values of `==` and `in`, are renamed. Other constants may be patterns.

_EQUAL = ("==", "!=")


def renamed(expression: str, rename: Callable[[str], str]) -> str:
    """Return the CEL expression with `rename` applied to each string constant that a value is compared with."""
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
"""Fields whose texts come from the API or a driver, or are times, and not names."""
_AMOUNTS = frozenset(
    [
        "capacity",
        "allocatable",
        "requests",
        "limits",
        "overhead",
        "podFixed",
        "consumedCapacity",
        "counters",
        "allocatedResources",
    ]
)
"""Maps from names of resources, or of a driver's capacities, to amounts; neither changes."""
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
"""The annotations that planning reads, and whether their values are names."""


class Shown(NamedTuple):
    """The selectors and attributes that stay readable in an anonymized snapshot.

    Selectors stay readable if they look inside strings (`startsWith`), and so do the attributes that they use.
    `attributes` are names without a domain; None means every attribute.
    """

    expressions: frozenset[str] = frozenset()
    attributes: frozenset[str] | None = frozenset()

    def has(self, attribute: str) -> bool:
        """Return whether the attribute's strings stay readable. The name may include a domain."""
        return self.attributes is None or attribute.rpartition("/")[2] in self.attributes

    def with_expressions(self, found: frozenset[str]) -> Shown:
        """Return a copy with these selectors added, and with every attribute whose name occurs in one of them."""
        expressions = self.expressions | found
        words = frozenset(word for text in expressions for word in _words(text))
        return Shown(expressions, None if self.attributes is None else words)


EVERYTHING = Shown(attributes=None)
"""Every selector and attribute stays readable."""


def _words(expression: str) -> Iterator[str]:
    """Yield everything in an expression that may name an attribute: identifiers, and constants without their domain."""
    for token in tokenize(expression)[0]:
        if token.kind == "STRING":
            yield (string(token.text) or "").rpartition("/")[2]
        else:
            yield token.text


class Pseudonymizing:
    """A transformation of objects that replaces each name with the result of `rename`.

    `kept` are the names of drivers, which stay unchanged. `shown` are the selectors and attributes that stay readable.
    """

    def __init__(self, rename: Rename, kept: Iterable[str], shown: Shown) -> None:
        self._rename, self._kept, self._shown = rename, frozenset(kept), shown

    def object(self, value: dict[str, Any]) -> dict[str, Any]:
        """Return a copy of the object with its names replaced."""
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
        """Return a value of a list; a map in it is an object, whatever the name of the list."""
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
        if key in _AMOUNTS and "podFixed" not in value:
            return {self._resource(name): item for name, item in value.items()}
        if key == "disruptedPods":
            return {self._name(name): item for name, item in value.items()}
        if key == "attributes":
            return {
                name: item if self._shown.has(name) else self._field(name, item, inner) for name, item in value.items()
            }
        return {name: self._field(name, item, inner) for name, item in value.items()}

    def _text(self, key: str, text: str, above: tuple[str, ...]) -> str:
        if key in _TECHNICAL:
            return text
        if key == "message":
            return ""  # a message of the cluster that contains names
        if key == "expression":
            stays = self._shown.attributes is None or text in self._shown.expressions
            return text if stays else renamed(text, self._name)
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
    """Return the names of all drivers in the objects. They are kept because selectors and attributes contain them."""
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
# Drivers, the names of attributes and capacities, amounts, times, versions and gates stay unchanged.

_UNREADABLE = (DraPlanError, msgspec.MsgspecError)


class Anonymized(NamedTuple):
    """A snapshot with pseudonyms in place of names, and the selectors and attributes that stayed readable."""

    snapshot: Snapshot
    shown: Shown


MOST_PASSES = 20
"""The maximum number of passes that find readable selectors. After them, every selector stays readable."""


def anonymized(snapshot: Snapshot) -> Anonymized:
    """Return the snapshot with all names replaced by pseudonyms, which sort in the same order as the names.

    The strings in attributes are replaced as well, unless a selector examines parts of a string (with `startsWith` or
    `matches`, for example). Such a selector is not changed.
    """
    objects = [msgspec.json.decode(text) for text in snapshot.objects]
    kept = drivers(objects)
    shown, renaming = _settled(objects, kept)
    others = [msgspec.structs.replace(entry, message="") for entry in snapshot.info.not_listed]
    info = msgspec.structs.replace(snapshot.info, anonymized=True, not_listed=others)
    texts = [msgspec.json.encode(renaming.object(value)) for value in objects]
    return Anonymized(replace(snapshot, info=info, objects=texts), shown)


def _settled(objects: list[dict[str, Any]], kept: set[str]) -> tuple[Shown, Pseudonymizing]:
    """Return the least that must stay, added selector by selector, so that every selector keeps its results."""
    shown = Shown()
    for _ in range(MOST_PASSES):
        renaming = _renaming(objects, kept, shown)
        looking = _others(objects, renaming)
        if not looking:
            return shown, renaming
        more = shown.with_expressions(looking)
        if more == shown:
            break
        shown = more
    return EVERYTHING, _renaming(objects, kept, EVERYTHING)


def _renaming(objects: list[dict[str, Any]], kept: set[str], shown: Shown) -> Pseudonymizing:
    names = _table(objects, kept, shown)
    return Pseudonymizing(lambda text: names.get(text, text), kept, shown)


def _table(objects: list[dict[str, Any]], kept: set[str], shown: Shown) -> dict[str, str]:
    """Return a pseudonym for each name, all of equal length, in the order of the names."""
    found: set[str] = set()

    def note(text: str) -> str:
        found.add(text)
        return text

    renaming = Pseudonymizing(note, kept, shown)
    for value in objects:
        renaming.object(value)
    width = len(str(len(found)))
    return {name: f"x{number:0{width}}" for number, name in enumerate(sorted(found), 1)}


def _others(objects: list[dict[str, Any]], renaming: Pseudonymizing) -> frozenset[str]:
    """Return the selectors whose result on some device has changed."""
    devices = _different_devices(objects)
    new = [renaming.object({"devices": [device]})["devices"][0] for _, device in devices]
    return frozenset(
        expression
        for expression in set(_expressions(objects))
        if not _same(expression, renaming.object({"expression": expression})["expression"], devices, new)
    )


def _same(before: str, after: str, devices: list[tuple[str, dict[str, Any]]], new: list[dict[str, Any]]) -> bool:
    old_selector, new_selector = _compiled(before), _compiled(after)
    if old_selector is None or new_selector is None:
        return old_selector is new_selector
    return all(
        _verdict(old_selector, old, driver) == _verdict(new_selector, other, driver)
        for (driver, old), other in zip(devices, new, strict=True)
    )


def _different_devices(objects: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """Return devices with their drivers, one for each set that selectors cannot distinguish."""
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
    """Return the selector's result on a device, or the kind of its error."""
    return _said(lambda: selector.matches(msgspec.convert(device, Device), driver))


def _said(asked: Callable[[], bool]) -> object:
    try:
        return asked()
    except _UNREADABLE as error:
        return type(error).__name__
