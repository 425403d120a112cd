"""An API server on the loopback address that answers as a real one, 1.36.2, was recorded to answer.

`apiserver.jsonl.gz` holds an answer a line: the run of the server (its gates, or what it serves), path, user, status
and body. What was not recorded is what the discovery of that run says: a list that is served is empty, and what a user
may not do is rejected in the recorded words. `Answers.faults` make it a broken server.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import gzip
import json
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from dra_plan.live.kubectl import Refusal, RequestError

_LIST = re.compile(r"/(?:api|apis/([a-z0-9.]+))/([a-z0-9]+)/([a-z]+)")
_CORE = "resourceslices deviceclasses resourceclaims resourceclaimtemplates devicetaintrules"
RIGHTS = {
    "admin": None,
    "planner": "nodes namespaces pods priorityclasses workloads podgroups poddisruptionbudgets deployments replicasets"
    f" statefulsets daemonsets jobs cronjobs {_CORE}",
    "noslices": "nodes namespaces pods deviceclasses resourceclaims resourceclaimtemplates",
    "viewer": "namespaces pods services replicationcontrollers persistentvolumeclaims poddisruptionbudgets deployments"
    " replicasets statefulsets daemonsets jobs cronjobs resourceclaims resourceclaimtemplates",
    "nobody": "",
}
"""What users may list, None for everything; of paths, only admin and planner may ask for /metrics and /flagz."""
_ALWAYS_SERVED = ("v1", "apps/v1", "batch/v1", "policy/v1", "storage.k8s.io/v1")


@dataclass(frozen=True)
class Answer:
    """A status with a body; plain text, or an object."""

    status: int
    body: Any

    @property
    def content(self) -> bytes:
        return self.body.encode() if isinstance(self.body, str) else json.dumps(self.body).encode()


@functools.cache
def _recorded() -> dict[tuple[str, str | None, str], Answer]:
    with gzip.open(Path(__file__).parent / "apiserver.jsonl.gz", "rt", encoding="utf-8") as lines:
        entries = [json.loads(line) for line in lines]
    return {(each["run"], each["user"], _asked(each["path"])): Answer(each["status"], each["body"]) for each in entries}


def _asked(target: str) -> str:
    """A path with its query in one order, and without the time-out that kubectl adds."""
    path, _, query = target.partition("?")
    words = sorted(word for word in query.split("&") if word and not word.startswith("timeout="))
    return "?".join([path, *(["&".join(words)] if words else [])])


Fault = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Answers:
    """What one run of the server says to each user; `seen` are the requests, `lists` replaces or adds lists."""

    run: str = "default"
    lists: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    faults: dict[str, Fault] = field(default_factory=dict)
    seen: list[str] = field(default_factory=list)

    def to(self, user: str | None, target: str) -> Answer:
        """The answer to a request."""
        path = urlsplit(target).path
        self.seen.append(path)
        if user == "__bad":
            return _recorded()["default", "__bad", "/api/v1/nodes"]
        resource = _LIST.fullmatch(path)
        refused = _recorded().get((self.run, user, _asked(target)))
        if refused is not None and refused.status >= 400 and path not in self.lists:
            return refused
        if user is None and path != "/version":
            return self._forbidden(None, path, resource)
        if resource is None:
            return self._page(user, path)
        group, version, plural = resource[1] or "", resource[2], resource[3]
        rights = RIGHTS[str(user)]
        if rights is not None and plural not in rights.split():
            return self._forbidden(user, path, resource)
        exact = _recorded().get((self.run, "admin", _asked(target)))
        if exact is not None and path not in self.lists:
            return exact
        found = self._list(group, version, plural, path)
        return _sliced(found, urlsplit(target).query) if found.status == 200 else found

    def _page(self, user: str | None, path: str) -> Answer:
        if path in ("/metrics", "/flagz") and user not in ("admin", "planner"):
            return self._forbidden(user, path, None)
        found = _recorded().get((self.run, "admin", path)) or _recorded().get((self.run, None, path))
        return found or Answer(404, "404 page not found\n")

    def _list(self, group: str, version: str, plural: str, path: str) -> Answer:
        known = _recorded().get((self.run, "admin", path))
        if known is None and self.run != "default":
            known = _recorded().get(("default", "admin", path)) if self._serves(group, version, plural) else None
        if path in self.lists:
            first = {"kind": _kind(plural), "apiVersion": f"{group}/{version}" if group else version}
            return Answer(200, {**first, "metadata": {"resourceVersion": "1"}, "items": self.lists[path]})
        if known is not None:
            return known
        if not self._serves(group, version, plural):
            return Answer(404, _status(404, "NotFound", "the server could not find the requested resource"))
        header = {"kind": _kind(plural), "apiVersion": f"{group}/{version}" if group else version}
        return Answer(200, {**header, "metadata": {"resourceVersion": "993"}, "items": []})

    def _serves(self, group: str, version: str, plural: str) -> bool:
        name = f"{group}/{version}" if group else version
        if name in _ALWAYS_SERVED:
            return True
        found = _recorded().get((self.run, "admin", f"/apis/{name}"))
        resources = found.body["resources"] if found is not None and found.status == 200 else ()
        return plural in {resource["name"] for resource in resources}

    def _forbidden(self, user: str | None, path: str, resource: re.Match[str] | None) -> Answer:
        known = _recorded().get((self.run, user, path)) or _recorded().get(("default", user, path))
        if known is not None and known.status == 403:
            return known
        name = user or "system:anonymous"
        if resource is None:
            return Answer(403, _status(403, "Forbidden", f'forbidden: User "{name}" cannot get path "{path}"'))
        group, plural = resource[1] or "", resource[3]
        full = f"{plural}.{group}" if group else plural
        message = (
            f'{full} is forbidden: User "{name}" cannot list resource "{plural}" in API group "{group}" at the'
            " cluster scope"
        )
        return Answer(403, _status(403, "Forbidden", message))


def _status(code: int, reason: str, message: str) -> dict[str, Any]:
    header = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
    return {**header, "message": message, "reason": reason, "details": {}, "code": code}


def _kind(plural: str) -> str:
    from dra_plan.live.beside import BESIDE
    from dra_plan.manifests import kinds

    found = kinds.named(plural) or next((kind for kind in BESIDE if kind.plural == plural), None)
    assert found is not None, plural
    return f"{found.name}List"


def _sliced(answer: Answer, query: str) -> Answer:
    """The page of a list that `limit` and `continue` ask for; tokens name the object before, as the server's do."""
    asked = {key: values[0] for key, values in parse_qs(query).items()}
    items, limit = answer.body["items"] or [], int(asked.get("limit", 0))
    start = 0
    if "continue" in asked:
        token = asked["continue"]
        before = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))["start"].rstrip("\0")
        start = [_key(item) for item in items].index(before) + 1
    if not limit or start + limit >= len(items):
        return Answer(200, {**answer.body, "items": items[start:]}) if start else answer
    last = {"v": "meta.k8s.io/v1", "rv": 993, "start": _key(items[start + limit - 1]) + "\0"}
    token = base64.urlsafe_b64encode(json.dumps(last).encode()).decode().rstrip("=")
    metadata = {**answer.body["metadata"], "continue": token}
    return Answer(200, {**answer.body, "metadata": metadata, "items": items[start : start + limit]})


def _key(item: dict[str, Any]) -> str:
    metadata = item["metadata"]
    return f"{metadata['namespace']}/{metadata['name']}" if "namespace" in metadata else str(metadata["name"])


def whole_lists(answers: Answers) -> list[dict[str, Any]]:
    """All lists that planning reads, with kind and apiVersion in each object, as kubectl prints them."""
    from dra_plan.live.kubectl import Listed, wanted

    found = []
    for kind in wanted():
        for version in ("v1", "v1beta2"):
            answer = answers.to("admin", Listed(kind, version).path)
            if answer.status == 200:
                header = {"apiVersion": answer.body["apiVersion"], "kind": kind.name}
                found.append({"items": [{**header, **item} for item in answer.body["items"]]})
                break
    return found


class Instant:
    """What stands for kubectl and answers at once: there is nothing to stop."""

    def stop(self) -> None:
        pass


@dataclass
class InProcess(Instant):
    """What stands for kubectl where its own behaviour does not matter: the same answers, without processes."""

    answers: Answers
    user: str | None = "admin"

    def namespace(self) -> str | None:
        return None

    def get(self, path: str) -> bytes:
        answer = self.answers.to(self.user, path)
        if answer.status == 200:
            return answer.content
        refusals = {403: Refusal.FORBIDDEN, 404: Refusal.NOT_FOUND, 410: Refusal.EXPIRED}
        message = answer.body["message"] if isinstance(answer.body, dict) else answer.body
        raise RequestError(refusals.get(answer.status, Refusal.FAILED), message)


@contextlib.contextmanager
def served(answers: Answers, user: str | None = "admin") -> Iterator[str]:
    """The address of a server that gives these answers, for as long as the block runs.

    It takes everybody for `user`: kubectl sends no credentials where there is no TLS.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            fault = answers.faults.get(path)
            if fault is not None:
                answers.seen.append(path)
                fault(self)
                return
            send(self, answers.to(user, self.path))

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """A client that leaves, or a fault that closes the connection, is no news."""

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def send(handler: BaseHTTPRequestHandler, answer: Answer, *, length: int | None = None) -> None:
    """Sends an answer, perhaps with another length than it has."""
    plain = isinstance(answer.body, str)
    handler.send_response(answer.status)
    handler.send_header("Content-Type", "text/plain; charset=utf-8" if plain else "application/json")
    handler.send_header("Content-Length", str(len(answer.content) if length is None else length))
    handler.end_headers()
    handler.wfile.write(answer.content)


def kubeconfig(folder: Path, address: str, namespace: str | None = None) -> str:
    """A kubeconfig with the context `replay`, which is the current one, and `elsewhere`, where nobody listens.

    `namespace` is that of `replay`.
    """
    path = folder / "kubeconfig"
    servers = {"replay": address, "elsewhere": "http://127.0.0.1:9"}
    document: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {"server": server}} for name, server in servers.items()],
        "users": [{"name": "me", "user": {}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": "me"}} for name in servers],
        "current-context": "replay",
    }
    if namespace is not None:
        document["contexts"][0]["context"]["namespace"] = namespace
    path.write_text(json.dumps(document), encoding="utf-8")
    return str(path)
