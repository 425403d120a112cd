"""A cluster as it was read: what it says of itself, and its objects, as one List that every command reads."""

from __future__ import annotations

import datetime
import gzip
import os
import re
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from dra_plan.api.inventory import FAILED, FORBIDDEN, NOT_SERVED, ClusterInfo, UnlistedKind
from dra_plan.errors import InputError
from dra_plan.manifests.kinds import Kind
from dra_plan.manifests.sources import Source

from . import release
from .kubectl import Refusal, RequestError, Requests
from .pages import read_list
from .resources import Discovery, Listed, discover, wanted

AT_ONCE = 6
"""Lists that are read at the same time."""

_ESSENTIAL = ("Node", "Pod", "ResourceSlice", "DeviceClass", "ResourceClaim", "ResourceClaimTemplate")
"""Kinds without which nothing is planned if the server fails: one that says no is another matter."""

_RESOURCE_VERSION = re.compile(rb',"resourceVersion": ?"[^"]*"')
"""In the text of an object: it changes with every write, also of what planning does not read."""

Progress = Callable[[int, int, int], None]
"""Called with how many kinds are read, of how many, and the number of objects so far."""


class UnreadClusterError(InputError):
    """A cluster that can't be read, or not enough of it."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was read: each object is a JSON text without line ends."""

    info: ClusterInfo
    objects: list[bytes]

    def pieces(self, end: bytes = b"\n") -> Iterator[bytes]:
        """The List, a line for each object, ClusterInfo first."""
        yield b'{"apiVersion":"v1","kind":"List","items":[' + end
        yield header(self.info)
        for text in self.objects:
            yield b"," + end
            yield text
        yield end + b"]}" + end

    def reported(self, gates: Mapping[str, bool]) -> Snapshot:
        """The same with the gates that its scheduler reports, instead of those of the API server."""
        told = msgspec.structs.replace(
            self.info, feature_gates=dict(sorted(gates.items())), feature_gates_from="kube-scheduler /metrics"
        )
        return replace(self, info=told)

    def content(self, name: str) -> bytes:
        """The List as bytes, compressed if the name ends in .gz; the same for the same snapshot."""
        text = b"".join(self.pieces())
        return gzip.compress(text, mtime=0) if name.endswith(".gz") else text

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the List into a file, compressed if the name ends in .gz. Raises OSError."""
        Path(path).write_bytes(self.content(os.fspath(path)))

    def source(self) -> Source:
        """The same as a source that is read before any file; nobody sees its lines."""
        return Source("the cluster", b"".join(self.pieces(end=b"")), has_lines=False)


def header(info: ClusterInfo) -> bytes:
    """ClusterInfo as an object of the List, with its apiVersion and kind."""
    fields = msgspec.to_builtins(info)
    return msgspec.json.encode({"apiVersion": info.api_version, "kind": info.kind, **fields})


@dataclass(frozen=True, slots=True)
class _ReadKind:
    """What became of one kind: its objects, or why there are none."""

    objects: list[bytes]
    unlisted: UnlistedKind | None = None


def read(requests: Requests, progress: Progress | None = None) -> Snapshot:
    """The objects that planning reads, and what the cluster says of its release.

    What may not be listed, or is not served, is noted in `not_listed`. Raises UnreadClusterError if nothing may be
    listed, and if the server fails at what no plan can do without; KubectlMissingError without a kubectl.
    """
    with ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            version, discovery = _asked_first(requests, pool)
            asked = pool.submit(release.gates_of, requests)
            found = _read_all(requests, discovery, progress, pool)
            _check(found)
            gates = asked.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    info = ClusterInfo(
        server_version=version.server,
        emulation_version=version.emulated,
        feature_gates=gates.values,
        feature_gates_from=gates.source,
        time=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        not_listed=[outcome.unlisted for outcome in found.values() if outcome.unlisted is not None],
    )
    return Snapshot(info, [text for outcome in found.values() for text in outcome.objects])


def _asked_first(requests: Requests, pool: ThreadPoolExecutor) -> tuple[release.ServerVersion, Discovery]:
    """What is asked before any list, as a server that does not answer is not asked thirty times."""
    asked, discovering = pool.submit(release.version_of, requests), pool.submit(discover, requests)
    try:
        return asked.result(), discovering.result()
    except RequestError as error:
        raise UnreadClusterError(f"the cluster can't be read: {error.message}") from error


def _read_all(
    requests: Requests, discovery: Discovery, progress: Progress | None, pool: ThreadPoolExecutor
) -> dict[Kind, _ReadKind]:
    kinds = list(wanted())
    counter = _Counter(len(kinds), progress)
    running: dict[Kind, Future[_ReadKind]] = {}
    # Lists that are usually long go first, as each is read page by page.
    for kind in sorted(kinds, key=lambda kind: kind.name not in _ESSENTIAL):
        running[kind] = pool.submit(_read_kind, requests, kind, discovery, counter)
    return {kind: running[kind].result() for kind in kinds}


class _Counter:
    """What was read so far, told on the way."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._total, self._progress = total, progress
        self._kinds = self._objects = 0

    def page(self, objects: int) -> None:
        self._objects += objects
        self._tell()

    def kind(self) -> None:
        self._kinds += 1
        self._tell()

    def _tell(self) -> None:
        if self._progress is not None:
            self._progress(self._kinds, self._total, self._objects)


def _read_kind(requests: Requests, kind: Kind, discovery: Discovery, counter: _Counter) -> _ReadKind:
    """The objects of a kind in the newest version that is there. Raises UnreadClusterError for what none can lack."""
    refused: RequestError | None = None
    for listed in discovery.versions(kind):
        try:
            objects = read_list(requests, listed, counter.page)
        except RequestError as error:
            refused = error
            if error.refusal is Refusal.NOT_FOUND:
                continue
            break
        counter.kind()
        return _ReadKind(objects)
    counter.kind()
    return _ReadKind([], _unlisted(kind, refused))


def _unlisted(kind: Kind, refused: RequestError | None) -> UnlistedKind:
    name = Listed(kind, "").name
    if refused is None or refused.refusal is Refusal.NOT_FOUND:
        return UnlistedKind(resource=name, reason=NOT_SERVED)
    if refused.refusal is Refusal.FORBIDDEN:
        return UnlistedKind(resource=name, reason=FORBIDDEN, message=refused.message)
    if kind.name in _ESSENTIAL:
        raise UnreadClusterError(f"{name} can't be read, so nothing is planned: {refused.message}")
    return UnlistedKind(resource=name, reason=FAILED, message=refused.message)


def _check(found: dict[Kind, _ReadKind]) -> None:
    """Raises UnreadClusterError if the server lists nothing at all for this user."""
    if any(outcome.unlisted is None for outcome in found.values()):
        return
    said = next((each.unlisted.message for each in found.values() if each.unlisted and each.unlisted.message), "")
    raise UnreadClusterError(
        f"the cluster lists nothing that planning reads{f': {said}' if said else ''};"
        " `dra-plan snapshot --print-rbac` prints a ClusterRole that suffices"
    )


def without_time(snapshot: Snapshot) -> Snapshot:
    """The same for comparing: two readings of an unchanged cluster are equal."""
    objects = [_RESOURCE_VERSION.sub(b"", text) for text in snapshot.objects]
    return replace(snapshot, info=msgspec.structs.replace(snapshot.info, time=""), objects=objects)
