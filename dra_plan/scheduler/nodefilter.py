"""The filters of a profile at work on many nodes for one pod, with remembered answers."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from dra_plan.api.core import Pod

from .cyclestate import CycleState
from .framework import FilterPlugin
from .memo import Lanes
from .nodeinfo import NodeInfo
from .status import Code, Status

if TYPE_CHECKING:
    from .runtime import Framework

UNKNOWN = Status(Code.ERROR, "not asked yet")
"""Stands for an answer that nobody has given."""


class NodeFilter:
    """The filters of a profile for one pod, with remembered answers where plugins allow it.

    Neighbouring plugins with a memo key share one lane of answers, so that a node is asked about once.
    """

    def __init__(self, framework: Framework, state: CycleState, pod: Pod, lanes: Lanes[Status | None]) -> None:
        self._framework = framework
        self._state = state
        self._pod = pod
        info = framework.handle.cluster.info(pod)
        self._uid, self._priority = info.uid, info.priority
        self._nominator = framework.handle.nominator
        self._positions = framework.handle.cluster.positions
        self._runs: list[tuple[list[FilterPlugin], list[Status | None] | None]] = []
        self._group(lanes)

    def _group(self, lanes: Lanes[Status | None]) -> None:
        members: list[FilterPlugin] = []
        keys: list[Hashable] = []

        def close() -> None:
            if members:
                self._runs.append((list(members), lanes.answers(tuple(keys))))
                members.clear()
                keys.clear()

        for plugin in self._framework.filters(self._state):
            # a trace wants every plugin's answer, so nothing is remembered then
            key = None if self._framework.tracer else plugin.filter_memo(self._state, self._pod)
            if key is None:
                close()
                self._runs.append(([plugin], None))
            else:
                members.append(plugin)
                keys.append((plugin.name, key))
        close()

    @property
    def remembers(self) -> bool:
        """Whether all answers are remembered, so that `scan` can be used."""
        return len(self._runs) == 1 and self._runs[0][1] is not None

    def scan(self, nodes: Sequence[NodeInfo], start: int, enough: int, refused: dict[str, Status]) -> list[NodeInfo]:
        """The nodes that pass, from `start` on and round again, until there are enough.

        `nodes` are all nodes in scheduling order. Answers that are not success go to `refused`.
        """
        [(plugins, lane)] = self._runs
        assert lane is not None
        crowded = {
            self._positions[name]
            for name in self._nominator.nodes
            if name in self._positions and self._nominator.at_least(name, self._priority, self._uid)
        }
        if enough >= len(nodes) and not crowded:
            for position, status in enumerate(lane):
                if status is UNKNOWN:
                    lane[position] = self._ask(plugins, nodes[position])
            answered = list(zip(nodes, lane, strict=True))
            if start:
                answered = answered[start:] + answered[:start]
            refused.update((node.name, status) for node, status in answered if status is not None)
            return [node for node, status in answered if status is None]
        passed: list[NodeInfo] = []
        for position in (*range(start, len(nodes)), *range(start)):
            status = lane[position]
            if position in crowded:
                status = self(nodes[position])
            elif status is UNKNOWN:
                status = lane[position] = self._ask(plugins, nodes[position])
            if status is None:
                passed.append(nodes[position])
                if len(passed) >= enough:
                    break
            else:
                refused[nodes[position].name] = status
        return passed

    def __call__(self, node: NodeInfo) -> Status | None:
        """None if the pod fits the node, otherwise the first plugin's answer that is not success."""
        if self._nominator.at_least(node.name, self._priority, self._uid):
            return self._framework.filter_with_nominated(self._state, self._pod, node)
        position = node.position
        for plugins, lane in self._runs:
            if lane is None:
                status = self._ask(plugins, node)
            else:
                status = lane[position]
                if status is UNKNOWN:
                    status = lane[position] = self._ask(plugins, node)
            if status is not None:
                return status
        return None

    def _ask(self, plugins: Sequence[FilterPlugin], node: NodeInfo) -> Status | None:
        for plugin in plugins:
            status = self._framework.ask_filter(plugin, self._state, self._pod, node)
            if status is not None:
                return status
        return None
