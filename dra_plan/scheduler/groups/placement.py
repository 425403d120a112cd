"""Where a group may go as a whole: one domain of its topology key, and which of several is taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dra_plan.api.scheduling import PodGroup
from dra_plan.scheduler.cluster import SimulatedCluster
from dra_plan.scheduler.framework import MAX_NODE_SCORE
from dra_plan.scheduler.keys import GroupKey
from dra_plan.scheduler.nodeinfo import NodeInfo
from dra_plan.scheduler.podrequest import CPU, MEMORY

from .cycle import GroupOutcome


class PlacementError(Exception):
    """The group's pods on nodes do not say where it belongs; the text is upstream's."""


@dataclass(frozen=True, slots=True)
class GroupPlacement:
    """The nodes of one domain; `nodes` is None for all nodes of the cluster."""

    domain: str = ""
    nodes: frozenset[str] | None = None


def placements(cluster: SimulatedCluster, key: GroupKey, group: PodGroup | None) -> list[GroupPlacement]:
    """One placement for each value of the group's topology key, in node order; of all nodes without such a key.

    Pods of the group that have a node fix the domain. PlacementError if they have none, or several.
    """
    label = group.topology_key if group is not None else ""
    if not label:
        return [GroupPlacement()]
    domains: dict[str, list[str]] = {}
    for node in cluster.nodes.values():
        if label in node.labels:
            domains.setdefault(node.labels[label], []).append(node.name)
    fixed = _fixed(cluster, key, label)
    return [GroupPlacement(name, frozenset(nodes)) for name, nodes in domains.items() if fixed is None or name == fixed]


def _fixed(cluster: SimulatedCluster, key: GroupKey, label: str) -> str | None:
    """The domain in which pods of the group are already; upstream names two of several at random."""
    found: dict[str, None] = {}
    for info in cluster.groups.on_nodes(key):
        node = cluster.nodes.get(cluster.groups.node_of(info.uid))
        domain = node.labels.get(label) if node is not None else None
        if domain is None:
            raise PlacementError(_undetermined(f"no topology domain found for pod {info.pod.key}"))
        found[domain] = None
    if len(found) > 1:
        raise PlacementError(_undetermined(f"more than 1 domain found for pod group: {', '.join(sorted(found)[:2])}"))
    return next(iter(found), None)


def _undetermined(why: str) -> str:
    return f"cannot determine domain for already scheduled pods: {why}"


def best(outcomes: Sequence[GroupOutcome], counts: Sequence[int]) -> int:
    """Which success is taken: more pods of the group, then fuller nodes; `counts` are the group's pods in each."""
    most = max(counts)
    scores = [count * MAX_NODE_SCORE // most + outcome.score for outcome, count in zip(outcomes, counts, strict=True)]
    return scores.index(max(scores))


def fullness(nodes: Sequence[NodeInfo]) -> int:
    """How much of cpu and memory of all nodes together is in use, 0 to 100: NodeResourcesFit's score of a placement."""
    used = {CPU: sum(n.scored_cpu for n in nodes), MEMORY: sum(n.scored_memory for n in nodes)}
    scores = []
    for name, amount in used.items():
        capacity = sum(node.allocatable.get(name, 0) for node in nodes)
        if capacity > 0:
            scores.append(min(amount, capacity) * MAX_NODE_SCORE // capacity)
    return sum(scores) // len(scores) if scores else 0
