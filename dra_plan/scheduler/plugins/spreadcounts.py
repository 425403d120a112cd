"""How many pods a spread constraint finds on each node and in each domain, kept while pods come and go.

A constraint that many pods have in common is counted once: after that only the nodes that have changed are looked at.
What is to be made of the counts belongs to `spread`, which pods and nodes count to `spreadconstraints`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import msgspec

from dra_plan.api.core import Pod
from dra_plan.remembered import Remembered
from dra_plan.scheduler.cluster import SimulatedCluster
from dra_plan.scheduler.memo import NodeAnswers
from dra_plan.scheduler.nodeinfo import NodeInfo

from .nodeaffinity import shape as affinity_shape
from .spreadconstraints import SpreadConstraint
from .tainttoleration import shape as toleration_shape

_MOST_CONSTRAINTS = 512


class _Domain:
    """The label value of a node that counts; `value` is None for a node that does not."""

    __slots__ = ("value",)

    def __init__(self, value: str | None) -> None:
        self.value = value


_NOWHERE = _Domain(None)


class _Totals:
    """Pods by label value, of nodes that count, and what each node, by its position, has brought in."""

    __slots__ = ("brought", "read", "revision", "values")

    def __init__(self) -> None:
        self.values: dict[str, int] = {}
        self.brought: list[int] = []
        self.read = 0
        self.revision = -1


class SpreadCounts:
    """The counts of one cluster. The least recently used constraints are forgotten."""

    def __init__(self, cluster: SimulatedCluster, most: int = _MOST_CONSTRAINTS) -> None:
        self._cluster = cluster
        self._on_nodes: NodeAnswers[int | None] = NodeAnswers(cluster, None, most)
        self._domains: NodeAnswers[_Domain | None] = NodeAnswers(cluster, None, most, of_objects=True)
        self._totals: Remembered[Hashable, _Totals] = Remembered(most)

    def on_nodes(self, constraint: SpreadConstraint, namespace: str, nodes: Sequence[NodeInfo]) -> list[int]:
        """How many pods on each node the constraint spreads, whether the node counts or not."""
        known = self._on_nodes.of((namespace, _encoded(constraint))).answers
        return [_count(constraint, namespace, node, known) for node in nodes]

    def in_domains(self, constraint: SpreadConstraint, pod: Pod, labels: Sequence[str]) -> Mapping[str, int]:
        """Pods by label value, over all nodes that count for the pod and have these labels; never to be changed.

        A value that only nodes without such pods have is there with 0.
        """
        where = (
            constraint.key,
            tuple(labels),
            affinity_shape(pod) if constraint.honor_affinity else None,
            toleration_shape(pod) if constraint.honor_taints else None,
        )
        namespace = pod.metadata.namespace
        key = (where, namespace, _encoded(constraint))
        found = self._totals.of(key, _Totals)
        self._bring_up_to_date(found, constraint, pod, labels, where)
        return found.values

    def _bring_up_to_date(
        self, found: _Totals, constraint: SpreadConstraint, pod: Pod, labels: Sequence[str], where: Hashable
    ) -> None:
        cluster, namespace = self._cluster, pod.metadata.namespace
        end = cluster.journal.end()
        if found.revision == cluster.node_revision and found.read == end:
            return
        known = self._on_nodes.of((namespace, _encoded(constraint))).answers
        domains = self._domains.of(where).answers
        if found.revision != cluster.node_revision:
            found.values, found.brought = {}, [0] * len(cluster.nodes)
            changed = cluster.in_order
        else:
            changed = [cluster.nodes[name] for name in cluster.journal.since(found.read) if name in cluster.nodes]
        values, brought = found.values, found.brought
        for node in changed:
            position = node.position
            domain = domains[position]
            if domain is None:
                domain = domains[position] = _domain(constraint, pod, node, labels)
            if domain.value is not None:
                count = _count(constraint, namespace, node, known)
                values[domain.value] = values.get(domain.value, 0) + count - brought[position]
                brought[position] = count
        found.revision, found.read = cluster.node_revision, end


def _encoded(constraint: SpreadConstraint) -> bytes:
    return msgspec.json.encode(constraint.selector)


def _count(constraint: SpreadConstraint, namespace: str, node: NodeInfo, known: list[int | None]) -> int:
    count = known[node.position]
    if count is None:
        count = known[node.position] = constraint.count(node, namespace)
    return count


def _domain(constraint: SpreadConstraint, pod: Pod, node: NodeInfo, labels: Sequence[str]) -> _Domain:
    if all(label in node.labels for label in labels) and constraint.counts(pod, node):
        return _Domain(node.labels.get(constraint.key))
    return _NOWHERE
