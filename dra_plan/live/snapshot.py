"""A snapshot of a cluster: a List that every command can read, with a description of the cluster and its objects.

Contents: the fields of an object that are kept, lists read page by page, the server's feature gates and version, the
snapshot itself, the /metrics of a component, and the ClusterRole that a snapshot needs. `kubectl` makes the requests
and chooses the kinds.
"""

from __future__ import annotations

import datetime
import functools
import gzip
import os
import re
import types
import typing
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from http.client import HTTPException
from pathlib import Path
from typing import Any, NamedTuple, Union
from urllib.parse import quote

import msgspec
from msgspec.structs import fields

from dra_plan.api.core import Pod
from dra_plan.api.inventory import FAILED, FORBIDDEN, NOT_SERVED, ClusterInfo, UnlistedKind
from dra_plan.api.meta import Object, ObjectMeta, StrictObject
from dra_plan.errors import InputError, UsageError
from dra_plan.manifests.kinds import Kind
from dra_plan.manifests.sources import Source

from .beside import BESIDE, name_only
from .kubectl import SILENCE, Discovery, Listed, Refusal, RequestError, Requests, decoded, discover, wanted

# -- fields that are kept ----------------------------------------------------------------------------------------------
# The fields are those of the structs in `api`, so there is no second list. In resource.k8s.io, where every field may
# decide, everything is kept except managedFields and the data that drivers report about allocated devices.

Keep = Callable[[Any], Any]
"""A function that returns the part of a value to keep."""

_OWN_DOMAINS = ("kubernetes.io", "k8s.io")
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_DRIVER_DATA = ("data", "networkData")


def keeper(listed: Listed) -> Keep:
    """Return a function that reduces objects of this kind to the fields that planning uses.

    It returns anything else unchanged.
    """
    if listed.kind in BESIDE:
        return name_only
    if issubclass(listed.kind.type, StrictObject) or listed.kind.versions[listed.version] is not None:
        return _of_devices
    keep = _of_type(listed.kind.type) or _same
    return functools.partial(_of_pod, keep) if listed.kind.type is Pod else keep


def _of_pod(keep: Keep, value: Any) -> Any:
    """Return the kept part of a pod; pending pods keep their resource version, which shows which was rejected first."""
    kept = keep(value)
    metadata, spec = value.get("metadata"), value.get("spec")
    version = metadata.get("resourceVersion") if isinstance(metadata, dict) else None
    if version is None or not isinstance(spec, dict) or spec.get("nodeName"):
        return kept
    return {**kept, "metadata": {**kept["metadata"], "resourceVersion": version}}


def _same(value: Any) -> Any:
    return value


def _of_devices(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    kept = {**value, "metadata": _metadata(value.get("metadata"))}
    status = kept.get("status")
    devices = status.get("devices") if isinstance(status, dict) else None
    if isinstance(status, dict) and isinstance(devices, list):
        kept["status"] = {**status, "devices": [_without_data(device) for device in devices]}
    return kept


def _without_data(device: Any) -> Any:
    if not isinstance(device, dict):
        return device
    return {key: value for key, value in device.items() if key not in _DRIVER_DATA}


@functools.cache
def _fields_of_metadata() -> dict[str, Keep | None]:
    # it changes with data that planning does not use
    known = {field.encode_name: _of_type(field.type) for field in fields(ObjectMeta)}
    return {name: keep for name, keep in known.items() if name != "resourceVersion"}


def _metadata(value: Any) -> Any:
    """Return metadata without managedFields, and only with the annotations of Kubernetes' own domains."""
    kept = _of_map(value, _fields_of_metadata())
    annotations = kept.get("annotations") if isinstance(kept, dict) else None
    if isinstance(annotations, dict):
        own = {key: text for key, text in annotations.items() if _is_own(key)}
        kept = {key: item for key, item in kept.items() if key != "annotations"} | ({"annotations": own} if own else {})
    return kept


def _is_own(key: str) -> bool:
    domain = key.rpartition("/")[0]
    return key != _LAST_APPLIED and any(domain == own or domain.endswith(f".{own}") for own in _OWN_DOMAINS)


def _of_map(value: Any, known: dict[str, Keep | None]) -> Any:
    if not isinstance(value, dict):
        return value
    kept = {}
    for key, item in value.items():
        if key in known:
            keep = known[key]
            kept[key] = item if keep is None else keep(item)
    return kept


@functools.cache
def _of_type(kind: Any) -> Keep | None:
    """Return the function that reduces values of a type; None to keep everything."""
    if kind is ObjectMeta:
        return _metadata
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (Union, types.UnionType):
        return next((found for each in arguments if (found := _of_type(each)) is not None), None)
    if origin is list:
        inner = _of_type(arguments[0])
        return None if inner is None else functools.partial(_of_list, inner)
    if origin is dict:
        inner = _of_type(arguments[1])
        return None if inner is None else functools.partial(_of_values, inner)
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and issubclass(kind, Object):
        known: dict[str, Keep | None] = {}
        keep: Keep = functools.partial(_of_map, known=known)
        known.update({field.encode_name: _of_type(field.type) for field in fields(kind)})
        return keep
    return None


def _of_list(keep: Keep, value: Any) -> Any:
    return [keep(item) for item in value] if isinstance(value, list) else value


def _of_values(keep: Keep, value: Any) -> Any:
    return {key: keep(item) for key, item in value.items()} if isinstance(value, dict) else value


# -- lists, page by page -----------------------------------------------------------------------------------------------
# A list is read to its end or not at all; a partial list is never used as if it were complete.

PAGE = 500
"""The number of objects per page."""
READINGS = 3
"""The maximum number of attempts to read a list. An attempt fails if its continue token expires."""

_MOST_PAGES = 10_000
_MOST_EMPTY = 3

Heard = Callable[[int], None]
"""A callback that receives the number of objects on each page."""


class _PageMeta(msgspec.Struct):
    next_: str = msgspec.field(default="", name="continue")


class _Page(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    metadata: _PageMeta | None = None
    items: list[msgspec.Raw] | None = None


def read_list(requests: Requests, listed: Listed, heard: Heard) -> list[bytes]:
    """Return all objects of the kind as JSON texts, in the server's order.

    The texts contain only the fields that planning uses. Raises RequestError if the list cannot be read completely.
    """
    for reading in range(1, READINGS + 1):
        try:
            return _read_once(requests, listed, heard)
        except RequestError as error:
            if error.refusal is not Refusal.EXPIRED:
                raise
            if reading == READINGS:
                message = f"the list changed while it was read, {READINGS} times: {error.message}"
                raise RequestError(Refusal.FAILED, message) from error
    raise AssertionError


def _read_once(requests: Requests, listed: Listed, heard: Heard) -> list[bytes]:
    keep, header = keeper(listed), {"apiVersion": listed.api_version, "kind": listed.kind.name}
    found: list[bytes] = []
    names: set[tuple[Any, Any]] = set()
    token, empty = "", 0
    seen = {token}
    for _ in range(_MOST_PAGES):
        path = f"{listed.path}?limit={PAGE}" + (f"&continue={quote(token, safe='')}" if token else "")
        page = _page(requests.get(path), listed)
        items = page.items or []
        for raw in items:
            value = _object(raw)
            name = _name(value)
            if name in names:
                raise RequestError(Refusal.FAILED, ("the response never ends: a later page repeats objects"))
            names.add(name)
            found.append(msgspec.json.encode({**header, **keep(value)}))
        heard(len(items))
        token = page.metadata.next_ if page.metadata is not None else ""
        if not token:
            return found
        empty = 0 if items else empty + 1
        if token in seen or empty >= _MOST_EMPTY:
            break
        seen.add(token)
    raise RequestError(Refusal.FAILED, "the response never ends: each page announces another one")


def _page(body: bytes, listed: Listed) -> _Page:
    page = decoded(body, _Page, "the response is not a complete JSON document")
    wanted = f"{listed.kind.name}List"
    if page.kind != wanted or page.api_version != listed.api_version:
        got = f"{page.kind} of {page.api_version}" if page.kind else "something else"
        raise RequestError(Refusal.FAILED, f"the response is {got}, instead of {wanted} of {listed.api_version}")
    return page


def _object(raw: msgspec.Raw) -> dict[str, Any]:
    value: Any = decoded(bytes(raw), object, "an object of the list cannot be read")
    if not isinstance(value, dict) or not isinstance(value.get("metadata"), dict):
        raise RequestError(Refusal.FAILED, "an object of the list has no metadata")
    return value


def _name(value: dict[str, Any]) -> tuple[Any, Any]:
    metadata = value["metadata"]
    namespace, name = metadata.get("namespace"), metadata.get("name")
    if not isinstance(name, str) or not isinstance(namespace, str | None):
        raise RequestError(Refusal.FAILED, "an object of the list has no name")
    return namespace, name


# -- feature gates of a component --------------------------------------------------------------------------------------

_METRIC = re.compile(r"^kubernetes_feature_enabled\{([^}]*)\}\s+([01])(?:\.0*)?\s*$", re.MULTILINE)
_NAME = re.compile(r'(?:^|,)\s*name="([A-Za-z0-9]+)"')
_FLAG = re.compile(r"^(?:--)?feature-gates[ :=\t]\s*(.*)$", re.MULTILINE)
_JSON_FLAG = re.compile(r'"feature-gates"\s*:\s*"([^"]*)"')
_GATE = re.compile(r":?([A-Za-z0-9]+)=(true|false)")


def of_metrics(text: str) -> dict[str, bool]:
    """Return the feature gates that are listed in the metrics of a Kubernetes component.

    The result is empty if none are listed.
    """
    found = {}
    for labels, value in _METRIC.findall(text):
        name = _NAME.search(labels)
        if name is not None:
            found[name[1]] = value == "1"
    return found


def of_flags(text: str) -> dict[str, bool] | None:
    """Return the feature gates in a component's command line, or None if the text is not a list of flags."""
    line = _JSON_FLAG.search(text) if text.lstrip().startswith("{") else _FLAG.search(text)
    if line is None:
        return None
    return {name: value == "true" for name, value in _GATE.findall(line[1])}


# -- the release of a cluster ------------------------------------------------------------------------------------------
# The gates are the API server's. The scheduler's gates may differ, and only the scheduler itself reports them.


class ServerVersion(NamedTuple):
    """The API server's version (`v1.36.2`), and the minor version that it emulates, or ""."""

    server: str
    emulated: str


class ReportedGates(NamedTuple):
    """The feature gates that a component reports, and the name of the component.

    Both are empty if no component reports feature gates.
    """

    values: dict[str, bool]
    source: str


class _Version(msgspec.Struct, rename="camel"):
    git_version: str = ""
    major: str = ""
    minor: str = ""
    emulation_major: str = ""
    emulation_minor: str = ""


def version_of(requests: Requests) -> ServerVersion:
    """Return the server's version, which is empty if access is denied. Raises RequestError if the request fails."""
    try:
        body = requests.get("/version")
    except RequestError as error:
        if error.refusal in (Refusal.FORBIDDEN, Refusal.NOT_FOUND):
            return ServerVersion("", "")
        raise
    found = decoded(body, _Version, "the response to /version is not valid")
    own = (found.major, found.minor.removesuffix("+"))
    emulated = (found.emulation_major, found.emulation_minor.removesuffix("+"))
    differs = all(emulated) and emulated != own
    return ServerVersion(found.git_version, ".".join(emulated) if differs else "")


def gates_of(requests: Requests) -> ReportedGates:
    """Return the feature gates in the server's /metrics or, if it has none, in /flagz.

    The result is empty if neither can be read.
    """
    for path, parse in (("/metrics", of_metrics), ("/flagz", of_flags)):
        try:
            found = parse(requests.get(path).decode(errors="replace"))
        except RequestError:
            continue
        if found or (found is not None and path == "/flagz"):
            return ReportedGates(dict(sorted(found.items())), f"kube-apiserver {path}")
    return ReportedGates({}, "")


# -- the snapshot ------------------------------------------------------------------------------------------------------

AT_ONCE = 6
"""The number of lists read in parallel."""

_ESSENTIAL = ("Node", "Pod", "ResourceSlice", "DeviceClass", "ResourceClaim", "ResourceClaimTemplate")
"""Kinds without which planning is impossible if the server fails; denied access is handled separately."""

_RESOURCE_VERSION = re.compile(rb',"resourceVersion": ?"[^"]*"')
"""The resource version in the text of an object: it changes with every write, even of data that planning ignores."""

Progress = Callable[[int, int, int], None]
"""A callback that receives the number of kinds read, the total number of kinds, and the number of objects so far."""


class UnreadClusterError(InputError):
    """The error raised if a cluster cannot be read, or if too little of it can be read."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of a cluster at the time when it was read. Each object is stored as JSON on one line."""

    info: ClusterInfo
    objects: list[bytes]

    def pieces(self, end: bytes = b"\n") -> Iterator[bytes]:
        """Yield the text of a snapshot file in parts. The text is a Kubernetes List with one object per line."""
        yield b'{"apiVersion":"v1","kind":"List","items":[' + end
        yield header(self.info)
        for text in self.objects:
            yield b"," + end
            yield text
        yield end + b"]}" + end

    def reported(self, gates: Mapping[str, bool]) -> Snapshot:
        """Return the snapshot with the scheduler's feature gates in place of the API server's feature gates."""
        told = msgspec.structs.replace(
            self.info, feature_gates=dict(sorted(gates.items())), feature_gates_from="kube-scheduler /metrics"
        )
        return replace(self, info=told)

    def content(self, name: str) -> bytes:
        """Return the content of a snapshot file: a Kubernetes List, compressed if the file name ends in .gz.

        Equal snapshots have equal contents.
        """
        text = b"".join(self.pieces())
        return gzip.compress(text, mtime=0) if name.endswith(".gz") else text

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the snapshot to a file, compressed if the file name ends in .gz.

        Raises OSError if the file cannot be written.
        """
        Path(path).write_bytes(self.content(os.fspath(path)))

    def source(self) -> Source:
        """Return the snapshot as input for a cluster. Its objects have no line numbers."""
        return Source("the cluster", b"".join(self.pieces(end=b"")), has_lines=False)


def header(info: ClusterInfo) -> bytes:
    """Return ClusterInfo as a JSON object with its apiVersion and kind."""
    fields = msgspec.to_builtins(info)
    return msgspec.json.encode({"apiVersion": info.api_version, "kind": info.kind, **fields})


@dataclass(frozen=True, slots=True)
class _ReadKind:
    """The result for one kind: its objects, or why there are none."""

    objects: list[bytes]
    unlisted: UnlistedKind | None = None


def read(requests: Requests, progress: Progress | None = None, *, names: frozenset[str] | None = None) -> Snapshot:
    """Return a snapshot of the objects that planning needs. If `names` is given, only these kinds are read.

    Kinds that the user may not list, or that the server does not provide, are recorded in `not_listed`. Raises
    UnreadClusterError if the user may not list anything, or if the server fails to list a kind that every plan needs.
    Raises KubectlMissingError if kubectl is not installed.
    """
    with ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            version, discovery = _asked_first(requests, pool)
            asked = pool.submit(gates_of, requests)
            found = _read_all(requests, discovery, progress, pool, names)
            _check(found)
            gates = asked.result()
        except BaseException:
            requests.stop()  # also pending requests: the pool ends when its threads do
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    info = ClusterInfo(
        server_version=version.server,
        emulation_version=version.emulated,
        feature_gates=gates.values,
        feature_gates_from=gates.source,
        time=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        not_listed=[
            outcome.unlisted
            for kind, outcome in found.items()
            if outcome.unlisted is not None and not (kind in BESIDE and outcome.unlisted.reason == NOT_SERVED)
        ],
    )
    return Snapshot(info, [text for outcome in found.values() for text in outcome.objects])


def _asked_first(requests: Requests, pool: ThreadPoolExecutor) -> tuple[ServerVersion, Discovery]:
    """Return the requests before any list, so that a server that does not respond gets one request, not thirty."""
    asked, discovering = pool.submit(version_of, requests), pool.submit(discover, requests)
    try:
        return asked.result(), discovering.result()
    except RequestError as error:
        raise UnreadClusterError(f"cannot read the cluster: {error.message}") from error


def _read_all(
    requests: Requests,
    discovery: Discovery,
    progress: Progress | None,
    pool: ThreadPoolExecutor,
    names: frozenset[str] | None,
) -> dict[Kind, _ReadKind]:
    beside = [kind for kind in BESIDE if names is None and discovery.groups is not None and discovery.versions(kind)]
    kinds = [*wanted(names), *beside]
    counter = _Counter(len(kinds), progress)
    running: dict[Kind, Future[_ReadKind]] = {}
    # Lists that are usually long come first, because each is read page by page; claims come after pods.
    for kind in sorted(kinds, key=lambda kind: _ESSENTIAL.index(kind.name) if kind.name in _ESSENTIAL else len(kinds)):
        pods = next((running[each] for each in running if each.name == "Pod"), None)
        after = pods if kind.name == "ResourceClaim" else None
        running[kind] = pool.submit(_read_kind, requests, kind, discovery, counter, after)
    return {kind: running[kind].result() for kind in kinds}


class _Counter:
    """Counts the objects read so far, and reports progress."""

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


def _read_kind(
    requests: Requests, kind: Kind, discovery: Discovery, counter: _Counter, after: Future[_ReadKind] | None
) -> _ReadKind:
    """Return the objects of a kind in its newest served version.

    Raises UnreadClusterError for a missing essential kind.
    A kind that must be read `after` another waits for it. Claims wait for pods: the scheduler allocates a claim before
    it binds the pod, so a pod that was bound when read has a claim that is read with its devices. In the reverse order,
    a pod bound in between would appear never to have got any.
    """
    if after is not None:
        after.exception()
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
        raise UnreadClusterError(f"cannot read {name}, so nothing is planned: {refused.message}")
    return UnlistedKind(resource=name, reason=FAILED, message=refused.message)


def _check(found: dict[Kind, _ReadKind]) -> None:
    """Raise UnreadClusterError if the server lists nothing at all for this user."""
    if any(outcome.unlisted is None for kind, outcome in found.items() if kind not in BESIDE):
        return
    said = next((each.unlisted.message for each in found.values() if each.unlisted and each.unlisted.message), "")
    raise UnreadClusterError(
        f"the cluster lists no object that planning needs{f': {said}' if said else ''}; `dra-plan "
        "snapshot --print-rbac` prints a ClusterRole with the required permissions"
    )


def without_time(snapshot: Snapshot) -> Snapshot:
    """Return the snapshot without times and resource versions. Snapshots of an unchanged cluster are then equal."""
    objects = [_RESOURCE_VERSION.sub(b"", text) for text in snapshot.objects]
    return replace(snapshot, info=msgspec.structs.replace(snapshot.info, time=""), objects=objects)


# -- metrics of a component --------------------------------------------------------------------------------------------
# Metrics come from a file, or from an address that is read once.

_ADDRESSES = ("http://", "https://")
_MOST_BYTES = 64 << 20


def text_of(place: str, *, may_ask: bool) -> str:
    """Return the metrics in a file or at a URL. `may_ask` allows URLs.

    Raises UsageError if the metrics cannot be read, or if a URL is not allowed.
    """
    if not place.startswith(_ADDRESSES):
        try:
            return Path(place).read_text(encoding="utf-8", errors="replace")
        except (OSError, ValueError) as error:
            said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise UsageError(f"--scheduler-metrics {place}: {said.lower()}") from error
    if not may_ask:
        raise UsageError("--scheduler-metrics with a URL needs --live")
    try:
        with urllib.request.urlopen(place, timeout=SILENCE) as answer:
            return str(answer.read(_MOST_BYTES).decode(errors="replace"))
    except (OSError, HTTPException, ValueError) as error:
        said = str(error.reason) if isinstance(error, urllib.error.URLError) else str(error)
        raise UsageError(f"--scheduler-metrics {place}: {said}") from error


# -- the ClusterRole ---------------------------------------------------------------------------------------------------
# These are the minimal permissions for a snapshot.

GATES = ("/metrics", "/flagz")
"""The API server's paths that report feature gates. Without them, the defaults of the release apply."""
NAME = "dra-plan-snapshot"


def cluster_role() -> str:
    """Return the ClusterRole, as YAML, that allows everything a snapshot reads."""
    groups: dict[str, list[str]] = {}
    for kind in (*wanted(), *BESIDE):
        groups.setdefault(kind.group, []).append(kind.plural)
    lines = ["apiVersion: rbac.authorization.k8s.io/v1", "kind: ClusterRole", "metadata:", f"  name: {NAME}", "rules:"]
    for group, plurals in sorted(groups.items()):
        lines += [f'- apiGroups: ["{group}"]', f"  resources: [{', '.join(plurals)}]", "  verbs: [list]"]
    lines += [f"- nonResourceURLs: [{', '.join(GATES)}]", "  verbs: [get]"]
    return "\n".join(lines) + "\n"
