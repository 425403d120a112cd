"""Results for nodes, which are cached until the node changes.

Pods of the same shape get the same result from a node that has not changed. The cost of a simulation therefore grows
with the number of states of nodes, not with pods times nodes.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Hashable, Sequence
from typing import Generic, TypeVar

from dra_plan.remembered import Remembered

from .cluster import SimulatedCluster

_Answer = TypeVar("_Answer")

MOST_SHAPES = 512
"""The maximum number of pod shapes whose results are cached at the same time."""

NodeTables = Remembered[Hashable, dict[str, tuple[int, _Answer]]]
"""For each shape, its results by node name. Each result comes with the version of the node."""


class ShapeAnswers(Generic[_Answer]):
    """The results of all nodes for pods of one shape, in scheduling order.

    Changes up to entry `read` of the journal are included. `open` are the sorted positions of the nodes that are not
    closed. `renewed` are the positions of results dropped since it was last emptied, or None if all were dropped.
    `common` is the result of all nodes, if `find_common` found that they have the same.
    """

    __slots__ = ("_closed", "answers", "common", "open", "read", "renewed", "revision")

    def __init__(self) -> None:
        self.answers: list[_Answer] = []
        self.read = 0
        self.revision = -1
        self.open: list[int] = []
        self.renewed: set[int] | None = None
        self.common: _Answer | None = None
        self._closed: set[int] = set()

    def find_common(self) -> None:
        """Set `common` if all nodes have the same result."""
        answers = self.answers
        if answers.count(answers[0]) == len(answers):
            self.common = answers[0]

    def forget_all(self, unknown: _Answer, number: int) -> None:
        """Drop all results and start again with this number of nodes."""
        self.answers = [unknown] * number
        self.open = list(range(number))
        self.renewed = self.common = None
        self._closed.clear()

    def forget(self, unknown: _Answer, positions: Sequence[int]) -> None:
        """Drop the results for these nodes."""
        answers, closed = self.answers, self._closed
        self.common = None
        if self.renewed is not None:
            self.renewed.update(positions)
        for position in positions:
            answers[position] = unknown
        for position in closed.intersection(positions) if closed else ():
            closed.remove(position)
            insort(self.open, position)

    def close(self, position: int) -> None:
        """Skip the node until it changes."""
        if position not in self._closed:
            self._closed.add(position)
            del self.open[bisect_left(self.open, position)]


class NodeAnswers(Generic[_Answer]):
    """A cache of the results of all nodes for each shape of pods, in scheduling order.

    The least recently used shapes are dropped. When the cluster's journal names a changed node, its results are
    dropped. If `of_objects` is set, results depend only on the Node object, not on pods and devices, and stay valid
    until it is replaced.
    """

    def __init__(
        self, cluster: SimulatedCluster, unknown: _Answer, most: int = MOST_SHAPES, *, of_objects: bool = False
    ) -> None:
        self._cluster = cluster
        self._unknown = unknown
        self._of_objects = of_objects
        self._shapes: Remembered[Hashable, ShapeAnswers[_Answer]] = Remembered(most)

    def of(self, key: Hashable) -> ShapeAnswers[_Answer]:
        """Return the results for a shape, with `unknown` for missing results.

        During a scheduling cycle, callers read and write the returned object directly.
        """
        found = self._shapes.of(key, ShapeAnswers)
        cluster = self._cluster
        journal = cluster.journal.objects if self._of_objects else cluster.journal
        assert journal is not None
        end = journal.end()
        if found.revision != cluster.node_revision:
            found.revision = cluster.node_revision
            found.forget_all(self._unknown, len(cluster.nodes))
        elif found.read < end:
            positions = cluster.positions
            found.forget(self._unknown, [positions[name] for name in journal.after(found.read) if name in positions])
        found.read = end
        return found
