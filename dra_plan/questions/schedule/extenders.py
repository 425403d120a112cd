"""HTTP clients for scheduler extenders. They make requests only if the user allows it."""

from __future__ import annotations

import contextlib
import time
import urllib.request
from collections.abc import Iterator, Sequence
from typing import IO, Any

import msgspec

from dra_plan.api.core import Pod
from dra_plan.scheduler.cluster.cluster import SimulatedCluster
from dra_plan.scheduler.cluster.nodes import NodeInfo
from dra_plan.scheduler.config import Configuration, ExtenderConfig, seconds
from dra_plan.scheduler.framework.extender import Candidate, ExtenderError, ExtenderFilterResult

DEFAULT_TIMEOUT = 5.0


_PIECE = 64 * 1024


_MOST_BYTES = 64 * 1024 * 1024
"""The maximum number of bytes read from an extender."""


class HttpExtender:
    """An extender of a KubeSchedulerConfiguration, called as defined by `kube-scheduler/extender/v1`.

    Fields of this API have no JSON names, so they are written as in Go: `Pod`, `NodeNames`.
    """

    def __init__(self, config: ExtenderConfig) -> None:
        prefix = config.url_prefix.rstrip("/")
        if not prefix.startswith(("http://", "https://")):
            raise ExtenderError(f"extender {prefix!r}: only http and https addresses are contacted")
        self.name = prefix
        self.ignorable = config.ignorable
        self.weight = config.weight
        self.is_filter = bool(config.filter_verb)
        self.is_prioritizer = bool(config.prioritize_verb)
        self.is_binder = bool(config.bind_verb)
        self.supports_preemption = bool(config.preempt_verb)
        self._config = config
        self._timeout = seconds(config.http_timeout, DEFAULT_TIMEOUT) or DEFAULT_TIMEOUT
        self._managed = frozenset(resource.name for resource in config.managed_resources)

    def is_interested(self, pod: Pod) -> bool:
        """Return whether the pod requests a resource that the extender manages.

        An extender without managed resources is interested in every pod.
        """
        if not self._managed:
            return True
        containers = (*pod.spec.containers, *pod.spec.init_containers)
        return any(self._managed & {*c.resources.requests, *c.resources.limits} for c in containers)

    def filter(self, pod: Pod, nodes: Sequence[NodeInfo]) -> ExtenderFilterResult:
        """Return the nodes that the extender does not reject."""
        answer = self._ask(self._config.filter_verb, self._args(pod, nodes))
        with self._understood(self._config.filter_verb):
            return self._filtered(answer, nodes)

    def _filtered(self, answer: Any, nodes: Sequence[NodeInfo]) -> ExtenderFilterResult:
        if _field(answer, "Error"):
            raise ExtenderError(str(_field(answer, "Error")))
        names = _field(answer, "NodeNames")
        if self._config.node_cache_capable and names is not None:
            left = [str(name) for name in names]
        else:
            items = (_field(answer, "Nodes") or {}).get("items") or []
            left = [str(item.get("metadata", {}).get("name", "")) for item in items]
        offered = {node.name for node in nodes}
        for name in left:
            if name not in offered:
                what = f'extender "{self.name}" claims a filtered node "{name}"'
                raise ExtenderError(f"{what} which is not found in the input node list")
        failed, unresolvable = _field(answer, "FailedNodes"), _field(answer, "FailedAndUnresolvableNodes")
        return ExtenderFilterResult(left, dict(failed or {}), dict(unresolvable or {}))

    def prioritize(self, pod: Pod, nodes: Sequence[NodeInfo]) -> dict[str, int]:
        """Return the extender's scores by node."""
        answer = self._ask(self._config.prioritize_verb, self._args(pod, nodes), list)
        with self._understood(self._config.prioritize_verb):
            return {str(_field(entry, "Host") or ""): int(_field(entry, "Score") or 0) for entry in answer}

    def process_preemption(
        self, pod: Pod, candidates: Sequence[Candidate], cluster: SimulatedCluster
    ) -> list[Candidate]:
        """Return the candidates that the extender accepts, with the victims that it leaves."""
        meta = self._config.node_cache_capable
        victims = {
            c.node: {
                "Pods": [{"UID": v.uid} if meta else msgspec.to_builtins(v.pod) for v in c.victims],
                "NumPDBViolations": c.violations,
            }
            for c in candidates
        }
        body = {
            "Pod": msgspec.to_builtins(pod),
            "NodeNameToVictims": None if meta else victims,
            "NodeNameToMetaVictims": victims if meta else None,
        }
        answer = _field(self._ask(self._config.preempt_verb, body), "NodeNameToMetaVictims") or {}
        with self._understood(self._config.preempt_verb):
            return [self._candidate(name, entry or {}, cluster) for name, entry in answer.items()]

    def _candidate(self, name: str, entry: dict[str, Any], cluster: SimulatedCluster) -> Candidate:
        node = cluster.nodes.get(name)
        if node is None:
            raise ExtenderError(f'nodeinfo not found for node name "{name}"')
        wanted = [str(_field(pod, "UID") or "") for pod in _field(entry, "Pods") or []]
        for uid in wanted:
            if uid not in node.pods:
                where = f"(UID: {uid}) on node: {name}, but the pod is not found on that node"
                raise ExtenderError(f"extender: {self.name} claims to preempt pod {where}")
        violations = int(_field(entry, "NumPDBViolations") or 0)
        return Candidate(name, tuple(node.pods[uid] for uid in wanted), violations)

    def bind(self, pod: Pod, node: str) -> None:
        """Ask the extender to bind the pod to the node."""
        metadata = pod.metadata
        body = {"PodName": metadata.name, "PodNamespace": metadata.namespace, "PodUID": metadata.uid, "Node": node}
        answer = self._ask(self._config.bind_verb, body)
        if _field(answer, "Error"):
            raise ExtenderError(str(_field(answer, "Error")))

    def _args(self, pod: Pod, nodes: Sequence[NodeInfo]) -> dict[str, Any]:
        cached = self._config.node_cache_capable
        items = None if cached else {"items": [msgspec.to_builtins(node.node) for node in nodes]}
        return {
            "Pod": msgspec.to_builtins(pod),
            "Nodes": items,
            "NodeNames": [node.name for node in nodes] if cached else None,
        }

    def _ask(self, verb: str, body: dict[str, Any], kind: type = dict) -> Any:
        url = f"{self.name}/{verb}"
        request = urllib.request.Request(url, msgspec.json.encode(body), {"Content-Type": "application/json"})
        try:
            with _OPENER.open(request, timeout=self._timeout) as response:
                answer = msgspec.json.decode(self._read(response))
        except urllib.error.HTTPError as problem:
            raise ExtenderError(f"failed {verb} with extender at URL {url}, code {problem.code}") from problem
        except (OSError, ValueError, RecursionError) as problem:
            reason = problem.reason if isinstance(problem, urllib.error.URLError) else problem
            raise ExtenderError(f'extender "{self.name}" could not be asked to {verb}: {reason}') from problem
        if not isinstance(answer, kind):
            raise ExtenderError(f'extender "{self.name}" answered {verb} with something else than was expected')
        return answer

    def _read(self, response: IO[bytes]) -> bytes:
        """Return the response, within a limit on its total time; slow responses are abandoned."""
        ends, data = time.monotonic() + self._timeout, bytearray()
        while piece := response.read1(_PIECE):  # type: ignore[attr-defined]
            data += piece
            if len(data) > _MOST_BYTES:
                raise ValueError(f"the response has more than {_MOST_BYTES:,} bytes")
            if time.monotonic() > ends:
                raise TimeoutError("timed out")
        return bytes(data)

    @contextlib.contextmanager
    def _understood(self, verb: str) -> Iterator[None]:
        """Turn any failure to decode a response into an error of the extender."""
        try:
            yield
        except (TypeError, ValueError, AttributeError, OverflowError, RecursionError) as problem:
            raise ExtenderError(f'extender "{self.name}" answered {verb} with something else than was expected') from (
                problem
            )


class _SameHost(urllib.request.HTTPRedirectHandler):
    """Follows redirects on the host in the configuration only."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        """Return the request of a redirect. Raises URLError for another host."""
        old, new = urllib.parse.urlsplit(req.full_url), urllib.parse.urlsplit(newurl)
        if (old.scheme, old.netloc) != (new.scheme, new.netloc):
            raise urllib.error.URLError("it redirects to another host")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


_OPENER = urllib.request.build_opener(_SameHost)


def _field(answer: Any, name: str) -> Any:
    """Return a field of a response, ignoring case like Go's JSON decoder; None if it is missing."""
    if not isinstance(answer, dict):
        return None
    if name in answer:
        return answer[name]
    return next((value for key, value in answer.items() if key.lower() == name.lower()), None)


def make(config: Configuration) -> list[HttpExtender]:
    """Return the extenders of a configuration, with ignorable extenders last, as in kube-scheduler."""
    made = [HttpExtender(entry) for entry in config.extenders]
    return sorted(made, key=lambda extender: extender.ignorable)
