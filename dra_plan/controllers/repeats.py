"""Clusters that never settle because pods are evicted and recreated and the same state returns again and again."""

from __future__ import annotations

from collections import Counter

from dra_plan.api.core import Pod
from dra_plan.scheduler.cluster.cluster import SimulatedCluster

from .apiserver import ApiServer
from .state import EndedPod

MOST_REPEATS = 4
"""How often an earlier state may return, with evictions in between, before the cluster counts as never settling."""
ENDLESS = "pods are evicted and recreated endlessly"
"""The reason why a cluster that repeats its states never settles."""


class Repeats:
    """A count of the states of a cluster after evictions, used to detect that it never settles."""

    def __init__(self, server: ApiServer, cluster: SimulatedCluster, unwatched: int = 0) -> None:
        """Start counting, but only after `unwatched` more pods have ended."""
        self._server, self._cluster = server, cluster
        self._seen: Counter[object] = Counter()
        self._ended_before: dict[object, int] = {}
        self._from = len(server.ended) + unwatched

    def repeats_after(self) -> int | None:
        """Count the current state. Return None unless it has occurred too often.

        Otherwise, return the number of pods that had ended when it last occurred.
        """
        ended = len(self._server.ended)
        if ended < self._from:
            return None
        state = self._state()
        self._seen[state] += 1
        if self._seen[state] > MOST_REPEATS:
            return self._ended_before[state]
        self._ended_before[state] = ended
        return None

    def _state(self) -> object:
        """Return the cluster's state without pod names and times."""
        pods = Counter((_root(pod), pod.spec.node_name) for pod in self._cluster.pods.values())
        devices = Counter(
            (result.driver, result.pool, result.device)
            for claim in self._cluster.claims
            if claim.allocation is not None
            for result in claim.allocation.devices.results
        )
        failed = sum(1 for each in self._server.ended if _of_job(each))
        return frozenset(pods.items()), frozenset(devices.items()), failed


def _root(pod: Pod) -> str:
    owner = pod.metadata.controller
    return f"{owner.kind}/{pod.metadata.namespace}/{owner.name}" if owner is not None else pod.key


def _of_job(each: EndedPod) -> bool:
    owner = each.pod.metadata.controller
    return owner is not None and owner.kind == "Job"
