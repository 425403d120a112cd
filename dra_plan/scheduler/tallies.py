"""Sums over all nodes, kept while pods come and go: after the first time only nodes that have changed are looked at."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Generic, TypeVar

from dra_plan.remembered import Remembered

from .cluster import SimulatedCluster
from .memo import MOST_SHAPES
from .nodeinfo import NodeInfo

_Key = TypeVar("_Key", bound=Hashable)


class _Tally(Generic[_Key]):
    """One sum: what each node, by its position, has brought in, and how many nodes each key is from."""

    __slots__ = ("brought", "nodes", "read", "revision", "totals")

    def __init__(self) -> None:
        self.totals: dict[_Key, int] = {}
        self.nodes: dict[_Key, int] = {}
        self.brought: list[Mapping[_Key, int]] = []
        self.read = 0
        self.revision = -1

    def put(self, position: int, part: Mapping[_Key, int]) -> None:
        """A node brings in this instead of what it brought before."""
        before = self.brought[position]
        if before == part:
            return
        for sign, amounts in ((-1, before), (1, part)):
            for key, amount in amounts.items():
                self.totals[key] = self.totals.get(key, 0) + sign * amount
                self.nodes[key] = self.nodes.get(key, 0) + sign
        for key in before:
            if not self.nodes.get(key, 1):
                del self.nodes[key], self.totals[key]
        self.brought[position] = part


class Tallies(Generic[_Key]):
    """The sums for pods of many shapes. The least recently used shapes are forgotten."""

    def __init__(self, cluster: SimulatedCluster, most: int = MOST_SHAPES) -> None:
        self._cluster = cluster
        self._shapes: Remembered[Hashable, _Tally[_Key]] = Remembered(most)

    def forget(self) -> None:
        """Something has changed on which what nodes bring in depends, beside the nodes."""
        self._shapes.clear()

    def of(self, shape: Hashable, part: Callable[[NodeInfo], Mapping[_Key, int]]) -> Mapping[_Key, int]:
        """The sum of what all nodes bring in by key, 0 included; never to be changed.

        `part` says what one node brings in, by the shape, the node and the pods on it.
        """
        found: _Tally[_Key] = self._shapes.of(shape, _Tally)
        cluster, end = self._cluster, self._cluster.journal.end()
        changed = [cluster.nodes[name] for name in cluster.journal.since(found.read) if name in cluster.nodes]
        if found.revision != cluster.node_revision:
            found.totals, found.nodes, found.brought = {}, {}, [{}] * len(cluster.nodes)
            changed = list(cluster.in_order)
        for node in changed:
            found.put(node.position, part(node))
        found.revision, found.read = cluster.node_revision, end
        return found.totals
