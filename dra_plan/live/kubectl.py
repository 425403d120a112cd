"""Single requests through kubectl, and the choice of the kinds and versions to read.

Requests use `kubectl get --raw PATH`, which every kubectl since 1.20 supports, and `kubectl config view`. kubectl
handles authentication, and no request changes the cluster. The kinds that planning needs are read in the newest version
that the server has. This module does not interpret objects.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import IO, Protocol, TypeVar

import msgspec

from dra_plan.errors import InputError
from dra_plan.manifests import kinds
from dra_plan.manifests.kinds import Kind

from .beside import BESIDE

PATH_VARIABLE = "KUBECTL_PATH"
"""The environment variable that names the kubectl to use instead of the one on PATH."""
SILENCE = 30.0
"""The number of seconds without new data after which a request is abandoned."""
MOST_BYTES = 256 << 20
"""The maximum size of a response in bytes. A page of 500 objects is usually far smaller."""

TOTAL = 600.0
"""The number of seconds after which a request is abandoned, even if data is still arriving."""

_PIECE = 1 << 16
_MOST_SAID = 2000
_NAMESPACE = "{.contexts[0].context.namespace}"
_DEFAULT_NAMESPACE = "default"
_SERVER_ERROR = re.compile(r"Error from server \((\w+)\): (.*)", re.DOTALL)
_LOG_LINE = re.compile(r"^[EWI]\d{4} [\d:.]+ +\d+ \S+\] ")
"""The prefix of kubectl's own log lines; its error message is in the other lines."""


class Refusal(StrEnum):
    """The reason why a request failed."""

    FORBIDDEN = "Forbidden"
    NOT_FOUND = "NotFound"
    EXPIRED = "Expired"
    FAILED = "Failed"
    """Any other reason: no connection, a timeout or an invalid response."""


class RequestError(Exception):
    """The error raised if a request fails, with the reason and kubectl's message."""

    def __init__(self, refusal: Refusal, message: str) -> None:
        self.refusal, self.message = refusal, message
        super().__init__(message)


class KubectlMissingError(InputError):
    """The error raised if kubectl is not installed."""


class Requests(Protocol):
    """A source of API server responses: kubectl, or a substitute in tests."""

    def get(self, path: str) -> bytes:
        """Return the body of the response to a GET request. Raises RequestError."""
        ...

    def stop(self) -> None:
        """Stop all requests. Running and later requests raise RequestError."""
        ...


def _on_path(name: str) -> str | None:
    """Return the program on PATH, but never the one in the current directory, which Windows would try first."""
    if Path(name).name != name:
        return shutil.which(name)
    folders = [folder for folder in map(Path, os.get_exec_path()) if folder.is_absolute()]
    endings = ("", ".exe") if os.name == "nt" else ("",)
    places = (folder / f"{name}{ending}" for folder in folders for ending in endings)
    return next((found for place in places if (found := shutil.which(str(place)))), None)


_T = TypeVar("_T")


def decoded(body: bytes, kind: type[_T], what: str) -> _T:
    """Return the decoded body of a response. `what` names the response in errors.

    Raises RequestError if the body is not UTF-8, is nested too deeply, or does not have the type `kind`.
    """
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise RequestError(Refusal.FAILED, f"{what}: {error}") from error


def find() -> str:
    """Return the path of the kubectl program: KUBECTL_PATH, or the kubectl on PATH.

    Raises KubectlMissingError if there is none.
    """
    named = os.environ.get(PATH_VARIABLE)
    program = _on_path(named or "kubectl")
    if program is not None:
        return program
    if named:
        raise KubectlMissingError(f"{PATH_VARIABLE}: cannot start this program: {named}")
    raise KubectlMissingError(f"kubectl is not on PATH; set {PATH_VARIABLE} to its path")


class _Processes:
    """The running kubectl processes, each with its login helpers; all of them can be ended at once."""

    def __init__(self) -> None:
        self._lock, self._running, self._over = threading.Lock(), set[subprocess.Popen[bytes]](), False

    def start(self, command: list[str], said: IO[bytes]) -> subprocess.Popen[bytes]:
        """Start a process. Raises RequestError after `stop`, and OSError if the program does not start."""
        with self._lock:
            if self._over:
                raise RequestError(Refusal.FAILED, "stopped")
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=said,
                start_new_session=True,  # a separate process group, so that ending it also ends login helpers
            )
            self._running.add(process)
            return process

    def ended(self, process: subprocess.Popen[bytes]) -> None:
        with self._lock:
            self._running.discard(process)

    def stop(self) -> None:
        with self._lock:
            self._over = True
            for process in self._running:
                _kill(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the process and its children; on Windows, which has no process groups, only the process."""
    if not hasattr(os, "killpg"):
        process.kill()
        return
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        process.kill()


@dataclass(frozen=True, slots=True)
class Kubectl:
    """The kubectl program, called with a context and a kubeconfig, or with kubectl's defaults.

    `silence` and `total` are time limits in seconds. The constructor raises KubectlMissingError if kubectl is not
    installed.
    """

    context: str | None = None
    kubeconfig: str | None = None
    silence: float = SILENCE
    total: float = TOTAL
    program: str = field(default_factory=find)
    _processes: _Processes = field(default_factory=_Processes, init=False, repr=False, compare=False)

    def get(self, path: str) -> bytes:
        """Return the body of the response to a GET request. Raises RequestError."""
        command = [self.program, "get", "--raw", path, f"--request-timeout={self.total:g}s", *self._options()]
        with tempfile.TemporaryFile() as said:
            try:
                process = self._processes.start(command, said)
            except OSError as error:
                raise KubectlMissingError(f"{self.program}: {(error.strerror or str(error)).lower()}") from error
            answer = _Answer(process, self.silence, self.total)
            body = answer.read()
            status = process.wait()
            self._processes.ended(process)
            said.seek(0)
            text = said.read(_MOST_SAID).decode(errors="replace")
        if answer.problem:
            raise RequestError(Refusal.FAILED, answer.problem)
        if status != 0:
            raise _refused(text, status)
        return body

    def stop(self) -> None:
        """Terminate all running kubectl processes and start no more."""
        self._processes.stop()

    def namespace(self) -> str | None:
        """Return the default namespace of the context, or None if there is no context."""
        asked = [self.program, "config", "view", "--minify", f"--output=jsonpath={_NAMESPACE}", *self._options()]
        try:
            done = subprocess.run(
                asked, stdin=subprocess.DEVNULL, capture_output=True, timeout=self.silence, check=True
            )
        except (OSError, subprocess.SubprocessError):
            return None
        return done.stdout.decode(errors="replace").strip() or _DEFAULT_NAMESPACE

    def _options(self) -> list[str]:
        named = (("--context", self.context), ("--kubeconfig", self.kubeconfig))
        return [f"{option}={value}" for option, value in named if value is not None]


class _Answer:
    """The standard output of a kubectl process; reading stops after a period of silence or too much data."""

    def __init__(self, process: subprocess.Popen[bytes], silence: float, total: float) -> None:
        self._process, self._silence, self._total = process, silence, total
        self._heard = threading.Event()
        self._ended = threading.Event()
        self.problem = ""

    def read(self) -> bytes:
        """Return all output, or the output before a problem. If there was a problem, kubectl has been asked to end."""
        stream = self._process.stdout
        assert stream is not None
        watch = threading.Thread(target=self._watch, daemon=True)
        watch.start()
        body = bytearray()
        try:
            while piece := os.read(stream.fileno(), _PIECE):
                self._heard.set()
                body += piece
                if len(body) > MOST_BYTES:
                    self._end(f"the response is too long: more than {MOST_BYTES >> 20} MiB for one page")
                    break
        except BaseException:
            _kill(self._process)
            raise
        finally:
            self._ended.set()
            self._heard.set()
            watch.join()
            stream.close()
        return bytes(body)

    def _watch(self) -> None:
        began = time.monotonic()
        while not self._ended.is_set():
            if not self._heard.wait(self._silence):
                self._end(f"the server was silent for {self._silence:g} s")
                return
            self._heard.clear()
            if self._ended.wait(self._silence / 10):
                return
            if time.monotonic() - began > self._total:
                self._end(f"the response took more than {self._total:g} s")
                return

    def _end(self, problem: str) -> None:
        self.problem = problem
        _kill(self._process)


def _refused(text: str, status: int) -> RequestError:
    """Return the error that kubectl wrote to standard error."""
    lines = [line for line in text.splitlines() if line.strip() and not _LOG_LINE.match(line)]
    said = " ".join(lines) or f"kubectl ended with status {status}"
    found = _SERVER_ERROR.search(said)
    if found is None:
        return RequestError(Refusal.FAILED, said.removeprefix("error: ").removeprefix("Error: "))
    known = {refusal.value: refusal for refusal in Refusal}
    return RequestError(known.get(found[1], Refusal.FAILED), f"{found[2]} ({found[1]})")


# -- kinds to ask for --------------------------------------------------------------------------------------------------
# Those of `manifests.kinds`, which can also be read from files: no Secrets, no ConfigMaps, nothing else.

_CHANGING = ("resource.k8s.io", "scheduling.k8s.io")
"""Groups whose resources differ between the versions of a server; all other kinds have long been v1."""
_VERSION = re.compile(r"v(\d+)(?:(alpha|beta)(\d+))?")


@dataclass(frozen=True, slots=True)
class Listed:
    """A kind in one of the versions that a server provides."""

    kind: Kind
    version: str

    @property
    def name(self) -> str:
        """The name of the resource as kubectl writes it: RESOURCE.GROUP, or RESOURCE for the core group."""
        return f"{self.kind.plural}.{self.kind.group}" if self.kind.group else self.kind.plural

    @property
    def api_version(self) -> str:
        """The API version of the list: GROUP/VERSION, or only VERSION for the core group."""
        return f"{self.kind.group}/{self.version}" if self.kind.group else self.version

    @property
    def path(self) -> str:
        """The API path that lists the objects of this kind in all namespaces."""
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
    """The APIs that a server provides: versions by group, and resources by group and version. None means unknown.

    A version is not queried if newer versions already provide every kind.
    """

    groups: dict[str, list[str]] | None
    resources: dict[tuple[str, str], set[str] | None]

    def versions(self, kind: Kind) -> list[Listed]:
        """Return the versions of the kind to try, newest first. The first one that the server provides is used."""
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
    """Return a sort key that puts newer versions first: v2, v1, v1beta2, v1beta1, v1alpha3."""
    found = _VERSION.fullmatch(version)
    if found is None:
        return 3, 0, 0
    level = {None: 0, "beta": 1, "alpha": 2}[found[2]]
    return level, -int(found[1]), -int(found[3] or 0)


def discover(requests: Requests) -> Discovery:
    """Return the APIs that the server provides.

    If the user may not list them, they are unknown, and each version has to be tried. Raises RequestError.
    """
    try:
        body = requests.get("/apis")
    except RequestError as error:
        if error.refusal is Refusal.FAILED:
            raise
        return Discovery(None, {})
    groups = decoded(body, _Groups, "the response to /apis is not a list of groups").groups
    versions = {group.name: [each.version for each in group.versions] for group in groups}
    with ThreadPoolExecutor(len(_CHANGING)) as pool:
        asked = pool.map(lambda group: _resources_of(requests, group, versions.get(group, [])), _CHANGING)
        found = {(group, version): had for group, each in zip(_CHANGING, asked, strict=True) for version, had in each}
    return Discovery({kind.group: versions.get(kind.group, []) for kind in (*kinds.every(), *BESIDE)}, found)


def _resources_of(requests: Requests, group: str, versions: Iterable[str]) -> list[tuple[str, set[str] | None]]:
    """Return the resources of each version of a group, the newest first, until every wanted kind is found."""
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
        found = decoded(requests.get(f"/apis/{group}/{version}"), _Resources, ("not a list of resources")).resources
    except RequestError:
        return None
    return {resource.name for resource in found}


OF_DEVICES = frozenset(
    ["Node", "Pod", "DeviceClass", "ResourceSlice", "ResourceClaim", "ResourceClaimTemplate", "DeviceTaintRule"]
)
"""The names of the kinds that describe devices and their users."""


def wanted(names: frozenset[str] | None = None) -> Iterable[Kind]:
    """Return the kinds to read, in snapshot order: kinds come before the kinds that refer to them.

    If `names` is given, only these kinds are returned.
    """
    first = ("Node", "Namespace", "DeviceClass", "ResourceSlice", "DeviceTaintRule")
    asked = [kind for kind in kinds.every() if names is None or kind.name in names]
    return sorted(asked, key=lambda kind: first.index(kind.name) if kind.name in first else len(first))
