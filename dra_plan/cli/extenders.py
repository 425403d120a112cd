"""Scheduler extenders over HTTP: what stands behind the scheduler's port. Contacted only when the user allows it."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Sequence
from typing import Any

import msgspec

from dra_plan.api.core import Pod
from dra_plan.scheduler.cluster import Cluster
from dra_plan.scheduler.config import Configuration, ExtenderConfig
from dra_plan.scheduler.defaults import seconds
from dra_plan.scheduler.extenders import ExtenderError, ExtenderFilterResult
from dra_plan.scheduler.nodeinfo import NodeInfo
from dra_plan.scheduler.preemption import Candidate

DEFAULT_TIMEOUT = 5.0
_MOST_BYTES = 64 * 1024 * 1024
"""More than this is not read from an extender."""


class HttpExtender:
    """One extender of a KubeSchedulerConfiguration, with the verbs and JSON of `kube-scheduler/extender/v1`."""

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
        """Whether the pod asks for a resource that the extender manages; without any, every pod does."""
        if not self._managed:
            return True
        containers = (*pod.spec.containers, *pod.spec.init_containers)
        return any(self._managed & {*c.resources.requests, *c.resources.limits} for c in containers)

    def filter(self, pod: Pod, nodes: Sequence[NodeInfo]) -> ExtenderFilterResult:
        """Which nodes remain."""
        answer = self._ask(self._config.filter_verb, self._args(pod, nodes))
        if answer.get("error"):
            raise ExtenderError(str(answer["error"]))
        if self._config.node_cache_capable and answer.get("nodenames") is not None:
            left = [str(name) for name in answer["nodenames"]]
        else:
            items = (answer.get("nodes") or {}).get("items") or []
            left = [str(item.get("metadata", {}).get("name", "")) for item in items]
        offered = {node.name for node in nodes}
        for name in left:
            if name not in offered:
                raise ExtenderError(
                    f'extender "{self.name}" claims a filtered node "{name}" which is not found in the input'
                )
        return ExtenderFilterResult(
            left, dict(answer.get("failedNodes") or {}), dict(answer.get("failedAndUnresolvableNodes") or {})
        )

    def prioritize(self, pod: Pod, nodes: Sequence[NodeInfo]) -> dict[str, int]:
        """Scores by node."""
        answer = self._ask(self._config.prioritize_verb, self._args(pod, nodes), list)
        return {str(entry.get("host", "")): int(entry.get("score") or 0) for entry in answer}

    def process_preemption(self, pod: Pod, candidates: Sequence[Candidate], cluster: Cluster) -> list[Candidate]:
        """The candidates that remain, with the victims that the extender leaves."""
        meta = self._config.node_cache_capable
        victims = {
            c.node: {
                "pods": [{"uid": v.uid} if meta else msgspec.to_builtins(v.pod) for v in c.victims],
                "numPDBViolations": c.violations,
            }
            for c in candidates
        }
        field = "nodeNameToMetaVictims" if meta else "nodeNameToVictims"
        answer = self._ask(self._config.preempt_verb, {"pod": msgspec.to_builtins(pod), field: victims})
        left = []
        for name, entry in (answer.get("nodeNameToMetaVictims") or {}).items():
            node = cluster.nodes.get(name)
            if node is None:
                raise ExtenderError(f'extender "{self.name}" names the unknown node "{name}"')
            wanted = [str(p.get("uid", "")) for p in entry.get("pods") or []]
            missing = [uid for uid in wanted if uid not in node.pods]
            if missing:
                raise ExtenderError(f'extender "{self.name}" names pod "{missing[0]}", which is not on node "{name}"')
            left.append(
                Candidate(name, tuple(node.pods[uid] for uid in wanted), int(entry.get("numPDBViolations") or 0))
            )
        return left

    def bind(self, pod: Pod, node: str) -> None:
        """Bind the pod."""
        metadata = pod.metadata
        body = {"podName": metadata.name, "podNamespace": metadata.namespace, "podUID": metadata.uid, "node": node}
        answer = self._ask(self._config.bind_verb, body)
        if answer.get("error"):
            raise ExtenderError(str(answer["error"]))

    def _args(self, pod: Pod, nodes: Sequence[NodeInfo]) -> dict[str, Any]:
        body: dict[str, Any] = {"pod": msgspec.to_builtins(pod)}
        if self._config.node_cache_capable:
            return {**body, "nodenames": [node.name for node in nodes]}
        return {**body, "nodes": {"items": [msgspec.to_builtins(node.node) for node in nodes]}}

    def _ask(self, verb: str, body: dict[str, Any], kind: type = dict) -> Any:
        request = urllib.request.Request(
            f"{self.name}/{verb.lstrip('/')}", msgspec.json.encode(body), {"Content-Type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=self._timeout) as response:
                answer = msgspec.json.decode(response.read(_MOST_BYTES))
        except (OSError, ValueError) as problem:
            reason = problem.reason if isinstance(problem, urllib.error.URLError) else problem
            raise ExtenderError(f'extender "{self.name}" could not be asked to {verb}: {reason}') from problem
        if not isinstance(answer, kind):
            raise ExtenderError(f'extender "{self.name}" answered {verb} with something else than was expected')
        return answer


def make(config: Configuration) -> list[HttpExtender]:
    """The extenders of a configuration, those that can be ignored last, as upstream orders them."""
    made = [HttpExtender(entry) for entry in config.extenders]
    return sorted(made, key=lambda extender: extender.ignorable)
