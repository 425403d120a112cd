"""What the user calls pods, workloads and claims, as kubectl takes names: which objects of an input are meant.

What then becomes of them (planned, or told why not) is in `owners`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory, ObjectKey
from dra_plan.claims.owners import controller_names, is_waiting
from dra_plan.errors import UsageError
from dra_plan.manifests import kinds
from dra_plan.near import nearest

CLAIM, POD, NODE = "ResourceClaim", "Pod", "Node"
_OWNERS = ("pods", "workloads", "claims")
"""Where the inventory keeps what may be named."""
_MOST_PODS = 3
"""So many pods are named at most of what the input lacks."""


class UnknownOwnerError(UsageError):
    """A name that nothing has."""


class OwnerName(NamedTuple):
    """One way to read what was given: lower-case kind and namespace, each empty if none was said, and name."""

    kind: str
    namespace: str
    name: str


class Known:
    """The objects of an input that may be named."""

    def __init__(self, inventory: Inventory, made: Iterable[ObjectKey] = ()) -> None:
        """`made` are claims that are not in the input, but would be made for pods of it."""
        self._by_name: dict[str, list[ObjectKey]] = defaultdict(list)
        objects = (*inventory.pods, *inventory.workloads, *inventory.claims)
        keys = [(found.kind, found.metadata.namespace, found.metadata.name) for found in objects]
        self.keys = list(dict.fromkeys([*keys, *made]))
        for key in self.keys:
            self._by_name[key[2].lower()].append(key)
        self._pods = inventory.pods
        self.nodes = {node.metadata.name.lower(): node.metadata.name for node in inventory.nodes}
        self._kinds = {
            form: kind.lower()
            for kind in {workload.kind for workload in inventory.workloads}
            for form in (kind.lower(), f"{kind.lower()}s", f"{kind.lower()}es")
        }

    def kind(self, word: str) -> str:
        """The kind that kubectl means by a word (name, plural, short name, perhaps with group), lower-case, or ""."""
        found = kinds.named(word)
        if found is not None:
            return found.name.lower()
        return self._kinds.get(word.lower().partition(".")[0], "")

    def named(self, name: str) -> list[ObjectKey]:
        """All objects of that name, in any case."""
        return self._by_name.get(name.lower(), [])

    def pods_of(self, reading: OwnerName, namespace: str | None) -> list[Pod]:
        """The pods whose controller is named like that, be it in the input or not; of a Deployment, too."""
        wanted = reading.namespace or (namespace or "").lower()
        return [
            pod
            for pod in self._pods
            if wanted in ("", pod.metadata.namespace.lower())
            and any(
                name.lower() == reading.name and reading.kind in ("", kind.lower())
                for kind, name in controller_names(pod.metadata)
            )
        ]


def split(given: Iterable[str], known: Known) -> Iterator[tuple[str, list[OwnerName]]]:
    """What was given, piece by piece, each with the ways to read it, the likeliest first.

    `po x y` are the pods x and y; `x`, `pod/x`, `NAMESPACE/x` and `pod/NAMESPACE/x` name one object each.
    """
    words = [word for text in given for word in text.split() or [text]]
    kind = ""
    if len(words) > 1 and "/" not in words[1]:
        kind = known.kind(words[0])
    for word in words[1:] if kind else words:
        yield (f"{words[0]}/{word}" if kind and "/" not in word else word), list(_readings(word, kind, known))


def _readings(word: str, kind: str, known: Known) -> Iterator[OwnerName]:
    parts = word.lower().split("/")
    if not all(parts):
        return
    if len(parts) == 1:
        yield OwnerName(kind, "", parts[0])
    elif len(parts) == 2:
        if known.kind(parts[0]):
            yield OwnerName(known.kind(parts[0]), "", parts[1])
        yield OwnerName("", parts[0], parts[1])
    elif len(parts) == 3 and known.kind(parts[0]):
        yield OwnerName(known.kind(parts[0]), parts[1], parts[2])


def find(given: Iterable[str], known: Known, namespace: str | None) -> list[ObjectKey]:
    """The objects that are meant, each once, in the order of the input.

    `namespace` is that of names which do not say theirs; without it a name stands for the objects of all namespaces.
    Raises UnknownOwnerError, with a line for each name that nothing has: it says where there is one of that name, or
    which name is near.
    """
    found: set[ObjectKey] = set()
    unknown: list[str] = []
    for text, readings in split(given, known):
        here = next((keys for reading in readings if (keys := _matching(reading, known, namespace))), [])
        found.update(here)
        if not here:
            unknown.append(_unknown(text, readings, known, namespace))
    if unknown:
        raise UnknownOwnerError.of_lines(unknown)
    return [key for key in known.keys if key in found]


def _matching(reading: OwnerName, known: Known, namespace: str | None) -> list[ObjectKey]:
    wanted = reading.namespace or (namespace or "").lower()
    return [
        key
        for key in known.named(reading.name)
        if reading.kind in ("", key[0].lower()) and wanted in ("", key[1].lower())
    ]


def _unknown(text: str, readings: Sequence[OwnerName], known: Known, namespace: str | None) -> str:
    if not readings:
        return f"{text!r} is no name: wanted NAME, KIND/NAME, NAMESPACE/NAME or KIND/NAMESPACE/NAME"
    reading = readings[0]
    what = f"{reading.kind or 'file, pod, workload or claim'} is named {reading.name!r}"
    where = reading.namespace or namespace
    told = f"no {what}" + (f" in namespace {where}" if where else "")
    if reading.kind == NODE.lower() and reading.name in known.nodes:
        return f"{text}: pods, workloads and claims are named here; --node {known.nodes[reading.name]} chooses the node"
    if (kind := kinds.named(reading.kind)) is not None and kind.holder not in _OWNERS:
        return f"{text}: pods, workloads and claims are named here"
    if pods := known.pods_of(reading, namespace):
        return f"{told}, but {_pods_told(pods)}"
    elsewhere = [key for one in readings for key in known.named(one.name)]
    if elsewhere:
        there = ", ".join(dict.fromkeys(_form(key) for key in elsewhere[:3]))
        return f"{told}; there is {there}"
    near = _near(text, reading, known, namespace)
    return told + (f" (did you mean {near}?)" if near else "")


def _pods_told(pods: Sequence[Pod]) -> str:
    """Which pods there are of what the input lacks: those that wait by name, as they may be named instead."""
    waiting = [f"pod/{pod.metadata.name}" for pod in pods if is_waiting(pod)]
    number = len(pods)
    told = f"{number} pod{'' if number == 1 else 's'} that it controls {'is' if number == 1 else 'are'} in the input"
    if not waiting:
        return f"{told}, and {'it does not wait' if number == 1 else 'none of them waits'} for a node"
    more = f" and {len(waiting) - _MOST_PODS} more" if len(waiting) > _MOST_PODS else ""
    return f"{told}; without a node: {', '.join(waiting[:_MOST_PODS])}{more}"


def _near(text: str, reading: OwnerName, known: Known, namespace: str | None) -> str:
    """A near name that would be found as it is told: of the kind and namespace asked for, else with its own."""
    wanted = reading.namespace or (namespace or "").lower()
    fitting = [
        name for kind, where, name in known.keys if reading.kind in ("", kind.lower()) and wanted in ("", where.lower())
    ]
    if near := nearest(reading.name, fitting):
        return repr(_as_given(text, near))
    near = nearest(reading.name, (key[2] for key in known.keys))
    return next((_form(key) for key in known.keys if key[2] == near), "")


def _form(key: ObjectKey) -> str:
    kind, namespace, name = key
    return f"{kind.lower()}/{name} in namespace {namespace}"


def _as_given(text: str, name: str) -> str:
    before, slash, _ = text.rpartition("/")
    return f"{before}{slash}{name}"
