"""What a cluster is asked for: the kinds that planning reads, each in the newest version that the server has of it.

The kinds are those of `manifests.kinds`, which can be read from files too: no Secret, no ConfigMap, nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import msgspec

from dra_plan.manifests import kinds
from dra_plan.manifests.kinds import Kind

from .kubectl import Refusal, RequestError, Requests

_CHANGING = ("resource.k8s.io", "scheduling.k8s.io")
"""Groups whose resources differ between the versions that a server has; of the others all have been v1 for long."""
_VERSION = re.compile(r"v(\d+)(?:(alpha|beta)(\d+))?")


@dataclass(frozen=True, slots=True)
class Listed:
    """A kind as one server has it."""

    kind: Kind
    version: str

    @property
    def name(self) -> str:
        """RESOURCE.GROUP, as kubectl takes it."""
        return f"{self.kind.plural}.{self.kind.group}" if self.kind.group else self.kind.plural

    @property
    def api_version(self) -> str:
        """GROUP/VERSION, or the version alone for the core group."""
        return f"{self.kind.group}/{self.version}" if self.kind.group else self.version

    @property
    def path(self) -> str:
        """Where the list of all objects is, in all namespaces."""
        return f"/{'apis' if self.kind.group else 'api'}/{self.api_version}/{self.kind.plural}"


class _GroupVersion(msgspec.Struct):
    version: str = ""


class _Group(msgspec.Struct):
    name: str = ""
    versions: list[_GroupVersion] = []


class _Groups(msgspec.Struct):
    groups: list[_Group] = []


class _Resource(msgspec.Struct):
    name: str = ""


class _Resources(msgspec.Struct):
    resources: list[_Resource] = []


@dataclass(frozen=True, slots=True)
class Discovery:
    """What a server has: versions by group, and resources by group and version; None for what it does not tell.

    Of versions that were not asked for, as newer ones have all that is sought, nothing is known.
    """

    groups: dict[str, list[str]] | None
    resources: dict[tuple[str, str], set[str] | None]

    def versions(self, kind: Kind) -> list[Listed]:
        """The kind in the versions to be asked for, newest first: the first that is found is the one."""
        known = sorted(kind.versions, key=age)
        if self.groups is not None and kind.group:
            known = [version for version in known if version in self.groups.get(kind.group, ())]
        found = []
        for version in known:
            listed = self.resources.get((kind.group, version))
            if listed is None or kind.plural in listed:
                found.append(Listed(kind, version))
        return found


def age(version: str) -> tuple[int, int, int]:
    """For sorting, newest first: v2, v1, v1beta2, v1beta1, v1alpha3."""
    found = _VERSION.fullmatch(version)
    if found is None:
        return 3, 0, 0
    level = {None: 0, "beta": 1, "alpha": 2}[found[2]]
    return level, -int(found[1]), -int(found[3] or 0)


def discover(requests: Requests) -> Discovery:
    """What the server says that it has. A server that does not say is asked for one version after the other."""
    try:
        groups = msgspec.json.decode(requests.get("/apis"), type=_Groups).groups
    except RequestError as error:
        if error.refusal is Refusal.FAILED:
            raise
        return Discovery(None, {})
    except msgspec.MsgspecError as error:
        raise RequestError(Refusal.FAILED, f"the answer to /apis is no list of groups: {error}") from error
    versions = {group.name: [each.version for each in group.versions] for group in groups}
    with ThreadPoolExecutor(len(_CHANGING)) as pool:
        asked = pool.map(lambda group: _resources_of(requests, group, versions.get(group, [])), _CHANGING)
        found = {(group, version): had for group, each in zip(_CHANGING, asked, strict=True) for version, had in each}
    return Discovery({kind.group: versions.get(kind.group, []) for kind in kinds.every()}, found)


def _resources_of(requests: Requests, group: str, versions: Iterable[str]) -> list[tuple[str, set[str] | None]]:
    """What each version of a group has, the newest first, until all that is sought is found."""
    sought = {kind.plural: kind for kind in kinds.every() if kind.group == group}
    found = []
    for version in sorted(versions, key=age):
        if any(version in kind.versions for kind in sought.values()):
            had = _resources(requests, group, version)
            found.append((version, had))
            sought = {name: kind for name, kind in sought.items() if name not in (had or ())}
    return found


def _resources(requests: Requests, group: str, version: str) -> set[str] | None:
    try:
        found = msgspec.json.decode(requests.get(f"/apis/{group}/{version}"), type=_Resources).resources
    except (RequestError, msgspec.MsgspecError):
        return None
    return {resource.name for resource in found}


def wanted() -> Iterable[Kind]:
    """All kinds that are asked for, in the order in which a snapshot has them: what others are judged by goes first."""
    first = ("Node", "Namespace", "DeviceClass", "ResourceSlice", "DeviceTaintRule")
    return sorted(kinds.every(), key=lambda kind: first.index(kind.name) if kind.name in first else len(first))
